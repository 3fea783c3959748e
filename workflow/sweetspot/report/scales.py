"""Where values stand on the charts of the first page, and the labels of their axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sweetspot.wording import money

FAR = 4.0  # times the next cheaper: a bar so much longer would press all others into a corner


@dataclass(frozen=True)
class Axis:
    """A linear axis from `minimum` to `maximum`, drawn from `start` to `end`: per cent of a track, or pixels."""

    minimum: float
    maximum: float
    start: float = 0.0
    end: float = 100.0

    def at(self, value: float) -> str:
        """Return the position of a value."""
        span = (self.maximum - self.minimum) or 1.0
        return f"{self.start + (self.end - self.start) * (value - self.minimum) / span:.4g}"

    def width(self, low: float, high: float) -> str:
        """Return the length of a bar between two values, at least so long that it is visible."""
        return f"{max(0.8, float(self.at(high)) - float(self.at(low))):.4g}"

    def ticks(self, count: int = 4) -> list[float]:
        """Return round values from 0 on that lie on the axis, about `count` of them."""
        raw = (self.maximum or 1.0) / count
        size = 10.0 ** math.floor(math.log10(raw))
        step = next((by * size for by in (1, 2, 2.5, 5) if by * size >= raw), 10 * size)
        return [step * n for n in range(int(self.maximum / step + 1e-9) + 1)]


def cost_axis(bars: Sequence[tuple[float, float | None]]) -> Axis:
    """Return the axis of a chart of costs.

    Parameters
    ----------
    bars
        Middle and high end of each choice, in any order; without an interval the end is None.

    Returns
    -------
    Axis
        From 0 to the highest end. From the first choice on that costs over FAR times the next cheaper, choices lie
        beyond its maximum.
    """
    ordered = sorted(bars)
    on_axis = ordered[:1]
    for bar in ordered[1:]:
        if bar[0] > FAR * on_axis[-1][0]:
            break
        on_axis.append(bar)
    return Axis(0.0, max((max(value, high or value) for value, high in on_axis), default=1.0) or 1.0)


def short_amount(value: float) -> str:
    """Write an amount for an axis: 0, 800, 12 k, 1.2 M."""
    if abs(value) >= 999_500:  # below that, three digits are fewer than 1000 k
        return f"{value / 1e6:.3g} M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:.3g} k"
    return f"{value:,g}" if value == round(value) else money(value)


def separate_labels(positions: Sequence[float], gap: float) -> list[float]:
    """Move two labels apart, evenly, so that at least `gap` lies between them; other numbers stay as they are."""
    if len(positions) != 2 or abs(positions[0] - positions[1]) >= gap:
        return list(positions)
    middle, half = sum(positions) / 2, gap / 2
    first_above = positions[0] <= positions[1]
    return [middle - half, middle + half] if first_above else [middle + half, middle - half]
