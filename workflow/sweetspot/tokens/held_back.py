"""How wrong the speed by arithmetic is on published figures that were held back: by software, by model, by device."""

from collections.abc import Iterator
from statistics import median, quantiles
from typing import NamedTuple

from sweetspot.study.open_models import open_models
from sweetspot.tokens.mfu import Figure, Range, carried, expected_mfu, from_one_timing
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
                    pairs.append((one, expected_mfu(rest, one.method, one.precision, stack)))
        yield _error(by, "stack" if stack_known else "nothing", pairs)


def with_one_figure(figures: tuple[Figure, ...]) -> Iterator[Error]:
    """One figure is known that is ALIKE: of another model on the same device, or of the same model on another."""
    for by in BY[1:]:
        pairs = [
            (one, from_one_timing(other.mfu * _carried(other, one)))
            for one in figures
            for other in figures
            if getattr(one, by) != getattr(other, by)
            and all(getattr(one, name) == getattr(other, name) for name in (*ALIKE, *(set(BY[1:]) - {by})))
        ]
        if len(pairs) > 1:
            yield _error(by, "one figure", pairs)


def _carried(known: Figure, new: Figure) -> float:
    models, devices = open_models(), shipped_devices()
    active = models[new.model].active_parameters / models[known.model].active_parameters
    return carried(active, devices.get(new.gpu).memory_gb / devices.get(known.gpu).memory_gb)


def _error(by: str, known: str, pairs: list[tuple[Figure, Range]]) -> Error:
    errors = [abs(expected.middle / one.mfu - 1) for one, expected in pairs]
    inside = [expected.low <= one.mfu <= expected.high for one, expected in pairs]
    return Error(by, known, len(pairs), median(errors), quantiles(errors, n=10)[-1], sum(inside) / len(inside))
