"""Spot price histories: prices change in steps, so averages are weighted by the time each price held."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.cells import is_slug
from sweetspot.errors import UserError
from sweetspot.files import read_given

FIELDS = ("Timestamp", "ProductDescription", "InstanceType", "SpotPrice", "AvailabilityZone")
SERIES = ["instance", "product", "zone"]
MAX_BYTES = 500_000_000
# Old accounts list the same product under this longer name.
CLASSIC = " (Amazon VPC)"


@dataclass(frozen=True)
class Average:
    """Time-weighted price of one instance in one zone: mean, and the prices that 5 % and 95 % of the time held."""

    instance: str
    zone: str
    product: str
    mean: float
    low: float
    high: float
    start: pd.Timestamp
    end: pd.Timestamp
    changes: int


def read_history(path: str | Path) -> pd.DataFrame:
    """`aws ec2 describe-spot-price-history` JSON: columns time (UTC), instance, product, zone, usd_per_hour, record.

    `record` counts from 0 in the file. Rows come back oldest first within each series. Raises UserError naming
    file and record: no JSON, a first page only (NextToken), a missing field, a price not above 0, a series neither
    newest nor oldest first, two prices for one moment.
    """
    file = Path(path)
    records = _records(file)
    rows = [_row(file, number, record) for number, record in enumerate(records)]
    table = pd.DataFrame(rows, columns=["time", *SERIES, "usd_per_hour", "record"])
    table["time"] = pd.to_datetime(table["time"], utc=True, format="ISO8601", errors="coerce")
    unread = table[table["time"].isna()]
    if len(unread):
        number = int(unread["record"].iloc[0])
        raise UserError(f"{file}: SpotPriceHistory[{number}].Timestamp is no ISO 8601 time; expected one with its zone")
    for name, series in table.groupby(SERIES, sort=False):
        _check_order(file, "/".join(map(str, name)), series)
    return table.sort_values([*SERIES, "time"], kind="stable").reset_index(drop=True)


def _records(file: Path) -> list[Any]:
    try:
        data = json.loads(read_given(file, MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not JSON: {' '.join(str(error).split())}") from None
    records = data.get("SpotPriceHistory") if isinstance(data, dict) else None
    if isinstance(data, dict) and data.get("NextToken"):
        words = "says that more records follow; expected the whole history in one file"
        raise UserError(f"{file}: key 'NextToken' {words}")
    if not isinstance(records, list) or not records:
        raise UserError(f"{file}: key 'SpotPriceHistory' is missing or empty; expected the list of price changes")
    return records


def _row(file: Path, number: int, record: Any) -> tuple[str, str, str, str, float, int]:
    where = f"{file}: SpotPriceHistory[{number}]"
    values = record if isinstance(record, dict) else {}
    for name in FIELDS:
        if not isinstance(values.get(name), str):
            raise UserError(f"{where}.{name} is {str(values.get(name))[:60]!r}; expected text")
    try:
        price = float(values["SpotPrice"])
    except ValueError:
        price = float("nan")
    if not 0 < price < 1e6:
        raise UserError(f"{where}.SpotPrice is {values['SpotPrice'][:60]!r}; expected a number above 0")
    if not is_slug(values["InstanceType"]) or not is_slug(values["AvailabilityZone"]):
        raise UserError(f"{where}: instance or zone is not a name of letters, digits, '.', '_' and '-'")
    product, zone = values["ProductDescription"], values["AvailabilityZone"]
    return values["Timestamp"], values["InstanceType"], product, zone, price, number


def _check_order(file: Path, name: str, series: pd.DataFrame) -> None:
    times = series["time"]
    if not (times.is_monotonic_decreasing or times.is_monotonic_increasing):
        rising, falling = times > times.shift(), times < times.shift()
        turn = series["record"][rising if rising.sum() <= falling.sum() else falling].iloc[-1]
        raise UserError(f"{file}: SpotPriceHistory[{turn}] of {name} is out of order; expected newest first throughout")
    twice = series[series.duplicated("time", keep=False)]
    differing = twice.groupby("time")["usd_per_hour"].nunique()
    if (differing > 1).any():
        raise UserError(f"{file}: {name} has two prices at {differing.idxmax()}; expected one")


def averages(
    history: pd.DataFrame,
    product: str = "Linux/UNIX",
    start: pd.Timestamp | None = None,
    end: pd.Timestamp | None = None,
    max_gap_days: float = 30.0,
    file: str = "history",
) -> list[Average]:
    """Time-weighted averages by instance and zone for one product, over [start, end].

    A price holds until the next change. Without `end` the window ends with the last change in the file; without
    `start` it begins when every zone of an instance has its first price. Raises UserError for an unknown product,
    an empty window, a window that begins before a zone's first price, or a longer silence than `max_gap_days`.
    """
    names = set(history["product"])
    product_name = next((name for name in (product, product + CLASSIC) if name in names), None)
    if product_name is None:
        raise UserError(f"{file}: no product {product!r}; expected one of {', '.join(sorted(names))}")
    rows = history[history["product"] == product_name]
    stop = history["time"].max() if end is None else end
    zone_averages = []
    for instance, machine in rows.groupby("instance"):
        begin = machine.groupby("zone")["time"].min().max() if start is None else start
        if begin >= stop:
            words = f"has the window {begin} to {stop}, which is empty; give an end after it"
            raise UserError(f"{file}: {instance} {words}")
        for _, series in machine.groupby("zone"):
            zone_averages.append(_average(series, begin, stop, max_gap_days, file))
    return zone_averages


def _average(series: pd.DataFrame, begin: pd.Timestamp, stop: pd.Timestamp, max_gap_days: float, file: str) -> Average:
    instance, product, zone = (str(series[name].iloc[0]) for name in SERIES)
    first = series["time"].iloc[0]
    if first > begin:
        raise UserError(f"{file}: {instance} in {zone} has no price before {first}; expected a window from then on")
    next_changes = series["time"].shift(-1).fillna(stop)
    hold_s = next_changes.clip(upper=stop) - series["time"].clip(lower=begin)
    hold_s = hold_s.dt.total_seconds().clip(lower=0)
    silent = (next_changes.clip(upper=stop) - series["time"]).where(hold_s > 0) / pd.Timedelta(days=1)
    if (silent > max_gap_days).any():
        since = series["time"][silent.idxmax()]
        raise UserError(
            f"{file}: {instance} in {zone} has a gap of {silent.max():.0f} days after {since}; expected a change"
            f" at least every {max_gap_days:g} days (allow more with --max-gap-days)"
        )
    price = series["usd_per_hour"]
    total = hold_s.sum()
    order = price.sort_values(kind="stable").index
    share = hold_s[order].cumsum() / total
    low, high = (float(price[order][share >= level - 1e-12].iloc[0]) for level in (0.05, 0.95))
    mean, changes = float((price * hold_s).sum() / total), int((hold_s > 0).sum()) - 1
    return Average(instance, zone, product, mean, low, high, begin, stop, changes)


def choose_zone(zone_averages: list[Average], zone: str | None = None) -> dict[str, Average]:
    """By instance: the named zone, else the one with the lowest mean. Raises UserError where the zone is missing."""
    chosen: dict[str, Average] = {}
    for entry in zone_averages:
        if zone is None:
            best = chosen.get(entry.instance)
            if best is None or entry.mean < best.mean:
                chosen[entry.instance] = entry
        elif entry.zone == zone:
            chosen[entry.instance] = entry
    if not chosen:
        zones = ", ".join(sorted({entry.zone for entry in zone_averages}))
        raise UserError(f"zone {zone!r} is not in the history; expected one of {zones}")
    return chosen
