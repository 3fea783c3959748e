"""What a machine sells for at the end of the project, by its age."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MONTHS_A_YEAR = 12.0


def kept_at(points: Sequence[Sequence[float]], months: npt.ArrayLike, end: int = 0) -> Array:
    """Share of the purchase that a machine is sold for after `months`; `end`: median (0), low (1), high (2).

    Linear between the points (years since the purchase, median, low, high), the first at 0 years; beyond the last one
    its share.
    """
    years = np.array([point[0] for point in points])
    kept = np.array([point[1 + end] for point in points])
    return np.interp(np.asarray(months, float) / MONTHS_A_YEAR, years, kept)


def relative(points: Any, months: npt.ArrayLike, central: float) -> Array:
    """Resale value after `months` over that after `central` months, by the column `residual_points`; 1 without it."""
    curve = [] if points is None or isinstance(points, float) else [(p["years"], p["kept"]) for p in points]
    base = float(kept_at(curve, central)) if curve else 0.0
    return kept_at(curve, months) / base if base > 0 else np.ones_like(np.asarray(months, float))
