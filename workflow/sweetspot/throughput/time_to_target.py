"""Published times to a target, such as MLPerf's: one row a result, made into throughput in runs per second.

A time to a target is rule-bound and includes what throughput leaves out: how many samples the target takes at the
batch of so many devices. It belongs to a device and a count, not to one provider's machine: every instance with that
`gpu` and `gpus` takes it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from sweetspot.throughput.best import asked_cell
from sweetspot.throughput.published import RowFaults, read_rows
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


class Result(NamedTuple):
    """The results of one benchmark, device and count: median minutes of the newest round, and where they stand.

    `behind`: how many rounds of the whole table are newer than that; `source`: round, submitters, how the figures came
    to be, and where they stand, as MLCommons asks.
    """

    benchmark: str
    gpu: str
    gpus: int
    nodes: int
    minutes: float
    global_batch: float
    round: str
    source: str
    behind: int


def read_times(path: Path) -> pd.DataFrame:
    """A study's time_to_target.csv with the columns of COLUMNS; empty where the study has none.

    `minutes`: from the start to the target; `gpus`: devices of all `nodes`; `round` such as v5.1 (the newest counts);
    `precision`, `global_batch` (samples a step) and `samples` (to the target) may be empty; `kind`: how the figure came
    to be, such as `recomputed from published logs, not verified by MLCommons Association`. Raises UserError for a row
    without a source, a round without a number, or devices that do not divide by the nodes.
    """
    if not path.is_file():
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
    faults = RowFaults(path)
    table = read_rows(faults, COLUMNS, OPTIONAL_NUMBERS)
    faults.sources(table)
    gpus, nodes = table["gpus"], table["nodes"]
    faults.cells(table["round"], [not ROUND.match(name) for name in table["round"]], "a version such as v5.1")
    uneven = (gpus % nodes).fillna(0) != 0
    faults.rows(uneven, lambda row: f"{gpus.iloc[row]:g} devices do not divide by {nodes.iloc[row]:g} nodes")
    faults.end()
    return table


def results(table: pd.DataFrame) -> dict[tuple[str, str, int], Result]:
    """The median of the newest round for each (benchmark, gpu, gpus); table: `read_times`."""
    found, rounds = {}, sorted({_version(name) for name in table["round"]}, reverse=True)
    for key, rows in table.groupby(["benchmark", "gpu", "gpus"]):
        newest = max(rows["round"], key=_version)
        own = rows[rows["round"] == newest].sort_values(["minutes", "submitter"])
        minutes, batch = own["minutes"], float(own["global_batch"].median())
        names, kinds, places = (list(dict.fromkeys(own[name])) for name in ("submitter", "kind", "source"))
        span = f", {minutes.iloc[0]:.2f} to {minutes.iloc[-1]:.2f} minutes" if len(own) > 1 else ""
        count = "1 result" if len(own) == 1 else f"median of {len(own)} results"
        benchmark, gpu, gpus = str(key[0]), str(key[1]), int(key[2])
        source = (
            f"MLPerf(TM) Training {newest} Closed, {benchmark}, {gpus} x {gpu}: {minutes.median():.2f} minutes, "
            f"{count}{span} ({', '.join(names)}); {'; '.join(kinds)} ; {' ; '.join(places)}"
        )
        times = int(own["nodes"].iloc[0]), float(minutes.median()), batch, newest
        found[key] = Result(benchmark, gpu, gpus, *times, source, rounds.index(_version(newest)))
    return found


def _version(name: str) -> tuple[int, ...]:
    match = ROUND.match(name)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def uneven_counts(
    known: Mapping[tuple[str, str, int], Result], model: str, instance: "Instance"
) -> list[dict[str, str]]:
    """A warning where times of `model` on the instance's device stand at counts that its nodes do not divide.

    known: `results`. Whole nodes, or equal parts of one, can have such a time; no machine of this kind has the others.
    """
    each = instance.gpus // instance.nodes
    odd = sorted(
        count for (name, gpu, count) in known if (name, gpu) == (model, instance.gpu) and count % each and each % count
    )
    if not odd:
        return []
    counts = ", ".join(map(str, odd))
    return [warning("uneven_count", f"times published on {counts} x {instance.gpu} fit no nodes of {each} devices")]


def timed_cells(table: pd.DataFrame, question: "Question", instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Cells of every instance whose device and count somebody has timed, in runs per second; basis `published`.

    Columns: those of a cell, gpu, nodes, images_per_s = 1 / (60 x minutes) with its ends (95 %, by the spread between
    submitters), unit (`runs`), basis, source, round, rounds_behind (newer rounds of the table), warnings, xla. The cell
    has the study's precision and batch.
    """
    known = results(table)
    rows = []
    for name, instance in instances.items():
        for model in question.model:
            result = known.get((model, instance.gpu, instance.gpus))
            if result is None:
                continue
            rate = 1 / (60 * result.minutes)
            told = {
                "images_per_s": rate, "images_per_s_low": rate / FACTOR_95, "images_per_s_high": rate * FACTOR_95,
                "unit": "runs", "basis": "published", "source": result.source, "round": result.round,
                "rounds_behind": result.behind, "warnings": uneven_counts(known, model, instance), "xla": False,
            }  # fmt: skip
            for batch_size in question.batches(model):
                cell = asked_cell(question, instances, name, model, batch_size, VARIANT)
                rows.append({**cell, "nodes": max(result.nodes, cell["nodes"]), **told})
    return pd.DataFrame(rows)
