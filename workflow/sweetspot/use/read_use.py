"""Records of jobs by their format, from a file or a pipe."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.files import read_given
from sweetspot.use.plain import read_jobs
from sweetspot.use.sacct import read_sacct

MOST_BYTES = 2_000_000_000
CHUNK = 1 << 20
PIPE = "-"
T = TypeVar("T")
JOBS: dict[str, Callable[..., pd.DataFrame]] = {"sacct": read_sacct, "jobs": read_jobs}
"""Formats that tell jobs, each with its reader of lines and a zone; one more is one line here."""


def read_use(format: str, path: str | Path, zone: str, **more: Any) -> pd.DataFrame:
    """The jobs of a file, or of standard input (`-`), in JOB_COLUMNS; `more`: as the format's reader takes it.

    Raises UserError with file and line.
    """
    if format not in JOBS:
        raise UserError(f"the format is {format!r}; expected one of {', '.join(JOBS)}")
    lines = lines_of(path)
    found = of_file(path, lambda: JOBS[format](lines, zone, **more))
    if found.empty:
        raise UserError(f"{shown(path)}: no job in it; expected a line a job below the first")
    return found


def of_file(path: str | Path, read: Callable[[], T]) -> T:
    """What `read` gives. Raises UserError that names the file before the line."""
    try:
        return read()
    except UserError as error:
        if str(error).startswith("--"):
            raise
        raise UserError(f"{shown(path)}{', ' if str(error).startswith('line ') else ': '}{error}") from None


def _piped() -> Iterator[bytes]:
    """Standard input in parts. Raises UserError where it does not end, as of /dev/zero."""
    size = 0
    while part := sys.stdin.buffer.read(CHUNK):
        size += len(part)
        if size > MOST_BYTES:
            raise UserError(f"{shown(PIPE)}: more than {MOST_BYTES} bytes; expected fewer: split it by months")
        if not part.strip(b"\0"):
            raise UserError(f"{shown(PIPE)}: has zero bytes alone; expected what a program wrote")
        yield part


def shown(path: str | Path) -> str:
    """How a sentence names the file."""
    return "standard input" if str(path) == PIPE else str(path)


def lines_of(path: str | Path) -> list[str]:
    """The lines of a text, with their ends. Raises UserError for what is missing, too large or no text."""
    raw = b"".join(_piped()) if str(path) == PIPE else read_given(path, MOST_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{shown(path)}, line {line}: is not UTF-8 text; expected the text that the program wrote"
        ) from None
    if "\x00" in text:
        raise UserError(f"{shown(path)}: has zero bytes; expected text, in UTF-8")
    return list(io.StringIO(text))  # at line ends alone: splitlines also cuts names at other signs
