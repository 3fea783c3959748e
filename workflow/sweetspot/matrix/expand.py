"""The matrix: every combination of the axes that is measured."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from sweetspot.cells import CELL_COLUMNS, Cell
from sweetspot.errors import UserError
from sweetspot.study.scripts import FRAMEWORK


def expand_matrix(
    instances: Sequence[str],
    matrix: Mapping[str, Sequence[str | int]],
    exclude: Iterable[Mapping[str, str | int]] = (),
    scripts: Iterable[str] = (),
) -> list[Cell]:
    """All cells of the axes, in the order of the lists, less those that an `exclude` entry matches.

    `matrix` has the axes `model`, `batch_size`, `gpus`, `precision`, `variant`, `framework`. An entry of
    `exclude` names some columns; a cell is left out if it agrees with all of them. Of `scripts` (models that are
    scripts of one's own) framework `command` makes cells, and of no other model; no other framework does. Raises
    UserError where the axes give the same cell twice, or an entry excludes nothing (a typing mistake that would cost
    hours).
    """
    axes = {"instance": instances, **matrix}
    cells = [Cell._make(values) for values in itertools.product(*(axes[column] for column in CELL_COLUMNS))]
    own = set(scripts)
    cells = [cell for cell in cells if (cell.framework == FRAMEWORK) == (cell.model in own)]
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
