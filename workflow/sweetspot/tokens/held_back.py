"""How wrong the speed by arithmetic is on published figures that were held back: by software, by model, by device."""

import math
from collections.abc import Iterator
from statistics import median, quantiles
from typing import NamedTuple

from sweetspot.study.open_models import open_models
from sweetspot.tokens.mfu import Figure, Range, expected_mfu, from_one_timing, within_reach
from sweetspot.transfer.figures import shipped_devices

BY = ("software", "model", "gpu")
ALIKE = ("software", "method", "precision", "sequence")  # of two figures, one of which tells the other


class Error(NamedTuple):
    """Of the held-back figures: how many, the median and the 90th percentile of the relative error, and the share
    within their interval of 90 %.
    """

    left_out: str
    known: str
    figures: int
    median: float
    p90: float
    coverage: float


def without(figures: tuple[Figure, ...], stack_known: bool) -> Iterator[Error]:
    """Each value of each of BY is held back in turn, and its figures are expected from all others."""
    for by in BY:
        pairs = []
        for value in sorted({str(getattr(one, by)) for one in figures}):
            rest = tuple(one for one in figures if getattr(one, by) != value)
            for one in figures:
                stack = one.stack if stack_known else None
                if getattr(one, by) == value and any(stack in (None, other.stack) for other in rest):
                    pairs.append((one, expected_mfu(rest, one.method, one.precision, stack, one.mixture)))
        yield _error(by, "stack" if stack_known else "nothing", pairs)


def with_one_figure(figures: tuple[Figure, ...]) -> Iterator[Error]:
    """One figure is known that is ALIKE: of another model on the same device, or of the same model on another. How a
    share is carried is learnt from the pairs without the model or device that is held back.
    """
    for by in BY[1:]:
        pairs, found = alike(figures, by), []
        for value in sorted({str(getattr(new, by)) for _, new in pairs}):
            learnt = exponent(by, [pair for pair in pairs if value not in (getattr(one, by) for one in pair)])
            found += [
                (new, from_one_timing(known.mfu * within_reach(_times(by, known, new) ** learnt)))
                for known, new in pairs
                if getattr(new, by) == value
            ]
        if found:  # pairs go both ways, so that there are two or more
            yield _error(by, "one figure", found)


def alike(figures: tuple[Figure, ...], by: str) -> list[tuple[Figure, Figure]]:
    """Pairs of figures that are ALIKE and differ in `by` (model or gpu) alone."""
    same = (*ALIKE, *(set(BY[1:]) - {by}))
    return [
        (known, new)
        for known in figures
        for new in figures
        if getattr(known, by) != getattr(new, by) and all(getattr(known, name) == getattr(new, name) for name in same)
    ]


def exponent(by: str, pairs: list[tuple[Figure, Figure]]) -> float:
    """By least squares: to which power of active parameters (by: model) or of memory (gpu) the share goes."""
    points = [(math.log(_times(by, *pair)), math.log(pair[1].mfu / pair[0].mfu)) for pair in pairs]
    squares = sum(times**2 for times, _ in points)
    return sum(times * share for times, share in points) / squares if squares else 0.0


def _times(by: str, known: Figure, new: Figure) -> float:
    """So many times the active parameters, or the memory of the device."""
    if by == "model":
        return open_models()[new.model].active_parameters / open_models()[known.model].active_parameters
    return shipped_devices().get(new.gpu).memory_gb / shipped_devices().get(known.gpu).memory_gb


def _error(by: str, known: str, pairs: list[tuple[Figure, Range]]) -> Error:
    errors = [abs(expected.middle / one.mfu - 1) for one, expected in pairs]
    inside = [expected.low <= one.mfu <= expected.high for one, expected in pairs]
    return Error(by, known, len(pairs), median(errors), quantiles(errors, n=10)[-1], sum(inside) / len(inside))
