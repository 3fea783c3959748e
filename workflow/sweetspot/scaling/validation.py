"""How wrong each method is on device families it has never seen."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from sweetspot.scaling.across_nodes import METHOD, covered, held_out_across
from sweetspot.scaling.conformal import LEVELS, interval, scores
from sweetspot.scaling.methods import METHODS, Predictor, fit_method
from sweetspot.throughput.calibration import calibrate

STUDY_MODELS = ("inception3", "resnet50", "vgg16")
VALIDATION_COLUMNS = (
    "method",
    "slice",
    "rows",
    "median_abs_error",
    "p90_abs_error",
    "bias",
    "coverage50",
    "coverage90",
)


def held_out(
    evidence: pd.DataFrame, rule: pd.DataFrame, methods: Iterable[str] = METHODS, group: str = "family"
) -> pd.DataFrame:
    """Predict every row of evidence by fits without its device family; one row per method and row of evidence.

    evidence, rule: as in `methods.fit_method`; figures with a warning are predicted too, though never fitted. group:
    the column of evidence whose values are left out in turn; the 2018 rule knows families only.
    Returns the columns of evidence and `method`, `predicted`, `scale`, `error` (predicted / efficiency - 1) and
    inside50, inside90 (bool): whether the interval holds the figure, whose width comes from the other families' errors.
    """
    families = evidence[group].to_numpy()
    parts = []
    for method in methods:
        folds = []
        for name in sorted(set(families)):
            away = families != name
            left = rule[rule["family"] != name] if len(rule) and group == "family" else rule
            predictor = fit_method(method, evidence[away], left if len(left) else rule)
            folds.append(predictor(evidence[~away]))
        predicted = pd.concat(folds).loc[evidence.index]
        parts.append(_with_errors(evidence, predicted).assign(method=method))
    return pd.concat(parts, ignore_index=True)


def _with_errors(evidence: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    families, score = evidence["family"].to_numpy(), scores(evidence["efficiency"], predicted)
    table = evidence.assign(
        predicted=predicted["efficiency"],
        scale=predicted["scale"],
        error=predicted["efficiency"] / evidence["efficiency"] - 1,
        score=score,
    )
    for level in LEVELS:
        width = {name: calibrate(score[families != name], families[families != name], level) for name in set(families)}
        table[f"inside{round(100 * level)}"] = score <= evidence["family"].map(width).to_numpy(dtype=float)
    return table


def summary(errors: pd.DataFrame) -> dict[str, float]:
    """rows, median and 90th percentile of |error|, bias (median error), coverage of the 50 % and 90 % intervals."""
    size = errors["error"].abs()
    return {
        "rows": len(errors),
        "median_abs_error": float(size.median()),
        "p90_abs_error": float(size.quantile(0.9)),
        "bias": float(errors["error"].median()),
        "coverage50": float(errors["inside50"].mean()),
        "coverage90": float(errors["inside90"].mean()),
    }


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


def widths(errors: pd.DataFrame) -> dict[str, dict[float, float]]:
    """Per method and level the calibrated width (in scales) from the errors of all families."""
    return {
        method: {level: calibrate(own["score"].to_numpy(), own["family"].to_numpy(), level) for level in LEVELS}
        for method, own in errors.groupby("method", sort=False)
    }


def predict_with_interval(predictor: Predictor, cells: pd.DataFrame, width: Mapping[float, float]) -> pd.DataFrame:
    """Efficiency of cells by a fitted method, with low/high (90 %) and low50/high50; same index."""
    predicted = predictor(cells)
    wide, narrow = interval(predicted, width[0.9]), interval(predicted, width[0.5])
    named = narrow.rename(columns={"low": "low50", "high": "high50"})
    return pd.concat([predicted, wide, named], axis=1).replace([np.inf], np.nan)
