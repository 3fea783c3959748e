"""Run files from before some of today's columns: what the columns would hold, from what those files do have.

The one place where warnings are read out of a sentence: before there was a column `warnings`, a run joined them into
its `message` with "; ".
"""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from sweetspot.cells import USABLE
from sweetspot.harness.facts import kind_of_machine
from sweetspot.warnings import Warned

LATER_COLUMNS = {
    "measured_on": pl.String,
    "warnings": pl.String,
    "xla": pl.Boolean,
    "host": pl.String,
    "machine": pl.String,
    "unit": pl.String,
    "samples_per_step": pl.Int64,
    "peak_memory_gib": pl.Float64,
    "peak_memory_source": pl.String,
    "joules_per_sample": pl.Float64,
    "energy_source": pl.String,
    "left_out_share": pl.Float64,
    "disturbed_reason": pl.String,
}
# Not asked of files that lack them: what is not known stays so.
UNKNOWN_BEFORE = ("unit", "samples_per_step", *tuple(LATER_COLUMNS)[-6:])
THROUGH_KERAS = Warned(
    "through_keras", "measured by Keras on this framework, as it was before 2026-11-22; not to be compared with its own"
)
# First words of the sentences that runs wrote.
RULES = {
    "warm-up": "warm_up",
    "drift": "drift",
    "throttling": "throttling",
    "imprecise": "imprecise",
    "emulation": "emulation",
}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
NEXT = re.compile(r"; (?=[\w -]+: )")  # a semicolon within a sentence has no name and colon behind it


def completed(runs: pl.DataFrame) -> pl.DataFrame:
    """`runs` with all LATER_COLUMNS: date, compiler, host, machine from the files' metadata, warnings from messages."""
    missing = [name for name in LATER_COLUMNS if name not in runs.columns]
    found: dict[str, list[Any]] = {}
    if set(missing) - {"warnings", *UNKNOWN_BEFORE}:
        facts = [run_facts(path) for path in runs["path"]]  # file by file, and slower than a column
        found["measured_on"] = [_day(fact.get("started_at")) for fact in facts]
        found["xla"] = [fact.get("xla") is True for fact in facts]
        hosts = [fact.get("host") for fact in facts]
        found["host"] = [host if isinstance(host, str) else None for host in hosts]
        found["machine"] = [kind_of_machine(fact) for fact in facts]
    for name in set(UNKNOWN_BEFORE).intersection(missing):
        found[name] = [None] * len(runs)  # unit: by the model's name; samples: batch x devices
    if "warnings" in missing:
        usable = [status in USABLE for status in runs["status"]]
        said = list(runs["message"])
        found["warnings"] = [
            json.dumps(warnings_said(text)) if ok and text else None for ok, text in zip(usable, said, strict=True)
        ]
        why = [None if ok else text for ok, text in zip(usable, said, strict=True)]
        runs = runs.with_columns(pl.Series("message", why, dtype=pl.String))
    added = [pl.Series(name, found[name], dtype=LATER_COLUMNS[name]) for name in missing]
    kept = [name for name in runs.columns if name not in LATER_COLUMNS]
    whole = runs.with_columns(added).select(*kept, *LATER_COLUMNS)
    return _marked(whole) if "unit" in missing else whole


def _marked(runs: pl.DataFrame) -> pl.DataFrame:
    """Before there was a column `unit`, `torch` and `jax` trained the network of Keras: their runs say so."""
    warned = []
    for row in runs.select("framework", "status", "warnings").to_dicts():
        through = row["framework"] in ("torch", "jax") and row["status"] in USABLE
        told = json.loads(row["warnings"]) if row["warnings"] and through else []
        warned.append(json.dumps([*told, THROUGH_KERAS]) if through else row["warnings"])
    return runs.with_columns(pl.Series("warnings", warned, dtype=pl.String))


def run_facts(path: str | Path) -> dict[str, Any]:
    """The facts a run file carries in its metadata (devices, versions, start time, ...); none where they are no facts.

    They are beside the figures, so what is odd in them (null, a list, half a text) makes no run worthless.
    """
    import pyarrow.parquet as pq

    metadata = pq.read_schema(path).metadata or {}
    try:
        facts = json.loads(metadata.get(b"sweetspot", b"{}"))
    except ValueError:  # of JSON or of UTF-8
        return {}
    return facts if isinstance(facts, dict) else {}


def _day(started_at: Any) -> str | None:
    found = DAY.match(started_at) if isinstance(started_at, str) else None
    return found[0] if found else None


def warnings_said(message: str) -> list[Warned]:
    """The warnings of a message such as `drift: ...; imprecise: ...`; a sentence of no known rule is a `note`."""
    found = []
    for sentence in NEXT.split(message):
        name, _, words = sentence.partition(": ")
        found.append(Warned(RULES[name], words) if name in RULES else Warned("note", sentence))
    return found
