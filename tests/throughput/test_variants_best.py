"""Of several variants of a cell every one is shown and the best is marked, as the 2018 tables did."""

import math
from pathlib import Path

import pandas as pd
from sweetspot.report.evidence_tables import best_variants
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.throughput.best import best_figures, mark_best
from sweetspot.throughput.published import read_efficiency

CELL = {"instance": "box", "framework": "tensorflow", "model": "vgg16", "batch_size": 64, "precision": "fp32"}


def speeds(*rows):
    names = ("gpus", "variant", "images_per_s", "status")
    base = {**CELL, "basis": "measured", "source": "runs", "nodes": 1, "xla": False}
    return pd.DataFrame([{**base, **dict(zip(names, row, strict=True))} for row in rows])


SPEEDS = speeds(
    (4, "A", 300.0, "ok"), (4, "B", 320.0, "unstable"), (4, "C", 900.0, "failed"), (4, "default", math.nan, "oom"),
    (1, "default", 100.0, "ok"),
)  # fmt: skip
SAME = [*CELL, "gpus", "basis"]


def test_the_fastest_usable_variant_of_a_cell_is_the_best():
    marked = mark_best(SPEEDS, "images_per_s", SAME)
    assert list(marked["best"]) == [False, True, False, False, True]
    assert marked["best"].dtype == bool
    assert mark_best(SPEEDS.head(0), "images_per_s", SAME)["best"].dtype == bool


def test_equal_variants_are_both_the_best():
    table = speeds((4, "A", 300.0, "ok"), (4, "B", 300.0, "ok"))
    assert list(mark_best(table, "images_per_s", SAME)["best"]) == [True, True]


def test_the_best_evidence_is_of_the_best_basis_and_then_the_fastest():
    rows = [
        ("a", "stand_in", 900.0), ("a", "published", 300.0), ("a", "published", 320.0), ("a", "scaled", 400.0),
        ("b", "measured", math.nan), ("b", "extrapolated", 50.0), ("c", "published", 7.0), ("c", "published", 7.0),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["instance", "basis", "images_per_s"])
    found = best_figures(table, ["instance"])
    # of b the measured row, though it has no figure: whether a row counts is the caller's choice; of equals the first
    assert dict(zip(found["instance"], found.index, strict=True)) == {"a": 2, "b": 4, "c": 6}
    assert list(found.columns) == list(table.columns)


def test_efficiencies_of_two_devices_are_marked_by_variant():
    table = study_efficiency(SPEEDS, read_efficiency(Path("no such file")), {})
    found = {row.variant: (row.efficiency, row.best) for row in table.itertuples()}
    assert found == {"A": (0.75, False), "B": (0.8, True)}  # 300 and 320 of 4 x 100


def test_the_page_marks_the_best_only_where_there_is_a_choice():
    marked = mark_best(SPEEDS, "images_per_s", SAME)
    assert best_variants(marked).tolist() == [False, True, False, False, False]
