"""Published times to a target, such as MLPerf's: one row a result, made into throughput in runs per second.

A time to a target is rule-bound and includes what throughput leaves out: how many samples the target takes at the
batch of so many devices. It belongs to a device and a count, not to one provider's machine: every instance with that
`gpu` and `gpus` takes it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.throughput.best import cell_columns
from sweetspot.throughput.csv_table import CsvFaults, read_rows
from sweetspot.warnings import warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

FILE = "time_to_target.csv"
COLUMNS = {
    "benchmark": str, "gpu": str, "gpus": int, "nodes": int, "minutes": float, "round": str, "submitter": str,
    "precision": str, "global_batch": float, "samples": float, "kind": str, "source": str, "date": str,
}  # fmt: skip
# Of a submission that does not tell them; the samples are those seen until the target.
OPTIONAL_NUMBERS = ("global_batch", "samples")
# Results of one benchmark, device and count lie within this factor of their round's median (90 %; docs/decision.md).
SUBMITTER_FACTOR = 1.12
# throughput.parquet states 95 %: the factor of a normal with that 90 %, 1.12 to the power of 1.960 / 1.645.
FACTOR_95 = SUBMITTER_FACTOR ** (1.959964 / 1.644854)
ROUND = re.compile(r"v?(\d+(?:\.\d+)*)")
VARIANT = "submission"


@dataclass(frozen=True)
class TimeToTarget:
    """Results of one benchmark, device and count: median minutes of the newest round.

    `rounds_behind`: how many rounds of the whole table are newer; `source`: round, submitters, how the figures came to
    be, and where they stand, as MLCommons asks; `global_batch`: samples of a step, NaN where nobody states it.
    """

    benchmark: str
    gpu: str
    gpus: int
    nodes: int
    minutes: float
    global_batch: float
    round: str
    source: str
    rounds_behind: int


TimesByKey = Mapping[tuple[str, str, int], TimeToTarget]


def read_times(path: Path) -> pd.DataFrame:
    """Read a study's time_to_target.csv: COLUMNS; empty if the file is missing.

    `minutes`: from the start to the target; `gpus`: devices of all `nodes`; `round`: such as v5.1 (the newest counts);
    `precision`, `global_batch` (samples of a step) and `samples` (to the target) may be empty; `kind`: how the figure
    came to be, such as `recomputed from published logs, not verified by MLCommons Association`. Raises UserError for a
    row without a source, a round without a number, or devices that do not divide by the nodes.
    """
    if not path.is_file():
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
    faults = CsvFaults(path)
    table = read_rows(faults, COLUMNS, OPTIONAL_NUMBERS)
    faults.require_sources(table)
    faults.add_cells(table["round"], ~table["round"].str.match(ROUND), "a version such as v5.1")
    for row in table[(table["gpus"] % table["nodes"]).fillna(0) != 0].itertuples():
        faults.add_row(row.Index, f"{row.gpus:g} devices do not divide by {row.nodes:g} nodes")
    faults.end()
    return table


def results(table: pd.DataFrame) -> dict[tuple[str, str, int], TimeToTarget]:
    """Return the median of the newest round of `read_times` for each (benchmark, gpu, gpus)."""
    times = {}
    rounds = sorted({_version(name) for name in table["round"]}, reverse=True)
    for (benchmark, gpu, gpus), group in table.groupby(["benchmark", "gpu", "gpus"]):
        newest = max(group["round"], key=_version)
        rows = group[group["round"] == newest].sort_values(["minutes", "submitter"])
        minutes = rows["minutes"]
        submitters, kinds, sources = (rows[name].drop_duplicates() for name in ("submitter", "kind", "source"))
        count = "1 result"
        if len(rows) > 1:
            count = f"median of {len(rows)} results, {minutes.iloc[0]:.2f} to {minutes.iloc[-1]:.2f} minutes"
        source = (
            f"MLPerf(TM) Training {newest} Closed, {benchmark}, {gpus} x {gpu}: {minutes.median():.2f} minutes, "
            f"{count} ({', '.join(submitters)}); {'; '.join(kinds)} ; {' ; '.join(sources)}"
        )
        times[str(benchmark), str(gpu), int(gpus)] = TimeToTarget(
            benchmark=str(benchmark),
            gpu=str(gpu),
            gpus=int(gpus),
            nodes=int(rows["nodes"].iloc[0]),
            minutes=float(minutes.median()),
            global_batch=float(rows["global_batch"].median()),
            round=newest,
            source=source,
            rounds_behind=rounds.index(_version(newest)),
        )
    return times


def _version(name: str) -> tuple[int, ...]:
    match = ROUND.match(name)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def uneven_counts(times: TimesByKey, model: str, instance: "Instance") -> list[dict[str, str]]:
    """Warn of times of `model` on the instance's device at counts that its nodes do not divide.

    Parameters
    ----------
    times
        Those of `results`.
    model
        The benchmark.
    instance
        Whole nodes of it, or equal parts of one, can have such a time; other counts need another kind of machine.

    """
    per_node = instance.gpus // instance.nodes
    counts = sorted(gpus for name, gpu, gpus in times if (name, gpu) == (model, instance.gpu))
    uneven = [str(count) for count in counts if count % per_node and per_node % count]
    if not uneven:
        return []
    message = f"times published on {', '.join(uneven)} x {instance.gpu} fit no nodes of {per_node} devices"
    return [warning("uneven_count", message)]


def timed_cells(table: pd.DataFrame, question: "Question", instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Return the cells of instances whose device and count somebody has timed, in runs per second.

    Parameters
    ----------
    table
        Rows of `read_times`.
    question
        The study's cells.
    instances
        Machines by name.

    Returns
    -------
    DataFrame
        Columns of throughput.parquet with the basis `published` and 95 % bounds by the spread between submitters.

    """
    times = results(table)
    rows = []
    for name, instance in instances.items():
        for model in question.model:
            time = times.get((model, instance.gpu, instance.gpus))
            if time is None:
                continue
            rate = 1 / (60 * time.minutes)
            for batch_size in question.batches(model):
                cell = cell_columns(question, instances, name, model, batch_size, VARIANT)
                rows.append(
                    {
                        **cell,
                        "nodes": max(time.nodes, cell["nodes"]),
                        "images_per_s": rate,
                        "images_per_s_low": rate / FACTOR_95,
                        "images_per_s_high": rate * FACTOR_95,
                        "unit": "runs",
                        "basis": "published",
                        "source": time.source,
                        "round": time.round,
                        "rounds_behind": time.rounds_behind,
                        "warnings": uneven_counts(times, model, instance),
                        "xla": False,
                    }
                )
    return pd.DataFrame(rows)
