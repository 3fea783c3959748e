"""All methods fitted to a table of evidence, within a node and across nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import STUDIES, figures_file
from sweetspot.scaling.across_nodes import (
    NodeScaling,
    extend_across_nodes,
    fit_node_scaling,
    part_within_node,
)
from sweetspot.scaling.evidence import concat_evidence, learnable
from sweetspot.scaling.intervals import (
    LEARNED_METHOD,
    METHODS,
    CalibratedMethod,
    validation_errors,
)
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.throughput.published import read_published
from sweetspot.warnings import joined, warning

POOLS = ("scaling-2020", "scaling-2026")


@dataclass(frozen=True)
class FittedScaling:
    """What evidence teaches, fitted once for all predictions.

    methods, errors: fits and `validation_errors` by method; node_scaling: what several nodes cost;
    maximum_gpus: the largest counts of one node and of several in the evidence (NaN: none).
    """

    methods: Mapping[str, CalibratedMethod]
    errors: Mapping[str, pd.DataFrame]
    node_scaling: NodeScaling
    maximum_gpus: tuple[float, float]

    @classmethod
    def fit(cls, evidence: pd.DataFrame, names: Iterable[str] = METHODS) -> Self:
        """Fit methods to evidence.

        Parameters
        ----------
        evidence
            EVIDENCE_COLUMNS, with the network facts of a study or without.
        names
            Methods to fit, of METHODS.
        """
        has_single_base = (evidence["base_gpus"] == 1).to_numpy()
        on_node, on_nodes = evidence[has_single_base], evidence[~has_single_base]
        rows = learnable(on_node)
        errors = {name: validation_errors(METHODS[name], rows) for name in names}
        methods = {name: CalibratedMethod.fit(METHODS[name], rows, table) for name, table in errors.items()}
        maxima = float(on_node["gpus"].max()), float(on_nodes["gpus"].max())
        return cls(methods, errors, fit_node_scaling(on_nodes), maxima)

    def predict(self, name: str, facts: pd.DataFrame) -> pd.DataFrame:
        """Predict cells by a method.

        Parameters
        ----------
        name
            A fitted method.
        facts
            The columns that `with_step_facts` needs.

        Returns
        -------
        pd.DataFrame
            efficiency, low, high (90 %), source (what the nodes cost); same index.
        """
        predicted = self.methods[name].predict(part_within_node(facts))
        return extend_across_nodes(predicted, facts, self.node_scaling)

    def add_count_warnings(self, warnings: pd.Series, facts: pd.DataFrame) -> list[list[dict[str, str]]]:
        """Add `beyond_evidence` to the warnings of cells with more devices than any figure.

        Parameters
        ----------
        warnings
            Warnings of each cell.
        facts
            `gpus` and `nodes` of the cells.
        """
        maxima = np.where(facts["nodes"] == 1, *self.maximum_gpus)
        rows = []
        for pairs, gpus, maximum in zip(warnings, facts["gpus"], maxima, strict=True):
            message = f"more devices than any figure that was learned from ({maximum:g})"
            rows.append(joined(pairs, [warning("beyond_evidence", message)] if gpus > maximum else None))
        return rows


def shipped_evidence(studies: Path = STUDIES) -> pd.DataFrame:
    """Return the evidence (EVIDENCE_COLUMNS) of the shipped pools.

    A folder of `studies` that has the name of a pool comes before what is shipped.
    """
    files = {name: figures_file(name, studies) for name in POOLS}
    tables = [published_evidence(name, read_published(file)) for name, file in files.items()]
    return concat_evidence(tables)


@cache
def fit_shipped_scaling(studies: Path) -> FittedScaling:
    """Fit the learned method to the shipped evidence."""
    return FittedScaling.fit(shipped_evidence(studies), [LEARNED_METHOD])


def combined_limit(value: pd.Series, *relative_limits: pd.Series, sign: int) -> pd.Series:
    """Return the bound of a product of independent factors.

    Parameters
    ----------
    value
        The product.
    relative_limits
        For each factor its bound over its value; NaN: the factor has no error.
    sign
        -1 for the lower bound, 1 for the upper.

    Returns
    -------
    pd.Series
        Half the width of the logarithm is the root of the sum of squares of the factors' halves.
    """
    with np.errstate(divide="ignore"):  # a lower bound of 0 stays 0
        squares = [np.log(limit).fillna(0.0) ** 2 for limit in relative_limits]
    return value * np.exp(sign * np.sqrt(sum(squares)))
