"""Weak scaling from one node to several: what is lost on the way, at a fixed batch per device.

Published figures of many nodes rarely have a single device beside them (a sharded model does not fit one), so this is
learnt separately from what happens within a node: efficiency(n against m) = e^-(b log2(n/m) + c)

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
from sweetspot.scaling.pooled_slopes import SlopePrior, fit_pooled_slopes, slopes_of
from sweetspot.scaling.published_pairs import POD_FABRIC
from sweetspot.throughput.calibration import calibrate

NETWORK_FABRIC = "network"
# Before a figure is seen: 2 % lost per doubling (Ott et al. 2018, Goyal et al. 2017: 90 % of 32 nodes), 3 % on leaving.
PRIOR = SlopePrior(slopes=((0.02, 0.02),), step=(0.03, 0.03), scatter=0.02)
# In log efficiency: repeated figures of one cluster agree no better.
MINIMUM_WIDTH = 0.03


@dataclass(frozen=True)
class NodeScaling:
    """Fitted losses of log efficiency between nodes (0.02: about 2 %). doubling: loss per doubling of the devices, by
    fabric; leaving: loss, once, from one node to several; width: half width of the 90 % interval at one doubling; this
    width grows with the root of the number of doublings.
    """

    doubling: Mapping[str, float]
    leaving: float
    width: float

    def predict(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Predict what share of its speed a device keeps when a job spreads from few devices over more, or over
        several nodes: per cell `efficiency` (speed per device over that of the base) and `width`, half of the 90 %
        interval of its logarithm. Columns of `cells`: gpus, nodes, interconnect, base_gpus, base_nodes.
        """
        steps = _steps(cells)
        loss = slopes_of(steps["fabric"], self.doubling) * steps["doublings"] + self.leaving * steps["leaves"]
        width = np.hypot(self.width * np.sqrt(steps["doublings"]), MINIMUM_WIDTH)
        return pd.DataFrame({"efficiency": np.exp(-loss), "width": width.where(steps["doublings"] > 0, 0.0)})


def fit_node_scaling(evidence: pd.DataFrame) -> NodeScaling:
    """Learn what each doubling of the devices and leaving one node cost, from published efficiencies whose base has
    several devices (rows of the table evidence), to extend predictions for one node to many. Without rows the result
    is the prior. Rows with a warning are left out of the losses, but widen the interval.
    """
    errors = node_errors(evidence, "family")
    width = 3 * PRIOR.slopes[0][1]
    if len(errors):
        width = calibrate(errors["score"].to_numpy(dtype=float), errors["group"].to_numpy(), 0.9)
    return replace(_fit(evidence), width=max(width, MINIMUM_WIDTH))


def spans_nodes(cells: pd.DataFrame) -> pd.Series:
    """Return a bool per cell: whether `nodes` is above 1; a null `nodes` counts as one node."""
    return cells["nodes"].astype("Float64").gt(1).fillna(False).astype(bool)


def part_within_node(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells cut down to one node: `gpus` is the count on the fullest node, `nodes` is 1 (or stays null)."""
    spans = spans_nodes(cells)
    fullest = np.ceil(cells["gpus"] / cells["nodes"].astype(float).where(spans, 1.0))
    return cells.assign(gpus=fullest.astype("int64"), nodes=cells["nodes"].where(~spans, 1))


def extend_across_nodes(predicted: pd.DataFrame, cells: pd.DataFrame, node_scaling: NodeScaling) -> pd.DataFrame:
    """Extend predicted efficiencies of one node to all nodes of each cell (a job on n devices), against one device.
    Returned are efficiency, low, high (90 %; shares of linear scaling), same index.

    Parameters
    ----------
    predicted, cells, node_scaling
        Columns efficiency, low, high (90 %), predicted for `part_within_node(cells)`; columns gpus, nodes,
        interconnect of the whole cells; losses between nodes (an independent error).
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
    """Measure how wrong predictions across nodes are on unseen machines: predict rows of the table evidence (published
    pairs) whose base has several devices by a fit without each value of the column `group` (such as `family`) in turn.
    Their errors set the width of the intervals. Added are `group` (the value left out), `predicted`, relative `error`
    and `score` (|log error| at one doubling); no rows if the column has one value only.
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
    """Fit the losses between nodes to rows of table evidence without warnings; the caller sets the width."""
    rows = without_warnings(evidence)
    steps = _steps(rows)
    loss = -np.log(rows["efficiency"].astype(float))
    fitted = fit_pooled_slopes(steps["fabric"], [steps["doublings"]], loss, steps["leaves"], PRIOR)
    return NodeScaling(fitted.slopes[0], fitted.step, MINIMUM_WIDTH)


def _steps(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what explains each cell's loss between nodes, the variables of the fit: `doublings` (log2 gpus /
    base_gpus), `leaves` (1.0 where only the base is within one node, else 0.0) and `fabric` (kind of network, a text).
    """
    leaves = (cells["base_nodes"].astype(float) == 1) & (cells["nodes"].astype(float) > 1)
    in_pod = (cells["interconnect"] == POD_FABRIC) & ~leaves
    doublings = np.log2(cells["gpus"].astype(float) / cells["base_gpus"].astype(float))
    fabric = np.where(in_pod, POD_FABRIC, NETWORK_FABRIC)
    return pd.DataFrame({"doublings": doublings, "leaves": leaves.astype(float), "fabric": fabric}, cells.index)
