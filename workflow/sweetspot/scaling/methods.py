"""The named ways to tell the efficiency of several devices from one; all fit on the same tables and give the same."""

from collections.abc import Callable

import pandas as pd

from sweetspot.scaling import curves
from sweetspot.scaling.evidence import average_efficiency, sound
from sweetspot.scaling.mean_efficiency import mean_efficiency
from sweetspot.scaling.pooled import Pooled, fit_pooled, predict_pooled

# What each is, for a reader of the report.
METHODS = {
    "mean_efficiency": "the 2018 rule: mean of the study's families at the same model and batch",
    "same_device_count": "mean of all device families with the same number of devices",
    "amdahl": "Amdahl's law, one serial share for each model and precision",
    "usl": "universal scalability law, two constants for each model and precision",
    "ring_allreduce": "ring all-reduce with latency, bandwidth and overlap of each link class",
    "pooled_ring": "ring model pooled over device families and machines (learned)",
}
BY_NETWORK = ("ring_allreduce", "pooled_ring")  # they ask what a network exchanges; the others know it by its name only
RULE_2018 = "mean_efficiency"
Predictor = Callable[[pd.DataFrame], pd.DataFrame]


def fit_method(method: str, evidence: pd.DataFrame, rule: pd.DataFrame, pooled: Pooled | None = None) -> Predictor:
    """Fit one of METHODS; the predictor takes cells and returns `efficiency` and `scale`, same index.

    evidence: EVIDENCE_COLUMNS; rows with a warning (super-linear, inconsistent) do not take part.
    pooled: the pooled model of this evidence where it is fitted already, the dearest of the fits.
    rule: the study's own efficiency table with `family`, on which the 2018 rule rests; empty: it takes evidence.
    cells: EVIDENCE_COLUMNS without efficiency. `scale` is the method's own sd in log units (1 where it has none);
    intervals follow by `conformal`. Raises KeyError for a name that is not in METHODS.
    """
    rows = sound(evidence)
    if method == RULE_2018:
        table = rule if len(rule) else rows.assign(base_instance=rows["gpu"])
        average = average_efficiency(table)
        return lambda cells: mean_efficiency(average, cells)[["efficiency"]].assign(scale=1.0)
    if method == "pooled_ring":
        model = pooled or fit_pooled(rows)
        return lambda cells: predict_pooled(model, cells)
    fits = {name: getattr(curves, name) for name in METHODS if hasattr(curves, name)}
    curve = fits[method](rows)
    return lambda cells: pd.DataFrame({"efficiency": curve(cells), "scale": 1.0}, index=cells.index)
