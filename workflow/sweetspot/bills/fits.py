"""Does it fit? Options whose devices cannot hold what a workload needs take no part."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.study.settings import Settings

if TYPE_CHECKING:
    from sweetspot.study.workloads import Need  # Its models take longer to import than all this computes.

Needs = Mapping[str, "Need"]
COLUMNS = ("memory_need_gib", "gpu_memory_gib", "fits")
CELL = ["instance", "framework", "model", "batch_size", "gpus", "precision"]
MEMORY_TOLERANCE = 0.30  # of the need
# What a peak holds beside the training: nothing by a framework's own counter; CUDA and the driver by NVML; the program
# itself, its compiled code and workspace by the size of a process (0.3 to 1.6 GiB seen; docs/decision.md).
PROGRAM_GIB = {"framework": 0.0, "nvml": 1.0, "resident": 2.0}


def with_fits(rows: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """Return rows of costs with COLUMNS: GiB that each device must hold for the row's workload and GiB that it has.

    `fits` is null where either is unknown: nothing is left out for want of knowledge.

    Parameters
    ----------
    rows
        Rows with `workload`, `gpus` and `instance`.
    settings
        Settings of the study, with the memory of devices.
    needs
        Memory by workload.
    """
    pairs = zip(map(needs.get, rows["workload"].astype(str)), rows["gpus"], strict=True)
    required = [None if need is None or pd.isna(gpus) else need.gib(int(gpus)) for need, gpus in pairs]
    memory = rows["instance"].map(dict(settings.gpu_memory_gib)).astype(float)
    rows = rows.assign(memory_need_gib=pd.Series(required, rows.index, dtype=float), gpu_memory_gib=memory)
    is_checked = rows["memory_need_gib"].notna() & memory.notna()
    return rows.assign(fits=(rows["memory_need_gib"] <= memory).astype("boolean").where(is_checked))


def does_not_fit(rows: pd.DataFrame) -> pd.Series:
    """Return whether a row is known not to fit."""
    return rows["fits"].eq(False).fillna(False).astype(bool)


def apart(options: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the options that take part, and those that do not fit."""
    is_out = does_not_fit(options)
    return options[~is_out].reset_index(drop=True), options[is_out]


def fitting_plans(plans: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """Return the rows of the plans table on machines that are not known to be too small.

    Parameters
    ----------
    plans
        Table of plans.
    settings, needs
        As `with_fits` takes them.
    """
    if plans.empty:
        return plans
    return plans[~does_not_fit(with_fits(plans.assign(workload=plans["plan"]), settings, needs))]


def fit_warnings(options: pd.DataFrame, needs: Needs) -> Iterator[tuple[object, ...]]:
    """Yield rows of the warning table: what does not fit, and what could not be checked.

    If no workload states its need, that is only reported beside transferred figures: a device that has run it fits.
    """
    silent = [name for name, need in needs.items() if need.gib(1) is None]
    if len(silent) == len(needs) and not options["throughput_basis"].eq("transferred").any():
        return
    for row in options[does_not_fit(options)].drop_duplicates(["instance", "workload"]).itertuples():
        message = f"{row.workload} needs {row.memory_need_gib:.3g} GiB on each device, which has {row.gpu_memory_gib:g}"
        yield ("comparison", row.instance, row.model, row.batch_size, "does_not_fit", f"{message}; it takes no part")
    for name in silent:
        message = f"workload {name} does not state the memory that it needs: whether it fits is not checked"
        yield ("comparison", None, None, pd.NA, "unknown_memory_need", message)
    unknown = options[options["memory_need_gib"].notna() & options["gpu_memory_gib"].isna()]
    for name in unknown["instance"].drop_duplicates():
        message = "the memory of its device is not known (gpu_memory_gib): whether the workload fits is not checked"
        yield ("comparison", name, None, pd.NA, "unknown_gpu_memory", message)


def memory_warnings(options: pd.DataFrame, throughput: pd.DataFrame, needs: Needs) -> Iterator[tuple[object, ...]]:
    """Yield rows of the warning table: needs that differ from the measured peak by more than MEMORY_TOLERANCE.

    A peak without its PROGRAM_GIB is compared where it is more. Only workloads whose jobs take all devices count.

    Parameters
    ----------
    options
        Options with COLUMNS.
    throughput
        Throughput with measured peaks.
    needs
        Memory by workload.
    """
    if "peak_memory_gib" not in throughput.columns:
        return
    peaks = (
        throughput.dropna(subset="peak_memory_gib").sort_values("peak_memory_gib").drop_duplicates(CELL, keep="last")
    )
    stated = options[options["memory_need_gib"].notna()].drop_duplicates([*CELL, "workload"])
    for row in stated.merge(peaks[[*CELL, "peak_memory_gib", "peak_memory_source"]], on=CELL).itertuples():
        need, peak = row.memory_need_gib, row.peak_memory_gib
        training = peak - PROGRAM_GIB.get(str(row.peak_memory_source), 0.0)
        is_far = training > need * (1 + MEMORY_TOLERANCE) or peak < need * (1 - MEMORY_TOLERANCE)
        if (is_far or need > row.gpu_memory_gib >= peak) and needs[str(row.workload)].devices is None:
            message = (
                f"{row.workload} is said to need {need:.3g} GiB on each device of {row.gpu_memory_gib:g}; a run took "
                f"{peak:.3g} GiB, of which {training:.3g} for the training ({row.peak_memory_source})"
            )
            yield ("comparison", row.instance, row.model, row.batch_size, "memory_prediction", message)
