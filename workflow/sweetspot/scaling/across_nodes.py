"""Weak scaling from one node to several: what is lost on the way, at a fixed batch per device.

Published figures of many nodes rarely have a single device beside them (a sharded model does not
fit one), so this is learnt separately from what happens within a node:
efficiency(n against m) = e^-(b log2(n/m) + c)

b  the loss of each doubling of the devices: waiting for the slowest, longer rings, fuller switches. One slope for
   networks and one for a fabric of whole pods, drawn to a common one;
c  the loss of leaving the node once, where gradients first cross the network.
The interval is conformal, from device families that were left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import without_warnings
from sweetspot.scaling.pooled_slopes import (
    SlopePrior,
    fit_pooled_slopes,
    slopes_of,
)
from sweetspot.scaling.published_pairs import POD_FABRIC
from sweetspot.throughput.calibration import calibrate

NETWORK_FABRIC = "network"
# Before a figure is seen: 2 % lost per doubling (Ott et al. 2018, Goyal et al. 2017: 90 % of 32 nodes), 3 % on leaving.
PRIOR = SlopePrior(slopes=((0.02, 0.02),), step=(0.03, 0.03), scatter=0.02)
# In log efficiency: repeated figures of one cluster agree no better.
MINIMUM_WIDTH = 0.03


@dataclass(frozen=True)
class NodeScaling:
    """The fitted losses between nodes.

    doubling: loss of a doubling by fabric; leaving: loss of leaving the node; width: half width of
    the 90 % interval of log efficiency at one doubling, it grows with the root of the doublings.
    """

    doubling: Mapping[str, float]
    leaving: float
    width: float

    def predict(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Predict efficiencies against a base of fewer devices.

        Parameters
        ----------
        cells
            gpus, nodes, base_gpus, base_nodes, interconnect.

        Returns
        -------
        pd.DataFrame
            `efficiency` and `width` (half of the 90 % interval in log units); same index.
        """
        steps = _steps(cells)
        loss = slopes_of(steps["fabric"], self.doubling) * steps["doublings"]
        loss += self.leaving * steps["leaves"]
        width = np.hypot(self.width * np.sqrt(steps["doublings"]), MINIMUM_WIDTH)
        columns = {"efficiency": np.exp(-loss), "width": width.where(steps["doublings"] > 0, 0.0)}
        return pd.DataFrame(columns, cells.index)


def fit_node_scaling(evidence: pd.DataFrame) -> NodeScaling:
    """Fit to evidence whose base has several devices (EVIDENCE_COLUMNS).

    Without a row the priors alone count. Rows with a warning do not take part in the fit, and do in the width.
    """
    errors = node_errors(evidence, "family")
    width = 3 * PRIOR.slopes[0][1]
    if len(errors):
        width = calibrate(errors["score"].to_numpy(dtype=float), errors["group"].to_numpy(), 0.9)
    return replace(_fit(evidence), width=max(width, MINIMUM_WIDTH))


def spans_nodes(cells: pd.DataFrame) -> pd.Series:
    """Return whether each cell takes more than one node; an unknown number counts as one."""
    return cells["nodes"].astype("Float64").gt(1).fillna(False).astype(bool)


def part_within_node(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with `gpus` of their fullest node and `nodes` 1; null nodes stay as they are."""
    spans = spans_nodes(cells)
    fullest = np.ceil(cells["gpus"] / cells["nodes"].astype(float).where(spans, 1.0))
    return cells.assign(gpus=fullest.astype("int64"), nodes=cells["nodes"].where(~spans, 1))


def extend_across_nodes(predicted: pd.DataFrame, cells: pd.DataFrame, node_scaling: NodeScaling) -> pd.DataFrame:
    """Extend predictions within a node to all nodes of a cell.

    Parameters
    ----------
    predicted
        efficiency, low, high of `part_within_node(cells)`.
    cells
        The whole cells.
    node_scaling
        What several nodes cost. Its error and that of `predicted` count as independent: half the
        width of the interval's logarithm is the root of the sum of squares.

    Returns
    -------
    pd.DataFrame
        efficiency, low, high.
    """
    spans, node = spans_nodes(cells), part_within_node(cells)
    beyond = node_scaling.predict(cells.assign(base_gpus=node["gpus"], base_nodes=node["nodes"]))
    table = predicted.assign(efficiency=predicted["efficiency"] * beyond["efficiency"])
    for name, sign in (("low", -1), ("high", 1)):
        ratio = (predicted[name] / predicted["efficiency"]).clip(lower=1e-9)
        half_width = np.hypot(np.log(ratio), beyond["width"])
        extended = table["efficiency"] * np.exp(sign * half_width)
        table[name] = extended.where(spans, predicted[name])
    return table


def node_errors(evidence: pd.DataFrame, group: str) -> pd.DataFrame:
    """Predict every row by a fit without its group.

    Parameters
    ----------
    evidence
        EVIDENCE_COLUMNS, rows whose base has several devices.
    group
        The column whose values are left out in turn; with one value only nothing is predicted.

    Returns
    -------
    pd.DataFrame
        The columns of evidence and `group` (the value left out), `predicted`, `error` (predicted /
        efficiency - 1) and `score` (|log error| at one doubling).
    """
    tables = [evidence.head(0).assign(predicted=0.0)]
    for name, rows in evidence.groupby(group):
        training = evidence[evidence[group] != name]
        if len(training):
            tables.append(rows.assign(predicted=_fit(training).predict(rows)["efficiency"]))
    errors = pd.concat(tables)
    ratio = errors["predicted"] / errors["efficiency"]
    score = np.abs(np.log(ratio)) / np.sqrt(_steps(errors)["doublings"])
    return errors.assign(group=errors[group], error=ratio - 1, score=score)


def _fit(evidence: pd.DataFrame) -> NodeScaling:
    rows = without_warnings(evidence)
    steps = _steps(rows)
    loss = -np.log(rows["efficiency"].astype(float))
    fitted = fit_pooled_slopes(steps["fabric"], [steps["doublings"]], loss, steps["leaves"], PRIOR)
    return NodeScaling(fitted.slopes[0], fitted.step, MINIMUM_WIDTH)


def _steps(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the doublings of the devices, `leaves` (1: only the base fits one node) and fabric."""
    leaves = (cells["base_nodes"].astype(float) == 1) & (cells["nodes"].astype(float) > 1)
    in_pod = (cells["interconnect"] == POD_FABRIC) & ~leaves
    doublings = np.log2(cells["gpus"].astype(float) / cells["base_gpus"].astype(float))
    columns = {
        "doublings": doublings,
        "leaves": leaves.astype(float),
        "fabric": np.where(in_pod, POD_FABRIC, NETWORK_FABRIC),
    }
    return pd.DataFrame(columns, cells.index)
