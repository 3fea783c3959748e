"""Real price lists, damaged as people damage them, and what the lint says of them."""

import csv
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import yaml
from price_lists import findings, price_list
from project_copy import ROOT
from sweetspot.catalogues.listing import Listing
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList

DATA = Path(__file__).parent.parent / "data"


class Row(NamedTuple):
    """A machine and its price: USD an hour."""

    name: str
    gpu: str
    gpus: int
    vcpus: int
    usd: float
    memory_gib: float | None = None


def catalogued(entry: Listing) -> Row:
    return Row(entry.instance, entry.gpu, entry.gpus or 1, entry.vcpus or 0, entry.per_hour, entry.memory_gib)


def aws(year: int) -> list[Row]:
    """AWS on demand: of the 2018 study's table, without what is printed beside it, or of July 2026."""
    if year == 2026:
        with (DATA / "aws_2026.csv").open() as file:
            rows = list(csv.DictReader(file))
        return [Row(r["instance"], r["gpu"], int(r["gpus"]), int(r["vcpus"]), float(r["per_hour"])) for r in rows]
    study = ROOT / "config" / "studies" / "parkopedia-2018"
    known = load_instances(study / "instances.yaml")
    listed = yaml.safe_load((study / "prices" / "aws-on-demand.yaml").read_text())["offers"]
    return [
        Row(name, known[name].gpu, known[name].gpus, known[name].vcpus or 0, offer["per_hour"])
        for offer in listed
        if (name := offer["instance"])
    ]


def linted(rows: list[Row], year: int, *more: dict, provider: str = "aws", **keys) -> set[tuple[str, str]]:
    """Rule and machine of the warnings of a list of such rows; `more` offers of the same machines."""
    offers = [{"instance": row.name, "per_hour": row.usd} for row in rows]
    prices = price_list(*offers, *more, as_of=date(year, 6, 15), **keys)
    return {(found.rule, found.instance) for found in found_in(prices, rows, provider)}


def found_in(prices: PriceList, rows: list[Row], provider: str = "aws") -> list:
    known = {
        row.name: Instance(
            title=row.name, provider=provider, gpu=row.gpu or "CPU", gpus=row.gpus, vcpus=row.vcpus or None,
            memory_gib=row.memory_gib
        )
        for row in rows
    }  # fmt: skip
    told = findings(prices, known, study_date=prices.as_of)
    return [found for found in told if found.rule not in ("spot_terms", "stale_rate")]


def times(rows: list[Row], factor: float, which: Callable[[Row], bool] = lambda row: True) -> list[Row]:
    """Prices times a factor, to cents as people write them."""
    return [row._replace(usd=round(row.usd * factor, 2)) if which(row) else row for row in rows]


def put(rows: list[Row], name: str, usd: float) -> list[Row]:
    return [row._replace(usd=usd) if row.name == name else row for row in rows]
