"""The throughput table of a study: what was measured here beside what others published."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.cells import BASES, CELL_COLUMNS
from sweetspot.throughput.collect import TABLE_COLUMNS, measured_cells, summarise_runs
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, resolve_cells

if TYPE_CHECKING:
    from sweetspot.config import Instance, Question


def gather_throughput(
    runs: Sequence[str], question: "Question", as_of: str, instances: Mapping[str, "Instance"], folder: Path
) -> pd.DataFrame:
    """All cells of the study in TABLE_COLUMNS: measured run files, published rows, and what follows from them.

    `as_of` dates the published figures. Where a cell has several origins the best basis stays.
    Raises UserError for faulty files.
    """
    parts = [measured_cells(summarise_runs(runs))] if runs else []
    file = folder / "throughput.csv"
    if file.is_file():
        pool = read_published(file)
        own = published_cells(pool, instances, file)
        reached = resolve_cells(question, instances, own, pool, read_efficiency(folder / "efficiency.csv"))
        parts += [_with_status(own.assign(basis="published", warning=own["note"].replace("", None)), as_of)]
        parts += [_with_status(reached, as_of)]
    if not parts:
        return pd.DataFrame(columns=list(TABLE_COLUMNS))
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    rank = table["basis"].map(BASES.index)
    best = table.assign(rank=rank).sort_values("rank", kind="stable").drop_duplicates(list(CELL_COLUMNS))
    ordered = best.sort_values(list(CELL_COLUMNS), kind="stable")[list(TABLE_COLUMNS)].reset_index(drop=True)
    whole = {"batch_size": "int64", "gpus": "int64", "runs": "int64"}
    return ordered.astype(whole | {name: "float64" for name in TABLE_COLUMNS if name.startswith("images_per_s")})


def _with_status(table: pd.DataFrame, as_of: str) -> pd.DataFrame:
    filled = table.assign(
        images_per_s_low=float("nan"),
        images_per_s_high=float("nan"),
        runs=0,
        status="ok",
        unit="images",
        as_of=as_of,
    )
    return filled[list(TABLE_COLUMNS)]
