"""Recompute the presets of the price paths and the resale curves from the history that the project ships.

Reads price_history.csv and resale.csv of facts/pools/prices-2026 (or of --history DIR) and prints a table: what the
history says, how much of it there is, and what the program's preset is. With --before only what was known then counts.

    python -m research fit-price-paths
    python -m research fit-price-paths --before 2024-01
    python -m research fit-price-paths --json > presets.json
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import POOLS
from sweetspot.study.trends import CURRENT, CURVES, PRESETS, Drift, Jumps, RandomWalk

from research import path_fit
from research.rent_history import STUDY, read_history, read_resale

DEVICES = CURRENT.pattern.replace("(", "(?:")


class Fitted(NamedTuple):
    """One number: whose, what it is, from the history, in the preset, and of how many observations."""

    preset: str
    number: str
    history: float
    shipped: float | None
    of: str


def fitted(history: pd.DataFrame, resale: pd.DataFrame) -> list[Fitted]:
    """Every number of every preset, beside what the history says of it."""
    return [*_hyperscaler(history), *_clouds(history), *_spot(history), *_resale(resale)]


def _hyperscaler(history: pd.DataFrame) -> list[Fitted]:
    preset = PRESETS["hyperscaler"]
    assert isinstance(preset, Jumps)
    now, old = (path_fit.list_cuts(history, DEVICES, inside) for inside in (True, False))
    of = f"{len(now.sizes)} cuts in {now.years:.0f} series-years of {now.series} series"
    rows = [Fitted("hyperscaler", "jumps a year", now.per_year, preset.per_year, of)]
    if now.sizes:
        ends = (np.median(now.sizes), now.sizes[0], now.sizes[-1])
        shipped = (preset.change, preset.change_low, preset.change_high)
        names = ("size, median", "size, largest cut", "size, smallest cut")
        rows += [
            Fitted("hyperscaler", name, float(end), value, f"{len(now.sizes)} cuts")
            for name, end, value in zip(names, ends, shipped, strict=True)
        ]
    of = f"{len(old.sizes)} in {old.years:.0f} series-years of {old.series} series"
    return [*rows, Fitted("hyperscaler, older devices", "jumps a year", old.per_year, 0.0, of)]


def _clouds(history: pd.DataFrame) -> list[Fitted]:
    preset = PRESETS["small_cloud"]
    assert isinstance(preset, Drift)
    readings = {
        "hand tables only where they moved": path_fit.cloud_years(history, strict=True),
        "all rows": path_fit.cloud_years(history, strict=False),
        "whole series": path_fit.cloud_spans(history),
    }
    rows = [
        Fitted("small_cloud", f"change a year, {end}", getattr(found, name), shipped, f"{found.windows} ({words})")
        for end, name, shipped in (
            ("5 %", "low", preset.low),
            ("median", "median", preset.change_per_year),
            ("95 %", "high", preset.high),
        )
        for words, found in readings.items()
    ]
    share = path_fit.cloud_market(history)
    return [*rows, Fitted("small_cloud", "market share of the variance", share, preset.market_share, "start years")]


def _spot(history: pd.DataFrame) -> list[Fitted]:
    preset = PRESETS["spot"]
    assert isinstance(preset, RandomWalk)
    rows = []
    for span, (sd, _, count) in path_fit.spot_spread(history).items():
        shipped = preset.sd_log_year * np.sqrt(span / 12)
        rows.append(Fitted("spot", f"sd of the log over {span} months", sd, float(shipped), f"{count} windows"))
    share = path_fit.spot_market(history)
    return [*rows, Fitted("spot", "market share of the variance", share, preset.market_share, "start months")]


def _resale(resale: pd.DataFrame) -> list[Fitted]:
    rows = []
    for name, curve in CURVES.items():
        found = path_fit.resale_curve(resale, name)
        for place, (age, *ends, count) in enumerate(found):
            shipped = curve[place][1:] if len(found) == len(curve) else (None,) * 3
            for end, value, here in zip(("median", "low", "high"), ends, shipped, strict=True):
                rows.append(Fitted(f"resale {name}", f"{age:.1f} years, {end}", float(value), here, f"{count} prices"))
    return rows


def report(rows: list[Fitted]) -> str:
    """The numbers as Markdown, for research/README.md."""
    lines = ["| preset | number | history | shipped | of |", "|---|---|---|---|---|"]
    for row in rows:
        shipped = "" if row.shipped is None else f"{row.shipped:.3g}"
        lines.append(f"| {row.preset} | {row.number} | {row.history:.3g} | {shipped} | {row.of} |")
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `python -m research fit-price-paths`."""
    parser.add_argument("--history", type=Path, metavar="DIR", help="folder of the history; default: the shipped one")
    parser.add_argument("--before", metavar="YYYY-MM", help="only what was known before this month")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def before(table: pd.DataFrame, month: str | None) -> pd.DataFrame:
    """The rows of days before a month; all where none is given. Raises UserError."""
    if month is None:
        return table
    try:
        when = pd.Timestamp(f"{month}-01")
    except ValueError:
        raise UserError(f"month is {month!r}; expected YYYY-MM") from None
    return table[pd.to_datetime(table["date"]) < when]


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    folder = arguments.history or POOLS / STUDY
    history, resale = (before(read(folder), arguments.before) for read in (read_history, read_resale))
    rows = fitted(history, resale)
    told: list[dict[str, Any]] = [row._asdict() for row in rows]
    print(json.dumps(told, indent=2) if arguments.json else report(rows))
