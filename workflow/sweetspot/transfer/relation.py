"""How the throughput of one workload on one device follows from that on others: pooled effects of both.

log throughput = level of the workload + 1/2 log dense peak + 1/2 log bandwidth + effects, all normal around zero:
slopes on the device's peak, bandwidth, memory and fp32 peak, of all figures, of the network and its kind (images, text,
speech), of the benchmark's stack and of the workload itself; and of the device, its architecture, both by width of the
number format and by kind of network, and the device in one stack. A device with many figures has its own effect, one
with few that of its architecture: partial pooling. The best linear prediction has a closed form.
Roofline: Williams et al. 2009. Partial pooling: Gelman & Hill 2007, chapter 12.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import table

LEVEL_SD = 10.0  # Of the level of a workload: it may be anything.
NOISE_SD = 0.077  # What machines and builds of one device differ by.
CENTRE = {"peak": 4.0, "bandwidth": 6.5, "memory": 3.0, "vector": 3.5}  # Logs near the middle of the devices.


class Relation(NamedTuple):
    """A fitted model of devices: its figures, their inverse covariance, and this times (log rates - prior mean)."""

    figures: pd.DataFrame
    inverse: np.ndarray
    weighted_gaps: np.ndarray


class JointPrediction(NamedTuple):
    """Mean (one per cell) and covariance (cells x cells) of log throughput; the noise of one figure is included."""

    mean: np.ndarray
    covariance: np.ndarray


def fit_relation(figures: pd.DataFrame) -> Relation:
    """Learn how throughput goes from device to device from log_rate of rows of `figures.as_figures`; see `predict`."""
    inverse = np.linalg.inv(covariance(figures, figures))
    return Relation(figures, inverse, inverse @ (figures["log_rate"] - prior_mean(figures)))


def predict(relation: Relation, cells: pd.DataFrame) -> JointPrediction:
    """Return the joint prediction of log throughput for cells (columns of `figures.as_figures` without log_rate)."""
    across = covariance(cells, relation.figures)
    mean = prior_mean(cells) + across @ relation.weighted_gaps
    return JointPrediction(mean, covariance(cells, cells) - across @ relation.inverse @ across.T)


def condition(
    prediction: JointPrediction, measured: list[int], log_rates: np.ndarray, log_sd: np.ndarray | float = 0.0
) -> JointPrediction:
    """Update the predicted log speeds of all cells (one workload on many devices) by what was measured of some of
    them: a measured device pulls the predictions of similar ones towards it.

    Parameters
    ----------
    prediction, measured, log_rates, log_sd
        Joint prediction of all cells (mean and covariance); positions of the measured ones; natural log of the
        measured samples/s, one per position, and the standard deviation of its error.
    """
    rows = prediction.covariance[measured]
    gain = np.linalg.solve(rows[:, measured] + np.square(log_sd) * np.eye(len(measured)), rows).T
    mean = prediction.mean + gain @ (log_rates - prediction.mean[measured])
    return JointPrediction(mean, prediction.covariance - gain @ rows)


def prior_mean(cells: pd.DataFrame) -> np.ndarray:
    """Return per cell (log peak + log bandwidth) / 2: the expected log throughput up to a constant per workload."""
    return (cells["peak"] + cells["bandwidth"]).to_numpy() / 2


def covariance(rows: pd.DataFrame, columns: pd.DataFrame) -> np.ndarray:
    """Return the matrix (rows x columns) that says how much knowing one cell's log speed tells of another's, before
    any figure is seen: cells that share device, architecture, network or software are correlated. The relation is
    fitted and predicts by it. `rows` and `columns`: tables of cells with the columns of `as_figures`; the same table
    twice has the noise of each figure added. Each row of facts/device_relation.csv is an effect that cells with equal
    `groups` share (no groups: all cells), as a slope on `feature` or, without one, a constant. Its `sd`, in log units,
    has the greatest marginal likelihood on the shipped figures, to two digits, by a lognormal prior around 0.1, sd 1.
    """

    def equal(name: str) -> np.ndarray:
        return np.equal.outer(rows[name].to_numpy(), columns[name].to_numpy())

    noise = NOISE_SD**2 * np.eye(len(rows)) if rows is columns else 0.0
    total = LEVEL_SD**2 * equal("workload") + noise
    for effect in table("device_relation"):
        term = np.full(total.shape, float(effect["sd"]) ** 2)
        for name in effect["groups"].split():
            term *= equal(name)
        if feature := effect["feature"]:
            term *= np.outer(rows[feature] - CENTRE[feature], columns[feature] - CENTRE[feature])
        total += term
    return total
