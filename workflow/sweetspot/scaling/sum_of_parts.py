"""The learned method: a step on n devices takes T_1 (1 + overhead), and the overhead is a sum of parts.

waiting    for the slowest device;
exchange   of the gradients: ring(n) x 1e9 bytes / (T_1 x 1 GB/s), ring(n) = 2 (n-1)/n;
starts     of the exchanges, one a tensor: tensors x 0.1 ms / T_1 (classic programs only);
half       half precision with batch normalisation in TensorFlow without XLA: ring(n) (classic only).

Each part is multiplied by the exponential of a sum of terms. A term belongs to a class of link, to the software or
to the number of devices. Deviations of a device on its link, and in modern programs of a network (what its program
exchanges, and when), are drawn to zero: a device or network without figures takes what is common to all.
The two eras of programs are fitted separately.
Ring all-reduce: Patarasuk & Yuan 2009. Partial pooling: Gelman & Hill 2007, chapter 12.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import learnable
from sweetspot.scaling.methods import ScalingMethod
from sweetspot.scaling.step_facts import BRIDGE, GEFORCE_BUS, NVLINK

# Groups that deviate: a device on its link, the machines of a publisher, a network.
GROUPS = ["device_group", "publisher_group", "network_group"]
# Overheads below this share of a step are measured no better; it keeps their logarithms finite.
MEASUREMENT_FLOOR = 0.02
RESIDUAL_SD = 0.5  # of log(overhead + MEASUREMENT_FLOOR); beyond it the loss grows linearly
SECONDS_PER_TENSOR = 1e-4
MAXIMUM_ITERATIONS = 30
LOSS_TOLERANCE = 1e-3
# Facts (rows x terms), the quantity of each part (rows x parts), and which term is of which part.
Design = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Term:
    """One coefficient of the overhead: the part it belongs to, the fact it multiplies, and its normal prior. fact: a
    name of `_build_design`; for a deviation `column: group`, 1 for rows of that group.
    """

    part: str
    fact: str
    mean: float
    sd: float


@cache
def prior_terms(era: str) -> list[Term]:
    """Return the terms of an era from terms.csv; a fact ending in _group means one term per value of that column."""
    table = pd.read_csv(Path(__file__).with_name("terms.csv"))
    rows = table[table["era"] == era].drop(columns="era")
    return [Term(**row) for row in rows.to_dict("records")]


@dataclass(frozen=True)
class EraModel:
    """The terms of one era of programs (`classic` or `modern`) with one fitted coefficient each."""

    terms: tuple[Term, ...]
    coefficients: np.ndarray

    def overhead(self, cells: pd.DataFrame) -> np.ndarray:
        """Return per cell how much longer a step on n devices takes than on one, as a share of the latter."""
        return _parts(_build_design(cells, self.terms), self.coefficients).sum(axis=1)


@dataclass(frozen=True)
class SumOfParts(ScalingMethod):
    """The learned method (module docstring): overhead as a sum of parts, fitted per era when first needed."""

    evidence: pd.DataFrame
    models: dict[str, EraModel] = field(default_factory=dict)

    @classmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Return a method with the evidence; each era is fitted later, and one without rows keeps its priors."""
        return cls(learnable(evidence))

    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Predict the efficiency (share of linear scaling) of each cell (a job on n devices, row of
        `with_step_facts`), 1 / (1 + overhead); an era of software is fitted when its first cell is predicted.
        """
        overhead = np.zeros(len(cells))
        for era in set(cells["era"]):
            if era not in self.models:
                self.models[era] = _fit_era(self.evidence[self.evidence["era"] == era], era)
            in_era = (cells["era"] == era).to_numpy()
            overhead[in_era] = self.models[era].overhead(cells[in_era])
        return 1 / (1 + overhead)


def _fit_era(rows: pd.DataFrame, era: str) -> EraModel:
    """Fit the overhead's coefficients for one era of software (`classic` or `modern`) to its rows of `learnable`
    evidence by penalised robust least squares. The loss is pseudo-Huber in log(overhead + MEASUREMENT_FLOOR) plus the
    squares of the priors; all rows of one publisher's device family together weigh as the root of their number. By
    Levenberg-Marquardt.
    """
    terms = []
    for term in prior_terms(era):
        is_group = term.fact.endswith("_group")
        facts_of_term = [f"{term.fact}: {name}" for name in sorted(set(rows[term.fact]))] if is_group else [term.fact]
        terms += [replace(term, fact=fact) for fact in facts_of_term]
    mean = np.array([term.mean for term in terms])
    sd = np.array([term.sd for term in terms])
    if rows.empty:
        return EraModel(tuple(terms), mean)
    design = facts, _, membership = _build_design(rows, tuple(terms))
    overhead = np.maximum(1 / rows["efficiency"].to_numpy(dtype=float) - 1, 0.0)
    target = np.log(overhead + MEASUREMENT_FLOOR)
    groups = rows["family"].astype(str) + rows["publisher"]
    weight = groups.map(groups.value_counts()).to_numpy(dtype=float) ** -0.5
    weight /= weight.mean()

    def evaluate(coefficients: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return (loss, gradient, Gauss-Newton curvature: terms x terms) at a value per term, for a fit's step."""
        parts = _parts(design, coefficients)
        floored = parts.sum(axis=1) + MEASUREMENT_FLOOR
        residual = (np.log(floored) - target) / RESIDUAL_SD
        root = np.sqrt(1 + residual**2)
        shrinkage = (coefficients - mean) / sd
        loss = float(weight @ (root - 1) + shrinkage @ shrinkage / 2)
        slope = facts * (parts @ membership.T)
        slope /= (floored * RESIDUAL_SD)[:, None]
        weighted = slope.T * (weight / root)
        gradient = weighted @ residual + shrinkage / sd
        return loss, gradient, weighted @ slope + np.diag(1 / sd**2)

    coefficients = mean
    damping = 1e-3
    loss, gradient, curvature = evaluate(mean)
    for _ in range(MAXIMUM_ITERATIONS):
        damped = curvature + damping * np.diag(np.diag(curvature))
        proposal = coefficients - np.linalg.solve(damped, gradient)
        evaluated = evaluate(proposal)
        improvement = loss - evaluated[0]
        if improvement < 0:
            damping *= 10
            continue
        coefficients = proposal
        loss, gradient, curvature = evaluated
        damping /= 10
        if improvement < LOSS_TOLERANCE:
            break
    return EraModel(tuple(terms), coefficients)


def _parts(design: Design, coefficients: np.ndarray) -> np.ndarray:
    """Return the parts of the overhead (cells x parts), shares of one device's step, from `_build_design` and terms."""
    facts, quantities, membership = design
    logarithms = (facts * coefficients) @ membership
    return np.exp(np.clip(logarithms, -30, 8)) * quantities


def _build_design(cells: pd.DataFrame, terms: tuple[Term, ...]) -> Design:
    """Build the matrices of the learned method from rows of `with_step_facts`, for its fit and predictions: facts
    (cells x terms), quantities (cells x parts: the unscaled overheads) and membership (terms x parts, 0 or 1).
    """
    link, doublings = cells["link"], cells["doublings"]
    columns = {
        "always": 1.0,
        "doublings": doublings,
        "nvlink": link == NVLINK,
        "bridge": link == BRIDGE,
        "geforce": link == GEFORCE_BUS,
        "bus_doublings": doublings.where(link != NVLINK, 0.0),
        "compiled": cells["xla"],
        "old_software": cells["old_software"],
    }
    table = pd.DataFrame(columns, cells.index).astype(float)
    table = table.join(pd.get_dummies(cells.reindex(columns=GROUPS), prefix_sep=": ", dtype=float))
    facts = table.reindex(columns=[term.fact for term in terms], fill_value=0.0).to_numpy()

    exchanges = cells["exchange"].astype(float)
    quantities = {
        "waiting": 1.0,
        "exchange": exchanges * cells["ring"] * cells["gradient_gb"] / cells["step_s"],
        "starts": exchanges * SECONDS_PER_TENSOR * cells["tensors"] / cells["step_s"],
        "half": cells["ring"] * cells["slow_half"],
    }
    membership = pd.get_dummies([term.part for term in terms], dtype=float)
    part_quantities = pd.DataFrame(quantities, cells.index)[list(membership)]
    return facts, part_quantities.to_numpy(dtype=float), membership.to_numpy()
