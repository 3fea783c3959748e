"""The cells that are priced: figures of the throughput table, headline extrapolations, and who offers them."""

from collections.abc import Mapping, Sequence

import numpy as np

from sweetspot.bills.columns import Array, Columns, objects, size, stacked, take
from sweetspot.cells import BASES, CELL_COLUMNS, USABLE
from sweetspot.study.workloads import Plan, Runs, Training

FIGURES = (*CELL_COLUMNS, "images_per_s", "images_per_s_low", "images_per_s_high", "basis", "status", "source")
THROUGHPUT_COLUMNS = (*FIGURES, "gpu", "logical")
EXTRAPOLATION_COLUMNS = (*(name for name in FIGURES if name != "status"), "headline")
ALIKE = ("framework", "model", "batch_size", "precision")  # figures that may be held against each other
Workload = Training | Runs | Plan


def all_cells(throughput: Columns, extrapolation: Columns) -> Columns:
    """The cells to be priced: the throughput table, and headline extrapolations of cells that it lacks.

    Columns: FIGURES and `gpu`. `throughput` has THROUGHPUT_COLUMNS, `extrapolation` EXTRAPOLATION_COLUMNS.
    """
    # Parts of one processor show how the workflow measures; they are no machine to pay for.
    known = take(throughput, ~throughput["logical"].astype(bool))
    # An unstable figure is priced; its warning stays in throughput.parquet.
    known["status"] = objects("ok" if status in USABLE else status for status in known["status"])
    found = size(extrapolation)
    added = extrapolation | {"status": objects(["ok"] * found), "gpu": objects([None] * found)}
    added["basis"] = objects(["extrapolated"] * found)
    key = ("instance", "framework", "model", "batch_size", "gpus", "precision")
    there = set(keys(take(known, known["status"] == "ok"), key))
    lacking = np.array([cell not in there for cell in keys(added, key)], dtype=bool)
    added = take(added, lacking & added["headline"].astype(bool))
    return stacked([{name: table[name] for name in (*FIGURES, "gpu")} for table in (known, added)])


def cells_of_known_hours(cells: Columns, offers: Columns, workloads: Mapping[str, Workload]) -> Columns:
    """`cells` and one nameless cell for each offered machine without any, if a workload needs no throughput.

    So jobs of known hours are priced on machines that nobody has measured; their images per USD are null.
    """
    if not any(isinstance(work, Runs) and work.instance is None and work.model is None for work in workloads.values()):
        return cells
    measured, first = set(cells["instance"]), {name: row for row, name in reversed(list(enumerate(offers["instance"])))}
    rows = [row for name, row in first.items() if name not in measured]
    bare = take(offers, np.array(sorted(rows), dtype=int))
    nameless = {
        "framework": "none", "model": "none", "batch_size": 1, "precision": "fp32", "variant": "default",
        "images_per_s": np.nan, "images_per_s_low": np.nan, "images_per_s_high": np.nan, "basis": "published",
        "status": "ok", "source": "hours of the workload",
    }  # fmt: skip
    filled = {name: np.full(len(rows), value, dtype=cells[name].dtype) for name, value in nameless.items()}
    added = bare | filled
    return stacked([cells, {name: added[name] for name in cells}])


def offered(cells: Columns, offers: Columns, names: Sequence[str]) -> Columns:
    """One row per cell and offer of its instance, in the order of the cells, then of the offers.

    Columns of the cells and `names` of the offers; a column that both have is the cell's own as `<name>_cell`.
    """
    rows_of: dict[str, list[int]] = {}
    for row, instance in enumerate(offers["instance"]):
        rows_of.setdefault(instance, []).append(row)
    pairs = [(cell, offer) for cell, name in enumerate(cells["instance"]) for offer in rows_of.get(name, ())]
    left, right = np.array(pairs, dtype=int).reshape(-1, 2).T
    own = {f"{name}_cell" if name in names else name: values[left] for name, values in cells.items()}
    return own | {name: offers[name][right] for name in names}


def reference_rate(rows: Columns, cells: Columns, instance: str, alike: Sequence[str] = ALIKE) -> Array:
    """Throughput of `instance` for each row's framework, model, batch and precision (`alike`); nan where it has none.

    Of several cells of the instance the one with the best basis counts, then the fastest.
    """
    own = take(cells, (cells["instance"] == instance) & (cells["status"] == "ok") & ~np.isnan(cells["images_per_s"]))
    best: dict[tuple[object, ...], tuple[int, float]] = {}
    for cell, basis, rate in zip(keys(own, alike), own["basis"], own["images_per_s"], strict=True):
        figure = (BASES.index(basis), -float(rate))
        best[cell] = min(figure, best.get(cell, figure))
    rates = {cell: -slowness for cell, (_, slowness) in best.items()}
    return np.array([rates.get(cell, np.nan) for cell in keys(rows, alike)], dtype=float)


def rate_of_hours(rows: Columns, cells: Columns, instance: str) -> Array:
    """Throughput of the machine on which a workload's hours hold, for each row; nan where it has none.

    At the row's batch; where it has no figure there, at the batch of its own best figure: each machine has its own.
    """
    found, alike = reference_rate(rows, cells, instance), [name for name in ALIKE if name != "batch_size"]
    return np.where(np.isnan(found), reference_rate(rows, cells, instance, alike), found)


def keys(table: Columns, names: Sequence[str]) -> list[tuple[object, ...]]:
    """The values of some columns, row by row."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))
