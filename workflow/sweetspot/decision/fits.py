"""Does it fit? Options whose devices cannot hold what a workload needs take no part."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.settings import Settings

if TYPE_CHECKING:
    from sweetspot.study.memory import Need  # lazily: its models take longer to import than all this computes

Needs = Mapping[str, "Need"]
COLUMNS = ("memory_need_gib", "gpu_memory_gib", "fits")


def with_fits(rows: pd.DataFrame, settings: Settings, needs: Needs) -> pd.DataFrame:
    """`rows` of costs with COLUMNS: GiB that each device must hold for the row's workload and GiB that it has.

    `fits` is null where either is unknown: nothing is left out for want of knowledge.
    """
    need = [_need(needs, *pair) for pair in zip(rows["workload"], rows["gpus"], strict=True)]
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
    for name in needs:
        if name not in stated:
            message = f"workload {name} does not state the memory that it needs: whether it fits is not checked"
            yield ("comparison", None, None, pd.NA, "unknown_memory_need", message)
    unknown = options[options["memory_need_gib"].notna() & options["gpu_memory_gib"].isna()]
    for name in unknown["instance"].drop_duplicates():
        message = "the memory of its device is not known (gpu_memory_gib): whether the workload fits is not checked"
        yield ("comparison", name, None, pd.NA, "unknown_gpu_memory", message)


def _need(needs: Needs, workload: object, gpus: object) -> float | None:
    found = needs.get(str(workload))
    return None if found is None or pd.isna(gpus) else found.gib(int(gpus))  # type: ignore[call-overload]
