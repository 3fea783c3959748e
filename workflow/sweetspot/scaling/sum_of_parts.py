"""The learned method: a step on n devices takes T_1 (1 + overhead), and the overhead is a sum of parts.

waiting    for the slowest device;
exchange   of the gradients: ring(n) x 1e9 bytes / (T_1 x 1 GB/s), ring(n) = 2 (n-1)/n;
starts     of the exchanges, one a tensor: tensors x 0.1 ms / T_1 (classic programs only);
half       half precision with batch normalisation in TensorFlow without XLA: ring(n) (classic only).

Each part is multiplied by the exponential of a sum of terms. A term belongs to a class of link, to the software or
to the number of devices. Deviations of a device on its link, and in modern programs of a network (what its program
exchanges, and when), are drawn to zero: a device or network without figures takes what is common to all.
The two eras of programs are fitted separately.

References
----------
Ring all-reduce: Patarasuk & Yuan 2009. Partial pooling: Gelman & Hill 2007, chapter 12.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import learnable
from sweetspot.scaling.methods import ScalingMethod
from sweetspot.scaling.step_facts import (
    BRIDGE,
    CLASSIC,
    GEFORCE_BUS,
    MODERN,
    NVLINK,
    with_step_facts,
)

WAITING, EXCHANGE, STARTS, HALF = "waiting", "exchange", "starts", "half"
# Columns of groups that deviate: a device on its link, the machines of a publisher, a network.
DEVICE_GROUP, PUBLISHER_GROUP, NETWORK_GROUP = "device_group", "publisher_group", "network_group"
# Overheads below this share of a step are measured no better; it keeps their logarithms finite.
MEASUREMENT_FLOOR = 0.02
RESIDUAL_SD = 0.5  # of log(overhead + MEASUREMENT_FLOOR); beyond it the loss grows linearly
SECONDS_PER_TENSOR = 1e-4
MAXIMUM_ITERATIONS = 30
LOSS_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Term:
    """One coefficient of a part: the fact it multiplies, and its normal prior.

    fact: a name of `_build_design`; for a deviation `column: group`, 1 for rows of that group.
    """

    part: str
    fact: str
    mean: float
    sd: float


_COMMON_TERMS = (
    Term(WAITING, "always", -3.5, 1.0),
    Term(WAITING, "doublings", 0.3, 0.3),
    Term(EXCHANGE, "always", -2.5, 1.5),
    Term(EXCHANGE, "nvlink", -1.0, 0.7),
    Term(EXCHANGE, "bridge", -0.3, 0.5),
    Term(EXCHANGE, "geforce", 0.5, 0.3),
    Term(EXCHANGE, "bus_doublings", 0.0, 0.15),
)
TERMS = {
    CLASSIC: (
        *_COMMON_TERMS,
        Term(STARTS, "always", 0.0, 1.0),
        Term(STARTS, "doublings", 0.3, 0.3),
        Term(STARTS, "compiled", -0.7, 0.5),
        Term(STARTS, "old_software", 0.0, 0.5),
        Term(HALF, "always", -1.0, 1.0),
        Term(HALF, "doublings", 0.2, 0.3),
        Term(HALF, "old_software", -0.7, 0.5),
    ),
    MODERN: _COMMON_TERMS,
}
# How far groups deviate in a part, by era: (part, column of the groups, standard deviation).
_COMMON_DEVIATIONS = (
    (WAITING, DEVICE_GROUP, 0.4),
    (EXCHANGE, DEVICE_GROUP, 0.4),
    (WAITING, PUBLISHER_GROUP, 0.5),
    (EXCHANGE, PUBLISHER_GROUP, 0.5),
)
DEVIATIONS = {
    CLASSIC: (*_COMMON_DEVIATIONS, (STARTS, DEVICE_GROUP, 0.4)),
    MODERN: (
        *_COMMON_DEVIATIONS,
        (WAITING, NETWORK_GROUP, 0.5),
        (EXCHANGE, NETWORK_GROUP, 1.0),
    ),
}


class _Design(NamedTuple):
    """facts: rows x terms; quantities: rows x terms, the quantity that the term's part multiplies;
    membership: terms x parts, 1 where a term belongs to a part.
    """

    facts: np.ndarray
    quantities: np.ndarray
    membership: np.ndarray

    def parts(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the parts of the overhead, rows x parts, in steps of one device."""
        logarithms = (self.facts * coefficients) @ self.membership
        return np.exp(np.clip(logarithms, -30, 8)) * self.quantities


@dataclass(frozen=True)
class EraModel:
    """The fitted terms of one era of programs."""

    terms: tuple[Term, ...]
    coefficients: np.ndarray

    def parts(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the parts of the overhead of each cell, in steps of one device."""
        design = _build_design(cells, self.terms)
        return pd.DataFrame(design.parts(self.coefficients), cells.index, _part_names(self.terms))


@dataclass(frozen=True)
class SumOfParts(ScalingMethod):
    """The sum of parts, fitted separately to the two eras of programs when they are needed."""

    evidence: pd.DataFrame
    models: dict[str, EraModel] = field(default_factory=dict)

    @classmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Take the evidence; an era without a row has its priors."""
        return cls(learnable(evidence))

    def era_model(self, era: str) -> EraModel:
        """Return the model of an era."""
        if era not in self.models:
            self.models[era] = _fit_era(self.evidence[self.evidence["era"] == era], era)
        return self.models[era]

    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Return 1 / (1 + overhead)."""
        return (1 / (1 + self.parts(cells).sum(axis=1))).to_numpy(dtype=float)

    def parts(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the parts of the overhead of each cell, 0 for those its era does not have."""
        described = with_step_facts(cells)
        tables = [
            self.era_model(era).parts(rows) for era, rows in described.groupby("era", sort=False)
        ]
        parts = pd.concat(tables) if tables else pd.DataFrame(index=cells.index)
        return parts.reindex(cells.index, columns=[WAITING, EXCHANGE, STARTS, HALF]).fillna(0.0)


def _fit_era(rows: pd.DataFrame, era: str) -> EraModel:
    """Fit by penalised robust least squares on the logarithm of the overhead.

    The loss is pseudo-Huber in log(overhead + MEASUREMENT_FLOOR) plus the squares of the priors; a
    family of one publisher weighs with the root of its number of figures. Levenberg-Marquardt with
    reweighting.
    """
    terms = [*TERMS[era]]
    for part, column, sd in DEVIATIONS[era]:
        names = sorted(set(rows[column]))
        terms += [Term(part, f"{column}: {name}", 0.0, sd) for name in names]
    mean = np.array([term.mean for term in terms])
    sd = np.array([term.sd for term in terms])
    if rows.empty:
        return EraModel(tuple(terms), mean)
    design = _build_design(rows, tuple(terms))
    overhead = np.maximum(1 / rows["efficiency"].to_numpy(dtype=float) - 1, 0.0)
    target = np.log(overhead + MEASUREMENT_FLOOR)
    groups = rows["family"].astype(str) + rows["publisher"]
    weight = groups.map(groups.value_counts()).to_numpy(dtype=float) ** -0.5
    weight /= weight.mean()

    def evaluate(coefficients: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        parts = design.parts(coefficients)
        floored = parts.sum(axis=1) + MEASUREMENT_FLOOR
        residual = (np.log(floored) - target) / RESIDUAL_SD
        root = np.sqrt(1 + residual**2)
        shrinkage = (coefficients - mean) / sd
        loss = weight @ (root - 1) + shrinkage @ shrinkage / 2
        slope = design.facts * (parts @ design.membership.T)
        slope /= (floored * RESIDUAL_SD)[:, None]
        weighted = slope.T * (weight / root)
        gradient = weighted @ residual + shrinkage / sd
        return loss, gradient, weighted @ slope + np.diag(1 / sd**2)

    coefficients = mean
    loss, gradient, curvature = evaluate(coefficients)
    damping = 1e-3
    for _ in range(MAXIMUM_ITERATIONS):
        damped = curvature + damping * np.diag(np.diag(curvature))
        proposal = coefficients - np.linalg.solve(damped, gradient)
        proposed = evaluate(proposal)
        if proposed[0] > loss:
            damping *= 10
            continue
        improvement = loss - proposed[0]
        coefficients, (loss, gradient, curvature) = proposal, proposed
        damping /= 10
        if improvement < LOSS_TOLERANCE:
            break
    return EraModel(tuple(terms), coefficients)


def _part_names(terms: tuple[Term, ...]) -> list[str]:
    return list(dict.fromkeys(term.part for term in terms))


def _build_design(cells: pd.DataFrame, terms: tuple[Term, ...]) -> _Design:
    """Arrange the facts of cells (`with_step_facts`) by term."""
    link, doublings = cells["link"], cells["doublings"]
    columns = {
        "always": pd.Series(1.0, cells.index),
        "doublings": doublings,
        "nvlink": link == NVLINK,
        "bridge": link == BRIDGE,
        "geforce": link == GEFORCE_BUS,
        "bus_doublings": doublings.where(link != NVLINK, 0.0),
        "compiled": cells["xla"],
        "old_software": cells["old_software"],
    }
    arrays = {name: values.to_numpy(dtype=float) for name, values in columns.items()}
    for column in {DEVICE_GROUP, PUBLISHER_GROUP, NETWORK_GROUP} & set(cells.columns):
        labels = cells[column].to_numpy()
        for name in set(labels):
            arrays[f"{column}: {name}"] = (labels == name).astype(float)
    absent = np.zeros(len(cells))
    facts = np.array([arrays.get(term.fact, absent) for term in terms]).T

    exchanges = cells["exchange"].astype(float)
    quantities = {
        WAITING: arrays["always"],
        EXCHANGE: exchanges * cells["ring"] * cells["gradient_gb"] / cells["step_s"],
        STARTS: exchanges * SECONDS_PER_TENSOR * cells["tensors"] / cells["step_s"],
        HALF: cells["ring"] * cells["slow_half"],
    }
    names = _part_names(terms)
    membership = np.array([[term.part == name for name in names] for term in terms], dtype=float)
    part_quantities = np.array([np.asarray(quantities[name], dtype=float) for name in names]).T
    return _Design(facts, part_quantities, membership)
