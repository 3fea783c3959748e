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
    """A way to predict the efficiency of n devices of one node from published pairs.

    `intervals.CalibratedMethod` adds intervals, which come from what was left out of the fit.
    """

    @classmethod
    @abstractmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Fit to evidence (EVIDENCE_COLUMNS); rows with a warning do not take part."""

    @abstractmethod
    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the efficiency of each cell of `with_step_facts`; NaN: the method cannot say."""


@dataclass(frozen=True)
class MeanEfficiency(ScalingMethod):
    """The 2018 rule: the mean of the families at the same framework, model, batch and precision.

    averages: the table of `evidence.average_efficiency`.

    References
    ----------
    Parkopedia 2018, section 3.
    """

    averages: pd.DataFrame

    @classmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Average the evidence; a family is a device."""
        rows = learnable(evidence)
        return cls(average_efficiency(rows.assign(base_instance=rows["gpu"])))

    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the mean of the nearest averages of each cell."""
        return self.predict(cells)["efficiency"].to_numpy(dtype=float)

    def predict(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Predict the efficiency of a further family.

        Parameters
        ----------
        cells
            Columns framework, model, batch_size (NaN: all batches count) and precision. A
            framework without averages takes those of all frameworks; a missing model takes all
            models at the nearest batch (in doublings); a missing precision takes the others.

        Returns
        -------
        pd.DataFrame
            efficiency, low, high (90 %: mean +- t(n-1) s sqrt(1 + 1/n) for n families) with the
            index of `cells`; low and high are NaN for one family.
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
    """Return mean, low and high of a further family from the rows of AVERAGE_COLUMNS with the nearest batch."""
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
    """Efficiency 1 / (1 + s (n-1) + k n (n-1)) with s, k >= 0 for each model and precision.

    constants: s and k by model and precision; common: of all figures, for a workload without any.

    References
    ----------
    Gunther 2007, Guerrilla Capacity Planning, chapter 4.
    """

    constants: Mapping[Hashable, np.ndarray]
    common: np.ndarray

    @classmethod
    def fit(cls, evidence: pd.DataFrame) -> Self:
        """Fit by model and precision, and to all figures together."""
        rows = learnable(evidence)
        devices, efficiency = rows["gpus"].to_numpy(float), rows["efficiency"].to_numpy(float)
        families = pd.factorize(rows["family"])[0]
        constants = {
            key: fit_law(devices[positions], efficiency[positions], families[positions])
            for key, positions in rows.groupby(["model", "precision"]).indices.items()
        }
        return cls(constants, fit_law(devices, efficiency, families))

    def efficiency(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the law's efficiency of each cell."""
        keys = zip(cells["model"], cells["precision"], strict=True)
        serial, crosstalk = np.array([self.constants.get(key, self.common) for key in keys]).T
        devices = cells["gpus"].to_numpy(dtype=float)
        return 1 / (1 + serial * (devices - 1) + crosstalk * devices * (devices - 1))


def fit_law(devices: np.ndarray, efficiency: np.ndarray, families: np.ndarray) -> np.ndarray:
    """Fit s and k of the universal scalability law.

    Parameters
    ----------
    devices, efficiency
        Figures; a gap of 1/efficiency counts relative to 1/efficiency.
    families
        Numbers of the device families; one weighs the same whatever its number of figures.

    Returns
    -------
    np.ndarray
        s and k, by non-negative least squares on 1/efficiency - 1, which is linear in them.
    """
    from scipy.optimize import nnls

    figures_of = np.bincount(families)[families] if len(families) else families
    root = np.sqrt(efficiency / figures_of)
    design = np.column_stack([devices - 1, devices * (devices - 1)])
    return nnls(design * root[:, None], (1 / efficiency - 1) * root)[0]
