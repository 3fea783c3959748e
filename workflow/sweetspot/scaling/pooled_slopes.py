"""Slopes of groups that are drawn to a common slope, by robust ridge regression."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

COMMON_SHARE = 0.7  # of the prior variance of a slope: the part that all groups have in common
REWEIGHTING_ROUNDS = 10
ALL_GROUPS = ""


@dataclass(frozen=True)
class SlopePrior:
    """Prior assumptions of `fit_pooled_slopes`, each as (mean, standard deviation). slopes: of the slope on each
    variable; step: of the change where a figure crosses a border; scatter: deviation of one figure from its line.
    """

    slopes: tuple[tuple[float, float], ...]
    step: tuple[float, float]
    scatter: float


@dataclass(frozen=True)
class PooledSlopes:
    """Fitted slopes: one mapping from group to slope per variable (ALL_GROUPS: any other group), and the step."""

    slopes: tuple[Mapping[str, float], ...]
    step: float


def fit_pooled_slopes(
    groups: pd.Series, variables: Sequence[pd.Series], target: pd.Series, step: pd.Series, prior: SlopePrior
) -> PooledSlopes:
    """Fit a line per group (benchmark, kind of network) that is drawn to a common line where the group has few
    figures; scaling losses between nodes and in times to a target are learnt so. `target` = sum of slope (per group) x
    variable + coefficient x `step`; the coefficient and the slopes of the first variable are >= 0 (partial pooling:
    Gelman & Hill 2007, chapter 12; robust weights: Huber 1964).

    Parameters
    ----------
    groups, variables, target, step, prior
        Of each row its group, its value of each variable, the number to explain, and 1 where it crosses a border (-1:
        back, else 0); means and standard deviations of the slopes, of the step and of the scatter.
    """
    names = sorted(set(groups))
    members = np.column_stack([np.ones(len(groups)), *(groups == name for name in names)])
    columns = [members * variable.to_numpy(dtype=float)[:, None] for variable in variables]
    design = np.column_stack([*columns, step.astype(float)])
    shares = np.sqrt([COMMON_SHARE, *[1 - COMMON_SHARE] * len(names)])
    means, sds = zip(*prior.slopes, strict=True)
    start = np.append(np.outer(means, [1.0, *[0.0] * len(names)]), prior.step[0])
    deviations = np.append(np.outer(sds, shares), prior.step[1])
    precision = np.diag(1 / deviations**2)
    gap = target.to_numpy(dtype=float) - design @ start
    change, weight = np.zeros(len(start)), np.ones(len(gap))
    for _ in range(REWEIGHTING_ROUNDS):
        weighted = design.T * (weight / prior.scatter**2)
        change = np.linalg.solve(weighted @ design + precision, weighted @ gap)
        # A figure far off pulls no harder than one that is two scatters away.
        residual = np.maximum(np.abs(gap - design @ change), prior.scatter)
        weight = np.minimum(1.0, 2 * prior.scatter / residual)

    *coefficients, step_value = start + change
    slopes = np.reshape(coefficients, (len(variables), -1))
    slopes[:, 1:] += slopes[:, :1]
    slopes[0] = slopes[0].clip(min=0.0)
    tables = [dict(zip([ALL_GROUPS, *names], row, strict=True)) for row in slopes.tolist()]
    return PooledSlopes(tuple(tables), max(float(step_value), 0.0))


def slopes_of(groups: pd.Series, slopes: Mapping[str, float]) -> pd.Series:
    """Return a number per row: the slope of its group, or that of ALL_GROUPS for a group not in `slopes`."""
    return groups.map(slopes).fillna(slopes[ALL_GROUPS]).astype(float)
