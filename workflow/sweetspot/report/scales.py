"""Where values stand on the charts of the first page, and the labels of their axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweetspot.wording import Money, money

if TYPE_CHECKING:
    from sweetspot.report.outcome import ValueRange

FAR = 4.0  # times the costs that are compared: a longer bar would press all others into a corner


@dataclass(frozen=True)
class Axis:
    """A linear chart axis: maps values `minimum` to `maximum` to positions `start` to `end` (per cent or pixels)."""

    minimum: float
    maximum: float
    start: float = 0.0
    end: float = 100.0

    def at(self, value: float) -> str:
        """Return where a value stands on the axis, as text for HTML or SVG, in per cent or pixels."""
        span = (self.maximum - self.minimum) or 1.0
        return f"{self.start + (self.end - self.start) * (value - self.minimum) / span:.4g}"

    def width(self, low: float, high: float) -> str:
        """Return the length of a bar from `low` to `high` as text, in per cent or pixels, at least 0.8."""
        return f"{max(0.8, float(self.at(high)) - float(self.at(low))):.4g}"

    def ticks(self, count: int = 4) -> list[float]:
        """Return about `count` round, evenly spaced values from 0 to the axis's maximum, where its labels stand."""
        raw = (self.maximum or 1.0) / count
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(by * size for by in (1, 2, 2.5, 5, 10) if by * size >= raw)
        return [step * n for n in range(int(self.maximum / step + 1e-9) + 1)]


def cost_axis(costs: "Sequence[ValueRange]", reference_usd: float, money: Money) -> Axis:
    """Return the axis of a bar chart of costs, from 0 to the highest bound of a cost, in the currency `money`. Costs
    above FAR times `reference_usd` are ignored: their bars say that they lie beyond the axis.

    Parameters
    ----------
    costs, reference_usd, money
        Costs of the choices with their intervals, in USD, in any order; the higher of the two costs that the answer
        compares; the currency of the axis.
    """
    comparable = [cost for cost in costs if (cost.value or 0.0) <= FAR * reference_usd]
    highest = max((end for cost in comparable for end in (cost.value, cost.high) if end is not None), default=0.0)
    return Axis(0.0, money.of(highest) or 1.0)


def short_amount(value: float) -> str:
    """Return an amount of money as a short label of an axis: 0, 800, 12 k, 1.2 M."""
    if abs(value) >= 999_500:  # below that, three digits are fewer than 1000 k
        return f"{value / 1e6:.3g} M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:.3g} k"
    return f"{value:,g}" if value == round(value) else money(value)
