"""Weak scaling from one node to several: what is lost on the way, at a fixed batch per device.

Published figures of many nodes rarely have a single device beside them (a model that is sharded does not fit one), so
this is learnt apart from what happens within a node. efficiency(n against m) = e^-(b log2(n/m) + c):
- b, what each doubling of the devices loses: waiting for the slowest, longer rings, fuller switches. One slope for
  networks and one for a FABRIC of whole pods, drawn to a common one;
- c, what leaving the node costs once, where gradients first cross the network.
Fitted robustly with priors (`slopes`). The interval is conformal, from device families left out.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import sound
from sweetspot.scaling.partners import FABRIC
from sweetspot.throughput.calibration import LEVELS, calibrate

SHARED = 0.7  # of the prior's spread of a slope, the part that all groups share
ROUNDS = 10
Slopes = dict[str, float]  # by group


class Prior(NamedTuple):
    """What is assumed before a figure is seen, each (mean, sd); scatter: of one figure around its line."""

    slopes: tuple[tuple[float, float], ...]  # on each x
    step: tuple[float, float]
    scatter: float


METHOD = "across_nodes"
# Before a figure is seen: 2 % lost a doubling (Ott et al. 2018, Goyal et al. 2017: 90 % of 32 nodes), 3 % on leaving.
PRIOR = Prior(slopes=((0.02, 0.02),), step=(0.03, 0.03), scatter=0.02)
FLOOR = 0.03  # log efficiency; repeated figures of one cluster agree no better


class Across(NamedTuple):
    """The fitted losses: of a doubling by fabric (``""``: any other), on leaving the node, and the width of 90 %.

    width: of log efficiency at one doubling; it grows with the root of the doublings. pairs: figures it rests on.
    """

    doubling: Slopes
    leaving: float
    width: float
    pairs: int


def fit_across(evidence: pd.DataFrame) -> Across:
    """Fit to evidence whose base has several devices (EVIDENCE_COLUMNS); without a row the priors alone.

    Rows with a warning do not take part in the fit, and do in the width of the interval.
    """
    rows = sound(evidence)
    doubling, leaving = _fit(rows)
    errors = held_out_across(evidence, "family")
    score = errors["score"].to_numpy(dtype=float)
    width = calibrate(score, errors["left_out"].to_numpy(), 0.9) if len(errors) else 3 * PRIOR.slopes[0][1]
    return Across(doubling, leaving, max(float(width), FLOOR), len(rows))


def predict_across(model: Across, cells: pd.DataFrame) -> pd.DataFrame:
    """`efficiency` of cells against their base, and `width`, the half of its 90 % interval in log units; same index.

    cells: gpus, nodes, base_gpus, base_nodes, interconnect.
    """
    facts = _facts(cells)
    lost = slopes_of(facts["fabric"], model.doubling) * facts["doublings"] + model.leaving * facts["leaves"]
    width = np.hypot(model.width * np.sqrt(facts["doublings"]), FLOOR)
    return pd.DataFrame({"efficiency": np.exp(-lost), "width": width.where(facts["doublings"] > 0, 0.0)}, cells.index)


def on_several_nodes(cells: pd.DataFrame) -> pd.Series:
    """Whether each cell takes more than one node (bool); nodes null: not known, no."""
    return cells["nodes"].astype("Float64").gt(1).fillna(False).astype(bool)


def within_node(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the part of them that fits one node: `gpus` of the fullest node, nodes 1; same index.

    cells: gpus, nodes (null: not known, then as it stands).
    """
    several = on_several_nodes(cells)
    fullest = np.ceil(cells["gpus"] / cells["nodes"].astype(float).where(several, 1.0)).astype("int64")
    return cells.assign(gpus=fullest, nodes=cells["nodes"].where(~several, 1))


def over_the_network(predicted: pd.DataFrame, cells: pd.DataFrame, model: Across) -> pd.DataFrame:
    """Efficiency of all nodes from that of one: `predicted` (efficiency, low, high) of `within_node(cells)`.

    The two errors are taken as independent: half the width of the interval's logarithm is the root of the squares.
    Returns also `source`: what was lost, in words, where there are several nodes.
    """
    several, one = on_several_nodes(cells), within_node(cells)
    more = predict_across(model, cells.assign(base_gpus=one["gpus"], base_nodes=one["nodes"]))
    inside, table = predicted["efficiency"], predicted.copy()
    table["efficiency"] = inside * more["efficiency"]
    for name, sign in (("low", -1), ("high", 1)):
        half = np.hypot(np.log(predicted[name] / inside), more["width"])
        table[name] = (table["efficiency"] * np.exp(sign * half)).where(several, predicted[name])
    lost = 100 * (1 - math.exp(-model.doubling.get("network", model.doubling[""])))
    words = f"; {METHOD}: {lost:.1f} % lost a doubling beyond one node ({model.pairs} figures)"
    return table.assign(source=np.where(several, words, ""))


def held_out_across(evidence: pd.DataFrame, group: str) -> pd.DataFrame:
    """Every row predicted by a fit without its `group` (a column of evidence); none where there is only one group.

    Returns the columns of evidence and `left_out`, `predicted`, `error` (predicted / efficiency - 1) and `score`
    (|log error| at one doubling).
    """
    parts = [evidence.head(0).assign(predicted=0.0)]
    names = sorted(set(evidence[group])) if len(evidence) else []
    for name in names if len(names) > 1 else []:
        away = (evidence[group] != name).to_numpy()
        rows = evidence[~away]
        model = Across(*_fit(sound(evidence[away])), FLOOR, 0)
        parts.append(rows.assign(predicted=predict_across(model, rows)["efficiency"]))
    told = pd.concat(parts)
    ratio = told["predicted"] / told["efficiency"]
    score = np.abs(np.log(ratio)) / np.sqrt(_facts(told)["doublings"])
    return told.assign(left_out=told[group], error=ratio - 1, score=score)


def covered(errors: pd.DataFrame, floor: float = FLOOR) -> pd.DataFrame:
    """Errors with inside50 and inside90: whether a width from the errors of the other groups holds each.

    errors: left_out (the group of the row), score (|log error| at one doubling). No width is below `floor`.
    """
    groups, score = errors["left_out"].to_numpy(), errors["score"].to_numpy(dtype=float)
    table = errors.copy()
    for level in LEVELS:
        width = {name: calibrate(score[groups != name], groups[groups != name], level) for name in set(groups)}
        table[f"inside{round(100 * level)}"] = score <= np.array([max(width[name], floor) for name in groups])
    return table


def _fit(rows: pd.DataFrame) -> tuple[Slopes, float]:
    facts = _facts(rows)
    lost = -np.log(rows["efficiency"].astype(float))
    (doubling,), leaving = pooled_slopes(facts["fabric"], [facts["doublings"]], lost, facts["leaves"], PRIOR)
    return doubling, leaving


def _facts(cells: pd.DataFrame) -> pd.DataFrame:
    """Doublings of the devices from the base, leaves (1 where only the base fits one node), fabric; same index."""
    leaves = (cells["base_nodes"].astype(float) == 1) & (cells["nodes"].astype(float) > 1)
    pods = (cells["interconnect"] == FABRIC) & ~leaves
    doublings = np.log2(cells["gpus"].astype(float) / cells["base_gpus"].astype(float))
    facts = {"doublings": doublings, "leaves": leaves.astype(float), "fabric": np.where(pods, FABRIC, "network")}
    return pd.DataFrame(facts, cells.index)


def pooled_slopes(
    groups: pd.Series, xs: Sequence[pd.Series], y: pd.Series, step: pd.Series, prior: Prior
) -> tuple[list[Slopes], float]:
    """Slopes of y on each x through the origin, one a group, drawn to a common one (``""``), and that on `step`.

    groups: names; xs, y, step: numbers, same index (step: 1 where a figure crosses a border, -1 for the way back). On
    the first x and on `step` no slope is below 0. Partial pooling: Gelman & Hill 2007, chapter 12; robust by Huber's
    weights.
    """
    names = sorted(set(groups))
    columns = [column for x in xs for column in (x, *(x.where(groups == name, 0.0) for name in names))]
    design = np.column_stack([np.asarray(column, dtype=float) for column in (*columns, step)])
    start = np.array([*(at for mean, _ in prior.slopes for at in (mean, *[0.0] * len(names))), prior.step[0]])
    apart = math.sqrt(1 - SHARED)
    spread = [sd * part for _, sd in prior.slopes for part in (math.sqrt(SHARED), *[apart] * len(names))]
    certain = np.diag(1 / np.array([*spread, prior.step[1]]) ** 2)
    gap = y.to_numpy(dtype=float) - design @ start
    moved, weight = np.zeros(len(start)), np.ones(len(gap))
    for _ in range(ROUNDS):  # a figure far off the others pulls no harder than one two scatters away
        weighted = design.T * (weight / prior.scatter**2)
        moved = np.linalg.solve(weighted @ design + certain, weighted @ gap)
        weight = np.minimum(1.0, 2 * prior.scatter / np.maximum(np.abs(gap - design @ moved), prior.scatter))
    *found, leaving = (start + moved).tolist()
    each = [found[at : at + 1 + len(names)] for at in range(0, len(found), 1 + len(names))]
    slopes = [
        {"": common} | {name: common + part for name, part in zip(names, own, strict=True)} for common, *own in each
    ]
    slopes[0] = {name: max(slope, 0.0) for name, slope in slopes[0].items()}
    return slopes, max(leaving, 0.0)


def slopes_of(groups: pd.Series, slopes: Slopes) -> pd.Series:
    """The slope of each row's group, the common one where it has none; same index."""
    return groups.map(slopes).fillna(slopes[""]).astype(float)
