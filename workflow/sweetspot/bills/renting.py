"""Renting: from hours of use to the sum on the bill, for whole tables at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
HOUR_S = 3600.0
# 3 x 0.1 s must not become 4 x 0.1 s through the last digit of a float.
ROUNDING = 1e-9


def billed_seconds(seconds: npt.ArrayLike, granularity_s: npt.ArrayLike, minimum_s: npt.ArrayLike) -> Array:
    """Seconds charged for one start: max(minimum, ceil(t/granularity) granularity); granularity 0: not rounded."""
    used = np.asarray(seconds, float)
    step = np.asarray(granularity_s, float)
    units = used / np.where(step > 0, step, 1.0)
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


def sustained_fraction(share: npt.ArrayLike, tiers: Sequence[tuple[float, float]]) -> Array:
    """Mean fraction of the price paid when a machine runs for `share` of the month.

    `tiers`: (share of the month up to which, fraction paid within the tier), ascending to 1. The fraction of a
    tier holds for the hours in it only, so a bill never falls when use rises.
    """
    used = np.clip(np.asarray(share, float), 0.0, 1.0)
    paid = np.zeros_like(used)
    start = 0.0
    for end, fraction in tiers:
        paid = paid + np.clip(used - start, 0.0, end - start) * fraction
        start = end
    first = tiers[0][1]
    return np.where(used > 0, paid / np.where(used > 0, used, 1.0), first)
