"""The throughput table of a study: what was measured here beside what others published."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.cells import BASES, CELL_COLUMNS
from sweetspot.errors import UserError
from sweetspot.throughput.best import mark_best
from sweetspot.throughput.collect import TABLE_COLUMNS, measured_cells, summarise_runs
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, resolve_cells

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.log_sources import LogSource
    from sweetspot.study.study import Question

SAME_BUT_VARIANT = [*(name for name in CELL_COLUMNS if name != "variant"), "basis"]


def gather_throughput(
    runs: Sequence[str],
    question: "Question",
    as_of: str,
    instances: Mapping[str, "Instance"],
    folder: Path,
    logs: Sequence["LogSource"] = (),
) -> pd.DataFrame:
    """All cells of the study in TABLE_COLUMNS: run files, published rows, others' logs, what follows of them.

    A column `best` marks the fastest of a cell's variants. `as_of` dates the published figures. Where a cell has
    several origins the best basis stays.
    Raises UserError for faulty files.
    """
    parts = [measured_cells(summarise_runs(runs))] if runs else []
    pool = _published_pool(folder, logs, instances)
    if pool is not None:
        own = published_cells(pool, instances, folder / "throughput.csv")
        reached = resolve_cells(question, instances, own, pool, read_efficiency(folder / "efficiency.csv"))
        units = dict(zip(pool["model"], pool["unit"], strict=True))
        parts += [_with_status(own.assign(basis="published", warning=own["note"].replace("", None)), as_of, units)]
        parts += [_with_status(reached, as_of, units)]
    if not parts:
        return mark_best(pd.DataFrame(columns=list(TABLE_COLUMNS)), "images_per_s", SAME_BUT_VARIANT)
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    rank = table["basis"].map(BASES.index)
    best = table.assign(rank=rank).sort_values("rank", kind="stable").drop_duplicates(list(CELL_COLUMNS))
    ordered = best.sort_values(list(CELL_COLUMNS), kind="stable")[list(TABLE_COLUMNS)].reset_index(drop=True)
    whole = {"batch_size": "int64", "gpus": "int64", "runs": "int64"}
    typed = ordered.astype(whole | {name: "float64" for name in TABLE_COLUMNS if name.startswith("images_per_s")})
    return mark_best(typed, "images_per_s", SAME_BUT_VARIANT)


def _published_pool(
    folder: Path, logs: Sequence["LogSource"], instances: Mapping[str, "Instance"]
) -> pd.DataFrame | None:
    """The rows of throughput.csv and of the logs; None where the study has neither."""
    file = folder / "throughput.csv"
    parts = [read_published(file)] if file.is_file() else []
    if logs:
        from sweetspot.logs.read import read_logs

        for number, source in enumerate(logs):
            if source.gpu is None and source.instance not in instances:
                raise UserError(
                    f"{folder / 'study.yaml'}: logs[{number}].instance is {source.instance!r}; expected one of "
                    "instances.yaml, or a 'gpu' that says which card was measured"
                )
        parts.append(read_logs(logs, folder, {name: instance.gpu for name, instance in instances.items()}))
    return pd.concat(parts, ignore_index=True) if parts else None


def _with_status(table: pd.DataFrame, as_of: str, units: Mapping[str, str]) -> pd.DataFrame:
    filled = table.assign(status="ok", unit=table["model"].map(units), as_of=as_of, logical=False)
    for name, default in {"images_per_s_low": float("nan"), "images_per_s_high": float("nan"), "runs": 0}.items():
        filled[name] = filled[name].fillna(default) if name in filled.columns else default
    return filled[list(TABLE_COLUMNS)]
