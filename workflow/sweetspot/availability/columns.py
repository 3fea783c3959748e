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
RESULT = ("hours_to_result", "hours_to_result_p90")
START_COLUMNS = (*(f"{name}{suffix}" for name in RANGES for suffix in SUFFIXES), *RESULT)
P_STOCK, START_HOURS = ([f"{name}{suffix}" for suffix in SUFFIXES] for name in ("p_stock", "start_hours"))
OF_MACHINE = (*P_STOCK, *START_HOURS, "stock_wait_hours", *RESULT)
UNKNOWN: Range = (np.nan, np.nan, np.nan)


def with_start_times(options: pd.DataFrame, facts: "AvailabilityFacts | None", month_days: float) -> pd.DataFrame:
    """Return options with START_COLUMNS: chance to find a machine, waits, failures, hours to the result; null: unknown.

    Parameters
    ----------
    options
        The options with `price_list`, `provider`, `gpu`, `gpus`, `nodes`, `purchase`, `capex_usd`, `hours`,
        `delivery_months` and its ends.
    facts
        Known stock, waits and failures at the time of the study; None: nothing is known.
    month_days
        Days of a month.

    Returns
    -------
    pandas.DataFrame
        `p_stock`: share of attempts that find one machine, null with its ends 0 and 1 where a seller publishes
        nothing; `p_start`: the share that is calculated with, from other sellers of the same machine in that case;
        `stock_wait_hours`: mean wait if none is found; `start_hours`: until a delivery or the first day of a block;
        `failures_per_hour` of all devices together; `hours_to_result`, `_p90`: median and 90th percentile, counted
        counted from today.
    """
    rows = [] if facts is None else [_start_columns(row, facts, month_days) for row in options.to_dict("records")]
    return options.join(pd.DataFrame(rows, index=options.index, columns=list(START_COLUMNS), dtype=float))


def start_times_of(row: Mapping[str, Any]) -> StartTimes | None:
    """Return the delay to an option's start and its failure rate, from its table row; None if either is missing."""
    share, wait, start, failures = (_range_of(row, name) for name in RANGES[1:])
    if start is not None:
        share = CERTAIN
    if failures is None or share is None or (share != CERTAIN and wait is None):
        return None
    return StartTimes(share, wait or ZERO, failures, start, _separate_machines(row))


def _range_of(row: Mapping[str, Any], name: str) -> Range | None:
    """Return (value, low, high) of the columns `name`, `name_low` and `name_high`; None where `low` is missing."""
    value, low, high = (float(row.get(f"{name}{suffix}", np.nan)) for suffix in SUFFIXES)
    return None if np.isnan(low) else (value, low, high)


def start_of_machines(options: pd.DataFrame, works: Sequence[str], machines: Sequence[str]) -> pd.DataFrame:
    """Return stock, waits and hours to a result of the machine that each verdict recommends.

    Parameters
    ----------
    options
        The options with START_COLUMNS.
    works
        The workload of each verdict.
    machines
        Key of the option that each verdict recommends; an unknown key gives a row of nulls.

    Returns
    -------
    pandas.DataFrame
        `machine_title` and OF_MACHINE, a row per verdict. `p_stock` only of what is rented on demand and begins on no
        date; hours to the result only of jobs that are the workload.
    """
    table = options.drop_duplicates("option").set_index("option").reindex(machines)
    is_rented = table["purchase"].eq("on_demand") & table["start_hours_high"].isna()
    table.loc[~is_rented, P_STOCK] = np.nan
    of_work = options.drop_duplicates(["workload", "option"]).set_index(["workload", "option"])
    results = of_work.reindex(list(zip(works, machines, strict=True)))
    table[list(RESULT)] = results[list(RESULT)].to_numpy()
    return table[list(OF_MACHINE)].assign(machine_title=table["title"].to_numpy()).reset_index(drop=True)


@lru_cache(maxsize=1024)
def _result_quantiles(start: StartTimes | None, hours: float) -> tuple[float, float]:
    """Return median and 90th percentile of hours from today to the result of a run of `hours`; NaN if unknown."""
    return (np.nan, np.nan) if start is None or not np.isfinite(hours) else start.result_quantiles(hours)


def _separate_machines(row: Mapping[str, Any]) -> float:
    """Return how many machines must be found one by one: the nodes; 1 for spot, whose machines come and go together."""
    return 1.0 if row["purchase"] in INTERRUPTIBLE or pd.isna(row["nodes"]) else float(row["nodes"])


def _start_columns(row: Mapping[str, Any], facts: "AvailabilityFacts", month_days: float) -> dict[str, Any]:
    """Return START_COLUMNS of one option by name: shares, hours and failures per hour, each with low and high."""
    offer = {name: row[name] for name in ("price_list", "provider", "gpu", "purchase")}
    offer["gpus"] = round(row["gpus"] / (1.0 if pd.isna(row["nodes"]) else row["nodes"]))

    def find(quantity: str, unit: float = 1.0, **changes: Any) -> Range:
        """Return (value, low, high) of a known quantity of the offer, times `unit`; UNKNOWN without a fact."""
        fact = facts.find(quantity, offer | changes)
        value, low, high = UNKNOWN if fact is None else fact.bounds
        return value * unit, low * unit, high * unit

    start = find("delivery_weeks", HOURS_PER_WEEK)
    if row["purchase"] == "own":
        share = assumed = wait = UNKNOWN
        month_hours = month_days * HOURS_PER_DAY
        value, low, high = (float(row[f"delivery_months{suffix}"]) * month_hours for suffix in SUFFIXES)
        if row["capex_usd"] != 0 and high > 0:
            start = value, low, high
        elif row["capex_usd"] == 0 or np.isnan(start[1]):
            start = ZERO  # What costs nothing is here already.
    else:
        share = assumed = find("stock_share")
        wait = find("wait_days", HOURS_PER_DAY)
        if np.isnan(share[0]) and share[1:] == (0.0, 1.0):
            # Other sellers of the machine are what is known, and less well: the low end is 0.
            value, _, high = find("stock_share", price_list=None, provider=None, purchase="on_demand")
            assumed = share if np.isnan(value) else (value, 0.0, high)
    # A rate of interruptions in the price list is part of `hours`; spot machines have another rate of failures.
    has_rate = row["purchase"] in INTERRUPTIBLE and not pd.isna(row.get("interruptions_per_hour"))
    failures = find("failures_per_device_hour", row["gpus"], **({"purchase": "on_demand"} if has_rate else {}))
    columns = {
        f"{name}{suffix}": number
        for name, bounds in zip(RANGES, (share, assumed, wait, start, failures), strict=True)
        for suffix, number in zip(SUFFIXES, bounds, strict=True)
    }
    quantiles = _result_quantiles(start_times_of({**row, **columns}), float(row["hours"]))
    return columns | dict(zip(RESULT, quantiles, strict=True))
