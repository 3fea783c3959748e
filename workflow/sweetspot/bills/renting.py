"""Renting: from hours of use to the lines of a bill, for whole tables at once (docs/prices.md)"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sweetspot.bills.columns import Array, Columns, numbers, ranged, size, to_rows

HOUR_S = 3600.0
# 3 x 0.1 s must not become 4 x 0.1 s through the last digit of a float.
ROUNDING = 1e-9


def billed_seconds(seconds: npt.ArrayLike, granularity_s: npt.ArrayLike, minimum_s: npt.ArrayLike) -> Array:
    """Seconds charged for one start: max(minimum, ceil(t/granularity) granularity); granularity 0: not rounded."""
    used = np.asarray(seconds, float)
    step = np.asarray(granularity_s, float)
    units = used / np.where(step > 0, step, np.inf)
    rounded = np.ceil(units * (1.0 - ROUNDING)) * step
    billed: Array = np.maximum(np.asarray(minimum_s, float), np.where(step > 0, np.maximum(rounded, used), used))
    return billed


def billed_months(hours: npt.ArrayLike, month_days: npt.ArrayLike, prorated: npt.ArrayLike) -> Array:
    """Months of fees due for `hours` in a row: by the hour if prorated, else whole months (at least one)."""
    months = np.asarray(hours, float) / (24.0 * np.asarray(month_days, float))
    whole = np.maximum(1.0, np.ceil(months - ROUNDING))
    return np.where(np.asarray(prorated, bool), months, np.where(months > 0, whole, 0.0))


def whole_terms(months: npt.ArrayLike, term_months: npt.ArrayLike) -> Array:
    """Months of the whole terms of a contract that last for `months` in a row: at least one term."""
    term = np.asarray(term_months, float)
    terms: Array = np.maximum(1.0, np.ceil(np.asarray(months, float) / term - ROUNDING)) * term
    return terms


# An expected hundred years is no plan: beyond it a job is said never to finish.
NEVER_HOURS = 876_600.0
LARGEST_EXPONENT = 700.0
SELDOM = 1e-9  # interruptions an hour: one in a hundred thousand years


def checkpoint_interval(dump: npt.ArrayLike, between: npt.ArrayLike) -> Array:
    """Best time between checkpoints (Daly 2006, eq. 37), in the unit of both arguments.

    tau = sqrt(2 d M) [1 + (1/3) sqrt(d/2M) + (1/9)(d/2M)] - d for d < 2M, else M; `dump` d: time to write one,
    `between` M: mean time between interruptions.
    """
    d, m = np.asarray(dump, float), np.asarray(between, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = d / (2.0 * m)
        tau = np.sqrt(2.0 * d * m) * (1.0 + np.sqrt(part) / 3.0 + part / 9.0) - d
    return np.where(d < 2.0 * m, tau, m)


def wall_time(
    work: npt.ArrayLike, per_hour: npt.ArrayLike, dump: npt.ArrayLike, restore: npt.ArrayLike, every: npt.ArrayLike
) -> Array:
    """Expected machine hours for `work` hours of training; inf where that is beyond NEVER_HOURS.

    All times in hours, M = 1/per_hour. A stretch of tau hours with the checkpoint d after it takes M e^(R/M)
    (e^((tau+d)/M) - 1) (Daly 2006); there are T_s/tau of them, and the last has no checkpoint, for its end is the
    result (Daly's dump time is (T_s/tau - 1) d). So T_w = M e^(R/M) [(T_s/tau - 1) (e^((tau+d)/M) - 1) + e^(tau/M)
    - 1], and a job shorter than tau takes none at all. `every` tau (nan: the best one), never longer than the work
    itself. Without interruptions nothing is saved: T_w = T_s.
    """
    work, rate, dump, restore, every = np.broadcast_arrays(
        *(np.asarray(part, float) for part in (work, per_hour, dump, restore, every))
    )
    tau = np.where(np.isnan(every), checkpoint_interval(dump, _between(rate)), every)
    tau = np.where(np.isnan(work), tau, np.minimum(tau, np.where(work > 0, work, tau)))
    rest, last = work - tau, np.minimum(work, tau)
    with np.errstate(invalid="ignore"):
        saved = np.where(rest > 0, rest * _factor(rate, dump, restore, tau), 0.0)
    total = saved + last * _factor(rate, np.zeros_like(dump), restore, tau)
    return np.where(total > NEVER_HOURS, np.inf, total)


def overhead(per_hour: npt.ArrayLike, dump: npt.ArrayLike, restore: npt.ArrayLike, every: npt.ArrayLike) -> Array:
    """Machine hours per hour of training of a long job; inf: it never finishes."""
    rate, dump, restore, every = (np.asarray(part, float) for part in (per_hour, dump, restore, every))
    tau = np.where(np.isnan(every), checkpoint_interval(dump, _between(rate)), every)
    factor = _factor(rate, dump, restore, tau)
    return np.where(factor > NEVER_HOURS, np.inf, factor)


def _between(rate: Array) -> Array:
    """Mean hours between interruptions; 1 where there are none, for the formulae to run over."""
    return 1.0 / np.where(rate > 0, rate, 1.0)


def _factor(rate: Array, dump: Array, restore: Array, tau: Array) -> Array:
    """T_w / T_s = M e^(R/M) (e^((tau+d)/M) - 1) / tau; 1 without interruptions."""
    between = _between(rate)
    lost = np.expm1(np.minimum((tau + dump) / between, LARGEST_EXPONENT))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        factor = between * np.exp(np.minimum(restore / between, LARGEST_EXPONENT)) * lost / tau
    return np.where(rate > 0, factor, 1.0)


def makespan(machine_hours: npt.ArrayLike, per_hour: npt.ArrayLike, wait: npt.ArrayLike) -> Array:
    """Expected hours from start to end: T_w + (T_w/M) wait; waiting is not billed."""
    hours, often, waited = (np.asarray(part, float) for part in (machine_hours, per_hour, wait))
    elapsed: Array = hours * (1.0 + often * waited)
    return elapsed


def losing_rate(
    spot_per_hour: float, on_demand_per_hour: float, dump: float, restore: float, every: float = float("nan")
) -> float | None:
    """Interruptions an hour from which spot costs more than on demand (long job, times in hours); None: it always does.

    The overhead grows with the rate, so bisection finds the one crossing, to a relative 1e-9; 0 where the checkpoints
    themselves, taken at a fixed interval, cost the difference.
    """
    if spot_per_hour >= on_demand_per_hour:
        return None
    target = on_demand_per_hour / spot_per_hour
    low, high = SELDOM, 1.0
    if overhead(low, dump, restore, every) >= target:
        return 0.0
    while overhead(high, dump, restore, every) < target:
        low, high = high, high * 2.0
        if high > 1e9:  # free checkpoints and restores: no rate makes spot dearer within sense
            return high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if overhead(middle, dump, restore, every) < target else (low, middle)
    return high


JOB_COLUMNS = (
    "month_days", *ranged("usd_per_hour", "energy_usd_per_hour", "interruptions_per_hour"), "checkpoint_s", "restore_s",
    "wait_s", "every_s", "granularity_s", "minimum_s", "setup_usd", "monthly_usd", "monthly_minimum_usd", "prorated",
    "storage_usd_per_month", "egress_usd",
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

    def borne(self, share: Array) -> "Bill":
        """The part of a machine's bill that its job bears; its time is its own."""
        lines = {line: usd * share for line, usd in self.lines.items()}
        return Bill(lines, self.hours, self.machine_hours * share)


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
    compute = billed * rate
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


def _fees(jobs: Columns, fees: Columns, due: dict[str, Array]) -> dict[str, Array]:
    """USD by name of fee; `due`: how many starts, billed hours and months of it."""
    lines: dict[str, Array] = {}
    for fee in to_rows(fees):
        here = (jobs["instance"] == fee["instance"]) & (jobs["purchase"] == fee["purchase"])
        usd = lines.setdefault(f"fee: {fee['name']}", np.zeros(size(jobs)))
        usd[here] += fee["usd"] * due[fee["unit"]][here]
    return lines
