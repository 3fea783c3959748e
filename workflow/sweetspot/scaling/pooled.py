"""The learned method: a ring model whose bandwidths and latencies are pooled over device families and machines.

The step of N devices takes T_N = T_1 (1 + s + c + l + q), each part positive:
s  waiting for the slowest device;
c  exposed exchange: 2 (N-1)/N x gradient bytes x seconds per byte, over T_1;
l  start of the exchanges: gradient tensors x seconds per tensor, over T_1;
q  the slow-down of half precision with batch normalisation that TensorFlow without XLA shows on several devices.
The logarithm of each part is linear in facts of the cell (link, XLA, age of the software, device count) and has a
random part of the device family and of the machine. All are estimated together by penalised robust least squares on
log efficiency. Figures of one machine repeat each other: twelve logs of one machine do not count as twelve machines.
A machine never seen takes the population's value, and the spread of the machines widens its interval.
Sources: alpha-beta model, Patarasuk & Yuan 2009; partial pooling, Gelman & Hill 2007, chapters 12 and 13.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.machine import describe

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RESIDUAL = 0.04  # scatter of repeated figures of one machine, in log efficiency (RTX 2080 Ti logs: 0.02 to 0.06)
FAMILY_SHARE = 0.5  # of the spread between machines, the part that goes with the device family
SLOWDOWN_LIMIT = 2.5  # half precision never cost more than this many single-device steps
GRADIENT = 1e-2  # of the loss at the end; predictions then lie within 1e-4 of the optimum
UNKNOWN_BATCH = 0.5  # log step time where the batch is not stated: a factor of 1.6 either way
UNKNOWN_NETWORK = 0.7  # log gradient bytes and tensors of a network that is not in the table


class Term(NamedTuple):
    """One coefficient: the part it acts on, and its prior (mean, sd)."""

    part: str
    mean: float
    sd: float


# Weak priors in log units. c: seconds per 1e9 bytes (PCIe about 4 GB/s, NVLink four times that); a ring's bandwidth
# does not depend on the device count, hence the tight c_doubling. l: seconds per tensor (0.15 ms; XLA merges
# starts). s: 2.5 % of a step. q: a third of a step, more with the device count.
TERMS = {
    "c": Term("c", -1.5, 0.7),
    "c_nvlink": Term("c", -1.3, 0.7),
    "c_bridge": Term("c", -0.3, 0.3),
    "c_faster": Term("c", -0.3, 0.1),
    "c_later_build": Term("c", 0.0, 0.3),
    "c_doubling": Term("c", 0.0, 0.05),
    "l": Term("l", -8.7, 0.7),
    "l_xla": Term("l", -1.0, 0.5),
    "l_doubling": Term("l", 0.4, 0.3),
    "l_old": Term("l", 0.0, 0.5),
    "c_bucketed": Term("c", 0.0, 0.5),
    "l_bucketed": Term("l", -1.0, 0.5),
    "s_bucketed": Term("s", 0.0, 0.5),
    "s": Term("s", -3.7, 0.7),
    "s_doubling": Term("s", 0.2, 0.3),
    "q": Term("q", -1.0, 0.7),
    "q_ring": Term("q", 0.7, 0.3),
    "q_old": Term("q", -0.7, 0.5),
}
# Spread of the machines around the population, log units: bandwidth, its change per doubling (buses that several
# devices share), latency, waiting.
SPREAD = {"c": 1.0, "c_doubling": 0.6, "l": 0.7, "s": 0.6}
PARTS = ("c", "l", "s", "q")


class Pooled(NamedTuple):
    """A fitted model: coefficients (TERMS, then each SPREAD for machines and families), covariance, known groups."""

    coefficients: np.ndarray
    covariance: np.ndarray
    machines: dict[str, int]
    families: dict[str, int]


class Objective(NamedTuple):
    """The penalised loss at some coefficients, its gradient and its curvature (Gauss-Newton)."""

    loss: float
    gradient: np.ndarray
    curvature: np.ndarray


def fit_pooled(evidence: pd.DataFrame) -> Pooled:
    """Fit to evidence: the columns `machine.describe` needs, `family` (device) and `efficiency` (dimensionless)."""
    from scipy.optimize import minimize

    machines, families = _groups(evidence)
    objective = _objective(evidence, machines, families)
    mean, _ = _priors(len(machines), len(families))
    found = minimize(
        lambda theta: objective(theta).loss,
        mean,
        jac=lambda theta: objective(theta).gradient,
        hess=lambda theta: objective(theta).curvature,
        method="trust-exact",
        options={"gtol": GRADIENT, "maxiter": 80},
    )
    return Pooled(found.x, np.linalg.inv(objective(found.x).curvature), machines, families)


def _objective(
    evidence: pd.DataFrame, machines: dict[str, int], families: dict[str, int]
) -> Callable[[np.ndarray], Objective]:
    """The loss of coefficients: robust (pseudo-Huber) gaps of log efficiency, and priors as squares."""
    design, base = _design(evidence, machines, families)
    mean, sd = _priors(len(machines), len(families))
    target = np.log(evidence["efficiency"].to_numpy(dtype=float))
    weight = _family_weight(evidence["family"])
    last: dict[bytes, Objective] = {}

    def objective(theta: np.ndarray) -> Objective:
        if theta.tobytes() not in last:  # the optimiser asks for loss, gradient and curvature one by one
            last.clear()
            last[theta.tobytes()] = _evaluated(theta)
        return last[theta.tobytes()]

    def _evaluated(theta: np.ndarray) -> Objective:
        overhead, slope = _overhead(theta, design, base)
        gap = (target + np.log1p(overhead)) / RESIDUAL
        root = np.sqrt(1 + gap**2)  # the loss grows with the gap, not its square: one odd log cannot lead
        off = (theta - mean) / sd
        steep = 1 / (RESIDUAL * (1 + overhead))
        curved = _times(slope, steep * np.sqrt(weight * (root + 1) / 2) / root)
        return Objective(
            float(weight @ (root - 1) + off @ off / 2),
            slope.T @ (steep * weight * gap / root) + off / sd,
            (curved.T @ curved).toarray() + np.diag(1 / sd**2),
        )

    return objective


def predict_pooled(model: Pooled, cells: pd.DataFrame) -> pd.DataFrame:
    """Efficiency of cells (columns as in fit_pooled, without efficiency) and `scale`, its sd in log units; same index.

    The scale holds the scatter of figures, the uncertainty of the coefficients, the spread of machines and
    device families for those never seen, and what an unstated batch or an unknown network leaves open.
    """
    design, base = _design(cells, model.machines, model.families)
    overhead, slope = _overhead(model.coefficients, design, base)
    slope = slope.toarray() / (1 + overhead)[:, None]
    variance = np.einsum("ij,jk,ik->i", slope, model.covariance, slope)
    new_machine = ~_machine(cells).isin(model.machines).to_numpy()
    new_family = ~cells["family"].isin(model.families).to_numpy()
    unseen = (1 - FAMILY_SHARE) * new_machine + FAMILY_SHARE * new_family
    for name, spread in SPREAD.items():
        variance += unseen * (slope[:, list(TERMS).index(name)] * spread) ** 2
    facts = describe(cells)
    exchange = slope[:, list(TERMS).index("c")] + slope[:, list(TERMS).index("l")]
    variance += np.where(facts["known_batch"], 0, (exchange * UNKNOWN_BATCH) ** 2)
    variance += np.where(facts["known_network"], 0, (exchange * UNKNOWN_NETWORK) ** 2)
    return pd.DataFrame({"efficiency": 1 / (1 + overhead), "scale": np.sqrt(variance + RESIDUAL**2)}, index=cells.index)


def parts_pooled(model: Pooled, cells: pd.DataFrame) -> pd.DataFrame:
    """The parts c, l, s, q of the step of N devices, in single-device steps, same index."""
    design, base = _design(cells, model.machines, model.families)
    return pd.DataFrame(_parts(model.coefficients, design, base), index=cells.index)


def _machine(cells: pd.DataFrame) -> pd.Series:
    return cells["instance"].fillna("").astype(str) + " / " + cells["gpu"].fillna("").astype(str)


def _groups(evidence: pd.DataFrame) -> tuple[dict[str, int], dict[str, int]]:
    machines = {name: number for number, name in enumerate(sorted(set(_machine(evidence))))}
    return machines, {name: number for number, name in enumerate(sorted(set(evidence["family"])))}


def _family_weight(families: pd.Series) -> np.ndarray:
    """Rows weigh with the root of their family's share: many logs inform more, but not in proportion."""
    count = families.map(families.value_counts()).to_numpy(dtype=float)
    return count**-0.5 / np.mean(count**-0.5)


def _priors(machines: int, families: int) -> tuple[np.ndarray, np.ndarray]:
    mean = [term.mean for term in TERMS.values()]
    sd = [term.sd for term in TERMS.values()]
    for spread in SPREAD.values():
        sd += [spread * np.sqrt(1 - FAMILY_SHARE)] * machines + [spread * np.sqrt(FAMILY_SHARE)] * families
    return np.array(mean + [0.0] * (len(sd) - len(mean))), np.array(sd)


def _design(
    cells: pd.DataFrame, machines: dict[str, int], families: dict[str, int]
) -> tuple[dict[str, "csr_array"], dict[str, np.ndarray]]:
    """Per part the linear facts of each cell (rows x coefficients), and the physical quantity they multiply."""
    facts = describe(cells)
    doublings = np.log2(facts["devices"] / 2)
    ring = 2 * (facts["devices"] - 1) / facts["devices"]
    columns = {
        "c_nvlink": facts["nvlink"],
        "c_bridge": facts["bridge"],
        "c_faster": facts["faster"],
        "c_later_build": facts["later_build"],
        "c_doubling": doublings * (1 - facts["nvlink"]),
        "l_xla": facts["xla"],
        "l_doubling": doublings,
        "l_old": 1 - facts["recent"],
        "c_bucketed": facts["bucketed"],
        "l_bucketed": facts["bucketed"],
        "s_bucketed": facts["bucketed"],
        "s_doubling": doublings,
        "q_ring": np.log(ring),
        "q_old": 1 - facts["recent"],
    }
    places = [
        (groups, labels.map(groups).to_numpy(dtype=float))
        for groups, labels in ((machines, _machine(cells)), (families, cells["family"]))
    ]
    return _linear(columns, places, len(cells)), _quantities(facts, ring)


def _linear(
    columns: dict[str, pd.Series], places: list[tuple[dict[str, int], np.ndarray]], cells: int
) -> dict[str, "csr_array"]:
    """Columns (1 where one is not given) at the coefficients of TERMS and of the row's machine and family, by part.

    places: groups and the number of each row's own (NaN: never seen). Sparse, since a row has one of each.
    """
    from scipy.sparse import csr_array

    entries: dict[str, list[np.ndarray]] = {part: [] for part in PARTS}  # each: values, rows, coefficients
    filled = {name: np.broadcast_to(np.asarray(columns.get(name, 1.0), dtype=float), cells) for name in TERMS}
    for number, (name, term) in enumerate(TERMS.items()):
        entries[term.part].append(np.stack([filled[name], np.arange(cells), np.full(cells, number)]))
    width = len(TERMS)
    for name in SPREAD:
        for groups, place in places:
            seen = np.flatnonzero(~np.isnan(place))
            entries[TERMS[name].part].append(np.stack([filled[name][seen], seen, width + place[seen]]))
            width += len(groups)
    design = {}
    for part, several in entries.items():
        values, rows, coefficients = np.concatenate(several, axis=1)
        design[part] = csr_array((values, (rows.astype(int), coefficients.astype(int))), shape=(cells, width))
    return design


def _quantities(facts: pd.DataFrame, ring: pd.Series) -> dict[str, np.ndarray]:
    """What each part multiplies: 1e9 bytes and tensors per second of a step, 1, and whether half precision slows."""
    slow = facts["fp16"] * facts["normalised"] * (1 - facts["xla"]) * facts["tensor_cores"]
    slow = slow * (1 - facts["later_build"]) * (1 - facts["bucketed"])  # seen in TensorFlow only
    base = {
        "c": facts["exchange"] * ring * facts["gradient_gb"] / facts["step_s"],
        "l": facts["exchange"] * facts["tensors"] / facts["step_s"],
        "s": pd.Series(1.0, index=facts.index),
        "q": slow * ring,
    }
    return {part: value.to_numpy(dtype=float) for part, value in base.items()}


def _parts(theta: np.ndarray, design: dict[str, "csr_array"], base: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    raw = {part: np.exp(np.clip(design[part] @ theta, -30, 6)) * base[part] for part in PARTS}
    return {**raw, "q": SLOWDOWN_LIMIT * np.tanh(raw["q"] / SLOWDOWN_LIMIT)}


def _overhead(
    theta: np.ndarray, design: dict[str, "csr_array"], base: dict[str, np.ndarray]
) -> tuple[np.ndarray, "csr_array"]:
    """S + c + l + q in single-device steps, and its derivative by each coefficient."""
    parts = _parts(theta, design, base)
    raw = np.exp(np.clip(design["q"] @ theta, -30, 6)) * base["q"]
    slopes = {**parts, "q": raw * (1 - (parts["q"] / SLOWDOWN_LIMIT) ** 2)}
    return np.sum(list(parts.values()), axis=0), sum(_times(design[part], slopes[part]) for part in PARTS)


def _times(matrix: "csr_array", rows: np.ndarray) -> "csr_array":
    """Each row of the matrix times its own number."""
    return matrix.multiply(rows[:, None]).tocsr()
