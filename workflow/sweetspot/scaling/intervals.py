"""How wrong a method is on device families and publishers it has not seen, and the intervals that follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import learnable
from sweetspot.scaling.methods import RULE_2018, MeanEfficiency, ScalingMethod, UniversalScalabilityLaw
from sweetspot.scaling.step_facts import with_step_facts
from sweetspot.scaling.sum_of_parts import SumOfParts
from sweetspot.throughput.calibration import FEWEST, calibrate

LEARNED_METHOD = "sum_of_parts"
METHODS: dict[str, type[ScalingMethod]] = {
    RULE_2018: MeanEfficiency,
    "usl": UniversalScalabilityLaw,
    LEARNED_METHOD: SumOfParts,
}
# Overheads below this share of a step differ from run to run; it is added before logarithms are taken.
SCORE_FLOOR = 0.06
LOWEST_OVERHEAD = -0.05  # of an efficiency of 1.05; more is no speed of the devices
# Half width of log(overhead + SCORE_FLOOR) where nothing was left out: a factor of 4.5 either way.
WIDTH_WITHOUT_EVIDENCE = 1.5
LEVEL = 0.9  # of all intervals
STUDY_MODELS = ("inception3", "resnet50", "vgg16")
VALIDATION_COLUMNS = (
    "method", "slice", "rows", "median_abs_error", "p90_abs_error", "bias", "coverage90",
)  # fmt: skip


def interval_widths(errors: pd.DataFrame) -> dict[str, float]:
    """Return conformal half widths of log(overhead + SCORE_FLOOR) for 90 %, by class of cells.

    A class is an era with a class of link (`modern pcie`), an era, or "" for all cells. One with
    fewer than FEWEST groups (a family of a publisher) has no width. errors: `validation_errors`.
    """
    widths = {}
    rows = errors[errors["score"].notna()]
    scores, groups = rows["score"].to_numpy(), pd.factorize(rows["group"])[0]
    for classes in _cell_classes(rows):
        for name in set(classes):
            in_class = classes == name
            if len(set(groups[in_class])) >= FEWEST:
                widths[name] = calibrate(scores[in_class], groups[in_class], LEVEL)
    return widths


def _widths_of(cells: pd.DataFrame, by_class: Mapping[str, float]) -> np.ndarray:
    """Return the half width of each cell, that of its narrowest class which has one."""
    widths = np.full(len(cells), WIDTH_WITHOUT_EVIDENCE)
    for classes in reversed(_cell_classes(cells)):
        narrower = pd.Series(classes).map(by_class).to_numpy(dtype=float)
        widths = np.where(np.isnan(narrower), widths, narrower)
    return widths


def _cell_classes(cells: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the classes of each cell from the narrowest to that of all."""
    eras = cells["era"].to_numpy(dtype=object)
    links = cells["link"].to_numpy(dtype=object)
    return eras + " " + links, eras, np.full(len(cells), "", dtype=object)


@dataclass(frozen=True)
class CalibratedMethod:
    """A fitted method with intervals from what was left out.

    widths: `interval_widths`.
    slowest: the lowest speed-up of n devices over one in the evidence, by era and class of link.
    n devices are never predicted below one device unless figures of the same link show it.
    """

    method: ScalingMethod
    widths: Mapping[str, float]
    slowest: Mapping[str, float]

    @classmethod
    def fit(cls, kind: type[ScalingMethod], evidence: pd.DataFrame, errors: pd.DataFrame) -> Self:
        """Fit a method to evidence.

        Parameters
        ----------
        kind
            One of the classes of METHODS.
        evidence
            EVIDENCE_COLUMNS, of pairs whose base is one device.
        errors
            `validation_errors` of the same method and evidence.

        Returns
        -------
        CalibratedMethod
        """
        rows = learnable(evidence)
        speedup = pd.Series(rows["efficiency"] * rows["gpus"], dtype=float)
        slowest = speedup.groupby(_cell_classes(rows)[0]).min().clip(upper=1.0)
        return cls(kind.fit(rows), interval_widths(errors), slowest.to_dict())

    def predict(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Predict cells within one node.

        Parameters
        ----------
        cells
            The columns that `with_step_facts` needs.

        Returns
        -------
        pd.DataFrame
            efficiency, low, high (90 % prediction interval of a new machine); same index.
        """
        described = with_step_facts(cells)
        classes = _cell_classes(described)[0]
        slowest = np.array([self.slowest.get(name, 1.0) for name in classes])
        highest_overhead = described["gpus"].to_numpy(dtype=float) / slowest - 1
        overhead = np.minimum(1 / self.method.efficiency(described) - 1, highest_overhead)
        factor = np.exp(_widths_of(described, self.widths))
        floored = np.maximum(overhead, LOWEST_OVERHEAD) + SCORE_FLOOR
        overhead_high = np.minimum(floored * factor - SCORE_FLOOR, highest_overhead)
        columns = {
            "efficiency": 1 / (1 + overhead),
            "low": 1 / (1 + overhead_high),
            "high": 1 / (1 + floored / factor - SCORE_FLOOR),
        }
        return pd.DataFrame(columns, cells.index)


def validation_errors(kind: type[ScalingMethod], evidence: pd.DataFrame) -> pd.DataFrame:
    """Predict every figure by a fit without its device family and without its publisher.

    Parameters
    ----------
    kind
        One of the classes of METHODS.
    evidence
        EVIDENCE_COLUMNS, of pairs whose base is one device; rows with a warning are left out.

    Returns
    -------
    pd.DataFrame
        The rows with `group` (family and publisher), `predicted`, `error` (predicted / efficiency
        - 1), `score` (|log| of the ratio of overheads) and inside90: whether the interval from the
        other groups contains the figure. NaN where the method cannot say.
    """
    rows = learnable(evidence)
    family, publisher = rows["family"].to_numpy(), rows["publisher"].to_numpy()
    group = rows["family"].astype(str) + " " + rows["publisher"]
    predicted = np.full(len(rows), np.nan)
    for name in sorted(set(group)):
        in_group = (group == name).to_numpy()
        first = int(np.argmax(in_group))
        training = rows[(family != family[first]) & (publisher != publisher[first])]
        predicted[in_group] = kind.fit(training).efficiency(rows[in_group])
    efficiency = rows["efficiency"].to_numpy(dtype=float)
    score = np.abs(np.log(_floored(predicted) / _floored(efficiency)))
    errors = rows.assign(group=group, predicted=predicted, error=predicted / efficiency - 1, score=score)
    return errors.assign(inside90=_is_covered(errors))


def _floored(efficiency: np.ndarray) -> np.ndarray:
    return np.maximum(1 / efficiency - 1, LOWEST_OVERHEAD) + SCORE_FLOOR


def _is_covered(errors: pd.DataFrame) -> np.ndarray:
    """Return whether the interval from the errors of the other groups contains each figure."""
    is_covered = np.zeros(len(errors), dtype=bool)
    for name in set(errors["group"]):
        in_group = (errors["group"] == name).to_numpy()
        widths = _widths_of(errors[in_group], interval_widths(errors[~in_group]))
        is_covered[in_group] = errors["score"].to_numpy()[in_group] <= widths
    return is_covered


def error_summary(errors: pd.DataFrame) -> dict[str, float]:
    """Return rows, median and 90th percentile of |error|, bias (median error) and coverage."""
    size = errors["error"].abs()
    return {
        "rows": len(errors),
        "median_abs_error": float(size.median()),
        "p90_abs_error": float(size.quantile(0.9)),
        "bias": float(errors["error"].median()),
        "coverage90": float(errors["inside90"].mean()),
    }


def validation_table(errors: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Summarise the errors of methods by slice.

    Parameters
    ----------
    errors
        `validation_errors` by method; figures without a prediction are ignored.

    Returns
    -------
    pd.DataFrame
        VALIDATION_COLUMNS; slices `all`, `study_models` (the three models of the 2018 study) and
        `column=value` for each model, precision, count of devices and family.
    """
    table = []
    for method, rows in errors.items():
        rows = rows[rows["error"].notna()]
        slices = {"all": rows, "study_models": rows[rows["model"].isin(STUDY_MODELS)]}
        for column in ("model", "precision", "gpus", "family"):
            slices |= {f"{column}={value}": part for value, part in rows.groupby(column)}
        for name, part in slices.items():
            if len(part):
                table.append({"method": method, "slice": name, **error_summary(part)})
    return pd.DataFrame(table, columns=list(VALIDATION_COLUMNS)).astype({"rows": "int64"})
