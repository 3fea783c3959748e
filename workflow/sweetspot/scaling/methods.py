"""The named ways to tell the efficiency of several devices from one; all fit on the same tables and give the same."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from sweetspot.scaling.evidence import average_efficiency, sound
from sweetspot.scaling.machine import LINKS, describe
from sweetspot.scaling.pooled import ByEra, fit_eras, of_eras, predict_pooled

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
RULE_2018, LEARNED = "mean_efficiency", "pooled_ring"
NEEDED = ("batch_size", "efficiency", "families", "spread")
Predictor = Callable[[pd.DataFrame], pd.DataFrame]
Curve = Callable[[pd.DataFrame], np.ndarray]
OVERLAPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def fit_method(method: str, evidence: pd.DataFrame, rule: pd.DataFrame, pooled: ByEra | None = None) -> Predictor:
    """Fit one of METHODS; the predictor takes cells and returns `efficiency` and `scale`, same index.

    evidence: EVIDENCE_COLUMNS; rows with a warning (super-linear, inconsistent) do not take part.
    pooled: `fit_eras` of this evidence where it is done already, the dearest of the fits.
    rule: the study's own efficiency table with `family`, on which the 2018 rule rests; empty: it takes evidence.
    cells: EVIDENCE_COLUMNS without efficiency. `scale` is the method's own sd in log units (1 where it has none);
    intervals follow by `validation`. Raises KeyError for a name that is not in METHODS.
    """
    rows = sound(evidence)
    if method == RULE_2018:
        table = rule if len(rule) else rows.assign(base_instance=rows["gpu"])
        average = average_efficiency(table)
        return lambda cells: mean_efficiency(average, cells)[["efficiency"]].assign(scale=1.0)
    if method == LEARNED:
        models = pooled or fit_eras(rows)
        return lambda cells: of_eras(models, cells, predict_pooled)
    curve = CURVES[method](rows)
    return lambda cells: pd.DataFrame({"efficiency": curve(cells), "scale": 1.0}, index=cells.index)


def mean_efficiency(average: pd.DataFrame, cells: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
    """Efficiency of each cell by the mean of the families at the same framework, model, batch and precision.

    average: `evidence.average_efficiency`. cells: columns framework, model, batch_size, precision (index kept).
    A framework without averages takes those of all others. Where the model is missing, the mean over all models at the
    nearest batch (in doublings) is taken; where the precision is, that of the other precisions; an unknown batch takes
    the mean over the batches.
    Returns efficiency, low, high (dimensionless): the interval is the `level` prediction interval of a further
    family, mean +- t(n-1) s sqrt(1 + 1/n); NaN with fewer than two families. Source: Parkopedia 2018, section 3.
    """
    finders = {name: _finder(rows) for name, rows in average.groupby("framework")}
    everything = _finder(average)
    batches = cells["batch_size"].astype(float).fillna(0.0)
    wanted = list(zip(cells["framework"], cells["model"], cells["precision"], batches, strict=True))
    known = {cell: _row(finders.get(cell[0], everything)(cell[1], cell[2]), cell[3], level) for cell in set(wanted)}
    rows = [known[cell] for cell in wanted]
    return pd.DataFrame(rows, columns=["efficiency", "low", "high"], index=cells.index)


def _finder(average: pd.DataFrame) -> Callable[[str, str], np.ndarray]:
    """Finds rows of NEEDED: of a model and precision, else of the model, else of the precision, else all."""
    rows = average[list(NEEDED)].to_numpy(dtype=float)
    places = [average.groupby(names, sort=False).indices for names in (["model", "precision"], "model", "precision")]

    def find(model: str, precision: str) -> np.ndarray:
        for place, value in zip(places, ((model, precision), model, precision), strict=True):
            if value in place:
                return rows[place[value]]
        return rows

    return find


def _row(near: np.ndarray, batch_size: float, level: float) -> tuple[float, float, float]:
    from scipy.special import stdtrit  # the t quantile; scipy.stats takes a second to import

    if len(near) and batch_size > 0:
        distance = np.abs(np.log2(near[:, 0] / batch_size))
        near = near[distance <= distance.min() + 1e-9]
    if not len(near):
        return math.nan, math.nan, math.nan
    _, efficiency, families, spread = near.T
    mean, count = float(efficiency.mean()), families.max()
    if count < 2:
        return mean, math.nan, math.nan
    half = float(stdtrit(count - 1, (1 + level) / 2) * np.nanmean(spread) * math.sqrt(1 + 1 / count))
    return mean, max(mean - half, 0.0), mean + half


# --- curves with one to three constants ------------------------------------------------------------------------------


def same_device_count(evidence: pd.DataFrame) -> Curve:
    """Mean over the device families of the efficiency at the same device count (the nearest in doublings).

    evidence: gpus, family, efficiency. The curve takes cells with gpus and returns efficiencies.
    """
    by_family = evidence.groupby(["gpus", "family"])["efficiency"].mean()
    by_count = by_family.groupby("gpus").mean()
    counts = by_count.index.to_numpy(dtype=float)

    def curve(cells: pd.DataFrame) -> np.ndarray:
        gap = np.abs(np.log2(cells["gpus"].to_numpy(dtype=float)[:, None] / counts))
        return by_count.to_numpy()[gap.argmin(axis=1)]

    return curve


def scaling_law(devices: np.ndarray, serial: float | np.ndarray, crosstalk: float | np.ndarray = 0.0) -> np.ndarray:
    """Efficiency C(N)/N = 1 / (1 + s (N-1) + k N (N-1)): USL; Amdahl where crosstalk k is 0. Gunther 2007."""
    return 1 / (1 + serial * (devices - 1) + crosstalk * devices * (devices - 1))


def fit_law(devices: np.ndarray, efficiency: np.ndarray, weight: np.ndarray, usl: bool) -> tuple[float, float]:
    """Constants (s, k), both >= 0, of `scaling_law`: least squares on 1/efficiency - 1, which is linear in them."""
    from scipy.optimize import nnls

    columns = [devices - 1, devices * (devices - 1)] if usl else [devices - 1]
    root = np.sqrt(weight * efficiency)  # a gap of 1/efficiency counts by its share, as a relative error does
    constants, _ = nnls(np.column_stack(columns) * root[:, None], (1 / efficiency - 1) * root)
    return float(constants[0]), float(constants[1]) if usl else 0.0


def amdahl(evidence: pd.DataFrame) -> Curve:
    """Amdahl's law with one serial share for each model and precision (of all models where one is missing)."""
    return _law(evidence, usl=False)


def usl(evidence: pd.DataFrame) -> Curve:
    """Gunther's universal scalability law, constants for each model and precision as in `amdahl`."""
    return _law(evidence, usl=True)


def _law(evidence: pd.DataFrame, usl: bool) -> Curve:
    def fitted(rows: pd.DataFrame) -> tuple[float, float]:
        weight = 1 / rows["family"].map(rows["family"].value_counts()).to_numpy(dtype=float)
        return fit_law(rows["gpus"].to_numpy(dtype=float), rows["efficiency"].to_numpy(dtype=float), weight, usl)

    cells = {key: fitted(rows) for key, rows in evidence.groupby(["model", "precision"])}
    precisions = {key: fitted(rows) for key, rows in evidence.groupby("precision")}
    everything = fitted(evidence)

    def curve(wanted: pd.DataFrame) -> np.ndarray:
        pairs = zip(wanted["model"], wanted["precision"], strict=True)
        constants = np.array([cells.get(pair, precisions.get(pair[1], everything)) for pair in pairs]).reshape(-1, 2)
        return scaling_law(wanted["gpus"].to_numpy(dtype=float), constants[:, 0], constants[:, 1])

    return curve


def ring_step(
    step_s: np.ndarray, devices: np.ndarray, gigabytes: np.ndarray, latency_s: float, gb_per_s: float, overlap: float
) -> np.ndarray:
    """Seconds of a step on N devices: T_1 + max(0, 2(N-1)a + 2 (N-1)/N bytes/BW - overlap T_1).

    step_s: one device's step (s); gigabytes: gradients of a device (1e9 bytes); latency_s: a (s); gb_per_s: bus
    bandwidth BW (1e9 bytes/s); overlap: share of T_1 during which the exchange is hidden. Patarasuk & Yuan 2009.
    """
    exchange = 2 * (devices - 1) * latency_s + 2 * (devices - 1) / devices * gigabytes / gb_per_s
    return step_s + np.maximum(0.0, exchange - overlap * step_s)


def fit_ring(facts: pd.DataFrame, efficiency: np.ndarray, weight: np.ndarray) -> tuple[float, float, float]:
    """Latency (s), bandwidth (1e9 bytes/s) and overlap of one link class, from `machine.describe` rows.

    For each overlap of OVERLAPS the other two follow from non-negative least squares on T_N/T_1 - 1 + overlap; the
    overlap with the least mean absolute log error is kept.
    """
    from scipy.optimize import nnls

    devices, step = facts["devices"].to_numpy(), facts["step_s"].to_numpy()
    columns = np.column_stack([2 * (devices - 1), 2 * (devices - 1) / devices * facts["gradient_gb"].to_numpy()])
    root = np.sqrt(weight) * efficiency
    best = (np.inf, 0.0, 1.0, 0.0)
    for overlap in OVERLAPS:
        goal = (1 / efficiency - 1 + overlap) * root
        (latency, per_gb), _ = nnls(columns / step[:, None] * root[:, None], goal)
        bandwidth = 1 / max(per_gb, 1e-6)
        took = ring_step(step, devices, facts["gradient_gb"].to_numpy(), latency, bandwidth, overlap)
        error = float(np.average(np.abs(np.log(efficiency * took / step)), weights=weight))
        best = min(best, (error, float(latency), float(bandwidth), overlap))
    return best[1:]


def ring_constants(evidence: pd.DataFrame) -> dict[str, tuple[float, float, float]]:
    """`fit_ring` for each link class of the evidence, and for all together under `any`."""
    facts = describe(evidence)
    efficiency = evidence["efficiency"].to_numpy(dtype=float)
    weight = 1 / evidence["family"].map(evidence["family"].value_counts()).to_numpy(dtype=float)
    masks = {kind: (facts["link"] == kind).to_numpy() for kind in LINKS} | {"any": np.ones(len(evidence), dtype=bool)}
    return {kind: fit_ring(facts[mask], efficiency[mask], weight[mask]) for kind, mask in masks.items() if mask.any()}


def ring_allreduce(evidence: pd.DataFrame) -> Curve:
    """Ring all-reduce with the latency, bandwidth and overlap of each link class (nvlink, bridge, pcie, network)."""
    constants = ring_constants(evidence)

    def curve(cells: pd.DataFrame) -> np.ndarray:
        facts = describe(cells)
        rows = zip(facts["step_s"], facts["devices"], facts["gradient_gb"], facts["link"], strict=True)
        return np.array(
            [
                step / ring_step(step, devices, gigabytes, *constants.get(kind, constants["any"]))
                for step, devices, gigabytes, kind in rows
            ]
        )

    return curve


CURVES: dict[str, Callable[[pd.DataFrame], Curve]] = {
    "same_device_count": same_device_count, "amdahl": amdahl, "usl": usl, "ring_allreduce": ring_allreduce,
}  # fmt: skip
