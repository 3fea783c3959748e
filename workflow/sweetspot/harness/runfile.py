"""The run file: one row a timed step, the cell in every row, the facts in the metadata."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sweetspot.files import sync, write_whole
from sweetspot.harness.facts import kind_of_machine
from sweetspot.harness.request import Request
from sweetspot.matrix.reruns import asked_to_replace
from sweetspot.warnings import Warned

# A third of the size, and a sixth less to read: a few kilobytes have no use for statistics, compression or a second
# schema, and 10,000 of them are read together.
SMALL: dict[str, Any] = {"write_statistics": False, "store_schema": False, "compression": "none"}

# Facts that throughput.parquet carries on: peak memory of one device, joules, and what neighbours cost.
FACT_NUMBERS = ("peak_memory_gib", "joules_per_sample", "left_out_share")
FACT_TEXTS = ("peak_memory_source", "energy_source", "disturbed_reason")


def finished_by_another(request: Request) -> bool:
    """Whether another invocation has made this run, of the same protocol, and this one was not asked to replace it.

    Two clones of a project may share their run files, and what was missing when a plan was made may be there by now.
    By hand (without `--asked`) every run is asked for.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(request.output)
    if not request.asked or not file.is_file() or asked_to_replace(request.output, Path(request.asked)):
        return False
    wanted = {**request.cell._asdict(), "run": request.run, "protocol": request.protocol}
    try:
        rows = pq.ParquetFile(file).read(columns=list(wanted), use_threads=False).slice(0, 1).to_pylist()
    except (pa.ArrowException, OSError):
        return False  # not whole
    return rows == [wanted]


def write_run(
    request: Request,
    seconds: Sequence[float],
    facts: dict[str, Any],
    status: str = "ok",
    message: str | None = None,
    warnings: Sequence[Warned] = (),
) -> None:
    """Write `request.output` whole. A run without timed steps has one row whose step and seconds are null.

    Steps that are left out (fact `left_out`) have no row; the others keep their numbers.
    `message` says why a run failed, `warnings` what a reader must know of one that did not. The column `warnings` is
    JSON text, a list of [rule, message], null where there is none: a column of lists makes reading thousands of files
    a quarter slower.
    """
    import polars as pl  # pyarrow's own table of lists would bring pandas along: half a second in every run
    import pyarrow.parquet as pq

    out = {step for step, _ in facts.get("left_out", ())}
    steps: list[int | None] = [step for step in range(len(seconds) + len(out)) if step not in out] or [None]
    times: list[float | None] = list(seconds) or [None]
    constant = {
        **request.cell._asdict(),
        "run": request.run,
        "protocol": request.protocol,
        "status": status,
        "message": message,
        "warnings": json.dumps(warnings) if warnings else None,
        "gpu": facts.get("device_name", "unknown"),
        "logical": bool(facts.get("logical", False)),
        "xla": bool(facts.get("xla", False)),
        "measured_on": str(facts.get("started_at", ""))[:10] or None,
        "host": facts.get("host"),
        "unit": facts.get("unit"),
        "samples_per_step": facts.get("samples_per_step"),
        "machine": kind_of_machine(facts),
        **{name: facts.get(name) for name in (*FACT_NUMBERS, *FACT_TEXTS)},
    }
    rows = {**{name: [value] * len(steps) for name, value in constant.items()}, "step": steps, "seconds": times}
    texts = dict.fromkeys(("message", "warnings", "measured_on", "host", "unit", "machine", *FACT_TEXTS), pl.String)
    numbers = dict.fromkeys(FACT_NUMBERS, pl.Float64)
    may_be_null = {**texts, **numbers, "step": pl.Int64, "seconds": pl.Float64, "samples_per_step": pl.Int64}
    table = pl.DataFrame(rows, schema_overrides=may_be_null).to_arrow()
    with (
        write_whole(request.output, lasting=True) as temporary,
        pq.ParquetWriter(temporary, table.schema, **SMALL) as writer,
    ):
        writer.write_table(table)
        writer.add_key_value_metadata({"sweetspot": json.dumps(facts, sort_keys=True)})
    sync(Path(request.output).parent)  # minutes of a machine: not to be lost by a power cut after they are reported
