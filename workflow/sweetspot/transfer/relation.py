"""How the throughput of one workload on one device follows from that on others: pooled effects of both.

log throughput = effect of the workload + 1/2 log dense peak + 1/2 log bandwidth + effects, all normal around zero:
slopes on the device's peak, bandwidth, memory and fp32 peak, of all figures, of the network and its kind (images, text,
speech), of the benchmark's stack and of the workload itself (bound by arithmetic it rises with the peak, bound by
memory with the bandwidth); and of the device, its architecture, both by width of the number format and by kind of
network (whose operators have kernels of their own on each architecture), and the device in one stack. A device that
nobody has run has its specifications and its architecture; one with many figures has its own effect: partial pooling.
The best linear prediction and its variance have a closed form. Sources: roofline, Williams et al. 2009; partial
pooling, Gelman & Hill 2007, chapter 12; leaving rows out of it, Rasmussen & Williams 2006, section 5.4.2.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.transfer.specifications import FEATURES

# Spreads in log units: those of greatest marginal likelihood on the shipped figures, to two digits, under a lognormal
# prior around 0.1 with sd 1 of each. Slopes by feature, then plain effects.
SLOPES = {
    "all": {"peak": 0.15, "bandwidth": 0.069, "memory": 0.078, "vector": 0.12},
    "kind": {"peak": 0.058, "bandwidth": 0.068, "memory": 0.065, "vector": 0.063},
    "network": {"peak": 0.069, "bandwidth": 0.11, "memory": 0.075, "vector": 0.056},
    "stack": {"peak": 0.12, "bandwidth": 0.057},
    "workload": {"peak": 0.040, "bandwidth": 0.059, "memory": 0.17, "vector": 0.038},
}
# What all figures share is one slope a feature, not a draw of many that its spread could be learnt from. Where a share
# of the plain ratio stands beside the relation (`left_out`), that alone draws it, and the slope may be anything.
FREE = dict.fromkeys(FEATURES, 1.0)
EFFECTS = {
    ("device",): 0.040,
    ("device", "bits"): 0.025,
    ("device", "kind"): 0.029,
    ("device", "stack"): 0.054,
    ("architecture",): 0.23,
    ("architecture", "bits"): 0.059,
    ("architecture", "kind"): 0.11,
}
WORKLOAD = 10.0  # of the level of a workload: it may be anything
NOISE = 0.077  # what machines and builds of one device differ by
CENTRE = {"peak": 4.0, "bandwidth": 6.5, "memory": 3.0, "vector": 3.5}  # logs near the middle of the devices
GROUPS = ("workload", "network", "kind", "stack", "device", "architecture", "bits")


class Relation(NamedTuple):
    """A fit: its figures, the inverse of their covariance, that times their gaps to the prior mean, and `shared`."""

    figures: pd.DataFrame
    inverse: np.ndarray
    weighed: np.ndarray
    shared: Mapping[str, float]


class Told(NamedTuple):
    """Means and covariance of log throughput of several cells together; `noise` of a further figure is in it."""

    mean: np.ndarray
    covariance: np.ndarray


def fit_relation(figures: pd.DataFrame, shared: Mapping[str, float] = SLOPES["all"]) -> Relation:
    """Fit to figures (`figures.as_figures`); shared: spread of the slope that all share, by feature."""
    inverse = np.linalg.inv(_covariance(figures, figures, shared) + NOISE**2 * np.eye(len(figures)))
    return Relation(figures, inverse, inverse @ (figures["log_rate"] - _prior(figures)).to_numpy(), shared)


def predict(fitted: Relation, cells: pd.DataFrame) -> Told:
    """What a fit says of further cells together (FIGURE_COLUMNS but log_rate, and FEATURES)."""
    across = _covariance(cells, fitted.figures, fitted.shared)
    mean = _prior(cells).to_numpy() + across @ fitted.weighed
    own = _covariance(cells, cells, fitted.shared) + NOISE**2 * np.eye(len(cells))
    return Told(mean, own - across @ fitted.inverse @ across.T)


def without(fitted: Relation, rows: np.ndarray) -> Told:
    """What the fit without `rows` (their numbers) says of these rows together, without fitting anew."""
    covariance = np.linalg.inv(fitted.inverse[np.ix_(rows, rows)])
    mean = fitted.figures["log_rate"].to_numpy()[rows] - covariance @ fitted.weighed[rows]
    return Told(mean, covariance)


def given(told: Told, known: list[int], rates: np.ndarray, spread: np.ndarray | float = 0.0) -> Told:
    """`told` once the cells of numbers `known` are measured: log throughputs `rates`, each with an sd `spread`."""
    inner = told.covariance[np.ix_(known, known)] + np.diag(np.broadcast_to(np.square(spread), len(known)))
    gain = np.linalg.solve(inner, told.covariance[known]).T
    return Told(told.mean + gain @ (rates - told.mean[known]), told.covariance - gain @ told.covariance[known])


def _prior(cells: pd.DataFrame) -> pd.Series:
    return (cells["peak"] + cells["bandwidth"]) / 2


def _covariance(rows: pd.DataFrame, columns: pd.DataFrame, shared: Mapping[str, float]) -> np.ndarray:
    """Prior covariance of log throughput between two tables of cells, without noise."""
    same = {name: _same(rows[name], columns[name]) for name in GROUPS}
    total = WORKLOAD**2 * same["workload"].astype(float)
    for feature in FEATURES:
        slopes = np.full(total.shape, shared[feature] ** 2)
        for group in ("kind", "network", "stack", "workload"):
            slopes += SLOPES[group].get(feature, 0.0) ** 2 * same[group]
        left, right = (table[feature].to_numpy(dtype=float) - CENTRE[feature] for table in (rows, columns))
        total += slopes * np.outer(left, right)
    for groups, spread in EFFECTS.items():
        total += spread**2 * np.logical_and.reduce([same[name] for name in groups])
    return total


def _same(left: pd.Series, right: pd.Series) -> np.ndarray:
    codes, _ = pd.factorize(pd.concat([left, right], ignore_index=True))
    return codes[: len(left), None] == codes[None, len(left) :]
