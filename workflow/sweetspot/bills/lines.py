"""The lines of a bill, for a table of jobs at once (docs/prices.md)."""

from typing import NamedTuple

import numpy as np

from sweetspot.bills.columns import Array, Columns, numbers, size, to_rows
from sweetspot.bills.renting import HOUR_S, billed_months, billed_seconds, sustained_fraction
from sweetspot.bills.spot import NEVER_HOURS, makespan, wall_time

JOB_COLUMNS = (
    "month_days", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high", "energy_usd_per_hour",
    "energy_usd_per_hour_low", "energy_usd_per_hour_high", "interruptions_per_hour", "interruptions_per_hour_low",
    "interruptions_per_hour_high", "checkpoint_s", "restore_s", "wait_s", "every_s", "granularity_s", "minimum_s",
    "setup_usd", "monthly_usd", "monthly_minimum_usd", "prorated", "storage_usd_per_month", "egress_usd",
    "sustained_machine_share", "sustained_tiers",
)  # fmt: skip


class Bill(NamedTuple):
    """USD of each line, hours from start to end, machine hours; one entry a job, infinite where it never finishes."""

    lines: dict[str, Array]
    hours: Array
    machine_hours: Array

    @property
    def usd(self) -> Array:
        """The sum of the lines."""
        return sum(self.lines.values(), np.zeros(len(self.hours)))


def bill_lines(jobs: Columns, fees: Columns, end: str = "") -> Bill:
    """The bills of jobs at one end of the figures (`end`: "", "_low" or "_high").

    `jobs` has `instance`, `purchase` and JOB_COLUMNS of the offers table, `work_hours` of one start (also at `end`),
    `starts` one after the other, and `spread_months` (null: the hours decide how many months of fees are due);
    `in_a_row`: equal jobs that a start works on one after the other, each of which ends with its result (absent: one).
    `fees` is the fees table.
    """
    starts, rate, energy = numbers(jobs, "starts", f"usd_per_hour{end}", f"energy_usd_per_hour{end}")
    hours, running = _time(jobs, end)
    step, least, month_days = numbers(jobs, "granularity_s", "minimum_s", "month_days")
    billed = starts * billed_seconds(running * HOUR_S, step, least) / HOUR_S
    spread = jobs["spread_months"]
    elapsed = np.where(np.isnan(spread), hours * starts / (24.0 * month_days), spread)
    prorated = np.array([flag is not False for flag in jobs["prorated"]])
    months = billed_months(elapsed * 24.0 * month_days, month_days, prorated)
    compute = billed * rate * _sustained(jobs, billed, elapsed)
    floor, setup, monthly, storage, egress = numbers(
        jobs, "monthly_minimum_usd", "setup_usd", "monthly_usd", "storage_usd_per_month", "egress_usd"
    )
    own = jobs["purchase"] == "own"
    use, electricity = starts * running * rate, starts * running * energy
    lines = {
        "use": np.where(own, 0.0, use),
        "rounding and discounts": compute - use,
        "monthly minimum": np.maximum(floor * months - compute, 0.0),
        "setup": setup,
        "monthly fee": monthly * months,
        "storage": storage * months,
        "egress": egress,
        **_fees(jobs, fees, {"per_start": starts, "per_hour": billed, "per_month": months}),
        "electricity": np.where(own, electricity, 0.0),
        "possession": np.where(own, use - electricity, 0.0),
    }
    return Bill(lines, hours * starts, running * starts)


def _time(jobs: Columns, end: str) -> tuple[Array, Array]:
    """Hours from the beginning to the end of one start, and those in which its machine runs."""
    dump, restore, wait = (seconds / HOUR_S for seconds in numbers(jobs, "checkpoint_s", "restore_s", "wait_s"))
    starts, often = numbers(jobs, "starts", f"interruptions_per_hour{end}")
    row = jobs.get("in_a_row", np.ones(size(jobs)))
    work = jobs[f"work_hours{end}"] / row
    running = row * wall_time(work, often, np.where(often > 0, dump, 1.0), restore, jobs["every_s"] / HOUR_S)
    hours = makespan(running, often, wait)
    return np.where(hours * starts > NEVER_HOURS, np.inf, hours), running


def _sustained(jobs: Columns, billed: Array, months: Array) -> Array:
    """Fraction of the rate paid under sustained-use tiers, by the share of the elapsed months that is billed."""
    fraction = np.ones(size(jobs))
    granted = [tuple((tier["up_to"], tier["fraction"]) for tier in tiers or ()) for tiers in jobs["sustained_tiers"]]
    for tiers in set(granted) - {()}:
        here = np.array([own == tiers for own in granted])
        span = np.maximum(1.0, months[here]) * 24.0 * jobs["month_days"][here]
        paid = sustained_fraction(billed[here] / span, tiers)
        part = jobs["sustained_machine_share"][here]
        fraction[here] = part * paid + (1.0 - part)
    return fraction


def _fees(jobs: Columns, fees: Columns, due: dict[str, Array]) -> dict[str, Array]:
    """USD by name of fee; `due`: how many starts, billed hours and months of it."""
    lines: dict[str, Array] = {}
    for fee in to_rows(fees):
        here = (jobs["instance"] == fee["instance"]) & (jobs["purchase"] == fee["purchase"])
        usd = lines.setdefault(f"fee: {fee['name']}", np.zeros(size(jobs)))
        usd[here] += fee["usd"] * due[fee["unit"]][here]
    return lines
