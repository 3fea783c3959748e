"""The throughput table of a study: what was measured here beside what others published."""

from collections.abc import Mapping, Sequence
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
    remarks,
    units_of,
    with_machine_facts,
)
from sweetspot.throughput.resolve import Resolver
from sweetspot.throughput.time_to_target import FILE as TIMES
from sweetspot.throughput.time_to_target import read_times, timed_cells
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import LogSource, Question

SAME_BUT_VARIANT = [*(name for name in CELL_COLUMNS if name != "variant"), "basis"]
TYPES = dict.fromkeys(("batch_size", "gpus", "nodes", "runs"), "int64") | {"xla": "bool"}
TYPES |= dict.fromkeys(("stand_in_gpu", "stand_in_framework", "stand_in_precision", "round", *MEASURED_TEXTS), "string")
TYPES |= dict.fromkeys((*MEASURED_NUMBERS, "images_per_s", "images_per_s_low", "images_per_s_high"), "float64")
TYPES |= {"stand_in_batch_size": "Int64", "rounds_behind": "Int64"}


def gather_throughput(
    runs: Sequence[str],
    question: "Question",
    as_of: str,
    instances: Mapping[str, "Instance"],
    folder: Path,
    logs: Sequence["LogSource"] = (),
    find_impossible: FindImpossible | None = None,
) -> pd.DataFrame:
    """All cells of the study in TABLE_COLUMNS: run files, published rows and times, logs, what follows of them.

    A column `best` marks the fastest of a cell's variants. `as_of` dates the published figures. Where a cell has
    several origins the best basis stays. Nothing is made of figures that `find_impossible` finds
    (`transfer.plausibility`); their cells have what `replaced_rows` says.
    Raises UserError for faulty files.
    """
    find_impossible = find_impossible or (lambda _: [])
    parts, replaced = [], []
    if runs:
        measured = measured_table(runs, instances)
        impossible = find_impossible(measured)
        parts.append(without_impossible(measured, impossible))
        replaced.append(replaced_rows(measured, impossible))
    pool = _published_pool(folder, logs, instances)
    if pool is not None:
        own = published_cells(pool, instances, folder / "throughput.csv")
        impossible = find_impossible(pool)
        pool, dropped = without_impossible(pool, impossible), pool
        own = own.drop(index=[label for label in own.index if label not in set(pool.index)])
        scales = read_efficiency(folder / "efficiency.csv")
        reached = Resolver(question, instances, own, pool, scales, as_of).cells()
        units = units_of(dropped, folder / "throughput.csv")
        parts += [_with_status(table, as_of, units, instances) for table in (_printed(own), reached)]
        declared = dropped["instance"].isin(list(instances)) & dropped["batch_size"].notna()
        found = [one for one in impossible if declared.iloc[one.row]]
        told = _with_status(_printed(dropped), as_of, units, instances)
        replaced.append(replaced_rows(told, found))
    timed = timed_cells(read_times(folder / TIMES), question, instances)
    if len(timed):
        parts.append(_with_status(timed, as_of, dict.fromkeys(timed["model"], "runs"), instances))
    parts = [part for part in parts if len(part)]  # a table may be a header alone
    replaced = [part for part in replaced if len(part)]
    if not parts and not replaced:
        return mark_best(pd.DataFrame(columns=list(TABLE_COLUMNS)), "images_per_s", SAME_BUT_VARIANT)
    best = best_figures(pd.concat(parts or replaced, ignore_index=True), CELL_COLUMNS)
    if parts and replaced:
        best = with_replaced(best, best_figures(pd.concat(replaced, ignore_index=True), CELL_COLUMNS))
    told = zip(best["warnings"], best["instance"], strict=True)
    best["warnings"] = [joined(value, cautions(instances, name)) for value, name in told]
    ordered = best.sort_values(list(CELL_COLUMNS), kind="stable")[list(TABLE_COLUMNS)].reset_index(drop=True)
    return mark_best(ordered.astype(TYPES), "images_per_s", SAME_BUT_VARIANT)


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Published rows with their basis and what is told of each."""
    told = [remarks(row) for row in rows.itertuples()]
    return rows.assign(basis=rows["benchmark"].map(basis_of), warnings=told)


def measured_table(files: Sequence[str], instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Return TABLE_COLUMNS of run files, one row for each cell. Raises UserError for faulty files."""
    from sweetspot.throughput.collect import measured_cells, summarise_runs  # only studies with runs need Arrow

    return measured_cells(summarise_runs(files), instances)


def _published_pool(
    folder: Path, logs: Sequence["LogSource"], instances: Mapping[str, "Instance"]
) -> pd.DataFrame | None:
    """The rows of throughput.csv and of the logs, None where the study has neither.

    `xla` is bool; so is `comparable`: devices of one machine that train together.
    """
    file = folder / "throughput.csv"
    parts = [read_published(file)] if file.is_file() else []
    if logs:
        from sweetspot.logs.read import read_logs

        for number, source in enumerate(logs):
            if source.gpu is None and source.instance not in instances:
                raise UserError(
                    f"{folder / 'study.yaml'}: logs[{number}].instance is {source.instance!r}; expected one of "
                    "instances.yaml, or a 'gpu' that says which device was measured"
                )
        parts.append(read_logs(logs, folder, {name: instance.gpu for name, instance in instances.items()}))
    if not parts:
        return None
    pool = pd.concat(parts, ignore_index=True)
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
