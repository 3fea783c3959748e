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
from sweetspot.scaling.evidence import concat_filled, learnable
from sweetspot.scaling.intervals import (
    LEARNED_METHOD,
    METHODS,
    CalibratedMethod,
    validation_errors,
)
from sweetspot.scaling.methods import MeanEfficiency
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.throughput.published import read_published

POOLS = ("scaling-2020", "scaling-2026")


@dataclass(frozen=True)
class FittedScaling:
    """What evidence teaches, fitted once for all predictions.

    methods, errors: fits and `validation_errors` by method; node_scaling: what several nodes cost.
    """

    methods: Mapping[str, CalibratedMethod | MeanEfficiency]
    errors: Mapping[str, pd.DataFrame]
    node_scaling: NodeScaling

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
        return cls(methods, errors, fit_node_scaling(on_nodes))

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
            efficiency, low, high (90 %); same index.
        """
        predicted = self.methods[name].predict(part_within_node(facts))
        return extend_across_nodes(predicted, facts, self.node_scaling)


def shipped_evidence(studies: Path = STUDIES) -> pd.DataFrame:
    """Return the evidence (EVIDENCE_COLUMNS) of the shipped pools.

    A folder of `studies` that has the name of a pool comes before what is shipped.
    """
    files = {name: figures_file(name, studies) for name in POOLS}
    tables = [published_evidence(name, read_published(file)) for name, file in files.items()]
    return concat_filled(tables)


@cache
def fit_shipped_scaling(studies: Path) -> FittedScaling:
    """Fit the learned method to the shipped evidence."""
    return FittedScaling.fit(shipped_evidence(studies), [LEARNED_METHOD])


def predicted_rates(cells: pd.DataFrame, predicted: pd.DataFrame, power: float = 1.0) -> pd.DataFrame:
    """Compute the throughput of n devices: gpus x throughput of one device x efficiency.

    Parameters
    ----------
    cells
        gpus, base_images_per_s with `_low` and `_high` (NaN: no error).
    predicted
        efficiency, low, high; same index.
    power
        Of the limits of the base: from their probability to the 90 % of a prediction.

    Returns
    -------
    pd.DataFrame
        images_per_s with `_low` and `_high`. The errors count as independent: half the width of
        the logarithm is the root of the sum of squares.
    """
    rate = cells["gpus"] * cells["base_images_per_s"] * predicted["efficiency"]
    columns = {"images_per_s": rate}
    for name, sign in (("low", -1), ("high", 1)):
        with np.errstate(divide="ignore"):  # a lower bound of 0 stays 0
            base = power * np.log(cells[f"base_images_per_s_{name}"] / cells["base_images_per_s"])
            efficiency = np.log(predicted[name] / predicted["efficiency"])
        columns[f"images_per_s_{name}"] = rate * np.exp(sign * np.hypot(base.fillna(0.0), efficiency.fillna(0.0)))
    return pd.DataFrame(columns)
