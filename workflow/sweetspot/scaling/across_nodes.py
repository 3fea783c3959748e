"""Weak scaling from one node to several: what is lost on the way, at a fixed batch per device.

Published figures of many nodes rarely have a single device beside them (a model that is sharded does not fit one), so
this is learnt apart from what happens within a node. efficiency(n against m) = e^-(b log2(n/m) + c):
- b, what each doubling of the devices loses: waiting for the slowest, longer rings, fuller switches. One slope for
  networks and one for a FABRIC of whole pods, drawn to a common one;
- c, what leaving the node costs once, where gradients first cross the network.
Fitted robustly with priors (`slopes`). The interval is conformal, from device families left out.
"""

import math
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

    slope: tuple[float, float]
    step: tuple[float, float]
    scatter: float


METHOD = "across_nodes"
# Before a figure is seen: 2 % lost a doubling (Ott et al. 2018, Goyal et al. 2017: 90 % of 32 nodes), 3 % on leaving.
PRIOR = Prior(slope=(0.02, 0.02), step=(0.03, 0.03), scatter=0.02)
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
    width = calibrate(score, errors["left_out"].to_numpy(), 0.9) if len(errors) else 3 * PRIOR.slope[1]
    return Across(doubling, leaving, max(float(width), FLOOR), len(rows))


def predict_across(model: Across, cells: pd.DataFrame) -> pd.DataFrame:
    """`efficiency` of cells against their base, and `width`, the half of its 90 % interval in log units; same index.

    cells: gpus, nodes, base_gpus, base_nodes, interconnect.
    """
    facts = _facts(cells)
    slopes = facts["fabric"].map(lambda name: model.doubling.get(name, model.doubling[""])).astype(float)
    lost = slopes * facts["doublings"] + model.leaving * facts["leaves"]
    width = np.hypot(model.width * np.sqrt(facts["doublings"]), FLOOR)
    return pd.DataFrame({"efficiency": np.exp(-lost), "width": width.where(facts["doublings"] > 0, 0.0)}, cells.index)


def within_node(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the part of them that fits one node: `gpus` of the fullest node, nodes 1; same index.

    cells: gpus, nodes (null: not known, then as it stands).
    """
    several = _several(cells)
    fullest = np.ceil(cells["gpus"] / cells["nodes"].astype(float).where(several, 1.0)).astype("int64")
    return cells.assign(gpus=fullest, nodes=cells["nodes"].where(~several, 1))


def over_the_network(predicted: pd.DataFrame, cells: pd.DataFrame, model: Across) -> pd.DataFrame:
    """Efficiency of all nodes from that of one: `predicted` (efficiency, low, high, source) of `within_node(cells)`.

    The two errors are taken as independent: half the width of the interval's logarithm is the root of the squares.
    """
    several = _several(cells)
    if not several.any():
        return predicted
    one = within_node(cells)
    more = predict_across(model, cells.assign(base_gpus=one["gpus"], base_nodes=one["nodes"]))
    table = predicted.copy()
    for name in ("low", "high"):
        inside = np.log(predicted[name] / predicted["efficiency"])
        sign = -1 if name == "low" else 1
        both = predicted["efficiency"] * more["efficiency"] * np.exp(sign * np.hypot(inside, more["width"]))
        table[name] = both.where(several, predicted[name])
    table["efficiency"] = (predicted["efficiency"] * more["efficiency"]).where(several, predicted["efficiency"])
    lost = 100 * (1 - math.exp(-model.doubling.get("network", model.doubling[""])))
    words = f"; {METHOD}: {lost:.1f} % lost a doubling beyond one node ({model.pairs} figures)"
    table["source"] = predicted["source"].where(~several, predicted["source"] + words)
    return table


def _several(cells: pd.DataFrame) -> pd.Series:
    return cells["nodes"].astype("Float64").gt(1).fillna(False).astype(bool)


def held_out_across(evidence: pd.DataFrame, group: str) -> pd.DataFrame:
    """Every row predicted by a fit without its `group` (a column of evidence); none where there is only one group.

    Returns the columns of evidence and `left_out`, `predicted`, `error` (predicted / efficiency - 1) and `score`
    (|log error| at one doubling).
    """
    parts = []
    names = sorted(set(evidence[group])) if len(evidence) else []
    for name in names if len(names) > 1 else []:
        away = (evidence[group] != name).to_numpy()
        rows = evidence[~away]
        model = Across(*_fit(sound(evidence[away])), FLOOR, 0)
        predicted = predict_across(model, rows)["efficiency"]
        gap = np.abs(np.log(predicted / rows["efficiency"]))
        parts.append(
            rows.assign(
                left_out=name,
                predicted=predicted,
                error=predicted / rows["efficiency"] - 1,
                score=gap / np.sqrt(_facts(rows)["doublings"]),
            )
        )
    return pd.concat(parts) if parts else evidence.head(0).assign(left_out="", predicted=0.0, error=0.0, score=0.0)


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
    return pooled_slopes(facts["fabric"], facts["doublings"], lost, facts["leaves"], PRIOR)


def _facts(cells: pd.DataFrame) -> pd.DataFrame:
    """Doublings of the devices from the base, leaves (1 where only the base fits one node), fabric; same index."""
    one = cells["base_nodes"].astype(float) == 1
    several = cells["nodes"].astype(float) > 1
    fabric = [FABRIC if name == FABRIC else "network" for name in cells["interconnect"]]
    doublings = np.log2(cells["gpus"].astype(float) / cells["base_gpus"].astype(float))
    return pd.DataFrame(
        {"doublings": doublings, "leaves": (one & several).astype(float), "fabric": fabric}, index=cells.index
    ).assign(fabric=lambda table: table["fabric"].where(table["leaves"] < 1, "network"))


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
