"""The learned method: a ring model whose bandwidths and latencies are pooled over device families and machines.

The step of N devices takes T_N = T_1 (1 + s + c + l + q), each part positive:
s  waiting for the slowest device;
c  exposed exchange: 2 (N-1)/N x gradient bytes x seconds per byte, over T_1;
l  start of the exchanges: gradient tensors x seconds per tensor, over T_1;
q  the slow-down of half precision with batch normalisation that TensorFlow without XLA shows on several devices.
The logarithm of each part is linear in facts of the cell (link, XLA, age of the software, device count) and has a
random part of the groups that a cell is of. All are estimated together by penalised robust least squares on log
efficiency. Figures of one machine repeat each other: twelve logs of one machine do not count as twelve machines.
A machine never seen takes the population's value, and the spread of the machines widens its interval.
The two eras of programs (`machine.eras`) are fitted apart. Modern programs hide their exchange behind computing, each
in a way of its own (what is sent in which precision, how often): there a network has a random part, a machine none.
Sources: alpha-beta model, Patarasuk & Yuan 2009; partial pooling, Gelman & Hill 2007, chapters 12 and 13.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.machine import CLASSIC, MODERN, describe, eras
from sweetspot.scaling.model_facts import network_key

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FAMILY_SHARE = 0.5  # of the spread between machines, the part that goes with the device family
SLOWDOWN_LIMIT = 2.5  # half precision never cost more than this many single-device steps
GOAL = 0.9  # of efficiency: what is said to be reached by a larger batch or a faster link
CELL = ["study", "gpu", "instance", "gpus", "framework", "model", "batch_size", "precision", "variant", "dataset"]
EXPLAIN_COLUMNS = (
    *CELL, "efficiency", "compute_share", "communication_share", "rest_share", "batch_for_90",
    "bandwidth_factor_for_90", "source", "warnings",
)  # fmt: skip
GRADIENT = 1e-2  # of the loss at the end; predictions then lie within 1e-4 of the optimum
UNKNOWN_BATCH = 0.5  # log step time where the batch is not stated: a factor of 1.6 either way
UNKNOWN_NETWORK = 0.7  # log gradient bytes and tensors of a network that is not in the table


class Term(NamedTuple):
    """One coefficient: the part it acts on, and its prior (mean, sd)."""

    part: str
    mean: float
    sd: float


class Era(NamedTuple):
    """The coefficients of one era; how far groups lie from each (log units), by kind of group; scatter of a figure."""

    terms: dict[str, Term]
    spread: dict[str, dict[str, float]]
    residual: float


# Weak priors in log units. c: seconds per 1e9 bytes (PCIe about 4 GB/s, NVLink four times that, twelve times in modern
# programs); a ring's bandwidth does not depend on the device count, hence the tight c_doubling. l: seconds per tensor
# (0.15 ms; XLA merges starts, buckets too). s: 2.5 % of a step. q: a third of a step, more with the device count.
TERMS = {
    "c": Term("c", -1.5, 0.7), "c_nvlink": Term("c", -1.3, 0.7), "c_bridge": Term("c", -0.3, 0.3),
    "c_faster": Term("c", -0.3, 0.1), "c_later_build": Term("c", 0.0, 0.3), "c_doubling": Term("c", 0.0, 0.05),
    "l": Term("l", -8.7, 0.7), "l_xla": Term("l", -1.0, 0.5), "l_doubling": Term("l", 0.4, 0.3),
    "l_old": Term("l", 0.0, 0.5), "s": Term("s", -3.7, 0.7), "s_doubling": Term("s", 0.2, 0.3),
    "q": Term("q", -1.0, 0.7), "q_ring": Term("q", 0.7, 0.3), "q_old": Term("q", -0.7, 0.5),
}  # fmt: skip
MODERN_TERMS = {
    "c": Term("c", -1.5, 0.7), "c_nvlink": Term("c", -2.5, 1.0), "c_bridge": Term("c", -0.3, 0.3),
    "c_doubling": Term("c", 0.0, 0.05), "l": Term("l", -9.7, 0.7), "l_doubling": Term("l", 0.4, 0.3),
    "s": Term("s", -4.2, 0.7), "s_doubling": Term("s", 0.3, 0.3),
}  # fmt: skip
# Spread of the machines around the population, log units: bandwidth, its change per doubling (buses that several
# devices share), latency, waiting. FAMILY_SHARE of the variance goes with the device family.
SPREAD = {"c": 1.0, "c_doubling": 0.6, "l": 0.7, "s": 0.6}
_SHARES = {"machine": (1 - FAMILY_SHARE) ** 0.5, "family": FAMILY_SHARE**0.5}
ERAS = {
    CLASSIC: Era(
        TERMS, {name: {kind: wide * part for kind, part in _SHARES.items()} for name, wide in SPREAD.items()}, 0.04
    ),  # repeated figures of one machine scatter by 0.02 to 0.06 (RTX 2080 Ti logs)
    MODERN: Era(
        MODERN_TERMS, {"c": {"family": 0.7, "network": 1.2}, "c_doubling": {"family": 0.4}, "s": {"network": 1.0}}, 0.03
    ),
}

Groups = dict[str, dict[str, int]]  # kind -> name -> number


class Pooled(NamedTuple):
    """A fitted model of one era: coefficients (its terms, then each spread by kind of group), covariance, groups."""

    coefficients: np.ndarray
    covariance: np.ndarray
    groups: Groups
    era: Era = ERAS[CLASSIC]


ByEra = Callable[[str], Pooled]


class Objective(NamedTuple):
    """The penalised loss at some coefficients, its gradient and its curvature (Gauss-Newton)."""

    loss: float
    gradient: np.ndarray
    curvature: np.ndarray


def fit_eras(evidence: pd.DataFrame) -> ByEra:
    """`fit_pooled` of the rows of an era, when it is first asked for; one without a row has its priors alone."""
    own = eras(evidence)
    return cache(lambda name: fit_pooled(evidence[(own == name).to_numpy()], ERAS[name]))


def fit_pooled(evidence: pd.DataFrame, era: Era = ERAS[CLASSIC]) -> Pooled:
    """Fit to evidence: the columns `machine.describe` needs, `family` (device) and `efficiency` (dimensionless)."""
    from scipy.optimize import minimize

    kinds = {kind for spreads in era.spread.values() for kind in spreads}
    labels = {kind: sorted(set(own)) for kind, own in _labels(evidence).items() if kind in kinds}
    groups = {kind: {name: at for at, name in enumerate(names)} for kind, names in labels.items()}
    mean, sd = _priors(groups, era)
    if evidence.empty:
        return Pooled(mean, np.diag(sd**2), groups, era)
    objective = _objective(evidence, groups, era)
    found = minimize(
        lambda theta: objective(theta)[:2],
        mean,
        jac=True,
        hess=lambda theta: objective(theta).curvature,
        method="trust-exact",
        options={"gtol": GRADIENT, "maxiter": 80},
    )
    return Pooled(found.x, np.linalg.inv(objective(found.x).curvature), groups, era)


def _objective(evidence: pd.DataFrame, groups: Groups, era: Era) -> Callable[[np.ndarray], Objective]:
    """The loss of coefficients: robust (pseudo-Huber) gaps of log efficiency, and priors as squares."""
    design, base = _design(evidence, groups, era)
    mean, sd = _priors(groups, era)
    target = np.log(evidence["efficiency"].to_numpy(dtype=float))
    weight = _family_weight(evidence["family"])

    @lru_cache(maxsize=1)  # the optimiser asks for loss and curvature one by one
    def evaluated(coefficients: bytes) -> Objective:
        theta = np.frombuffer(coefficients)
        overhead, slope = _overhead(theta, design, base)
        gap = (target + np.log1p(overhead)) / era.residual
        root = np.sqrt(1 + gap**2)  # the loss grows with the gap, not its square: one odd log cannot lead
        off = (theta - mean) / sd
        steep = 1 / (era.residual * (1 + overhead))
        curved = _times(slope, steep * np.sqrt(weight * (root + 1) / 2) / root)
        return Objective(
            float(weight @ (root - 1) + off @ off / 2),
            slope.T @ (steep * weight * gap / root) + off / sd,
            (curved.T @ curved).toarray() + np.diag(1 / sd**2),
        )

    return lambda theta: evaluated(theta.tobytes())


def of_eras(models: ByEra, cells: pd.DataFrame, told: Callable[[Pooled, pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """`told` (predict_pooled, parts_pooled) of each cell by the model of its era; same index; 0: it has none."""
    own = eras(cells)
    parts = [told(models(name), cells[(own == name).to_numpy()]) for name in sorted(set(own)) or [CLASSIC]]
    return pd.concat(parts).loc[cells.index].fillna(0.0)


def predict_pooled(model: Pooled, cells: pd.DataFrame) -> pd.DataFrame:
    """Efficiency of cells (columns as in fit_pooled, without efficiency) and `scale`, its sd in log units; same index.

    The scale holds the scatter of figures, the uncertainty of the coefficients, the spread of machines and
    device families for those never seen, and what an unstated batch or an unknown network leaves open.
    """
    design, base = _design(cells, model.groups, model.era)
    overhead, slope = _overhead(model.coefficients, design, base)
    slope = slope.toarray() / (1 + overhead)[:, None]
    variance = np.einsum("ij,jk,ik->i", slope, model.covariance, slope)
    labels = _labels(cells)
    new = {kind: ~labels[kind].isin(numbers).to_numpy() for kind, numbers in model.groups.items()}
    at = {name: slope[:, number] for number, name in enumerate(model.era.terms)}
    for name, kinds in model.era.spread.items():
        for kind, spread in kinds.items():
            variance += new[kind] * (at[name] * spread) ** 2
    facts = describe(cells)
    exchange = at["c"] + at["l"]
    variance += np.where(facts["known_batch"], 0, (exchange * UNKNOWN_BATCH) ** 2)
    variance += np.where(facts["known_network"], 0, (exchange * UNKNOWN_NETWORK) ** 2)
    scale = np.sqrt(variance + model.era.residual**2)
    return pd.DataFrame({"efficiency": 1 / (1 + overhead), "scale": scale}, index=cells.index)


def parts_pooled(model: Pooled, cells: pd.DataFrame) -> pd.DataFrame:
    """The parts c, l, s, q of the step of N devices, in single-device steps, same index."""
    design, base = _design(cells, model.groups, model.era)
    return pd.DataFrame(_parts(model.coefficients, design, base)[0], index=cells.index)


def _labels(cells: pd.DataFrame) -> dict[str, pd.Series]:
    """The groups that each cell is of: its machine, its device family, what a program does for its network."""
    machine = cells["instance"].fillna("").astype(str) + " / " + cells["gpu"].fillna("").astype(str)
    return {"machine": machine, "family": cells["family"], "network": cells["model"].astype(str).map(network_key)}


def _family_weight(families: pd.Series) -> np.ndarray:
    """Rows weigh with the root of their family's share: many logs inform more, but not in proportion."""
    count = families.map(families.value_counts()).to_numpy(dtype=float)
    return count**-0.5 / np.mean(count**-0.5)


def _priors(groups: Groups, era: Era) -> tuple[np.ndarray, np.ndarray]:
    spreads = [(kind, wide) for kinds in era.spread.values() for kind, wide in kinds.items()]
    own = [(0.0, wide) for kind, wide in spreads for _ in groups[kind]]
    mean, sd = np.array([(term.mean, term.sd) for term in era.terms.values()] + own).T
    return mean, sd


def _design(cells: pd.DataFrame, groups: Groups, era: Era) -> tuple[dict[str, "csr_array"], dict[str, np.ndarray]]:
    """Per part the linear facts of each cell (rows x coefficients), and the physical quantity they multiply.

    The facts (1 where one is not given) stand at the coefficients of the era and of the row's groups; sparse, since a
    row has one of each. Quantities: 1e9 bytes and tensors per second of a step, 1, and whether half precision slows.
    """
    from scipy.sparse import csr_array

    facts, cell = describe(cells), np.arange(len(cells))
    doublings = np.log2(facts["devices"] / 2)
    ring = 2 * (facts["devices"] - 1) / facts["devices"]
    columns = {
        "c_nvlink": facts["nvlink"], "c_bridge": facts["bridge"], "c_faster": facts["faster"],
        "c_later_build": facts["later_build"], "c_doubling": doublings * (1 - facts["nvlink"]), "l_xla": facts["xla"],
        "l_doubling": doublings, "l_old": 1 - facts["recent"], "s_doubling": doublings, "q_ring": np.log(ring),
        "q_old": 1 - facts["recent"],
    }  # fmt: skip
    filled = {name: np.broadcast_to(np.asarray(columns.get(name, 1.0), dtype=float), len(cells)) for name in era.terms}
    entries: dict[str, list[np.ndarray]] = {}  # by part, each: values, rows, coefficients
    for number, (name, term) in enumerate(era.terms.items()):
        entries.setdefault(term.part, []).append(np.stack([filled[name], cell, np.full(len(cells), number)]))
    labels, width = _labels(cells), len(era.terms)
    for name, kinds in era.spread.items():
        for kind in kinds:
            place = labels[kind].map(groups[kind]).to_numpy(dtype=float)
            seen = ~np.isnan(place)
            entries[era.terms[name].part].append(np.stack([filled[name], cell, width + place])[:, seen])
            width += len(groups[kind])
    design = {}
    for part, several in entries.items():
        values, rows, coefficients = np.concatenate(several, axis=1)
        design[part] = csr_array((values, (rows.astype(int), coefficients.astype(int))), shape=(len(cells), width))
    slow = facts["fp16"] * facts["normalised"] * (1 - facts["xla"]) * facts["tensor_cores"] * (1 - facts["later_build"])
    base = {
        "c": facts["exchange"] * ring * facts["gradient_gb"] / facts["step_s"],
        "l": facts["exchange"] * facts["tensors"] / facts["step_s"],
        "s": pd.Series(1.0, index=facts.index),
        "q": slow * ring,
    }
    return design, {part: value.to_numpy(dtype=float) for part, value in base.items()}


def _parts(
    theta: np.ndarray, design: dict[str, "csr_array"], base: dict[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """c, l, s and q (of an era that has it) in single-device steps, and what each grows by a unit of its logarithm."""
    parts = {part: np.exp(np.clip(rows @ theta, -30, 6)) * base[part] for part, rows in design.items()}
    slopes = dict(parts)
    if "q" in parts:
        parts["q"] = SLOWDOWN_LIMIT * np.tanh(parts["q"] / SLOWDOWN_LIMIT)
        slopes["q"] = slopes["q"] * (1 - (parts["q"] / SLOWDOWN_LIMIT) ** 2)
    return parts, slopes


def _overhead(
    theta: np.ndarray, design: dict[str, "csr_array"], base: dict[str, np.ndarray]
) -> tuple[np.ndarray, "csr_array"]:
    """S + c + l + q in single-device steps, and its derivative by each coefficient."""
    parts, slopes = _parts(theta, design, base)
    return np.sum(list(parts.values()), axis=0), sum(_times(design[part], slope) for part, slope in slopes.items())


def _times(matrix: "csr_array", rows: np.ndarray) -> "csr_array":
    """Each row of the matrix times its own number."""
    return matrix.multiply(rows[:, None]).tocsr()


def explain(evidence: pd.DataFrame, pooled: ByEra) -> pd.DataFrame:
    """Split the step of each multi-device figure by the ring model fitted to all of them; EXPLAIN_COLUMNS.

    Of the step T_N = T_1 / efficiency, compute is T_1, communication what the ring model gives for bytes and starts
    (at most T_N - T_1), rest the remainder: waiting, input, slower kernels. Shares add to 1; where a figure is
    super-linear, compute is 1. batch_for_90: the batch per device at which efficiency reaches 90 %, since the
    exchange does not grow with the batch; bandwidth_factor_for_90: how many times faster the link must be; NaN where
    neither can reach it (the rest alone is too much) and 1 x the present one where it is reached already.
    """
    parts = of_eras(pooled, evidence, parts_pooled)
    overhead = np.maximum(1 / evidence["efficiency"] - 1, 0)
    exchange = np.minimum(parts["c"] + parts["l"], overhead)
    carried = np.where(parts["c"] + parts["l"] > 0, parts["c"] / (parts["c"] + parts["l"]), 0) * exchange
    rest = overhead - exchange
    spare = 1 / GOAL - 1 - rest
    table = evidence.assign(
        compute_share=1 / (1 + overhead),
        communication_share=exchange / (1 + overhead),
        rest_share=rest / (1 + overhead),
        batch_for_90=np.ceil(evidence["batch_size"] * reach(exchange, spare)),
        bandwidth_factor_for_90=reach(carried, spare - (exchange - carried)),
    )
    return table[list(EXPLAIN_COLUMNS)].reset_index(drop=True)


def reach(part: pd.Series, spare: pd.Series) -> pd.Series:
    """Factor by which `part` must shrink to fit into `spare` (single-device steps); 1: it fits, NaN: never."""
    return (part / spare.where(spare > 0)).clip(lower=1.0)
