"""Does it fit? Options whose devices cannot hold what a workload needs take no part."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.study.settings import Settings

if TYPE_CHECKING:
    from sweetspot.study.workloads import Need  # lazily: its models take longer to import than all this computes

Needs = Mapping[str, "Need"]
COLUMNS = ("memory_need_gib", "gpu_memory_gib", "fits")


def with_fits(rows: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """`rows` of costs with COLUMNS: GiB that each device must hold for the row's workload and GiB that it has.

    `fits` is null where either is unknown: nothing is left out for want of knowledge.
    """
    pairs = zip(map(needs.get, rows["workload"].astype(str)), rows["gpus"], strict=True)
    need = [None if one is None or pd.isna(gpus) else one.gib(int(gpus)) for one, gpus in pairs]
    have = rows["instance"].map(dict(settings.gpu_memory_gib)).astype(float)
    rows = rows.assign(memory_need_gib=pd.Series(need, rows.index, dtype=float), gpu_memory_gib=have)
    known = rows["memory_need_gib"].notna() & have.notna()
    return rows.assign(fits=(rows["memory_need_gib"] <= have).astype("boolean").where(known))


def does_not_fit(rows: pd.DataFrame) -> pd.Series:
    """Whether a row is known not to fit."""
    return rows["fits"].eq(False).fillna(False).astype(bool)


def apart(options: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The options that take part, and those that do not fit."""
    out = does_not_fit(options)
    return options[~out].reset_index(drop=True), options[out]


def fitting_plans(plans: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """The rows of plans (results/<study>/plans) on machines that hold what the plan needs, or are not known not to."""
    if plans.empty:
        return plans
    return plans[~does_not_fit(with_fits(plans.assign(workload=plans["plan"]), settings, needs))]


def fit_warnings(options: pd.DataFrame, needs: Needs) -> Iterator[tuple[object, ...]]:
    """Rows of the warning table: what does not fit, and what could not be checked.

    Where no workload states its need that is told only beside transferred figures: a device that has run it holds it.
    """
    stated = {name for name, need in needs.items() if need.gib(1) is not None}
    if not stated and not options["throughput_basis"].eq("transferred").any():
        return
    for row in options[does_not_fit(options)].drop_duplicates(["instance", "workload"]).itertuples():
        message = f"{row.workload} needs {row.memory_need_gib:.3g} GiB on each device, which has {row.gpu_memory_gib:g}"
        yield ("comparison", row.instance, row.model, row.batch_size, "does_not_fit", f"{message}; it takes no part")
    for name in (name for name in needs if name not in stated):
        message = f"workload {name} does not state the memory that it needs: whether it fits is not checked"
        yield ("comparison", None, None, pd.NA, "unknown_memory_need", message)
    unknown = options[options["memory_need_gib"].notna() & options["gpu_memory_gib"].isna()]
    for name in unknown["instance"].drop_duplicates():
        message = "the memory of its device is not known (gpu_memory_gib): whether the workload fits is not checked"
        yield ("comparison", name, None, pd.NA, "unknown_gpu_memory", message)


CELL = ["instance", "framework", "model", "batch_size", "gpus", "precision"]
OFF = 0.30  # of the need, from which the two are told to differ
# What a peak holds beside the training: nothing by a framework's own counter; CUDA and the driver by NVML; the program
# itself, its compiled code and workspace by the size of a process (0.3 to 1.6 GiB seen; docs/decision.md).
BESIDE_GIB = {"framework": 0.0, "nvml": 1.0, "resident": 2.0}
SOURCES = {"framework": "by the framework's own count", "nvml": "as NVML saw it", "resident": "as its process grew"}


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
        told = _difference(need, peak, source, row.gpu_memory_gib)
        if told and needs[str(row.workload)].devices is None:
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
