"""The run file: one row a timed step, the cell in every row, the facts in the metadata."""

import json
from collections.abc import Sequence
from typing import Any

from sweetspot.files import write_whole
from sweetspot.harness.request import Request


def write_run(
    request: Request,
    seconds: Sequence[float],
    facts: dict[str, Any],
    status: str = "ok",
    message: str | None = None,
) -> None:
    """Write `request.output` whole. A run without timed steps has one row whose step and seconds are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    steps: list[int | None] = list(range(len(seconds))) or [None]
    times: list[float | None] = list(seconds) or [None]
    constant = {
        **request.cell._asdict(),
        "run": request.run,
        "protocol": request.protocol,
        "status": status,
        "message": message,
        "gpu": facts.get("device_name", "unknown"),
        "logical": bool(facts.get("logical", False)),
    }
    text = {name: pa.string() for name, value in constant.items() if value is None or isinstance(value, str)}
    columns = {name: pa.array([value] * len(steps), text.get(name)) for name, value in constant.items()}
    columns |= {"step": pa.array(steps, pa.int64()), "seconds": pa.array(times, pa.float64())}
    table = pa.table(columns).replace_schema_metadata({"sweetspot": json.dumps(facts, sort_keys=True)})
    with write_whole(request.output) as temporary:
        pq.write_table(table, temporary)
