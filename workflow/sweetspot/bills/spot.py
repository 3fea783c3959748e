"""Machines that can be taken away: checkpoints, expected time and cost, and a simulation to check them by."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
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
