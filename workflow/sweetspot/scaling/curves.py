"""Efficiency of N devices by a curve with one to three constants: device count, Amdahl, USL, ring all-reduce."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from sweetspot.scaling.machine import LINKS, describe

Curve = Callable[[pd.DataFrame], np.ndarray]
OVERLAPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


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
