"""Spot price histories: prices change in steps, so averages are weighted by the time for which each price held."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import AwareDatetime, BaseModel, Field

from sweetspot.errors import UserError
from sweetspot.files import read_limited
from sweetspot.study.base import Slug, validated

SERIES = ["instance", "product", "zone"]
MAX_BYTES = 500_000_000
CLASSIC = " (Amazon VPC)"  # old accounts list the same product under this longer name


class SpotRecord(BaseModel):
    """One price change, by AWS' own keys."""

    time: Annotated[AwareDatetime, Field(alias="Timestamp")]
    instance: Annotated[Slug, Field(alias="InstanceType")]
    product: Annotated[str, Field(alias="ProductDescription")]
    zone: Annotated[Slug, Field(alias="AvailabilityZone")]
    usd_per_hour: Annotated[float, Field(alias="SpotPrice", gt=0, lt=1e6)]


class SpotHistory(BaseModel):
    """The answer of `aws ec2 describe-spot-price-history`; a NextToken says that more records follow."""

    records: Annotated[list[SpotRecord], Field(alias="SpotPriceHistory", min_length=1)]
    next_token: Annotated[Literal["", None], Field(alias="NextToken")] = None


@dataclass(frozen=True)
class SpotAverage:
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
    """Read a history of one page.

    Parameters
    ----------
    path
        JSON as AWS prints it.

    Returns
    -------
    DataFrame
        Columns time (UTC), instance, product, zone and usd_per_hour, oldest first within each series.

    Raises
    ------
    UserError
        If the file is no such JSON, has faulty records or more pages, or a series has two prices for one moment.
    """
    file = Path(path)
    try:
        history = validated(SpotHistory, json.loads(read_limited(file, MAX_BYTES)), file)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not JSON: {' '.join(str(error).split())}") from None
    table = pd.DataFrame([record.model_dump() for record in history.records])
    table["time"] = pd.to_datetime(table["time"], utc=True)
    table = table.drop_duplicates().sort_values([*SERIES, "time"], ignore_index=True)
    for row in table[table.duplicated([*SERIES, "time"])].itertuples():
        raise UserError(f"{file}: {row.instance}/{row.product}/{row.zone} has two prices at {row.time}; expected one")
    return table


def averages(
    history: pd.DataFrame,
    product: str = "Linux/UNIX",
    start: pd.Timestamp | None = None,
    end: pd.Timestamp | None = None,
    max_gap_days: float = 30.0,
    file: str = "history",
) -> list[SpotAverage]:
    """Average the prices of one product by instance and zone. A price holds until the next change.

    Parameters
    ----------
    history
        Table of `read_history`.
    product
        AWS' name of the operating system.
    start, end
        The window. Default: from when every zone of an instance has a price to the last change of the file.
    max_gap_days
        Longest time without a change that is accepted.
    file
        Name for error messages.

    Returns
    -------
    list of SpotAverage

    Raises
    ------
    UserError
        For an unknown product, an empty window, one that begins before a zone's first price, or a longer gap.
    """
    products = sorted(set(history["product"]))
    if not {product, product + CLASSIC} & set(products):
        raise UserError(f"{file}: no product {product!r}; expected one of {', '.join(products)}")
    rows = history[history["product"] == (product if product in products else product + CLASSIC)]
    stop = history["time"].max() if end is None else end
    zone_averages = []
    for instance, machine in rows.groupby("instance"):
        begin = machine.groupby("zone")["time"].min().max() if start is None else start
        if begin >= stop:
            raise UserError(f"{file}: {instance} has the empty window {begin} to {stop}; expected an end after it")
        zone_averages += [_average(zone, begin, stop, max_gap_days, file) for _, zone in machine.groupby("zone")]
    return zone_averages


def _average(
    series: pd.DataFrame, begin: pd.Timestamp, stop: pd.Timestamp, max_gap_days: float, file: str
) -> SpotAverage:
    instance, product, zone = (str(series[name].iloc[0]) for name in SERIES)
    times = series["time"]
    price = series["usd_per_hour"]
    if times.iloc[0] > begin:
        first = f"no price before {times.iloc[0]}; expected a window from then on"
        raise UserError(f"{file}: {instance} in {zone} has {first}")
    until = times.shift(-1).fillna(stop).clip(upper=stop)
    hold = (until - times.clip(lower=begin)).clip(lower=pd.Timedelta(0))
    gap_days = ((until - times) / pd.Timedelta(days=1)).where(hold > pd.Timedelta(0))
    if gap_days.max() > max_gap_days:
        raise UserError(
            f"{file}: {instance} in {zone} has a gap of {gap_days.max():.0f} days after {times[gap_days.idxmax()]}; "
            f"expected a change at least every {max_gap_days:g} days (allow more with --max-gap-days)"
        )
    weight = hold / hold.sum()
    by_price = price.sort_values(kind="stable")
    share = weight[by_price.index].cumsum()
    low, high = (float(by_price[share >= level - 1e-12].iloc[0]) for level in (0.05, 0.95))
    mean = float((price * weight).sum())
    changes = int((hold > pd.Timedelta(0)).sum()) - 1
    return SpotAverage(instance, zone, product, mean, low, high, begin, stop, changes)


def choose_zone(zone_averages: list[SpotAverage], zone: str | None = None) -> dict[str, SpotAverage]:
    """Select by instance the named zone, else the one with the lowest mean. Raises UserError for an unknown zone."""
    zones = sorted({entry.zone for entry in zone_averages})
    if zone not in (None, *zones):
        raise UserError(f"zone {zone!r} is not in the history; expected one of {', '.join(zones)}")
    candidates = [entry for entry in zone_averages if zone in (None, entry.zone)]
    return {entry.instance: entry for entry in sorted(reversed(candidates), key=lambda entry: -entry.mean)}
