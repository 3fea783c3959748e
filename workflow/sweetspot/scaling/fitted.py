"""All methods fitted to a table of evidence, within a node and across nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import STUDIES, figures_file
from sweetspot.scaling.across_nodes import NodeScaling, extend_across_nodes, fit_node_scaling, part_within_node
from sweetspot.scaling.evidence import concat_filled, learnable
from sweetspot.scaling.intervals import LEARNED_METHOD, METHODS, CalibratedMethod, validation_errors
from sweetspot.scaling.methods import MeanEfficiency
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.throughput.published import read_published

POOLS = ("scaling-2020", "scaling-2026")


@dataclass(frozen=True)
class FittedScaling:
    """Scaling methods fitted once to a table of evidence, to predict the efficiency of any cells. methods, errors:
    fitted method and table of `validation_errors`, by name; node_scaling: losses between nodes.
    """

    methods: Mapping[str, CalibratedMethod | MeanEfficiency]
    errors: Mapping[str, pd.DataFrame]
    node_scaling: NodeScaling

    @classmethod
    def fit(cls, evidence: pd.DataFrame, names: Iterable[str] = METHODS) -> Self:
        """Fit the scaling METHODS of these names to published efficiencies (rows of the table evidence): those with a
        base of one device teach scaling within a node, the others the losses between nodes.
        """
        has_single_base = (evidence["base_gpus"] == 1).to_numpy()
        on_node, on_nodes = evidence[has_single_base], evidence[~has_single_base]
        rows = learnable(on_node)
        errors = {name: validation_errors(METHODS[name], rows) for name in names}
        methods = {name: CalibratedMethod.fit(METHODS[name], rows, table) for name, table in errors.items()}
        return cls(methods, errors, fit_node_scaling(on_nodes))

    def predict(self, name: str, facts: pd.DataFrame) -> pd.DataFrame:
        """Predict how well n devices scale in machines nobody measured: efficiency, low, high (90 %; shares of linear
        scaling) per row of `facts` (columns of `with_step_facts`), by the method `name`, on one or several nodes.
        """
        predicted = self.methods[name].predict(part_within_node(facts))
        return extend_across_nodes(predicted, facts, self.node_scaling)


def shipped_evidence(studies: Path = STUDIES) -> pd.DataFrame:
    """Return the shipped scaling pairs (table evidence); a folder in `studies` named as one of POOLS replaces that."""
    return concat_filled([published_evidence(name, read_published(figures_file(name, studies))) for name in POOLS])


@cache
def fit_shipped_scaling(studies: Path) -> FittedScaling:
    """Fit LEARNED_METHOD and the losses between nodes to `shipped_evidence(studies)`; cached by folder."""
    return FittedScaling.fit(shipped_evidence(studies), [LEARNED_METHOD])


def predicted_rates(cells: pd.DataFrame, predicted: pd.DataFrame, power: float = 1.0) -> pd.DataFrame:
    """Compute the speed of n devices from that of one and a predicted efficiency: per row images_per_s (all devices) =
    gpus x speed of one device x efficiency, with `_low` and `_high`, which combine both errors.

    Parameters
    ----------
    cells, predicted, power
        Columns gpus, base_images_per_s (of one device) with `_low` and `_high` (NaN: no error); columns efficiency,
        low, high (90 %) of the same rows, whose errors are independent; factor on the base's log width (95 to 90 %).
    """
    rate = cells["gpus"] * cells["base_images_per_s"] * predicted["efficiency"]
    columns = {"images_per_s": rate}
    for name, sign in (("low", -1), ("high", 1)):
        with np.errstate(divide="ignore"):  # a lower bound of 0 stays 0
            base = power * np.log(cells[f"base_images_per_s_{name}"] / cells["base_images_per_s"])
            efficiency = np.log(predicted[name] / predicted["efficiency"])
        columns[f"images_per_s_{name}"] = rate * np.exp(sign * np.hypot(base.fillna(0.0), efficiency.fillna(0.0)))
    return pd.DataFrame(columns)
