"""Chance to find each option free, waits, failures and hours to a result, as columns of the table of options."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.availability.start_times import CERTAIN, ZERO, Range, StartTimes, result_quantiles
from sweetspot.bills.rates import or_zero
from sweetspot.bills.schemas import with_bounds
from sweetspot.cells import INTERRUPTIBLE

if TYPE_CHECKING:
    # Imported for annotations only, because its models take longer to import than all this computes.
    from sweetspot.study.stock import AvailabilityFacts

HOURS_PER_DAY, HOURS_PER_WEEK = 24.0, 168.0
RANGES = ("p_stock", "p_start", "stock_wait_hours", "start_hours", "failures_per_hour")
RESULT = ["hours_to_result", "hours_to_result_p90"]
OF_MACHINE = [*with_bounds("p_stock", "start_hours"), "stock_wait_hours"]


def with_start_times(options: pd.DataFrame, facts: "AvailabilityFacts | None", month_days: float) -> pd.DataFrame:
    """Return options with chances and hours to get a machine and a result, so that the page can say what is available.

    Parameters
    ----------
    options, facts, month_days
        Options, a workload on a machine at a price each (`price_list`, `provider`, `gpu`, `gpus`, `nodes`, `purchase`,
        `capex_usd`, `hours`, `delivery_months` and its ends); known stock, waits and failures at the time of the study
        (None: nothing is known); days of a month.

    Returns
    -------
    pandas.DataFrame
        RANGES, each with `_low` and `_high`, and RESULT; null: unknown. `p_stock`: share of attempts that find one
        machine, null with its ends 0 and 1 where a seller publishes nothing; `p_start`: the share that is calculated
        with, from other sellers of the same machine in that case; `stock_wait_hours`: mean wait if none is found;
        `start_hours`: until a delivery or the first day of a block; `failures_per_hour` of all devices together;
        RESULT: median and 90th percentile of the hours from today to the result.
    """
    rows = [] if facts is None else [_start_columns(row, facts, month_days) for row in options.to_dict("records")]
    table = pd.DataFrame(rows, index=options.index, columns=[*with_bounds(*RANGES), *RESULT], dtype=float)
    return options.join(table)


def start_times_of(row: Mapping[str, Any]) -> StartTimes | None:
    """Return chances, waits and failures in a row of options as StartTimes, which samples hours to a result. None where
    a rate or wait is unknown. The row has RANGES, `purchase` and `nodes`.
    """
    share, wait, start, failures = (
        tuple(float(row.get(column, np.nan)) for column in with_bounds(name)) for name in RANGES[1:]
    )
    is_dated = not np.isnan(start[1])
    share = CERTAIN if is_dated else share
    wait = ZERO if share == CERTAIN else wait
    if np.isnan([failures[1], share[1], wait[1]]).any():
        return None
    # Machines are found one by one, but spot machines come and go together.
    machines = 1.0 if row["purchase"] in INTERRUPTIBLE else or_zero(row["nodes"])
    return StartTimes(share, wait, failures, start if is_dated else None, machines or 1.0)


def start_of_machines(options: pd.DataFrame, works: Sequence[str], machines: Sequence[str]) -> pd.DataFrame:
    """Return stock, waits and hours to a result of the machine that each verdict recommends, for the page.

    Parameters
    ----------
    options, works, machines
        Options with the columns of `with_start_times`; the workload of each verdict; key of the option that each
        verdict recommends (an unknown key gives a row of nulls).

    Returns
    -------
    pandas.DataFrame
        `machine_title`, OF_MACHINE and RESULT, a row per verdict. `p_stock` only of what is rented on demand and begins
        on no date; hours to the result only of jobs that are the workload.
    """
    table = options.drop_duplicates("option").set_index("option").reindex(machines)
    is_rented = table["purchase"].eq("on_demand") & table["start_hours_high"].isna()
    table.loc[~is_rented, [*with_bounds("p_stock")]] = np.nan
    by_work = options.drop_duplicates(["workload", "option"]).set_index(["workload", "option"])
    table[RESULT] = by_work.reindex(list(zip(works, machines, strict=True)))[RESULT].to_numpy()
    table["machine_title"] = table["title"]
    return table[[*OF_MACHINE, *RESULT, "machine_title"]].reset_index(drop=True)


def _start_columns(row: Mapping[str, Any], facts: "AvailabilityFacts", month_days: float) -> dict[str, Any]:
    """Return how an option starts, {column of `with_start_times`: value}: chances, hours, failures an hour; or NaN."""
    offer = {name: row[name] for name in ("price_list", "provider", "gpu", "purchase")}
    offer["gpus"] = round(row["gpus"] / (or_zero(row["nodes"]) or 1.0))

    def find(quantity: str, unit: float = 1.0, **changes: Any) -> Range:
        """Return (value, low, high) of a quantity of the offer, times `unit`; NaN where no fact is known."""
        fact = facts.find(quantity, offer | changes)
        return (np.nan,) * 3 if fact is None else tuple(end * unit for end in fact.bounds)

    share, wait = find("stock_share"), find("wait_days", HOURS_PER_DAY)
    start = find("delivery_weeks", HOURS_PER_WEEK)
    if row["purchase"] == "own":
        share = wait = (np.nan,) * 3
        ordered = tuple(row[column] * month_days * HOURS_PER_DAY for column in with_bounds("delivery_months"))
        start = ordered if ordered[2] > 0 else start
        start = start if row["capex_usd"] and start[1] >= 0 else ZERO  # What costs nothing is here already.
    assumed = share
    if np.isnan(share[0]) and share[1:] == (0.0, 1.0):
        # Other sellers of the machine are what is known, and less well: the low end is 0.
        value, _, high = find("stock_share", price_list=None, provider=None, purchase="on_demand")
        assumed = share if np.isnan(value) else (value, 0.0, high)
    # A rate of interruptions in the price list is part of `hours`; spot machines have another rate of failures.
    purchase = row["purchase"] if pd.isna(row.get("interruptions_per_hour")) else "on_demand"
    failures = find("failures_per_device_hour", row["gpus"], purchase=purchase)
    columns = dict(zip(with_bounds(*RANGES), share + assumed + wait + start + failures, strict=True))
    quantiles = result_quantiles(start_times_of({**row, **columns}), float(row["hours"]))
    return columns | dict(zip(RESULT, quantiles, strict=True))
