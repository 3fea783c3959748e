"""Renting: from hours of use to the lines of a bill, for whole tables at once (docs/prices.md)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.bills.schemas import FloatArray, numbers

HOUR_S = 3600.0
# Keeps 3 x 0.1 s from becoming 4 x 0.1 s through the last digit of a float.
ROUNDING = 1e-9


def billed_seconds(seconds: npt.ArrayLike, granularity_s: npt.ArrayLike, minimum_s: npt.ArrayLike) -> FloatArray:
    """Return the seconds charged for one start: max(minimum, ceil(t / granularity) x granularity).

    Parameters
    ----------
    seconds
        Seconds used.
    granularity_s
        Use is rounded up to a multiple of this; 0: not rounded.
    minimum_s
        Least seconds charged.
    """
    used = np.asarray(seconds, float)
    step = np.asarray(granularity_s, float)
    units = used / np.where(step > 0, step, np.inf)
    rounded = np.maximum(np.ceil(units * (1.0 - ROUNDING)) * step, used)
    return np.asarray(np.maximum(minimum_s, np.where(step > 0, rounded, used)))


def billed_months(hours: npt.ArrayLike, month_days: npt.ArrayLike, prorated: npt.ArrayLike) -> FloatArray:
    """Return the months for which monthly fees are due.

    Parameters
    ----------
    hours
        Hours from start to end.
    month_days
        Days of a month.
    prorated
        Whether fees are charged by the hour; otherwise by whole months, at least one.
    """
    months = np.asarray(hours, float) / (24.0 * np.asarray(month_days, float))
    started = np.maximum(1.0, np.ceil(months - ROUNDING))
    return np.where(np.asarray(prorated, bool), months, np.where(months > 0, started, 0.0))


def contract_months(months: npt.ArrayLike, term_months: npt.ArrayLike) -> FloatArray:
    """Return the months of the contract terms that cover `months`: at least one term."""
    term = np.asarray(term_months, float)
    terms = np.maximum(1.0, np.ceil(np.asarray(months, float) / term - ROUNDING))
    return np.asarray(terms * term)


# A job that is expected to take longer than a hundred years is reported as never finishing.
NEVER_HOURS = 876_600.0
LARGEST_EXPONENT = 700.0


def checkpoint_interval(dump: npt.ArrayLike, between: npt.ArrayLike) -> FloatArray:
    """Return the best time between checkpoints, in the unit of both arguments.

    tau = sqrt(2 d M) [1 + (1/3) sqrt(d/2M) + (1/9)(d/2M)] - d for d < 2M, else M (Daly 2006, eq. 37), with the
    time d to write a checkpoint (`dump`) and the mean time M between interruptions (`between`).
    """
    d, m = np.asarray(dump, float), np.asarray(between, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = d / (2.0 * m)
        tau = np.sqrt(2.0 * d * m) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - d
    return np.where(d < 2.0 * m, tau, m)


def wall_time(
    work: npt.ArrayLike,
    per_hour: npt.ArrayLike,
    dump: npt.ArrayLike,
    restore: npt.ArrayLike,
    interval: npt.ArrayLike,
) -> FloatArray:
    """Return the expected machine hours of a training with interruptions; infinity beyond NEVER_HOURS.

    With M = 1 / per_hour, a stretch of tau hours and the checkpoint d after it take M e^(R/M) (e^((tau+d)/M) - 1)
    (Daly 2006). There are T_s / tau stretches; the last has no checkpoint, because its end is the result. So
    T_w = M e^(R/M) [(T_s/tau - 1) (e^((tau+d)/M) - 1) + e^(tau/M) - 1]; T_w = T_s without interruptions.

    Parameters
    ----------
    work
        Hours of training T_s without interruptions.
    per_hour
        Interruptions per hour.
    dump, restore
        Hours to write a checkpoint d, and to restart from it R.
    interval
        Hours between checkpoints tau, at most the work itself; NaN: the best ones.
    """
    work, rate, dump, restore, interval = np.broadcast_arrays(
        *(np.asarray(values, float) for values in (work, per_hour, dump, restore, interval))
    )
    tau = np.where(np.isnan(interval), checkpoint_interval(dump, _hours_between(rate)), interval)
    tau = np.where(np.isnan(work), tau, np.minimum(tau, np.where(work > 0, work, tau)))
    first, last = work - tau, np.minimum(work, tau)
    with np.errstate(invalid="ignore"):
        saved = np.where(first > 0, first * _slowdown(rate, dump, restore, tau), 0.0)
    total = saved + last * _slowdown(rate, np.zeros_like(dump), restore, tau)
    return np.where(total > NEVER_HOURS, np.inf, total)


def overhead(
    per_hour: npt.ArrayLike, dump: npt.ArrayLike, restore: npt.ArrayLike, interval: npt.ArrayLike
) -> FloatArray:
    """Return the machine hours per hour of training of a long job; infinity if it never finishes.

    Parameters
    ----------
    per_hour, dump, restore, interval
        As `wall_time` takes them.
    """
    rate, dump, restore, interval = (np.asarray(values, float) for values in (per_hour, dump, restore, interval))
    tau = np.where(np.isnan(interval), checkpoint_interval(dump, _hours_between(rate)), interval)
    factor = _slowdown(rate, dump, restore, tau)
    return np.where(factor > NEVER_HOURS, np.inf, factor)


def _hours_between(rate: FloatArray) -> FloatArray:
    """Return the mean hours between interruptions; 1 if there are none, so that the formulae are defined."""
    return np.asarray(1.0 / np.where(rate > 0, rate, 1.0))


def _slowdown(rate: FloatArray, dump: FloatArray, restore: FloatArray, tau: FloatArray) -> FloatArray:
    """Return T_w / T_s = M e^(R/M) (e^((tau+d)/M) - 1) / tau; 1 without interruptions."""
    between = _hours_between(rate)
    lost = np.expm1(np.minimum((tau + dump) / between, LARGEST_EXPONENT))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        restarts = np.exp(np.minimum(restore / between, LARGEST_EXPONENT))
        factor = between * restarts * lost / tau
    return np.where(rate > 0, factor, 1.0)


def makespan(machine_hours: npt.ArrayLike, per_hour: npt.ArrayLike, wait: npt.ArrayLike) -> FloatArray:
    """Return the expected hours from start to end: T_w (1 + wait / M); the wait is not billed.

    Parameters
    ----------
    machine_hours
        Hours that the machine runs T_w.
    per_hour
        Interruptions per hour 1 / M.
    wait
        Hours until another machine is available after an interruption.
    """
    hours, rate, waited = (np.asarray(values, float) for values in (machine_hours, per_hour, wait))
    return np.asarray(hours * (1.0 + rate * waited))


@dataclass(frozen=True)
class Bill:
    """USD of each line of the bill, hours from start to end and machine hours, one entry per job.

    Hours are infinite for a job that never finishes.
    """

    lines: dict[str, FloatArray]
    hours: FloatArray
    machine_hours: FloatArray

    @property
    def usd(self) -> FloatArray:
        """The sum of the lines."""
        return np.sum([np.zeros(len(self.hours)), *self.lines.values()], axis=0)

    def share(self, share: FloatArray) -> "Bill":
        """Return the bill of a job that bears this share of its machine; its time stays."""
        lines = {line: usd * share for line, usd in self.lines.items()}
        return Bill(lines, self.hours, self.machine_hours * share)


def bill_lines(jobs: pd.DataFrame, fees: pd.DataFrame, suffix: str = "") -> Bill:
    """Return the bills of jobs at their central values, or at their low or high bounds.

    Parameters
    ----------
    jobs
        Columns of the offers table; `work_hours` of one start (also with `suffix`);
        `starts` one after the other; `spread_months`, the months for which monthly fees are due (NaN: by the hours);
        `in_a_row`, equal jobs that one start works on, each of which ends with its result (absent: one).
    fees
        The fees table.
    suffix
        "", "_low" or "_high".
    """
    starts, rate, energy = numbers(jobs, "starts", f"usd_per_hour{suffix}", f"energy_usd_per_hour{suffix}")
    hours, running = _job_hours(jobs, suffix)
    step, minimum, month_days = numbers(jobs, "granularity_s", "minimum_s", "month_days")
    billed = starts * billed_seconds(running * HOUR_S, step, minimum) / HOUR_S
    fee_months = jobs["spread_months"].to_numpy(float)
    elapsed = np.where(np.isnan(fee_months), hours * starts, fee_months * 24.0 * month_days)
    months = billed_months(elapsed, month_days, ~jobs["prorated"].eq(False))

    compute = billed * rate
    use = starts * running * rate
    electricity = starts * running * energy
    is_owned = jobs["purchase"].eq("own").to_numpy()
    monthly_minimum, setup, monthly, storage, egress = numbers(
        jobs, "monthly_minimum_usd", "setup_usd", "monthly_usd", "storage_usd_per_month", "egress_usd"
    )
    lines = {
        "use": np.where(is_owned, 0.0, use),
        "rounding and discounts": compute - use,
        "monthly minimum": np.maximum(monthly_minimum * months - compute, 0.0),
        "setup": setup,
        "monthly fee": monthly * months,
        "storage": storage * months,
        "egress": egress,
    }
    quantities = {"per_start": starts, "per_hour": billed, "per_month": months}
    for fee in fees.to_dict("records"):
        is_due = jobs["instance"].eq(fee["instance"]) & jobs["purchase"].eq(fee["purchase"])
        usd = np.where(is_due, fee["usd"] * quantities[fee["unit"]], 0.0)
        line = f"fee: {fee['name']}"
        lines[line] = lines.get(line, 0.0) + usd
    lines["electricity"] = np.where(is_owned, electricity, 0.0)
    lines["possession"] = np.where(is_owned, use - electricity, 0.0)
    return Bill(lines, hours * starts, running * starts)


def _job_hours(jobs: pd.DataFrame, suffix: str) -> tuple[FloatArray, FloatArray]:
    """Return the hours from start to end of one start, and those in which its machine runs."""
    checkpoint, restore, wait = (seconds / HOUR_S for seconds in numbers(jobs, "checkpoint_s", "restore_s", "wait_s"))
    starts, rate = numbers(jobs, "starts", f"interruptions_per_hour{suffix}")
    in_a_row = jobs["in_a_row"].to_numpy(float) if "in_a_row" in jobs else np.ones(len(jobs))
    work = jobs[f"work_hours{suffix}"].to_numpy(float) / in_a_row
    interval = jobs["every_s"].to_numpy(float) / HOUR_S
    running = in_a_row * wall_time(work, rate, np.where(rate > 0, checkpoint, 1.0), restore, interval)
    hours = makespan(running, rate, wait)
    return np.where(hours * starts > NEVER_HOURS, np.inf, hours), running
