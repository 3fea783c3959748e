"""How wrong a method is on device families and publishers it has not seen, and the intervals that follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from sweetspot.declared_tables import columns_of
from sweetspot.scaling.evidence import learnable
from sweetspot.scaling.methods import LEVEL, RULE_2018, MeanEfficiency, ScalingMethod, UniversalScalabilityLaw
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
VALIDATION_COLUMNS = columns_of("validation")


def interval_widths(errors: pd.DataFrame) -> dict[str, float]:
    """Return how wide prediction intervals must be, learnt from the errors on unseen machines (`errors`: the table of
    `validation_errors`): {class of cells: half width of the 90 % interval of log(overhead + SCORE_FLOOR)}, where
    overhead is 1 / efficiency - 1. A class is an era of software with a class of link (`modern pcie`), an era, or ""
    for all cells. Classes with fewer than FEWEST groups (a family of a publisher) are left out.
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
    """Return for each cell to predict (columns era, link) the half width of its interval of log(overhead +
    SCORE_FLOOR): that of its narrowest class in `by_class` (`interval_widths`), else WIDTH_WITHOUT_EVIDENCE.
    """
    widths = np.full(len(cells), WIDTH_WITHOUT_EVIDENCE)
    for classes in reversed(_cell_classes(cells)):
        narrower = pd.Series(classes).map(by_class).to_numpy(dtype=float)
        widths = np.where(np.isnan(narrower), widths, narrower)
    return widths


def _cell_classes(cells: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays with one text per cell, narrowest class first: `era link`, `era`, and "" (all cells)."""
    eras = cells["era"].to_numpy(dtype=object)
    links = cells["link"].to_numpy(dtype=object)
    return eras + " " + links, eras, np.full(len(cells), "", dtype=object)


@dataclass(frozen=True)
class CalibratedMethod:
    """A fitted method with 90 % intervals from its errors on figures that were left out of the fit. widths: the result
    of `interval_widths`. slowest: the lowest speed-up of n devices over one in the evidence, at most 1, by class
    (`modern pcie`); no prediction is below this speed-up, or below 1 in a class without evidence.
    """

    method: ScalingMethod
    widths: Mapping[str, float]
    slowest: Mapping[str, float]

    @classmethod
    def fit(cls, kind: type[ScalingMethod], evidence: pd.DataFrame, errors: pd.DataFrame) -> Self:
        """Fit a scaling method to published efficiencies and take the widths of its intervals from its errors on
        figures left out of the fit.

        Parameters
        ----------
        kind, evidence, errors
            A class of METHODS, rows of table evidence whose base is one device, and `validation_errors` of both.
        """
        rows = learnable(evidence)
        speedup = rows["efficiency"].astype(float) * rows["gpus"]
        slowest = speedup.groupby(_cell_classes(rows)[0]).min().clip(upper=1.0)
        return cls(kind.fit(rows), interval_widths(errors), slowest.to_dict())

    def predict(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Predict how well the devices of one node scale, for machines that nobody measured: efficiency, low, high (90
        % prediction interval; shares of linear scaling), a row per row of `cells` (of `with_step_facts`).
        """
        described = with_step_facts(cells)
        slowest = [self.slowest.get(name, 1.0) for name in _cell_classes(described)[0]]
        highest_overhead = described["gpus"] / slowest - 1
        overhead = pd.Series(1 / self.method.efficiency(described) - 1, cells.index).clip(upper=highest_overhead)
        factor, floored = np.exp(_widths_of(described, self.widths)), _floored(overhead)
        overhead_high = (floored * factor - SCORE_FLOOR).clip(upper=highest_overhead)
        bounds = {"efficiency": overhead, "low": overhead_high, "high": floored / factor - SCORE_FLOOR}
        return 1 / (1 + pd.DataFrame(bounds))


def validation_errors(kind: type[ScalingMethod], evidence: pd.DataFrame) -> pd.DataFrame:
    """Measure how wrong a scaling method (class of METHODS) is on unseen machines: predict every published efficiency
    by a fit without its device family and without its publisher. These errors set the intervals and appear in the
    report. Returned are the rows of `evidence` (that table, base of one device) without warnings, with `group` (family
    and publisher), `predicted` efficiency, `error` (predicted / efficiency - 1), `score` (|log| of the ratio of
    overheads) and `inside90`: whether the interval from the other groups contains the true one. NaN: no prediction.
    """
    rows = learnable(evidence)
    group = rows["family"].astype(str) + " " + rows["publisher"]
    rows = rows.assign(group=group, predicted=np.nan, inside90=False)
    for _, members in rows.groupby("group"):
        first = members.iloc[0]
        is_training = (rows["family"] != first["family"]) & (rows["publisher"] != first["publisher"])
        rows.loc[members.index, "predicted"] = kind.fit(rows[is_training]).efficiency(members)
    efficiency = rows["efficiency"].astype(float)
    score = np.abs(np.log(_floored(1 / rows["predicted"] - 1) / _floored(1 / efficiency - 1)))
    rows = rows.assign(error=rows["predicted"] / efficiency - 1, score=score)
    for name, members in rows.groupby("group"):
        widths = _widths_of(members, interval_widths(rows[rows["group"] != name]))
        rows.loc[members.index, "inside90"] = members["score"].to_numpy() <= widths
    return rows


def _floored(overhead: pd.Series) -> pd.Series:
    return overhead.clip(lower=LOWEST_OVERHEAD) + SCORE_FLOOR


def error_summary(errors: pd.DataFrame) -> dict[str, float]:
    """Summarise how wrong a method is (`errors`: the table of `validation_errors`) for the report: {rows: their
    number, median_abs_error and p90_abs_error (shares), bias (median error), coverage90 (share inside its interval)}.
    """
    size = errors["error"].abs()
    return {
        "rows": len(errors),
        "median_abs_error": float(size.median()),
        "p90_abs_error": float(size.quantile(0.9)),
        "bias": float(errors["error"].median()),
        "coverage90": float(errors["inside90"].mean()),
    }


def validation_table(errors: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row of the table validation per method: its `error_summary` over the rows with a prediction."""
    rows = [{"method": name, **error_summary(table.dropna(subset="error"))} for name, table in errors.items()]
    return pd.DataFrame(rows, columns=VALIDATION_COLUMNS)
