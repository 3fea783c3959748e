"""Three ways to predict the scaling efficiency of n devices of one node, behind one interface."""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import average_efficiency, learnable

RULE_2018 = "mean_efficiency"
# What each method is, for a reader of the report.
METHOD_DESCRIPTIONS = {
    RULE_2018: "the 2018 rule: mean of the study's families at the same model and batch",
    "usl": "universal scalability law, two constants for each model and precision",
    "sum_of_parts": "waiting, exchange and starts by class of link (learned)",
}
ANY_FRAMEWORK = ""
# A workload takes the averages that share the first of these keys.
WORKLOAD_KEYS = (["framework", "model", "precision"], ["framework", "model"], ["framework", "precision"], "framework")
AVERAGE_COLUMNS = ["batch_size", "efficiency", "families", "spread"]
LEVEL = 0.9  # of all intervals


class ScalingMethod(ABC):
    """A way to predict the scaling efficiency of n devices in one node, fitted to published pairs.
    `intervals.CalibratedMethod` adds intervals, from errors on figures that were left out of the fit.
    """

    @classmethod
    @abstractmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Return the method fitted to rows of the table evidence; those with a warning are left out."""

    @abstractmethod
    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the efficiency (share of linear scaling) of each row of `with_step_facts`; NaN: no prediction."""


@dataclass(frozen=True)
class MeanEfficiency(ScalingMethod):
    """The 2018 rule (Parkopedia 2018, section 3): the mean efficiency of all families at the same workload. averages:
    the table of `evidence.average_efficiency`.
    """

    averages: pd.DataFrame

    @classmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Return the method with the mean efficiency of each workload over devices, from rows of table evidence."""
        rows = learnable(evidence)
        return cls(average_efficiency(rows.assign(base_instance=rows["gpu"])))

    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the predicted efficiency of each cell, as in `predict`; NaN for an unknown workload."""
        return self.predict(cells)["efficiency"].to_numpy(dtype=float)

    def predict(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Predict the efficiency (with 90 % bounds low, high) of each cell (a job on n devices) for a device family
        that is not among the averages, by the 2018 rule: the mean of other families at the same workload. The bounds
        are mean +- t(n-1) s sqrt(1 + 1/n) for n families, NaN for one. Columns of `cells`: framework, model,
        batch_size (NaN: all batches count) and precision. A framework without averages takes those of all frameworks,
        a missing model all models at the nearest batch (in doublings), a missing precision the others.
        """
        frameworks = cells["framework"].where(cells["framework"].isin(self.averages["framework"]), ANY_FRAMEWORK)
        averages = pd.concat([self.averages, self.averages.assign(framework=ANY_FRAMEWORK)])
        positions = [averages.groupby(key, sort=False).indices for key in WORKLOAD_KEYS]
        values = averages[AVERAGE_COLUMNS].to_numpy(dtype=float)
        workloads = zip(frameworks, cells["model"], cells["precision"], cells["batch_size"].astype(float), strict=True)
        predictions = []
        for framework, model, precision, batch_size in workloads:
            keys = ((framework, model, precision), (framework, model), (framework, precision), framework)
            matches = (table[key] for table, key in zip(positions, keys, strict=True) if key in table)
            predictions.append(_prediction_interval(values[next(matches, [])], batch_size))
        return pd.DataFrame(predictions, cells.index, ["efficiency", "low", "high"])


def _prediction_interval(averages: np.ndarray, batch_size: float) -> tuple[float, float, float]:
    """Return (efficiency, low, high), a 90 % prediction interval of a new device family, from `averages` of one
    workload (array, a row per batch: batch_size, efficiency, families, spread) near `batch_size`; NaN: unknown.
    """
    from scipy.special import stdtrit  # the t quantile; scipy.stats takes a second to import

    if not len(averages):
        return math.nan, math.nan, math.nan
    distance = np.nan_to_num(np.abs(np.log2(averages[:, 0] / batch_size)))
    _, efficiency, families, deviation = averages[distance <= distance.min() + 1e-9].T
    mean = float(efficiency.mean())
    count = families.max()
    if count < 2:
        return mean, math.nan, math.nan
    half_width = float(stdtrit(count - 1, (1 + LEVEL) / 2) * np.nanmean(deviation) * math.sqrt(1 + 1 / count))
    return mean, max(mean - half_width, 0.0), mean + half_width


@dataclass(frozen=True)
class UniversalScalabilityLaw(ScalingMethod):
    """Efficiency 1 / (1 + s (n-1) + k n (n-1)), s, k >= 0 (Gunther 2007, Guerrilla Capacity Planning, chapter 4).
    constants: array (s, k) by (model, precision); common: (s, k) of all figures, for other workloads.
    """

    constants: Mapping[Hashable, np.ndarray]
    common: np.ndarray

    @classmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Fit the law's constants s and k per model and precision, and to all rows of table evidence for others."""
        rows = learnable(evidence)
        devices, efficiency = rows["gpus"].to_numpy(float), rows["efficiency"].to_numpy(float)
        families = pd.factorize(rows["family"])[0]
        constants = {
            key: fit_law(devices[positions], efficiency[positions], families[positions])
            for key, positions in rows.groupby(["model", "precision"]).indices.items()
        }
        return cls(constants, fit_law(devices, efficiency, families))

    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Predict each cell's efficiency (share of linear scaling) by the law, from gpus, model and precision."""
        keys = zip(cells["model"], cells["precision"], strict=True)
        serial, crosstalk = np.array([self.constants.get(key, self.common) for key in keys]).T
        devices = cells["gpus"].to_numpy(dtype=float)
        return 1 / (1 + serial * (devices - 1) + crosstalk * devices * (devices - 1))


def fit_law(devices: np.ndarray, efficiency: np.ndarray, families: np.ndarray) -> np.ndarray:
    """Fit the constants of the universal scalability law by non-negative least squares on 1/efficiency - 1; return the
    array [s, k] (serial share and crosstalk), from which the efficiency of any number of devices follows.

    Parameters
    ----------
    devices, efficiency, families
        Of each figure: number of devices; efficiency (1/efficiency counts relative to its value); integer code of its
        device family, of which every one weighs the same.
    """
    from scipy.optimize import nnls

    figures_of = np.bincount(families)[families] if len(families) else families
    root = np.sqrt(efficiency / figures_of)
    design = np.column_stack([devices - 1, devices * (devices - 1)])
    return nnls(design * root[:, None], (1 / efficiency - 1) * root)[0]
