"""What is known of getting each option, as columns of the table of options."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.availability.start_times import CERTAIN, ZERO, Range, StartTimes
from sweetspot.bills.schemas import SUFFIXES
from sweetspot.cells import INTERRUPTIBLE

if TYPE_CHECKING:
    # Imported for annotations only, because its models take longer to import than all this computes.
    from sweetspot.study.stock import AvailabilityFacts

HOURS_PER_DAY, HOURS_PER_WEEK = 24.0, 168.0
RANGES = ("p_stock", "p_start", "stock_wait_hours", "start_hours", "failures_per_hour")
NUMBERS = (
    *(f"{name}{suffix}" for name in RANGES for suffix in SUFFIXES),
    *("p_stock_all", "hours_to_result", "hours_to_result_p90"),
)
START_COLUMNS = (*NUMBERS, "stock_source")
RESULT = ("hours_to_result", "hours_to_result_p90")
OF_MACHINE = (
    *(f"{name}{suffix}" for name in ("p_stock", "start_hours") for suffix in SUFFIXES),
    *("stock_wait_hours", *RESULT),
)
UNKNOWN: Range = (np.nan, np.nan, np.nan)


def with_start_times(options: pd.DataFrame, facts: "AvailabilityFacts | None", month_days: float) -> pd.DataFrame:
    """Add START_COLUMNS to the options; null where nothing is known.

    Parameters
    ----------
    options
        The options with `price_list`, `provider`, `gpu`, `gpus`, `nodes`, `purchase`, `capex_usd`, `hours`,
        `delivery_months` and its ends.
    facts
        What is known of the time of the study; None: nothing.
    month_days
        Days of a month.

    Returns
    -------
    pandas.DataFrame
        `p_stock`: share of attempts that find one machine, null with its ends 0 and 1 where a seller publishes
        nothing; `p_start`: the share that is calculated with, from other sellers of the same machine in that case;
        `p_stock_all`: chance to find all machines at once if each is found on its own; `stock_wait_hours`: mean wait
        of who finds none; `start_hours`: until a delivery or the first day of a block; `failures_per_hour` of all
        devices together; `hours_to_result`, `_p90`: median and 90th percentile, counted from today.

    """
    rows = [] if facts is None else [_start_columns(row, facts, month_days) for row in options.to_dict("records")]
    columns = pd.DataFrame(rows, index=options.index, columns=list(START_COLUMNS))
    return options.join(columns.astype(dict.fromkeys(NUMBERS, float) | {"stock_source": object}))


def start_times_of(row: Mapping[str, Any]) -> StartTimes | None:
    """Return when an option starts and how it fails, from its columns; None where too little is known."""
    ranges = {name: tuple(float(row.get(f"{name}{suffix}", np.nan)) for suffix in SUFFIXES) for name in RANGES}
    by_name: dict[str, Any] = {name: bounds for name, bounds in ranges.items() if not np.isnan(bounds[1])}
    is_dated = "start_hours" in by_name
    share = CERTAIN if is_dated else by_name.get("p_start")
    if share is None or "failures_per_hour" not in by_name:
        return None
    if share != CERTAIN and "stock_wait_hours" not in by_name:
        return None
    wait = by_name.get("stock_wait_hours", ZERO)
    return StartTimes(share, wait, by_name["failures_per_hour"], by_name.get("start_hours"), _separate_machines(row))


def start_of_machines(options: pd.DataFrame, works: Sequence[str], machines: Sequence[str]) -> pd.DataFrame:
    """Return what is known of getting the machine of each verdict.

    Parameters
    ----------
    options
        The options with START_COLUMNS.
    works
        The workload of each verdict.
    machines
        The option that each recommends; one that is no option gives a row of nulls.

    Returns
    -------
    pandas.DataFrame
        `machine_title` and OF_MACHINE, a row per verdict. `p_stock` only of what is rented on demand and begins on no
        date; hours to the result only of jobs that are the workload.

    """
    of_work = options.drop_duplicates(["workload", "option"]).set_index(["workload", "option"])
    of_any = options.drop_duplicates("option").set_index("option").reindex(machines)
    is_rented = of_any["purchase"].eq("on_demand") & of_any["start_hours_high"].isna()
    table = of_any[list(OF_MACHINE)].reset_index(drop=True)
    table.loc[~is_rented.to_numpy(), [f"p_stock{suffix}" for suffix in SUFFIXES]] = np.nan
    results = of_work.reindex(list(zip(works, machines, strict=True)))[list(RESULT)]
    table[list(RESULT)] = results.to_numpy()
    return table.assign(machine_title=of_any["title"].astype(object).to_numpy())


@lru_cache(maxsize=1024)
def _result_quantiles(start: StartTimes | None, hours: float) -> tuple[float, float]:
    return (np.nan, np.nan) if start is None or not np.isfinite(hours) else start.result_quantiles(hours)


def _separate_machines(row: Mapping[str, Any]) -> float:
    """Count the machines that are found one by one; spot machines of one type and zone come and go together."""
    return 1.0 if row["purchase"] in INTERRUPTIBLE or pd.isna(row["nodes"]) else float(row["nodes"])


def _delivery_hours(row: Mapping[str, Any], usual: Range, month_days: float) -> Range:
    """Return when a purchase arrives: as its offer says, else as usual, else at once; what costs nothing is here."""
    value, low, high = (float(row[f"delivery_months{suffix}"]) * month_days * HOURS_PER_DAY for suffix in SUFFIXES)
    if row["capex_usd"] != 0 and high > 0:
        return value, low, high
    return ZERO if row["capex_usd"] == 0 or np.isnan(usual[1]) else usual


def _start_columns(row: Mapping[str, Any], facts: "AvailabilityFacts", month_days: float) -> dict[str, Any]:
    """Return START_COLUMNS of one option."""
    nodes = 1.0 if pd.isna(row["nodes"]) else float(row["nodes"])
    offer = {name: row[name] for name in ("price_list", "provider", "gpu", "purchase")}
    offer["gpus"] = round(row["gpus"] / nodes)

    def scaled(quantity: str, factor: float, about: Mapping[str, Any] = offer) -> Range:
        fact = facts.find(quantity, about)
        value, low, high = UNKNOWN if fact is None else fact.bounds
        return value * factor, low * factor, high * factor

    is_owned = row["purchase"] == "own"
    stock = None if is_owned else facts.find("stock_share", offer)
    share = assumed = UNKNOWN if stock is None else stock.bounds
    if stock is not None and stock.says_nothing:
        # Other sellers of the machine are what is known, and less well: the low end is 0.
        by_sellers = scaled(
            "stock_share", 1.0, {**offer, "price_list": None, "provider": None, "purchase": "on_demand"}
        )
        assumed = share if np.isnan(by_sellers[0]) else (by_sellers[0], 0.0, by_sellers[2])
    start = scaled("delivery_weeks", HOURS_PER_WEEK)
    if is_owned:
        start = _delivery_hours(row, start, month_days)
    # A rate of interruptions in the price list is part of `hours`; spot machines have another rate of failures.
    has_own_rate = row["purchase"] in INTERRUPTIBLE and not pd.isna(row.get("interruptions_per_hour"))
    failing = {**offer, "purchase": "on_demand"} if has_own_rate else offer
    failures = scaled("failures_per_device_hour", row["gpus"], failing)
    wait = UNKNOWN if is_owned else scaled("wait_days", HOURS_PER_DAY)
    ranges = zip(RANGES, (share, assumed, wait, start, failures), strict=True)
    columns: dict[str, Any] = {"p_stock_all": share[0] ** _separate_machines(row)}
    for name, bounds in ranges:
        columns |= {f"{name}{suffix}": bound for suffix, bound in zip(SUFFIXES, bounds, strict=True)}
    middle, late = _result_quantiles(start_times_of({**row, **columns}), float(row["hours"]))
    source = None if stock is None else stock.source
    return columns | {"hours_to_result": middle, "hours_to_result_p90": late, "stock_source": source}
