"""A throughput figure that nobody measured here, with its evidence."""

import math
from typing import NamedTuple


class Figure(NamedTuple):
    """A throughput figure with its evidence.

    images_per_s_low, images_per_s_high: as the source bounds it; NaN where it does not.
    stand_in_*: the cell whose figure stands in, for this figure or for the one it is made from; else None.
    stand_in_batch_size is None too where its source does not say it; stand_in_years: by how many years its software is
    newer than the study (below 0: older; NaN: not known, or no stand-in).
    """

    images_per_s: float
    variant: str
    basis: str
    source: str
    warnings: list[dict[str, str]]
    xla: bool
    stand_in_gpu: str | None = None
    stand_in_framework: str | None = None
    stand_in_batch_size: int | None = None
    stand_in_precision: str | None = None
    stand_in_years: float = math.nan
    images_per_s_low: float = math.nan
    images_per_s_high: float = math.nan
