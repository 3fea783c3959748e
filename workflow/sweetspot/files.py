"""Whole files only: a reader sees the old content or the new, never a half."""

import errno
import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sweetspot import warnings
from sweetspot.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
ROOM = 1 << 16  # bytes: more than a run file takes


@contextmanager
def _in_a_sentence(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise UserError(
            f"{target}: cannot be written ({os.strerror(error.errno)}); mend that and start again: "
            "what is finished stays as it is"
        ) from None


@contextmanager
def write_whole(path: str | Path) -> Iterator[Path]:
    """Yield a unique temporary path beside `path`; rename it to `path` if the block ends well, else remove it.

    The name is unique per process, so an orphan of an earlier submission never writes into a later one's file.
    Raises UserError where the disk is full, read-only or another's.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
    with _in_a_sentence(target):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def require_writable(*folders: str | Path) -> None:
    """Raises UserError where one of the folders is there and cannot be written."""
    for folder in map(Path, folders):
        if folder.is_dir() and not os.access(folder, os.W_OK):
            raise UserError(
                f"{folder}: cannot be written (a read-only disk, or another's folder); make it writable and start "
                "again: what is finished stays as it is"
            )


def require_room(path: str | Path) -> None:
    """Raises UserError where a run file could not be written to `path`: asked before measuring, not after."""
    target = Path(path)
    with _in_a_sentence(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent) as probe:
            probe.write(bytes(ROOM))
            probe.flush()


def read_arrow(path: str | Path) -> "pa.Table":
    """Read a table of one file without pandas."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read(use_threads=False)


def write_arrow(table: "pa.Table", path: str | Path) -> None:
    """Write an Arrow table whole."""
    import pyarrow.parquet as pq

    with write_whole(path) as temporary:
        pq.write_table(table, temporary)


def read_parquet(path: str | Path) -> "pd.DataFrame":
    """Read a table of one file, as pandas would: by pyarrow itself that takes a third of the time of small files."""
    return read_arrow(path).to_pandas(use_threads=False)


def write_parquet(table: "pd.DataFrame", path: str | Path, csv: bool = False) -> None:
    """Write a table whole, without its index; with `csv` also as CSV of that name beside it.

    Columns of warnings are written as lists of pairs whatever they hold, in the CSV as text.
    """
    import pyarrow.csv
    import pyarrow.parquet as pq

    content = _arrow(table)
    with write_whole(path) as temporary:
        pq.write_table(content, temporary)
    if csv:
        with write_whole(Path(path).with_suffix(".csv")) as temporary:
            pyarrow.csv.write_csv(_plain(content), temporary)


def _arrow(table: "pd.DataFrame") -> "pa.Table":
    import pyarrow as pa

    found = _columns_of_warnings(list(table.columns))
    content = pa.Table.from_pandas(table.assign(**dict.fromkeys(found.values())), preserve_index=False, nthreads=1)
    for place, name in found.items():
        # By hand: pandas tells Arrow nothing of what lists hold that are all empty.
        told = [[pair._asdict() for pair in warnings.pairs(value)] for value in table[name]]
        content = content.set_column(place, name, pa.array(told, type=warnings.arrow_type()))
    return content


def _plain(content: "pa.Table") -> "pa.Table":
    """The table as a CSV file can hold it: warnings as text, other lists as JSON."""
    import pyarrow as pa

    told = _columns_of_warnings(content.column_names)
    for place, field in enumerate(content.schema):
        if pa.types.is_nested(field.type):
            write = warnings.as_text if place in told else _as_json
            text = [write(value) for value in content.column(place).to_pylist()]
            content = content.set_column(place, field.name, pa.array(text, type=pa.string()))
    return content


def _as_json(value: object) -> str | None:
    return None if value is None else json.dumps(value)


def _columns_of_warnings(names: Sequence[str]) -> dict[int, str]:
    """Place and name of `warnings`, and of such as `throughput_warnings` that a joined table has."""
    return {place: name for place, name in enumerate(names) if name == "warnings" or name.endswith("_warnings")}
