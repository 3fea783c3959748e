"""Slopes of groups drawn to a common one: a small robust regression with priors, in closed form."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

SHARED = 0.7  # of the prior's spread of a slope, the part that all groups share
ROUNDS = 10

Slopes = dict[str, float]


class Prior(NamedTuple):
    """What is assumed before a figure is seen, each (mean, sd); scatter: of one figure around its line."""

    slope: tuple[float, float]
    step: tuple[float, float]
    scatter: float


def pooled_slopes(groups: pd.Series, x: pd.Series, y: pd.Series, step: pd.Series, prior: Prior) -> tuple[Slopes, float]:
    """Slopes of y on x through the origin, one a group, drawn to a common one (``""``), and that on `step`.

    groups: names; x, y, step: numbers, same index (step: 1 where a figure crosses a border, -1 for the way back). None
    of the slopes is below 0. Partial pooling: Gelman & Hill 2007, chapter 12; robust by Huber's weights.
    """
    names = sorted(set(groups))
    design = np.column_stack([np.asarray(part, dtype=float) for part in _parts(groups, x, step, names)])
    mean, sd = prior.slope
    own = sd * math.sqrt(1 - SHARED)
    spread = np.array([sd * math.sqrt(SHARED), prior.step[1], *([own] * len(names))])
    start = np.array([mean, prior.step[0], *([0.0] * len(names))])
    gap = y.to_numpy(dtype=float) - design @ start
    found, weight = start, np.ones(len(gap))
    for _ in range(ROUNDS):  # a figure far off the others pulls no harder than one two scatters away
        weighted = design.T * (weight / prior.scatter**2)
        found = start + np.linalg.solve(weighted @ design + np.diag(1 / spread**2), weighted @ gap)
        off = np.abs(gap - design @ (found - start))
        weight = np.minimum(1.0, 2 * prior.scatter / np.maximum(off, prior.scatter))
    slopes = {name: max(float(found[0] + part), 0.0) for name, part in zip(names, found[2:], strict=True)}
    return {"": max(float(found[0]), 0.0), **slopes}, max(float(found[1]), 0.0)


def _parts(groups: pd.Series, x: pd.Series, step: pd.Series, names: list[str]) -> list[pd.Series]:
    return [x, step, *(x.where(groups == name, 0.0) for name in names)]
