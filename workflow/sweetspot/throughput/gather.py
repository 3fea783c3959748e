"""The throughput table of a study: measured cells beside what others published."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, MEASURED_TEXTS
from sweetspot.errors import UserError
from sweetspot.study.instances import cautions, nodes_of
from sweetspot.throughput.best import TABLE_COLUMNS, best_figures, mark_best
from sweetspot.throughput.plausible_rows import (
    FindImpossible,
    replaced_rows,
    with_replaced,
    without_impossible,
)
from sweetspot.throughput.published import (
    basis_of,
    published_cells,
    read_efficiency,
    read_published,
    row_warnings,
    units_of,
    with_machine_facts,
)
from sweetspot.throughput.resolve import Resolver
from sweetspot.throughput.time_to_target import FILE as TIMES
from sweetspot.throughput.time_to_target import read_times, timed_cells
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import LogSource, StudyCells

SAME_BUT_VARIANT = [*(name for name in CELL_COLUMNS if name != "variant"), "basis"]
TYPES = dict.fromkeys(("batch_size", "gpus", "nodes", "runs"), "int64") | {"xla": "bool"}
TYPES |= dict.fromkeys(("stand_in_gpu", "stand_in_framework", "stand_in_precision", "round", *MEASURED_TEXTS), "string")
TYPES |= dict.fromkeys((*MEASURED_NUMBERS, "images_per_s", "images_per_s_low", "images_per_s_high"), "float64")
TYPES |= {"stand_in_batch_size": "Int64", "rounds_behind": "Int64"}


def gather_throughput(
    runs: Sequence[str],
    question: "StudyCells",
    as_of: str,
    instances: Mapping[str, "Instance"],
    folder: Path,
    logs: Sequence["LogSource"] = (),
    find_impossible: FindImpossible | None = None,
) -> pd.DataFrame:
    """Gather all cells of a study: run files, published rows and times, logs, and what follows from them.

    Parameters
    ----------
    runs
        Run files.
    question
        The study's cells.
    as_of
        Date of the published figures that say none.
    instances
        Machines by name.
    folder
        Of the study, for its throughput.csv, efficiency.csv and time_to_target.csv.
    logs
        Training logs.
    find_impossible
        `transfer.plausibility.impossible_figures`; nothing follows from such figures (`replaced_rows`).

    Returns
    -------
    DataFrame
        TABLE_COLUMNS, one row for each cell, of its best basis; `best` marks the fastest of a cell's variants.

    Raises
    ------
    UserError
        For faulty files.
    """
    find_impossible = find_impossible or (lambda _: [])
    tables, replaced = [], []
    if runs:
        measured = measured_table(runs, instances)
        impossible = find_impossible(measured)
        tables.append(without_impossible(measured, impossible))
        replaced.append(replaced_rows(measured, impossible))
    published = _published_pool(folder, logs, instances)
    if published is not None:
        warnings = [row_warnings(row) for row in published.itertuples()]
        figures = published.assign(basis=published["benchmark"].map(basis_of), warnings=warnings)
        cells = published_cells(figures, instances, folder / "throughput.csv")
        units = units_of(published, folder / "throughput.csv")
        complete = partial(_with_status, as_of=as_of, units=units, instances=instances)
        impossible = find_impossible(published)
        pool = without_impossible(figures, impossible)
        cells = cells[cells.index.isin(pool.index)]
        scales = read_efficiency(folder / "efficiency.csv")
        tables += [complete(cells), complete(Resolver(question, instances, cells, pool, scales, as_of).table())]
        is_cell = published["instance"].isin(list(instances)) & published["batch_size"].notna()
        replaced.append(replaced_rows(complete(figures), [figure for figure in impossible if is_cell.iloc[figure.row]]))
    timed = timed_cells(read_times(folder / TIMES), question, instances)
    if len(timed):
        tables.append(_with_status(timed, as_of, dict.fromkeys(timed["model"], "runs"), instances))
    tables, replaced = ([table for table in group if len(table)] for group in (tables, replaced))
    if not tables and not replaced:
        return mark_best(pd.DataFrame(columns=list(TABLE_COLUMNS)), "images_per_s", SAME_BUT_VARIANT)
    best = best_figures(pd.concat(tables or replaced, ignore_index=True), CELL_COLUMNS)
    if tables and replaced:
        best = with_replaced(best, best_figures(pd.concat(replaced, ignore_index=True), CELL_COLUMNS))
    pairs = zip(best["warnings"], best["instance"], strict=True)
    best["warnings"] = [joined(warnings, cautions(instances, name)) for warnings, name in pairs]
    ordered = best.sort_values(list(CELL_COLUMNS), kind="stable")[list(TABLE_COLUMNS)].reset_index(drop=True)
    return mark_best(ordered.astype(TYPES), "images_per_s", SAME_BUT_VARIANT)


def measured_table(files: Sequence[str], instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Return TABLE_COLUMNS of run files, one row for each cell. Raises UserError for faulty files."""
    from sweetspot.throughput.collect import measured_cells  # only studies with runs need Arrow
    from sweetspot.throughput.run_files import summarise_runs

    return measured_cells(summarise_runs(files), instances)


def _published_pool(
    folder: Path, logs: Sequence["LogSource"], instances: Mapping[str, "Instance"]
) -> pd.DataFrame | None:
    """Read the rows of throughput.csv and of the logs; None where the study has neither.

    `xla` is bool; so is `comparable`: devices of one machine that train together.
    """
    file = folder / "throughput.csv"
    tables = [read_published(file)] if file.is_file() else []
    if logs:
        from sweetspot.logs.read import read_logs

        for number, source in enumerate(logs):
            if source.gpu is None and source.instance not in instances:
                raise UserError(
                    f"{folder / 'study.yaml'}: logs[{number}].instance is {source.instance!r}; expected one of "
                    "instances.yaml, or a 'gpu' that says which device was measured"
                )
        tables.append(read_logs(logs, folder, {name: instance.gpu for name, instance in instances.items()}))
    if not tables:
        return None
    pool = pd.concat(tables, ignore_index=True)
    facts = with_machine_facts(pool)  # nodes stay as stated: the instances tell the others
    together = facts["exchange"] & facts["nodes"].eq(1).fillna(False).astype(bool)
    return pool.assign(xla=facts["xla"], comparable=together)


def _with_status(
    table: pd.DataFrame, as_of: str, units: Mapping[str, str], instances: Mapping[str, "Instance"]
) -> pd.DataFrame:
    dated = table["as_of"].replace("", pd.NA).fillna(as_of) if "as_of" in table.columns else as_of
    declared = pd.Series([nodes_of(instances, row.instance, row.gpus) for row in table.itertuples()], table.index)
    filled = table.reindex(columns=list(TABLE_COLUMNS))
    return filled.assign(
        status="ok", unit=table["model"].map(units), as_of=dated, logical=False, runs=filled["runs"].fillna(0),
        nodes=filled["nodes"].astype("Int64").fillna(declared.astype("Int64")),
    )  # fmt: skip
