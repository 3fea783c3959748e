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


def relative(points: Any, months: npt.ArrayLike, central: float, dearer: npt.ArrayLike = 1.0) -> Array:
    """Resale value over that of the offers (`residual_usd`), by the column `residual_points`; 1 without it.

    After `months`, where the offers have `central`, of a machine bought for `dearer` times the offer's price: a curve
    is a share of the price and follows both, an amount stays.
    """
    curve = [] if points is None or isinstance(points, float) else [(p["years"], p["kept"]) for p in points]
    base = float(kept_at(curve, central)) if curve else 0.0
    if not base > 0:
        return np.ones(np.broadcast(months, dearer).shape)
    return np.asarray(kept_at(curve, months) / base * np.asarray(dearer, float))
