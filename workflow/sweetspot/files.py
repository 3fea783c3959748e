"""Whole files only: a reader sees the old content or the new, never a half."""

import errno
import hashlib
import json
import os
import stat
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# What a person can mend; of any other fault of writing the traceback is wanted.
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ENAMETOOLONG,
              errno.ELOOP, errno.EFBIG}  # fmt: skip
AGAIN = "start again: what is finished stays as it is"
RUN_FILE_BYTES = 1 << 16  # bytes: more than a run file takes
# Bytes read at once: a buffer is as large as what is asked for, however short the file.
PART = 1_048_576
KINDS = {"d": "a folder", "c": "a device", "b": "a device", "p": "a pipe", "s": "a socket"}  # by letter of filemode


@contextmanager
def in_a_sentence(target: str | Path) -> Iterator[None]:
    """Turn an OSError of the `with` block (disk full, read-only, no permission) into a UserError about `target`."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        reason = os.strerror(error.errno)
        raise UserError(f"{target}: cannot be written ({reason}); mend that and {AGAIN}") from None


def _require_replaceable(target: Path) -> None:
    """Raise UserError if `target`, a file to be written, exists and is no regular file: a rename would replace it."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = KINDS[stat.filemode(mode)[0]]
        raise UserError(f"{target}: is {kind}; expected the name of a file, new or to be replaced")


def _make_folder(folder: Path) -> None:
    """Make a file's folder and those above it before writing. NotADirectoryError where a file is in the way."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError):  # a file of that name, or a file system that takes none, such as /proc
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None


@contextmanager
def write_whole(path: str | Path, lasting: bool = False) -> Iterator[Path]:
    """Write a file so that readers see the old content or the new, never a half: yield a temporary path beside `path`
    to write to; rename it to `path` if the block ends well, else remove it. The name is unique per process, so an
    orphan of an earlier submission never writes into a later one's file. `lasting`: the content is synced to disk
    before the rename (some milliseconds): a power cut leaves no empty file. Raises UserError where the disk is full,
    read-only or another user's, and where `path` is no regular file.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
    with in_a_sentence(target):
        _require_replaceable(target)
        try:
            _make_folder(target.parent)
            yield temporary
            if lasting:
                sync(temporary)
            os.replace(temporary, target)
        finally:
            with suppress(FileNotFoundError, NotADirectoryError):
                temporary.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write a text as a UTF-8 file with its line ends unchanged, whole or not at all; UserError where that fails."""
    with write_whole(path, lasting=True) as temporary:
        temporary.write_bytes(text.encode())


def sync(path: Path) -> None:
    """Wait until a file's content (a folder's entries) is on the disk (fsync), so that a power cut loses nothing."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that knows no such thing
            raise
    finally:
        os.close(descriptor)


def require_writable(*folders: str | Path) -> None:
    """Raise UserError for the first of the folders that is a file or cannot be written, before any work is done."""
    for folder in filter(os.path.lexists, folders):
        if not os.access(f"{folder}/", os.W_OK):
            raise UserError(f"{folder}: cannot be written (a file, a read-only disk, another's); mend that and {AGAIN}")


def require_space(path: str | Path) -> None:
    """Raise UserError if a run file (64 KiB) could not be written to `path`, before hours of measuring are lost."""
    target = Path(path)
    with in_a_sentence(target):
        _require_replaceable(target)
        _make_folder(target.parent)
        with tempfile.TemporaryFile(dir=target.parent) as probe:
            probe.write(bytes(RUN_FILE_BYTES))
            probe.flush()


def read_limited(path: str | Path, max_bytes: int) -> bytes:
    """Return the bytes of a file that a user gave, at most `max_bytes`, so that no file can fill the memory. Raises
    UserError where it is missing, larger, or no regular file: a device never ends, a pipe may give nothing.
    """
    file, parts, remaining = Path(path), list[bytes](), max_bytes + 1
    require_file(file)
    try:
        with file.open("rb") as stream:
            while remaining > 0 and (part := stream.read(min(remaining, PART))):
                parts.append(part)
                remaining -= len(part)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}; the file is needed") from None
    if remaining <= 0:
        raise UserError(f"{file}: {file.stat().st_size} bytes; expected at most {max_bytes}")
    return b"".join(parts)


def parse_json(text: str | bytes) -> Any:
    """Return the value of a user's JSON text. ValueError for other text, or a name given twice in an object."""

    def with_distinct_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            raise ValueError(f"a name twice in {', '.join(name for name, _ in pairs)}")
        return record

    return json.loads(text, object_pairs_hook=with_distinct_names)


def require_file(path: str | Path) -> None:
    """Raise UserError unless `path` is a regular file (or a link to one): reading a device or pipe may never end."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; the file is needed") from None
    if not stat.S_ISREG(mode):
        raise UserError(f"{path}: is {KINDS[stat.filemode(mode)[0]]}; expected a file")


def checksum(path: str | Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits. Raises UserError unless it is a regular file."""
    require_file(path)
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_arrow(path: str | Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Read a Parquet file (a result table) as an Arrow table: all columns, or those of `columns` that the file has.
    Raises UserError where the file is damaged or incomplete.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        names = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        return file.read(columns=names, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise UserError(f"{path}: is no whole table ({reason}); remove it and it is made again") from None


def write_arrow(table: "pa.Table", path: str | Path, lasting: bool = True) -> None:
    """Write an Arrow table as a Parquet file, whole or not at all; `lasting`: on the disk before this returns."""
    import pyarrow.parquet as pq

    with write_whole(path, lasting) as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)


def read_parquet(path: str | Path) -> "pd.DataFrame":
    """Read a Parquet file as a DataFrame, for small files in a third of the time of `pandas.read_parquet`."""
    return to_frame(read_arrow(path), path)


def to_frame(table: "pa.Table", path: str | Path) -> "pd.DataFrame":
    """Return an Arrow table, read from `path`, as a DataFrame. Raises UserError where its pandas types are damaged."""
    try:
        return table.to_pandas(use_threads=False)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: is no whole table ({error}); remove it and it is made again") from None
