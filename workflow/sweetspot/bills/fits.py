"""Does it fit? Options whose devices cannot hold what a workload needs take no part."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.study.settings import Settings

if TYPE_CHECKING:
    from sweetspot.study.workloads import Need  # Its models take longer to import than all this computes.

Needs = Mapping[str, "Need"]
COLUMNS = ("memory_need_gib", "gpu_memory_gib", "fits")


def with_fits(rows: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """Return options with COLUMNS: GiB that the work needs and has on each device, and `fits`, to drop those too small.

    Parameters
    ----------
    rows, settings, needs
        Options, a machine with its price for a workload each (`workload`, `gpus`, `instance`; `fits` is null where a
        number is unknown); the study's settings with the memory of devices; {workload: memory that it needs}.
    """
    pairs = zip(map(needs.get, rows["workload"].astype(str)), rows["gpus"], strict=True)
    required = [None if need is None or pd.isna(gpus) else need.gib(int(gpus)) for need, gpus in pairs]
    memory = rows["instance"].map(dict(settings.gpu_memory_gib)).astype(float)
    rows = rows.assign(memory_need_gib=pd.Series(required, rows.index, dtype=float), gpu_memory_gib=memory)
    is_checked = rows["memory_need_gib"].notna() & memory.notna()
    return rows.assign(fits=(rows["memory_need_gib"] <= memory).astype("boolean").where(is_checked))


def does_not_fit(rows: pd.DataFrame) -> pd.Series:
    """Return True by row (with `fits`) where the workload is known to need more memory than a device has."""
    return rows["fits"].eq(False).fillna(False).astype(bool)


def apart(options: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split options into (those that fit or may fit, with a new index; those known not to fit)."""
    is_out = does_not_fit(options)
    return options[~is_out].reset_index(drop=True), options[is_out]


def fitting_plans(plans: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """Return the plans table without rows on machines whose devices are known to have too little memory.

    Parameters
    ----------
    plans, settings, needs
        Table plans (plan x machine x price x phase); settings (GiB of devices by machine); {plan: memory it needs}.
    """
    if plans.empty:
        return plans
    return plans[~does_not_fit(with_fits(plans.assign(workload=plans["plan"]), settings, needs))]


def fit_warnings(options: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield a row of the warning table (scope, instance, model, batch, rule, message) per machine that is too small."""
    for row in options[does_not_fit(options)].drop_duplicates(["instance", "workload"]).itertuples():
        message = f"{row.workload} needs {row.memory_need_gib:.3g} GiB on each device, which has {row.gpu_memory_gib:g}"
        yield ("comparison", row.instance, row.model, row.batch_size, "does_not_fit", f"{message}; it takes no part")
