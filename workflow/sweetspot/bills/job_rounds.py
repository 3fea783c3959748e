"""How many rounds of equal jobs machines work through, and how many machines a deadline needs."""

import numpy as np
import numpy.typing as npt

from sweetspot.bills.renting import ROUNDING
from sweetspot.bills.schemas import FloatArray, Number


def job_rounds(jobs: Number, slots: Number, machines: Number) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of rounds in which machines finish equal jobs that are dealt out evenly.

    Parameters
    ----------
    jobs
        Number of jobs.
    slots
        Jobs that one machine runs at the same time.
    machines
        Number of machines; those beyond what the jobs fill stay idle.

    Returns
    -------
    longest, total
        Rounds on the machine with the most jobs, and rounds of all machines together.
    """
    used = np.minimum(machines, np.ceil(jobs / slots))
    share, remainder = np.divmod(jobs, used)
    short, long = np.ceil(share / slots), np.ceil((share + 1) / slots)
    return np.where(remainder > 0, long, short), long * remainder + short * (used - remainder)


def next_machine_count(
    machines: FloatArray, total_hours: FloatArray, hours_per_machine: FloatArray, maximum: float
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return a larger number of machines to try where `machines` are too few, and whether they are too few.

    Parameters
    ----------
    machines
        Numbers of machines that were tried last.
    total_hours
        Hours that the work takes on `machines`; where infinite or NaN, no further machine is tried.
    hours_per_machine
        Hours in which one machine may work.
    maximum
        Number beyond which another machine has nothing to do.

    Returns
    -------
    machines, is_short
        Next numbers of machines, and whether the last ones were too few; one value per case.
    """
    is_short = np.isfinite(total_hours) & (total_hours > hours_per_machine * (1.0 + ROUNDING))
    hours = np.where(is_short, total_hours, 0.0)
    needed = np.ceil(machines * hours / hours_per_machine - ROUNDING)
    larger = np.maximum(machines, np.minimum(maximum, needed))
    return np.where(is_short, larger, machines), is_short
