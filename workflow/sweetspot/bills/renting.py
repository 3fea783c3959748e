"""Renting: from hours of use to the lines of a bill, for whole tables at once (docs/studies.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.bills.schemas import FloatArray, Number, numbers

HOUR_S = 3600.0
# Keeps 3 x 0.1 s from becoming 4 x 0.1 s through the last digit of a float.
ROUNDING = 1e-9
# A job that is expected to take longer than a hundred years is reported as never finishing.
NEVER_HOURS = 876_600.0
LARGEST_EXPONENT = 700.0
MONTHLY_FEES = ("monthly_usd", "storage_usd_per_month")


def billed_seconds(seconds: Number, granularity_s: Number, minimum_s: Number) -> FloatArray:
    """Return the seconds that a provider charges for one start: max(minimum, ceil(t / granularity) x granularity).

    Parameters
    ----------
    seconds, granularity_s, minimum_s
        Seconds used; use is rounded up to a multiple of the granularity (0: not rounded); least seconds charged.
    """
    used, step = np.asarray(seconds, float), np.asarray(granularity_s, float)
    units = used / np.where(step > 0, step, np.inf)
    rounded = np.ceil(units * (1.0 - ROUNDING)) * step
    return np.maximum(np.maximum(rounded, used), minimum_s)


def billed_months(hours: Number, month_days: Number, prorated: bool | pd.Series) -> FloatArray:
    """Return the months for which a rental's monthly fees (storage, minimum) are due.

    Parameters
    ----------
    hours, month_days, prorated
        Hours from start to end; days of a month; whether fees go by the hour (else by whole months, at least one).
    """
    months = np.asarray(hours / (24.0 * month_days))
    full_months = np.where(months > 0, np.maximum(1.0, np.ceil(months - ROUNDING)), 0.0)
    return np.where(prorated, months, full_months)


def contract_months(months: Number | pd.Series, term_months: Number | pd.Series) -> FloatArray:
    """Return the months that are signed for: `months` rounded up to whole terms of `term_months`, at least one."""
    terms = np.ceil(np.asarray(months / term_months, float) - ROUNDING)
    return np.asarray(np.maximum(1.0, terms) * term_months)


def checkpoint_interval(dump: Number, between: Number) -> FloatArray:
    """Return the time between checkpoints that loses least to interruptions, in the unit of both arguments.
    tau = sqrt(2 d M) [1 + (1/3) sqrt(d/2M) + (1/9)(d/2M)] - d for d < 2M, else M (Daly 2006, eq. 37), with the time d
    to write a checkpoint (`dump`) and the mean time M between interruptions (`between`).
    """
    ratio = dump / (2.0 * between)
    tau = np.sqrt(2.0 * dump * between) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - dump
    return np.where(dump < 2.0 * between, tau, between)


def wall_time(work: Number, per_hour: Number, dump: Number, restore: Number, interval: Number) -> FloatArray:
    """Return the expected machine hours of a training with interruptions (spot, failures); infinity beyond NEVER_HOURS.
    With M = 1 / per_hour, a stretch of tau hours and the checkpoint d after it take M e^(R/M) (e^((tau+d)/M) - 1) (Daly
    2006). There are T_s / tau stretches; the last has no checkpoint, because its end is the result. So T_w = M e^(R/M)
    [(T_s/tau - 1) (e^((tau+d)/M) - 1) + e^(tau/M) - 1]; T_w = T_s without interruptions.

    Parameters
    ----------
    work, per_hour, dump, restore, interval
        Hours of training T_s without interruptions; interruptions per hour; hours to write a checkpoint d, to restart
        from it R, and between checkpoints tau (at most the work; NaN: best).
    """
    work, tau = np.asarray(work, float), _interval_or_best(per_hour, dump, interval)
    tau = np.where(work > 0, np.minimum(tau, work), tau)
    first, last = work - tau, np.minimum(work, tau)
    with np.errstate(invalid="ignore"):
        saved = np.where(first > 0, first * _slowdown(per_hour, dump, restore, tau), 0.0)
    total = saved + last * _slowdown(per_hour, 0.0, restore, tau)
    return np.where(total > NEVER_HOURS, np.inf, total)


def overhead(per_hour: Number, dump: Number, restore: Number, interval: Number) -> FloatArray:
    """Return machine hours per hour of a long training with interruptions, by which spot prices rise; or infinity.

    Parameters
    ----------
    per_hour, dump, restore, interval
        Interruptions per hour; hours to write a checkpoint, to restart from it, and between two (NaN: the best ones).
    """
    factor = _slowdown(per_hour, dump, restore, _interval_or_best(per_hour, dump, interval))
    return np.where(factor > NEVER_HOURS, np.inf, factor)


def _interval_or_best(rate: Number, dump: Number, interval: Number) -> FloatArray:
    """Return the hours between checkpoints: `interval`, or the best one where it is NaN."""
    return np.where(np.isnan(interval), checkpoint_interval(dump, _hours_between(rate)), interval)


def _hours_between(rate: Number) -> FloatArray:
    """Return the mean hours between interruptions; 1 if there are none, so that the formulae are defined."""
    rate = np.asarray(rate)
    return np.asarray(1.0 / np.where(rate > 0, rate, 1.0))


def _slowdown(rate: Number, dump: Number, restore: Number, tau: FloatArray) -> FloatArray:
    """Return machine hours per hour of training with interruptions (Daly 2006), by which time and cost grow; none: 1.
    `rate`: interruptions per hour; `dump`, `restore`, `tau`: hours to write a checkpoint, to restart, between two.
    """
    between = _hours_between(rate)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        lost = np.expm1(np.minimum((tau + dump) / between, LARGEST_EXPONENT))
        factor = between * np.exp(np.minimum(restore / between, LARGEST_EXPONENT)) * lost / tau
    return np.where(np.asarray(rate) > 0, factor, 1.0)


def makespan(machine_hours: Number, per_hour: Number, wait: Number) -> Number:
    """Return the expected hours from start to end of an interrupted job, for its deadline: T_w (1 + wait / M).

    Parameters
    ----------
    machine_hours, per_hour, wait
        Hours that the machine runs T_w; interruptions per hour 1 / M; hours until another machine is free (not billed).
    """
    return machine_hours * (1.0 + per_hour * wait)


@dataclass(frozen=True)
class Bill:
    """USD by line of the bill, hours from start to end and machine hours, one value per job; hours may be infinite."""

    lines: dict[str, FloatArray]
    hours: FloatArray
    machine_hours: FloatArray

    @property
    def usd(self) -> FloatArray:
        """USD of each job: the sum of all lines of its bill."""
        return np.sum(list(self.lines.values()), axis=0)


def monthly_fees(row: Mapping[str, Any]) -> float:
    """Return USD per month that a contract costs beside its price, from an offer's flat fee and storage (NaN: none)."""
    return float(np.nansum([row[name] for name in MONTHLY_FEES]))


def bill_lines(jobs: pd.DataFrame, fees: pd.DataFrame, suffix: str = "") -> Bill:
    """Return what each job costs as a Bill (USD by line, hours, machine hours), at central values or at one bound.

    Parameters
    ----------
    jobs, fees, suffix
        A row per job: columns of the offers table; `work_hours` of one start (also with `suffix`: '', '_low' or
        '_high'); `starts` one after the other; `spread_months`, the months for which monthly fees are due (NaN: by the
        hours); `in_a_row`, equal jobs that one start works on, each of which ends with its result; `share` of the
        machine's bill that the job bears. Then the fees table (`name`, `unit`, `usd` by instance and purchase).
    """
    starts, in_a_row, share, price, energy, rate = numbers(
        jobs, "starts", "in_a_row", "share",
        *(f"{name}{suffix}" for name in ("usd_per_hour", "energy_usd_per_hour", "interruptions_per_hour")),
    )  # fmt: skip
    checkpoint, restore, wait = (seconds / HOUR_S for seconds in numbers(jobs, "checkpoint_s", "restore_s", "wait_s"))
    step, minimum, month_days, setup, egress, *monthly = numbers(
        jobs, "granularity_s", "minimum_s", "month_days", "setup_usd", "egress_usd",
        "monthly_minimum_usd", *MONTHLY_FEES,
    )  # fmt: skip
    work, spread_months, interval = jobs[[f"work_hours{suffix}", "spread_months", "every_s"]].to_numpy(float).T
    dump = np.where(rate > 0, checkpoint, 1.0)
    running = in_a_row * wall_time(work / in_a_row, rate, dump, restore, interval / HOUR_S)
    hours = starts * makespan(running, rate, wait)
    hours = np.where(hours > NEVER_HOURS, np.inf, hours)
    billed = starts * billed_seconds(running * HOUR_S, step, minimum) / HOUR_S
    elapsed = np.where(np.isnan(spread_months), hours, spread_months * 24.0 * month_days)
    months = billed_months(elapsed, month_days, ~jobs["prorated"].eq(False))
    monthly_minimum, monthly_fee, storage = (usd * months for usd in monthly)

    running = starts * running
    use, electricity = running * price, running * energy
    is_owned = jobs["purchase"].eq("own").to_numpy()
    lines = {
        "use": np.where(is_owned, 0.0, use),
        "rounding and discounts": billed * price - use,
        "monthly minimum": np.maximum(monthly_minimum - billed * price, 0.0),
        "setup": setup,
        "monthly fee": monthly_fee,
        "storage": storage,
        "egress": egress,
    }
    quantities = {"per_start": starts, "per_hour": billed, "per_month": months}
    for fee in fees.to_dict("records"):
        is_due = jobs["instance"].eq(fee["instance"]) & jobs["purchase"].eq(fee["purchase"])
        line = f"fee: {fee['name']}"
        lines[line] = lines.get(line, 0.0) + np.where(is_due, fee["usd"] * quantities[fee["unit"]], 0.0)
    lines["electricity"] = np.where(is_owned, electricity, 0.0)
    lines["possession"] = np.where(is_owned, use - electricity, 0.0)
    return Bill({line: usd * share for line, usd in lines.items()}, hours, running * share)


def job_rounds(jobs: Number, slots: Number, machines: Number) -> tuple[FloatArray, FloatArray]:
    """Return (rounds on the busiest machine, which set the time; rounds of all machines, which are paid) of equal jobs.

    Parameters
    ----------
    jobs, slots, machines
        Jobs, dealt out evenly; jobs that a machine runs at once (a round); machines; idle ones do not count.
    """
    used = np.minimum(machines, np.ceil(jobs / slots))
    share, remainder = np.divmod(jobs, used)
    short, long = np.ceil(share / slots), np.ceil((share + 1) / slots)
    return np.where(remainder > 0, long, short), long * remainder + short * (used - remainder)


def next_machine_count(
    machines: FloatArray, total_hours: FloatArray, hours_per_machine: FloatArray, maximum: float
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return (larger numbers of machines to try for work that must end in time, whether `machines` are too few).

    Parameters
    ----------
    machines, total_hours, hours_per_machine, maximum
        Per case: machines tried last; hours of the work on them (infinite or NaN: no more are tried); hours that one
        may work; number beyond which another machine has nothing to do.
    """
    is_short = np.isfinite(total_hours) & (total_hours / (1.0 + ROUNDING) > hours_per_machine)
    hours = np.where(is_short, total_hours, 0.0)
    needed = np.ceil(machines * hours / hours_per_machine - ROUNDING)
    larger = np.maximum(machines, np.minimum(maximum, needed))
    return np.where(is_short, larger, machines), is_short
