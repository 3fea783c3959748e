"""Spot price histories: prices change in steps, so averages are weighted by the time for which each price held."""

from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import AwareDatetime, BaseModel, Field

from sweetspot.errors import UserError
from sweetspot.files import parse_json, read_limited
from sweetspot.study.base import Slug, validated

ZONE_KEY = ["instance", "zone"]
SERIES_KEY = ["instance", "product", "zone", "time"]
MAX_BYTES = 500_000_000
ROUNDING = 1e-12  # of sums of shares


class SpotRecord(BaseModel):
    """One price change, by AWS' own keys."""

    AvailabilityZone: Slug
    InstanceType: Slug
    ProductDescription: str
    SpotPrice: float = Field(gt=0, lt=1e6)
    Timestamp: AwareDatetime


class SpotHistory(BaseModel):
    """The answer of `aws ec2 describe-spot-price-history`; a NextToken says that more records follow."""

    SpotPriceHistory: list[SpotRecord] = Field(min_length=1)
    NextToken: Literal["", None] = None


def read_history(path: str | Path) -> pd.DataFrame:
    """Read a page of AWS' spot price history (JSON) as a row per price change: instance, product (operating system),
    zone, time (UTC), usd_per_hour; sorted. Raises UserError for faulty records, more pages, two prices at a time.
    """
    try:
        history = validated(SpotHistory, parse_json(read_limited(path, MAX_BYTES)), path)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {' '.join(str(error).split())}") from None

    table = pd.DataFrame([record.model_dump() for record in history.SpotPriceHistory])
    table = table.set_axis(["zone", "instance", "product", "usd_per_hour", "time"], axis="columns")
    table["time"] = pd.to_datetime(table["time"], utc=True)
    table = table.drop_duplicates().sort_values(SERIES_KEY, ignore_index=True)
    for row in table[table.duplicated(SERIES_KEY)].itertuples():
        raise UserError(f"{path}: {row.instance}/{row.product}/{row.zone} has two prices at {row.time}; expected one")
    return table


def averages(
    history: pd.DataFrame,
    product: str = "Linux/UNIX",
    start: pd.Timestamp | None = None,
    end: pd.Timestamp | None = None,
) -> pd.DataFrame:
    """Return the average spot price of each instance and zone, weighted by time (a price holds until the next change),
    as a price list can state it: instance, zone, `mean`, `low`, `high` (USD/hour; 5 % and 95 % of the time cost at
    most so much), start, end. UserError for an unknown product or an empty window.

    Parameters
    ----------
    history, product, start, end
        Table of `read_history`; AWS' name of the operating system; the window (end None: the last change), which
        begins when every zone of an instance has a price.
    """
    rows = history[history["product"] == product]
    if rows.empty:
        products = ", ".join(sorted(set(history["product"])))
        raise UserError(f"no product {product!r} is in the history; expected one of {products}")
    stop = history["time"].max() if end is None else end
    times = rows.groupby(ZONE_KEY)["time"]
    begin = times.transform("min").groupby(rows["instance"]).transform("max").clip(lower=start)
    if begin.max() >= stop:
        raise UserError(f"the window {begin.max()} to {stop} is empty; expected an end after it")

    until = times.shift(-1).fillna(stop).clip(upper=stop)
    seconds = (until - rows["time"].clip(lower=begin)).dt.total_seconds().clip(lower=0)
    rows = rows.assign(start=begin, end=stop, seconds=seconds, usd=seconds * rows["usd_per_hour"])
    rows = rows.sort_values("usd_per_hour")
    zones = rows.groupby(ZONE_KEY)
    share = zones["seconds"].cumsum() / zones["seconds"].transform("sum")
    table = zones[["start", "end"]].first()
    table["mean"] = zones["usd"].sum() / zones["seconds"].sum()
    for name, level in (("low", 0.05), ("high", 0.95)):
        table[name] = rows[share >= level - ROUNDING].groupby(ZONE_KEY)["usd_per_hour"].min()
    return table.reset_index()


def choose_zones(zone_averages: pd.DataFrame, zone: str | None) -> pd.DataFrame:
    """Return one row per instance of the table `averages`, the price that a price list takes over: that of `zone`, or
    (None) of the zone with the lowest mean. UserError if there is none.
    """
    rows = zone_averages[zone_averages["zone"] == zone] if zone else zone_averages
    if rows.empty:
        zones = ", ".join(sorted(set(zone_averages["zone"])))
        raise UserError(f"zone {zone!r} is not in the history; expected one of {zones}")
    return rows.sort_values(["mean", "zone"]).drop_duplicates("instance").sort_index()
