"""The throughput table of a study: measured cells beside what others published."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, MEASURED_TEXTS
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance, cautions, nodes_of
from sweetspot.study.study import LogSource, StudyCells
from sweetspot.throughput.best import TABLE_COLUMNS, best_figures, mark_best
from sweetspot.throughput.plausible_rows import FindImpossible, replaced_rows, without_impossible
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, with_machine_facts
from sweetspot.throughput.resolve import Resolver
from sweetspot.throughput.time_to_target import FILE as TIMES
from sweetspot.throughput.time_to_target import read_times, timed_cells
from sweetspot.warnings import joined, warning

CELL = list(CELL_COLUMNS)
SAME_BUT_VARIANT = [*CELL_COLUMNS[:-1], "basis"]
USER_BENCHMARK = "own"  # as `benchmark` of throughput.csv: timed by the person who wrote the row
TYPES = dict.fromkeys(("batch_size", "gpus", "nodes", "runs"), "int64") | {"xla": "bool"}
TYPES |= dict.fromkeys(("stand_in_gpu", "stand_in_framework", "stand_in_precision", "round", *MEASURED_TEXTS), "string")
TYPES |= dict.fromkeys((*MEASURED_NUMBERS, "images_per_s", "images_per_s_low", "images_per_s_high"), "float64")
TYPES |= {"stand_in_batch_size": "Int64", "rounds_behind": "Int64"}


def gather_throughput(
    runs: Sequence[str],
    question: StudyCells,
    as_of: str,
    instances: Mapping[str, Instance],
    folder: Path,
    logs: Sequence[LogSource] = (),
    find_impossible: FindImpossible = lambda _: [],
) -> pd.DataFrame:
    """Build throughput.parquet, the table of all speeds that the decision rests on: one row per cell (machine,
    framework, model, batch, device count, precision, variant) from its strongest evidence, be it a measurement, a
    published figure or time, a training log, or a stand-in from a similar setup. The column `best` marks the fastest
    variant.

    Parameters
    ----------
    runs, question, as_of, instances
        Paths of the benchmark result files; what the study measures (models, batches, precision, framework); date
        given to published figures that state none; the study's machines by name.
    folder, logs, find_impossible
        The study's folder (throughput.csv, efficiency.csv, time_to_target.csv, if any; UserError for faulty files);
        training logs named in study.yaml; function that finds speeds beyond what devices can reach
        (`transfer.plausibility.impossible_figures`).
    """
    complete = partial(complete_rows, as_of=as_of, instances=instances)
    tables, replaced = [complete(timed_cells(read_times(folder / TIMES), question, instances))], []
    if runs:
        measured = measured_table(runs, instances)
        impossible = find_impossible(measured)
        tables.append(without_impossible(measured, impossible))
        replaced.append(replaced_rows(measured, impossible))
    published = _published_pool(folder, logs, instances)
    if published is not None:
        impossible = find_impossible(published)
        pool = without_impossible(published, impossible)
        cells = published_cells(published, instances, folder / "throughput.csv")
        figures = [figure for figure in impossible if published.index[figure.row] in cells.index]
        replaced.append(replaced_rows(complete(published), figures))
        cells = cells[cells.index.isin(pool.index)]
        scales = read_efficiency(folder / "efficiency.csv")
        resolver = Resolver(question, instances, cells, pool, scales, as_of)
        tables += [complete(cells), complete(resolver.table())]
    groups = [[table for table in group if len(table)] for group in (replaced, tables)]
    ranked = [best_figures(pd.concat(group, ignore_index=True), CELL) for group in groups if group]
    if not ranked:
        return mark_best(pd.DataFrame(columns=list(TABLE_COLUMNS)), "images_per_s", SAME_BUT_VARIANT)
    rows = pd.concat(ranked)
    # A cell that has another figure keeps it and takes the warning of the impossible one.
    warnings = rows.groupby(CELL)["warnings"].agg(lambda lists: joined(*lists))
    best = rows.drop_duplicates(CELL, keep="last").set_index(CELL).sort_index()
    best["warnings"] = [joined(warnings[cell], cautions(instances, cell[0])) for cell in best.index]
    table = best.reset_index()[list(TABLE_COLUMNS)].astype(TYPES)
    return mark_best(table, "images_per_s", SAME_BUT_VARIANT)


def measured_table(files: Sequence[str], instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Read benchmark result files to rows of throughput.parquet, a cell's runs averaged. UserError for a bad file."""
    from sweetspot.throughput.collect import measured_cells  # only studies with runs need Arrow
    from sweetspot.throughput.run_files import summarise_runs

    return measured_cells(summarise_runs(files), instances)


def _published_pool(folder: Path, logs: Sequence[LogSource], instances: Mapping[str, Instance]) -> pd.DataFrame | None:
    """Return everything that others published about the study's models, the rows of its throughput.csv and training
    logs, as one table from which missing speeds are taken or estimated; None if the study has neither. Added columns:
    `xla` (bool: compiled), `comparable` (bool: the devices are in one node and train together), `basis` (`own`: timed
    by the user; or `published`) and `warnings` (of the log reader, and the row's note as one).
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
    pool = pool.reindex(columns=[*pool, *{"warnings", "note"}.difference(pool)])
    facts = with_machine_facts(pool)  # nodes stay as stated: the instances tell the others
    by_user = pool["benchmark"].str.strip().str.lower() == USER_BENCHMARK
    return pool.assign(
        xla=facts["xla"],
        comparable=facts["exchange"] & facts["nodes"].eq(1).fillna(False).astype(bool),
        basis=by_user.map({True: "own", False: "published"}),
        warnings=[
            joined(warnings, [warning("note", note)] if isinstance(note, str) and note else [])
            for warnings, note in zip(pool["warnings"], pool["note"], strict=True)
        ],
    )


def complete_rows(table: pd.DataFrame, as_of: str, instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Bring speeds that were not measured here into the form of throughput.parquet, so that they can be stacked with
    the measured ones: all its columns, status `ok`, 0 runs, date and number of nodes filled in.

    Parameters
    ----------
    table, as_of, instances
        Speeds (columns instance and gpus at least), the date of those without one, the machines by name.
    """
    filled = table.reindex(columns=list(TABLE_COLUMNS))
    nodes = [nodes_of(instances, row.instance, row.gpus) for row in filled.itertuples()]
    return filled.assign(
        status="ok",
        as_of=filled["as_of"].astype(object).replace("", None).fillna(as_of),
        logical=False,
        runs=filled["runs"].fillna(0),
        nodes=filled["nodes"].astype("Int64").fillna(pd.Series(nodes, filled.index, dtype="Int64")),
    )
