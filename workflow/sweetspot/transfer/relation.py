"""How the throughput of one workload on one device follows from that on others: pooled effects of both.

log throughput = level of the workload + 1/2 log dense peak + 1/2 log bandwidth + effects, all normal around zero:
slopes on the device's peak, bandwidth, memory and fp32 peak, of all figures, of the network and its kind (images, text,
speech), of the benchmark's stack and of the workload itself; and of the device, its architecture, both by width of the
number format and by kind of network, and the device in one stack. A device with many figures has its own effect, one
with few that of its architecture: partial pooling. The best linear prediction has a closed form.

References
----------
Roofline: Williams et al. 2009. Partial pooling: Gelman & Hill 2007, chapter 12.

"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import table

WORKLOAD = 10.0  # PriorSd of the level of a workload: it may be anything.
NOISE = 0.077  # What machines and builds of one device differ by.
CENTRE = {"peak": 4.0, "bandwidth": 6.5, "memory": 3.0, "vector": 3.5}  # Logs near the middle of the devices.
GROUPS = ("workload", "network", "kind", "stack", "device", "architecture", "bits")


class PriorSd(NamedTuple):
    """Standard deviation, in log units, of the effects of all that is equal in `groups` (empty: of everything).

    feature: what the effect multiplies as a slope; empty: it is added.
    """

    groups: tuple[str, ...]
    feature: str
    sd: float


@cache
def prior_sds() -> tuple[PriorSd, ...]:
    """Return the rows of facts/device_relation.csv.

    They are those of greatest marginal likelihood on the shipped figures, to two digits, under a lognormal prior
    around 0.1 with sd 1 of each.
    """
    rows = table("device_relation")
    return tuple(PriorSd(tuple(row["groups"].split()), row["feature"], float(row["sd"])) for row in rows)


class Relation(NamedTuple):
    """A fit: its figures, the inverse of their covariance, and that times their gaps to the prior mean."""

    figures: pd.DataFrame
    inverse: np.ndarray
    weighted_gaps: np.ndarray


class JointPrediction(NamedTuple):
    """Means and covariance of the log throughput of several cells; the noise of a further figure is in it."""

    mean: np.ndarray
    covariance: np.ndarray


def fit_relation(figures: pd.DataFrame) -> Relation:
    """Fit to figures (`figures.as_figures`)."""
    inverse = np.linalg.inv(_covariance(figures, figures) + NOISE**2 * np.eye(len(figures)))
    return Relation(figures, inverse, inverse @ (figures["log_rate"] - _prior(figures)).to_numpy())


def predict(relation: Relation, cells: pd.DataFrame) -> JointPrediction:
    """Predict further cells together (columns of `figures.as_figures` without log_rate)."""
    across = _covariance(cells, relation.figures)
    mean = _prior(cells).to_numpy() + across @ relation.weighted_gaps
    prior = _covariance(cells, cells) + NOISE**2 * np.eye(len(cells))
    return JointPrediction(mean, prior - across @ relation.inverse @ across.T)


def condition(
    prediction: JointPrediction, measured: list[int], log_rates: np.ndarray, log_sd: np.ndarray | float = 0.0
) -> JointPrediction:
    """Condition a prediction on cells that were measured.

    Parameters
    ----------
    prediction
        Of all cells.
    measured
        Positions of the measured cells.
    log_rates
        Their log throughputs.
    log_sd
        Standard deviation of each log throughput.
    """
    rows = prediction.covariance[measured]
    inner = rows[:, measured] + np.diag(np.broadcast_to(np.square(log_sd), len(measured)))
    gain = np.linalg.solve(inner, rows).T
    mean = prediction.mean + gain @ (log_rates - prediction.mean[measured])
    return JointPrediction(mean, prediction.covariance - gain @ rows)


def _prior(cells: pd.DataFrame) -> pd.Series:
    return (cells["peak"] + cells["bandwidth"]) / 2


def _covariance(rows: pd.DataFrame, columns: pd.DataFrame) -> np.ndarray:
    """Return the prior covariance of log throughput between two tables of cells, without noise."""
    equal = {name: _equal(rows[name], columns[name]) for name in GROUPS}
    total = WORKLOAD**2 * equal["workload"].astype(float)
    products = {"": np.ones(total.shape)}
    for feature, centre in CENTRE.items():
        products[feature] = np.outer(*(side[feature].to_numpy(dtype=float) - centre for side in (rows, columns)))
    for prior in prior_sds():
        shared = np.logical_and.reduce([equal[name] for name in prior.groups]) if prior.groups else 1.0
        total += prior.sd**2 * shared * products[prior.feature]
    return total


def _equal(rows: pd.Series, columns: pd.Series) -> np.ndarray:
    codes, _ = pd.factorize(pd.concat([rows, columns], ignore_index=True))
    return codes[: len(rows), None] == codes[None, len(rows) :]
