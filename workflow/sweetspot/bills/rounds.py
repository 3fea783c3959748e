"""Jobs dealt out to machines in rounds, and how many machines a work takes: what a plan of phases is scheduled by."""

import numpy as np
import numpy.typing as npt

from sweetspot.bills.renting import ROUNDING

Array = npt.NDArray[np.float64]


def rounds(jobs: npt.ArrayLike, slots: npt.ArrayLike, machines: npt.ArrayLike) -> tuple[Array, Array]:
    """Rounds of jobs on the machine that has most of them, and of all machines together; dealt out evenly.

    Machines beyond those that the jobs fill stand idle.
    """
    used = np.minimum(machines, np.ceil(np.asarray(jobs) / slots))
    share, more = np.divmod(jobs, used)
    whole, longer = np.ceil(share / slots), np.ceil((share + 1) / slots)
    return np.where(more > 0, longer, whole), longer * more + whole * (used - more)


def more_boxes(boxes: Array, hours: Array, room: Array, most: float) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The next number of machines to try where so many take more `hours` than one works (`room`), never above `most`;
    and where they do.
    """
    short = np.isfinite(hours) & (hours > room * (1.0 + ROUNDING))
    needed = np.ceil(boxes * np.where(short, hours, 0.0) / room - ROUNDING)
    return np.where(short & (boxes < most), np.minimum(most, np.maximum(boxes + 1, needed)), boxes), short
