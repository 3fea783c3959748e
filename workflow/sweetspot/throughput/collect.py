"""From run files to one row for each cell: mean step time over independent runs, with its interval."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, MEASURED_TEXTS, PROTOCOL, USABLE
from sweetspot.study.instances import Instance, nodes_of
from sweetspot.throughput.best import TABLE_COLUMNS
from sweetspot.throughput.run_files import check_machines
from sweetspot.throughput.spread import spread_of_cells
from sweetspot.transformers import unit_of
from sweetspot.warnings import joined, warning

CELL = list(CELL_COLUMNS)
OLDER = "a run might then end after five steps however short, and an interval of several steps counted as one"


def measured_cells(runs: pd.DataFrame, instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Average the repeated runs of each cell (one benchmark setup: machine, framework, model, batch, device count,
    precision, variant) into one row of throughput.parquet, with a 95 % interval; these are the speeds that the
    decision prefers. `runs` is the table of `summarise_runs`, a row per run; `instances` are the study's machines by
    name. Throughput is samples per step (batch x devices unless the runs say) / mean over runs of the mean step time:
    times are averaged, not rates. The interval is the 95 % t interval of the logarithm of the runs' mean times, by
    `spread_of_cells`. `as_of` is the day of the last run. A cell whose runs all failed has a status and no figure.
    Raises UserError for a cell measured on machines of two kinds.
    """
    check_machines(runs, instances)
    cells = _average(runs)
    cells = cells.join(spread_of_cells(cells))
    rows = list(cells.itertuples())
    table = cells.assign(
        images_per_s_low=cells["images_per_s"] / np.exp(cells["half_width"]),
        images_per_s_high=cells["images_per_s"] * np.exp(cells["half_width"]),
        basis="measured",
        nodes=[nodes_of(instances, row.instance, row.gpus) for row in rows],
        warnings=[joined([warning(*pair) for pair in _warnings(row)]) for row in rows],
        **{name: cells[name].str.join(" ; ").replace("", None) for name in MEASURED_TEXTS},
    )
    return table.reindex(columns=list(TABLE_COLUMNS))


def _average(runs: pd.DataFrame) -> pd.DataFrame:
    """Reduce the runs (rows of `summarise_runs`) to one row per cell, the input of the interval and the warnings in
    `measured_cells`: mean step time in `seconds`, `images_per_s` (samples per second), number of usable `runs`,
    `variance` of the logarithm of their step times, `status`, first failure, hosts. Failed runs give no numbers.
    """
    usable = runs["status"].isin(USABLE)
    texts = ["machine", "host", *MEASURED_TEXTS]
    figures = runs[["seconds", "step_error", "samples_per_step", "unit", *MEASURED_NUMBERS, *texts]].where(usable)
    rows = runs.assign(
        **figures,
        runs=usable,
        variance=np.log(figures["seconds"]),
        squared_error=figures["step_error"] ** 2,
        failed_status=runs["status"].mask(usable),
        failed_message=runs["message"].fillna("no reason is given").mask(usable),
        unstable=runs["status"] == "unstable",
        as_of=runs["measured_on"],
        source=runs["path"].str.replace(r"/run~\d+\.parquet$", "", regex=True),
    )
    first = ("gpu", "protocol", "source", "samples_per_step", "unit", "failed_status", "failed_message")
    methods: dict[str, Any] = {
        **dict.fromkeys(first, "first"),
        **dict.fromkeys(("logical", "xla", "unstable"), "any"),
        **dict.fromkeys(("seconds", "squared_error", *MEASURED_NUMBERS), "mean"),
        **dict.fromkeys(texts, _distinct),
        "runs": "sum",
        "variance": "var",
        "peak_memory_gib": "max",
        "as_of": lambda days: max(days.dropna(), default=None),
        "warnings": lambda lists: list(chain.from_iterable(lists.dropna())),
    }
    # Usable runs come first: only where there are none does a failed one name the device.
    cells = rows.sort_values("runs", ascending=False, kind="stable").groupby(CELL).agg(methods).reset_index()
    samples = cells["samples_per_step"].fillna(cells["batch_size"] * cells["gpus"])
    keys = zip(cells["instance"], cells["gpu"], cells["machine"], cells["protocol"], strict=True)
    return cells.assign(
        images_per_s=samples / cells["seconds"],
        step_error=np.sqrt(cells["squared_error"]),
        status=cells["failed_status"].where(cells["runs"] == 0, np.where(cells["unstable"], "unstable", "ok")),
        machine_key=list(keys),
        unit=cells["unit"].fillna(cells["model"].map(unit_of)),
    )


def _distinct(values: pd.Series) -> tuple[str, ...]:
    return tuple(sorted(set(values.dropna())))


def _warnings(row: Any) -> Iterator[tuple[str, str]]:
    """Yield (rule, message), a slug and a sentence for the reader of the report, for each caveat about a measured
    cell: a failed or unsteady run, only one run, several hosts, an older protocol. `row`: of `_average`, with spread.
    """
    if not pd.isna(row.failed_status):
        yield row.failed_status, row.failed_message
    if row.unstable:
        yield "unstable", "the step time of a run was not steady"
    if row.runs == 1:
        yield "n_is_1", "one run, no interval"
    if row.own_spread:
        text = f"its {row.runs} runs differ by more than those of this machine's other cells: the interval is its own"
        yield "own_spread", text
    if row.protocol < PROTOCOL:
        yield "older_protocol", f"measured under protocol {row.protocol}, now {PROTOCOL}: {OLDER}"
    if len(row.host) > 1:
        hosts = "; ".join([*row.host, *row.machine])
        yield "several_hosts", f"its runs were made on several hosts that name the same device: {hosts}"
    yield from row.warnings
    if row.logical:
        yield "logical_devices", "parts of one processor, not separate devices"
