"""The stated or computed memory of a workload against the peak that runs of its cells took (throughput.parquet)."""

from collections.abc import Iterator

import pandas as pd

from sweetspot.decision.fits import Needs

CELL = ["instance", "framework", "model", "batch_size", "gpus", "precision"]
OFF = 0.30  # of the need, from which the two are told to differ
# What a peak holds beside the training: nothing by a framework's own counter; CUDA and the driver by NVML; the program
# itself, its compiled code and workspace by the size of a process (0.3 to 1.6 GiB seen; docs/decision.md).
BESIDE_GIB = {"framework": 0.0, "nvml": 1.0, "resident": 2.0}
SOURCES = {
    "framework": "by the framework's own count",
    "nvml": "as NVML saw it",
    "resident": "as its process grew",
}


def memory_warnings(options: pd.DataFrame, throughput: pd.DataFrame, needs: Needs) -> Iterator[tuple[object, ...]]:
    """Rows of the warning table, `memory_prediction`: needs that differ from the measured peak by more than OFF.

    Too high: need x (1 - OFF) is above the peak, or it forbids a device that ran it. Too low: the peak less BESIDE_GIB
    is above need x (1 + OFF). Only of workloads whose jobs take all devices: runs did.
    """
    if "peak_memory_gib" not in throughput.columns:
        return
    known = throughput[throughput["peak_memory_gib"].notna()].sort_values("peak_memory_gib")
    peaks = known.drop_duplicates(CELL, keep="last").set_index(CELL)[["peak_memory_gib", "peak_memory_source"]]
    stated = options[options["memory_need_gib"].notna()].drop_duplicates([*CELL, "workload"])
    for row in stated.join(peaks, on=CELL, how="inner").itertuples():
        need, peak, source = row.memory_need_gib, row.peak_memory_gib, str(row.peak_memory_source)
        whole = needs[str(row.workload)].devices is None
        told = _difference(need, peak, source, row.gpu_memory_gib) if whole else None
        if told:
            message = f"{row.workload} is said to need {need:.3g} GiB on each device; a run took {peak:.3g} GiB"
            words = f"{message} {SOURCES.get(source, source)}: {told}"
            yield ("comparison", row.instance, row.model, row.batch_size, "memory_prediction", words)


def _difference(need: float, peak: float, source: str, device: float) -> str | None:
    beside = BESIDE_GIB.get(source, 0.0)
    if peak - beside > need * (1 + OFF):
        besides = f", {beside:g} GiB for the program apart" if beside else ""
        return f"{(peak - beside) / need - 1:.0%} more{besides}"
    if peak < need * (1 - OFF):
        return f"{1 - peak / need:.0%} less"
    if need > device >= peak:
        return f"it ran on a device of {device:g} GiB"
    return None
