"""Replay the price history: what would the decision have advised each month, and what would following it have cost?

Of the owned machines of STUDY those are replayed whose device has a price history (facts/pools/prices-2026). Each
month from --from on is the start of a project. Each month of it the decision is asked anew with what was known then:
prices seen before, path presets fitted to them, the resale curve of devices sold before. Who is told to buy does so and
keeps the machine to the end, sold at the shipped curve of data-centre devices (times --sold); who is told to rent rents
that machine for the month. Beside it: always renting the cheapest, buying at once, and hindsight (the best month to
buy, or never). Then: how often the rent of the next 12 months lay in the 90 % band that presets fitted on earlier years
gave. Starts overlap: intervals are by bootstrap over blocks of them.

    python -m research back-test eight-gpus-2026 --from 2023-01
    python -m research back-test eight-gpus-2026 --from 2023-01 --months 24 --days 20 --json > replay.json
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import POOLS, STUDIES
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import load_price_list
from sweetspot.study.study import load_study
from sweetspot.study.trends import CURVES, Resale

from research.band_coverage import coverage
from research.rent_history import STUDY, month_name, read_history, read_resale, read_servers
from research.replay import BUY, Box, Replay

LENGTHS = (12, 24)
BLOCK = 6  # months of starts drawn together
DRAWS = 2000
REALISED = CURVES["data-centre"]
WAYS = ("followed", "rented", "owned", "hindsight")
TITLES = {"list": "hyperscalers, list price", "cloud": "smaller clouds", "spot": "hyperscalers, spot"}


def boxes_of(study: Path, history: pd.DataFrame, servers: pd.DataFrame) -> tuple[list[Box], list[str]]:
    """The study's owned machines whose device has rents and dated prices of servers, and the names of the others."""
    question, instances = load_study(study), load_instances(study / "instances.yaml")
    now = 12 * question.as_of.year + question.as_of.month - 1
    found, without = [], []
    for file in sorted((study / "prices").glob("*.yaml")):
        for offer in load_price_list(file).offers:
            if offer.own is None:
                continue
            machine = instances[offer.instance]
            gpu = machine.gpu.removesuffix(" SXM")
            if {machine.gpu} <= set(servers["gpu"]) and gpu in set(history["gpu"]):
                age = offer.own.residual.age_years if isinstance(offer.own.residual, Resale) else 0.0
                box = Box(offer.instance, machine.gpu, gpu, machine.gpus, offer.own, now - 12.0 * age)
                found.append(box)
            else:
                without.append(offer.instance)
    return found, without


def outcomes(replay: Replay, first: float, last: float, months: int, sold: float = 1.0) -> pd.DataFrame:
    """One row a start month, from `first`, of projects that end by `last` (`Replay.outcome`).

    `sold`: what a machine brought at the end over the shipped curve.
    """
    curve = tuple((age, sold * kept) for age, kept, *_ in REALISED)
    starts = [month for month in np.arange(first, last - months + 1) if replay.known(month)]
    return pd.DataFrame([replay.outcome(float(month), months, curve) for month in starts])


def summary(found: pd.DataFrame, seed: int = 2018) -> dict[str, Any]:
    """Means over the starts in USD, ratios to hindsight and to the advice with 90 % intervals, right advice at once.

    The interval is of a moving-block bootstrap: starts of BLOCK months in a row are drawn together, for they overlap.
    """
    usd = found[list(WAYS)].to_numpy(float)
    draws = np.random.default_rng(seed)
    size = min(BLOCK, len(usd))
    firsts = draws.integers(0, len(usd) - size + 1, (DRAWS, -(-len(usd) // size)))
    picked = (firsts[..., None] + np.arange(size)).reshape(DRAWS, -1)[:, : len(usd)]
    means = usd[picked].mean(axis=1)
    told: dict[str, Any] = {"starts": len(found), "first": found["start"].iloc[0], "last": found["start"].iloc[-1]}
    told |= dict(zip(WAYS, usd.mean(axis=0).tolist(), strict=True))
    for place, way in enumerate(WAYS[:3]):
        ratio = means[:, place] / means[:, 3]
        low, high = np.quantile(ratio, [0.05, 0.95])
        told |= {f"{way}_over": told[way] / told["hindsight"], f"{way}_low": float(low), f"{way}_high": float(high)}
    bought = found["advice"] == BUY
    told["advised_to_buy"] = int(bought.sum())
    told["right_at_once"] = int((bought == (found["owned"] < found["rented"])).sum())
    return told


def report(results: list[dict[str, Any]], covered: pd.DataFrame, without: list[str]) -> str:
    """The tables as Markdown, for research/README.md."""
    lines = [
        "Cost over that of hindsight (90 % interval over starts), mean of all starts:",
        "",
        "| box | days a month | months | starts | told to buy | following the advice | always renting the cheapest "
        "| buying at once | hindsight, USD | right at once |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results:
        ways = " | ".join(f"{row[f'{way}_over']:.2f} ({row[f'{way}_low']:.2f} to {row[f'{way}_high']:.2f})"
                          for way in WAYS[:3])  # fmt: skip
        starts = f"{row['starts']} ({row['first']} to {row['last']})"
        lines.append(
            f"| {row['box']} | {row['days']:g} | {row['months']} | {starts} | {row['advised_to_buy']} | {ways} | "
            f"{row['hindsight']:,.0f} | {row['right_at_once']} of {row['starts']} |"
        )
    lines += ["", f"Without dated prices of a server, not replayed: {', '.join(without) or 'none'}.", ""]
    return "\n".join([*lines, *_covered(covered)])


def _covered(covered: pd.DataFrame) -> list[str]:
    lines = [
        "Rent of the next 12 months within the 90 % band, by series:",
        "",
        "| prices | start year | series | windows | fitted on earlier years | shipped presets |",
        "|---|---|---|---|---|---|",
    ]
    for row in covered.to_dict("records"):
        inside = "too little was known" if np.isnan(row["inside"]) else f"{row['inside']:.0%}"
        lines.append(
            f"| {TITLES[row['kind']]} | {row['year']} | {row['series']} | {row['windows']} | {inside} | "
            f"{row['shipped']:.0%} |"
        )
    return lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `python -m research back-test`."""
    parser.add_argument("study", metavar="STUDY", help="a study with owned machines, by its name")
    parser.add_argument("--from", dest="first", metavar="YYYY-MM", default="2023-01", help="first start (2023-01)")
    parser.add_argument("--months", type=int, nargs="+", default=list(LENGTHS), help="lengths of the project (12 24)")
    parser.add_argument("--days", type=float, nargs="+", help="days of use a month; default: the price list's three")
    parser.add_argument(
        "--sold", type=float, default=1.0, metavar="FACTOR", help="realised resale value over the shipped curve (1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON with every start instead of tables")
    parser.add_argument("--studies", type=Path, metavar="DIR", help="where the studies are; default: the project's")


def run(arguments: argparse.Namespace) -> None:
    """Print the tables. Raises UserError where nothing can be replayed."""
    studies = arguments.studies or STUDIES
    folder = POOLS / STUDY
    history, resale, servers = read_history(folder), read_resale(folder), read_servers(folder)
    first = _month(arguments.first)
    if min(arguments.months) < 1:
        raise UserError(f"--months is {min(arguments.months)}; expected a number of at least 1")
    boxes, without = boxes_of(studies / arguments.study, history, servers)
    if not boxes:
        raise UserError(
            f"study {arguments.study}: no owned machine has a device with rents and dated prices of servers"
        )
    last = np.floor(history["time"].max())
    results, every = [], []
    for box in boxes:
        own = box.own.days_per_month
        replay = Replay(box, history, servers, resale, load_study(studies / arguments.study).month_days, own.value)
        for days in arguments.days or sorted({own.ends[0], own.value, own.ends[1]}):
            one = replace(replay, days=days, _advice={})
            for months in arguments.months:
                found = outcomes(one, first, last, months, arguments.sold)
                if found.empty:
                    raise UserError(
                        f"--from {arguments.first}: no project of {months} months ends by {month_name(last)}"
                    )
                named = {"box": box.instance, "days": days, "months": months}
                results.append(named | summary(found))
                every += [named | start for start in found.to_dict("records")]
    covered = coverage(history, int(first) // 12)
    if arguments.json:
        known = json.loads(covered.to_json(orient="records"))
        told = {"summary": results, "starts": every, "coverage": known, "not_replayed": without}
        print(json.dumps(told, indent=2))
    else:
        print(report(results, covered, without))


def _month(text: str) -> float:
    try:
        year, month = (int(part) for part in text.split("-"))
    except ValueError:
        year, month = 0, 0
    if not (2000 <= year <= 2100 and 1 <= month <= 12):
        raise UserError(f"--from is {text!r}; expected a month as YYYY-MM")
    return 12.0 * year + month - 1
