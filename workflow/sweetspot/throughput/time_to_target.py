"""Published times to a target, such as MLPerf's: one row a result, made into throughput in runs per second. A time to
a target is rule-bound and includes what throughput leaves out: how many samples the target takes at the batch of so
many devices. It belongs to a device and a count: every instance with that `gpu` and `gpus` takes it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.study.base import DateText
from sweetspot.study.instances import Instance
from sweetspot.study.study import StudyCells
from sweetspot.throughput.best import cell_columns
from sweetspot.throughput.csv_table import CsvRow, read_rows, require_distinct

FILE = "time_to_target.csv"
# Results of one benchmark, device and count lie within this factor of their round's median (90 %; docs/decision.md).
SUBMITTER_FACTOR = 1.12
# throughput.parquet states 95 %: the factor of a normal with that 90 %, 1.12 to the power of 1.960 / 1.645.
FACTOR_95 = SUBMITTER_FACTOR ** (1.959964 / 1.644854)
VARIANT = "submission"


class TimeRow(CsvRow):
    """A row of time_to_target.csv: the result of one submission."""

    benchmark: str
    gpu: str
    gpus: int
    """Devices of all nodes"""
    nodes: int
    minutes: float
    """From the start to the target"""
    round: str
    """Such as v5.1; the newest counts"""
    submitter: str
    precision: str = ""
    global_batch: float | None = None
    """Samples of a step"""
    samples: float | None = None
    """Samples seen until the target"""
    kind: str
    """How the figure came to be, such as `recomputed from published logs, not verified by MLCommons Association`"""
    source: str
    date: DateText

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: a round without version, nodes that do not divide devices."""
        if not _version(self.round):
            yield f"a round such as v5.1, not {self.round!r}"
        if self.gpus % self.nodes:
            yield f"nodes that divide {self.gpus} devices, not {self.nodes}"


@dataclass(frozen=True)
class TimeToTarget:
    """Median minutes to the target in the newest round, for one benchmark, device and number of devices.
    `rounds_behind`: how many rounds of the whole table are newer; `source`: round, submitters, kind and addresses of
    the figures, as MLCommons requires; `global_batch`: samples of a step, NaN where nobody states it.
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


def read_times(path: Path) -> pd.DataFrame:
    """Read a study's time_to_target.csv, empty without the file. UserError for faults, such as a row twice."""
    table = read_rows(path, TimeRow) if path.is_file() else pd.DataFrame(columns=list(TimeRow.model_fields))
    require_distinct(table, list(table), path)
    return table


def results(table: pd.DataFrame) -> dict[tuple[str, str, int], TimeToTarget]:
    """Return {(benchmark, gpu, number of devices): median time of its newest MLPerf round} from the rows of
    time_to_target.csv (fields of TimeRow), so that one time stands for all submitters.
    """
    times = {}
    rounds = sorted({_version(name) for name in table["round"]}, reverse=True)
    for (benchmark, gpu, gpus), group in table.groupby(["benchmark", "gpu", "gpus"]):
        version = max(map(_version, group["round"]))
        rows = group[group["round"].map(_version) == version].sort_values(["minutes", "submitter"])
        first, median = rows.iloc[0], float(rows["minutes"].median())
        submitters, kinds, sources = (rows[name].drop_duplicates() for name in ("submitter", "kind", "source"))
        count = "1 result"
        if len(rows) > 1:
            count = f"median of {len(rows)} results, {first['minutes']:.2f} to {rows['minutes'].max():.2f} minutes"
        source = (
            f"MLPerf(TM) Training {first['round']} Closed, {benchmark}, {gpus} x {gpu}: {median:.2f} minutes, "
            f"{count} ({', '.join(submitters)}); {'; '.join(kinds)} ; {' ; '.join(sources)}"
        )
        batch, behind = float(rows["global_batch"].median()), rounds.index(version)
        key = benchmark, gpu, gpus
        times[key] = TimeToTarget(*key, int(first["nodes"]), median, batch, first["round"], source, behind)
    return times


def _version(name: str) -> tuple[int, ...]:
    """Return the version numbers in the name of a round, e.g. (5, 1) of `v5.1`."""
    return tuple(map(int, re.findall(r"\d+", name)))


def timed_cells(table: pd.DataFrame, question: StudyCells, instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Turn published times to a target (MLPerf's) into rows of throughput.parquet, in training runs per second, for
    each machine of the study with the same device and device count. Basis `published`; 95 % bounds by the spread
    between submitters. Such a machine needs no other figure of its speed.

    Parameters
    ----------
    table, question, instances
        Rows of `read_times`; the study's models and batches; its machines by name.
    """
    times = results(table)
    rows = [
        _timed_cell(time, cell_columns(question, instances, name, model, batch_size, VARIANT))
        for name, instance in instances.items()
        for model in question.model
        if (time := times.get((model, instance.gpu, instance.gpus)))
        for batch_size in question.batches(model)
    ]
    return pd.DataFrame(rows)


def _timed_cell(time: TimeToTarget, cell: dict[str, Any]) -> dict[str, Any]:
    """Return one row {column of throughput.parquet: value} for a machine with a published time: the speed 1 / time in
    runs per second, with 95 % bounds. `cell`: its identifying columns, by `cell_columns`.
    """
    rate = 1 / (60 * time.minutes)
    return {
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
        "warnings": [],
        "xla": False,
    }
