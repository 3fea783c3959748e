"""Whole files only: a reader sees the old content or the new, never a half."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def write_whole(path: str | Path) -> Iterator[Path]:
    """Yield a unique temporary path beside `path`; rename it to `path` if the block ends well, else remove it.

    The name is unique per process, so an orphan of an earlier submission never writes into a later one's file.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_parquet(table: "pd.DataFrame", path: str | Path) -> None:
    """Write a table whole, without its index."""
    with write_whole(path) as temporary:
        table.to_parquet(temporary, index=False)
