"""The run file: one row a timed step, the cell in every row, the facts in the metadata."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sweetspot.cells import MEASURED_NUMBERS, MEASURED_TEXTS
from sweetspot.files import sync, write_whole
from sweetspot.harness.facts import kind_of_machine
from sweetspot.harness.request import Request
from sweetspot.harness.step_times import Interval
from sweetspot.warnings import Warned

# A third of the size, and a sixth less to read: a few kilobytes have no use for statistics, compression or a second
# schema, and 10,000 of them are read together.
SMALL: dict[str, Any] = {"write_statistics": False, "store_schema": False, "compression": "none"}

COUNTS = ("step", "steps", "samples_per_step")
ARROW_TYPES = {str: "large_string", type(None): "large_string", bool: "bool", int: "int64", float: "double"}
# A key of the file's metadata (Thrift: field 2, text of 64 bytes): SHA-256 of all bytes of the file, these being "0".
SEAL = "sweetspot-sha256"
SEALED = re.compile(SEAL.encode() + rb"\x18\x40([0-9a-f]{64})")


def is_damaged(raw: bytes) -> bool:
    """Return True if the bytes of a run file do not match the SHA-256 in it; False for a file without one."""
    match = SEALED.search(raw)
    return match is not None and _digest(raw, match) != match[1]


def _digest(raw: bytes, match: re.Match[bytes]) -> bytes:
    """Return the SHA-256, in hexadecimal digits, of a run file's bytes with zeros in place of its checksum."""
    blank = raw[: match.start(1)] + b"0" * 64 + raw[match.end(1) :]
    return hashlib.sha256(blank).hexdigest().encode()


def run_facts(path: str | Path) -> dict[str, Any]:
    """Return the facts of machine and software in a run file's metadata, {fact: value}; {} where unreadable."""
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
        facts = json.loads(metadata.get(b"sweetspot", b"{}"))
    except (OSError, ValueError):  # no file, or half of one; of JSON or of UTF-8
        return {}
    return facts if isinstance(facts, dict) else {}


def has_flags(path: str, flags: str) -> bool:
    """Return True if a run file says that run_benchmark.py got these flags, in this order; False if unreadable."""
    return str(flags.split())[1:-1] in str(run_facts(path).get("command"))


def write_run(
    request: Request,
    timed: Sequence[Interval],
    facts: dict[str, Any],
    status: str = "ok",
    message: str | None = None,
    warnings: Sequence[Warned] = (),
) -> None:
    """Write the result of one benchmark run to `request.output` (Parquet, a row per timed interval), whole or not at
    all; throughput tables are made of such files.

    Parameters
    ----------
    request, timed, facts
        The cell, the run and its protocol; the timed intervals, a row each: mean `seconds` of a step, number of
        `steps` (a run without any has one row whose step, seconds and steps are null); facts by name for the file's
        metadata (JSON), of which some are columns too: `host`, `unit`, `samples_per_step`, `gpu`, `machine`,
        `logical`, `xla`, `measured_on` (a day), and those of MEASURED_NUMBERS and MEASURED_TEXTS.
    status, message, warnings
        Outcome (ok, unstable, failed, oom), why a run failed, and what a reader must know of one that did not. The
        column `warnings` is JSON text, [[rule, message], ...] or null: lists make reading thousands of files slower.
    """
    import pyarrow as pa
    import pyarrow.json as pj  # lists would bring pandas along: half a second in every run
    import pyarrow.parquet as pq

    names = ("host", "unit", "samples_per_step", *MEASURED_NUMBERS, *MEASURED_TEXTS)
    constant = {
        **request.cell._asdict(),
        "run": request.run,
        "protocol": request.protocol,
        "status": status,
        "message": message,
        "warnings": json.dumps(warnings) if warnings else None,
        "gpu": facts.get("device_name", "unknown"),
        "logical": bool(facts.get("logical")),
        "xla": bool(facts.get("xla")),
        "measured_on": str(facts.get("started_at", ""))[:10] or None,
        "machine": kind_of_machine(facts),
        **{name: facts.get(name) for name in names},
    }
    rows = [constant | {"step": step, **interval._asdict()} for step, interval in enumerate(timed)]
    rows = rows or [constant | dict.fromkeys(("step", *Interval._fields))]
    columns = {name: ARROW_TYPES[type(value)] for name, value in rows[0].items()}
    columns |= dict.fromkeys(("seconds", *MEASURED_NUMBERS), "double") | dict.fromkeys(COUNTS, "int64")
    lines = pa.BufferReader("\n".join(map(json.dumps, rows)).encode())
    table = pj.read_json(lines, parse_options=pj.ParseOptions(explicit_schema=pa.schema(columns)))
    with write_whole(request.output, lasting=True) as temporary:
        with pq.ParquetWriter(temporary, table.schema, **SMALL) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"sweetspot": json.dumps(facts), SEAL: "0" * 64})
        raw = Path(temporary).read_bytes()
        match = SEALED.search(raw)
        assert match is not None  # just written
        Path(temporary).write_bytes(raw[: match.start(1)] + _digest(raw, match) + raw[match.end(1) :])
    sync(Path(request.output).parent)  # minutes of a machine: not to be lost by a power cut after they are reported
