"""How wrong each method is on device families it has never seen, and what follows: its share, and its intervals.

What was left out also says whether a method beats the plain ratio (n devices deliver n times one). The learned method
takes that share of its loss (in log efficiency) that was best, of SHARES: at 0 it has become the plain ratio. Shares
and widths are those of a class, an era and a link, where FEWEST families of it were left out; else of its era, or all.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.across_nodes import METHOD, Across, covered, held_out_across, over_the_network, within_node
from sweetspot.scaling.evidence import sound
from sweetspot.scaling.machine import eras, links
from sweetspot.scaling.methods import LEARNED, METHODS, Predictor, fit_method
from sweetspot.throughput.calibration import FEWEST, LEVELS, SHARES, best_share, calibrate

STUDY_MODELS = ("inception3", "resnet50", "vgg16")
VALIDATION_COLUMNS = (
    "method", "slice", "rows", "median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90",
)  # fmt: skip


def held_out(
    evidence: pd.DataFrame, rule: pd.DataFrame, methods: Iterable[str] = METHODS, group: str = "family"
) -> pd.DataFrame:
    """Predict every row of evidence by fits without its device family; one row per method and row of evidence.

    evidence, rule: as in `methods.fit_method`; figures with a warning are predicted too, though never fitted. group:
    the column of evidence whose values are left out in turn; the 2018 rule knows families only.
    Returns the columns of evidence and `method`, `raw` (what the method says), `predicted` (its share of it), `scale`,
    `error` (predicted / efficiency - 1) and inside50, inside90 (bool): whether the interval holds the figure. Share and
    width come from the other families' errors.
    """
    families = evidence[group].to_numpy()
    parts = []
    for method in methods:
        folds = []
        for name in sorted(set(families)):
            away = families != name
            left = rule[rule["family"] != name] if len(rule) and group == "family" else rule
            folds.append(fit_method(method, evidence[away], left if len(left) else rule)(evidence[~away]))
        predicted = pd.concat(folds).loc[evidence.index]
        parts.append(_with_errors(evidence, predicted, method).assign(method=method))
    return pd.concat(parts, ignore_index=True)


def classes(cells: pd.DataFrame) -> pd.DataFrame:
    """The classes that a cell is of, from its own to that of all; same index. cells: framework, interconnect, nodes."""
    era = eras(cells)
    return pd.DataFrame({"own": era + " " + links(cells), "era": era, "all": ""}, index=cells.index)


class Calibration(NamedTuple):
    """By class the share of the method's loss that counts, and by level how many scales an interval reaches."""

    share: Mapping[str, float]
    width: Mapping[float, Mapping[str, float]]

    def of(self, cells: pd.DataFrame, level: float) -> tuple[pd.Series, pd.Series]:
        """Share and width of cells, each by the first of its classes that is known."""
        share, width = self.known(classes(cells).to_numpy(), level)
        return pd.Series(share, cells.index), pd.Series(width, cells.index)

    def known(self, names: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        """`of` cells whose `classes` are known, a row each."""
        found = [next(name for name in row if name in self.share) for row in names]
        share, width = ([of[name] for name in found] for of in (self.share, self.width[level]))
        return np.array(share, dtype=float), np.array(width, dtype=float)


class _Seen(NamedTuple):
    """Errors on families left out: their `classes`, family, logs of efficiency and `raw`, `scale`, whether sound."""

    names: np.ndarray
    family: np.ndarray
    true: np.ndarray
    raw: np.ndarray
    scale: np.ndarray
    sound: np.ndarray

    @classmethod
    def of(cls, errors: pd.DataFrame) -> "_Seen":
        true, raw = (np.log(errors[name].to_numpy(dtype=float)) for name in ("efficiency", "raw"))
        place = errors.assign(place=np.arange(len(errors)))
        learnt = np.isin(place["place"].to_numpy(), sound(place)["place"].to_numpy())
        family, scale = errors["family"].to_numpy(dtype=object), errors["scale"].to_numpy(dtype=float)
        return cls(classes(errors).to_numpy(), family, true, raw, scale, learnt)

    def only(self, rows: np.ndarray) -> "_Seen":
        """Some of the rows."""
        return _Seen(*(values[rows] for values in self))


def calibrated(errors: pd.DataFrame, method: str) -> Calibration:
    """What errors on families left out (`raw`, `scale`, EVIDENCE_COLUMNS) teach of one method.

    Figures with a warning do not choose a share, and count in a width.
    """
    return _calibrated(_Seen.of(errors), method)


def _calibrated(seen: _Seen, method: str) -> Calibration:
    share: dict[str, float] = {}
    width: dict[float, dict[str, float]] = {level: {} for level in LEVELS}
    for names in seen.names.T:
        for name in sorted(set(names)):
            own = seen.only(names == name)
            if name and len(set(own.family)) < FEWEST:
                continue
            share[name] = _share(own.only(own.sound)) if method == LEARNED else 1.0
            gap = np.abs(own.true - share[name] * own.raw) / own.scale
            for level in LEVELS:
                width[level][name] = calibrate(gap, own.family, level)
    return Calibration(share, width)


def _share(own: _Seen) -> float:
    """`best_share`, families weighed as in `calibrate`."""
    _, inverse, count = np.unique(own.family, return_inverse=True, return_counts=True)
    weight = count[inverse].astype(float) ** -0.5
    return best_share({share: float(np.sum(weight * np.abs(own.true - share * own.raw))) for share in SHARES})


def _with_errors(evidence: pd.DataFrame, predicted: pd.DataFrame, method: str = LEARNED) -> pd.DataFrame:
    """`held_out` of one method. What does not change is made of all rows once, not once for each family."""
    table = evidence.assign(raw=predicted["efficiency"], scale=predicted["scale"])
    seen, raw, true = _Seen.of(table), table["raw"].to_numpy(dtype=float), table["efficiency"].to_numpy(dtype=float)
    told, inside = np.empty(len(table)), {level: np.zeros(len(table), dtype=bool) for level in LEVELS}
    for name in set(seen.family):
        own = seen.family == name
        taught = _calibrated(seen if own.all() else seen.only(~own), method)
        told[own] = raw[own] ** taught.known(seen.names[own], LEVELS[0])[0]
        gap = np.abs(np.log(told[own] / true[own])) / seen.scale[own]
        for level in LEVELS:
            inside[level][own] = gap <= taught.known(seen.names[own], level)[1]
    held = {f"inside{round(100 * level)}": values for level, values in inside.items()}
    return table.assign(predicted=told, error=told / true - 1, **held)


def summary(errors: pd.DataFrame) -> dict[str, float]:
    """rows, median and 90th percentile of |error|, bias (median error), coverage of the intervals that errors tell."""
    size = errors["error"].abs()
    told = {"rows": len(errors), "median_abs_error": float(size.median()), "p90_abs_error": float(size.quantile(0.9))}
    inside = {level: f"inside{level}" for level in (50, 90) if f"inside{level}" in errors}
    covers = {f"coverage{level}": float(errors[name].mean()) for level, name in inside.items()}
    return {**told, "bias": float(errors["error"].median()), **covers}


def validation_table(errors: pd.DataFrame) -> pd.DataFrame:
    """VALIDATION_COLUMNS for each method: slices `all`, `study_models` and by model, precision, gpus and family.

    errors: `held_out`. A slice is named `all`, `study_models` (the three of the 2018 study) or `column=value`.
    """
    rows = []
    for method, own in errors.groupby("method", sort=False):
        slices = {"all": own, "study_models": own[own["model"].isin(STUDY_MODELS)]}
        for column in ("model", "precision", "gpus", "family"):
            slices |= {f"{column}={value}": part for value, part in own.groupby(column)}
        rows += [{"method": method, "slice": name, **summary(part)} for name, part in slices.items() if len(part)]
    return pd.DataFrame(rows, columns=list(VALIDATION_COLUMNS)).astype({"rows": "int64"})


def across_table(evidence: pd.DataFrame) -> pd.DataFrame:
    """VALIDATION_COLUMNS of `across_nodes`: slices `all` (device families left out), `stack` and by family.

    evidence: rows whose base has several devices. A stack is a framework with its way to share the work (`variant`).
    """
    rows = evidence.assign(stack=evidence["framework"].astype(str) + " " + evidence["variant"].astype(str))
    families, stacks = (covered(held_out_across(rows, group)) for group in ("family", "stack"))
    slices = {"all": families, "stack left out": stacks}
    slices |= {f"family={name}": part for name, part in families.groupby("family")}
    table = [{"method": METHOD, "slice": name, **summary(part)} for name, part in slices.items() if len(part)]
    return pd.DataFrame(table, columns=list(VALIDATION_COLUMNS))


def best_method(validation: pd.DataFrame) -> str:
    """The method with the smallest median error on families left out (slice `all`)."""
    overall = validation[(validation["slice"] == "all") & (validation["method"] != METHOD)]
    return str(overall.loc[overall["median_abs_error"].idxmin(), "method"])


def widths(errors: pd.DataFrame) -> dict[str, Calibration]:
    """`calibrated` of each method from the errors of all families."""
    return {str(name): calibrated(own, str(name)) for name, own in errors.groupby("method", sort=False)}


def predict_with_interval(
    predictor: Predictor, cells: pd.DataFrame, taught: Calibration, across: Across
) -> pd.DataFrame:
    """`efficiency` of cells by a fitted method and beyond one node by `across`; same index.

    Returns also `low` and `high` (90 %) and `source` (`over_the_network`).
    """
    one = within_node(cells)
    predicted = predictor(one)
    share, width = taught.of(one, LEVELS[-1])
    efficiency, spread = predicted["efficiency"] ** share, np.exp(width * predicted["scale"])
    inside = predicted.assign(efficiency=efficiency, low=efficiency / spread, high=efficiency * spread)
    return over_the_network(inside, cells, across)
