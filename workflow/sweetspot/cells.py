"""The cell: what is measured once, its columns, its path, and the order of evidence."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sweetspot.errors import UserError

CELL_COLUMNS = ("instance", "framework", "model", "batch_size", "gpus", "precision", "variant")
BASES = ("measured", "published", "equivalent", "scaled", "stand_in", "extrapolated")
USABLE = ("ok", "unstable")  # statuses of a cell that has a figure; an unstable one is used, with its warning beside it
SLUG = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
RUN_PATTERN = "/".join(f"{column}~{{{column}}}" for column in (*CELL_COLUMNS, "run"))
WILDCARD_CONSTRAINTS = {
    **{column: SLUG for column in CELL_COLUMNS},
    "batch_size": r"[1-9][0-9]*",
    "gpus": r"[1-9][0-9]*",
    "run": r"[1-9][0-9]*",
}


class Cell(NamedTuple):
    """One (instance, framework, model, batch per device, devices, precision, variant)."""

    instance: str
    framework: str
    model: str
    batch_size: int
    gpus: int
    precision: str
    variant: str


def run_path(cell: Cell, run: int) -> str:
    """Path of one run below `results/benchmarks/`, without the ending; every part names its column."""
    return RUN_PATTERN.format(**cell._asdict(), run=run)


def weakest(*bases: str) -> str:
    """The weakest of several bases: what a composed number must be called (DESIGN.md, `basis`)."""
    return max(bases, key=BASES.index)


def expand_matrix(
    instances: Sequence[str],
    matrix: Mapping[str, Sequence[str | int]],
    exclude: Iterable[Mapping[str, str | int]] = (),
) -> list[Cell]:
    """All cells of the axes, in the order of the lists, less those that an `exclude` entry matches.

    `matrix` has the axes `model`, `batch_size`, `gpus`, `precision`, `variant`, `framework`. An entry of
    `exclude` names some columns; a cell is left out if it agrees with all of them. Raises UserError where
    the axes give the same cell twice, or an entry excludes nothing (a typing mistake that would cost hours).
    """
    axes = {"instance": instances, **matrix}
    cells = [Cell(*values) for values in itertools.product(*(axes[column] for column in CELL_COLUMNS))]
    for column, values in axes.items():
        repeated = sorted({str(value) for value in values if list(values).count(value) > 1})
        if repeated:
            raise UserError(f"config: matrix.{column} lists {repeated[0]!r} twice; each value must stand once")
    for number, entry in enumerate(exclude):
        kept = [cell for cell in cells if any(getattr(cell, key) != value for key, value in entry.items())]
        if len(kept) == len(cells):
            raise UserError(f"config: exclude[{number}] = {dict(entry)} matches no cell of the matrix")
        cells = kept
    return cells


def is_slug(name: str) -> bool:
    """Whether a name is safe in file names, command lines and HTML."""
    return re.fullmatch(SLUG, name) is not None
