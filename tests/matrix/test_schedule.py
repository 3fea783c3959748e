"""Which runs an invocation makes: estimates from run files, the budget, and the order, each worked by hand."""

import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweetspot.cells import Cell
from sweetspot.matrix import schedule
from sweetspot.matrix.schedule import Run, order_runs, read_duration, select_runs, selection_text
from sweetspot.study.config import Measure
from sweetspot.study.study import StudyCells

QUESTION = StudyCells(model=["vgg16"], batch_size=[16], precision="fp32", headline_batch_size=16)
SMALL = Cell("here", "tensorflow", "vgg16", 16, 1, "fp32", "default")
LARGE = SMALL._replace(batch_size=64)
A, B = SMALL._replace(instance="a"), SMALL._replace(instance="b")
OTHERS = [A._replace(batch_size=64), B._replace(batch_size=64)]


def plan(*cells, runs=2, **measure):
    config = SimpleNamespace(runs=runs, measure=Measure(**measure))
    return SimpleNamespace(config=config, cells=cells, study=SimpleNamespace(cells=QUESTION))


def write(folder, run, seconds=(1.0,), **facts):
    file = schedule.run_file(folder, run)
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"seconds": pa.array(seconds, pa.float64())})
    pq.write_table(table.replace_schema_metadata({"sweetspot": json.dumps(facts)} if facts else None), file)
    return file


def within(budget_minutes, *cells, runs=1, folder=Path("none"), unknown_s=180.0):
    with patch.object(schedule, "UNKNOWN_RUN_S", unknown_s):
        return select_runs(plan(*cells, runs=runs, budget_minutes=budget_minutes), folder)


def test_headline_cells_come_first_and_then_the_nearest_batch():
    order = order_runs(plan(*OTHERS, A, B))
    assert [(run.cell.instance, run.cell.batch_size, run.run) for run in order] == [
        ("a", 16, 1), ("b", 16, 1), ("a", 16, 2), ("b", 16, 2),
        ("a", 64, 1), ("b", 64, 1), ("a", 64, 2), ("b", 64, 2),
    ]  # fmt: skip
    near, other = SMALL._replace(batch_size=32), SMALL._replace(model="resnet50")  # asked is 16: |log 2|, 64: |log 4|
    two = near._replace(gpus=2)
    order = order_runs(plan(other, LARGE, two, near, runs=1))
    assert order == [Run(near, 1), Run(two, 1), Run(other, 1), Run(LARGE, 1)]  # one device before two; then the matrix


def test_a_budget_of_minutes_keeps_what_fits_and_reports_the_rest():
    choice = within(10, A, B, *OTHERS)
    # Three minutes each: the two of the headline and one other make 9, a fourth would make 12.
    assert [run.cell for run in choice.selected] == [A, B, OTHERS[0]]
    assert choice.minutes == pytest.approx(9)
    assert [left.cell for left in choice.skipped] == [OTHERS[1]]
    assert "3 runs, estimated 9.0 minutes; 1 runs of 1 cells" in selection_text(choice)


@given(st.floats(1, 1e4), st.integers(1, 12), st.floats(0.1, 500), st.integers(1, 3))
def test_no_budget_is_ever_exceeded_and_no_run_is_lost(seconds, number, minutes, runs):
    cells = [SMALL._replace(batch_size=batch_size) for batch_size in range(1, number + 1)]
    choice = within(minutes, *cells, runs=runs, unknown_s=seconds)
    assert choice.minutes <= minutes * (1 + 1e-6)
    assert {*choice.selected, *choice.skipped} == {Run(cell, run) for cell in cells for run in range(1, runs + 1)}


def test_what_is_made_already_is_spent_and_stays_whatever_the_budget(tmp_path):
    write(tmp_path, Run(A, 1), duration_s=1200.0)
    write(tmp_path, Run(B, 1), duration_s=600.0)
    choice = within(40, A, B, runs=2, folder=tmp_path)
    # 20 + 10 minutes are spent. 20 more of a would make 50; 10 of b, which come later, reach the cap and fit.
    assert choice.selected == [Run(A, 1), Run(B, 1), Run(B, 2)]
    assert choice.minutes == pytest.approx(40)
    assert choice.skipped == [Run(A, 2)]
    assert within(1, A, runs=2, folder=tmp_path).selected == [Run(A, 1)]


def test_a_run_is_estimated_by_what_its_file_says_or_as_the_longest_of_its_like(tmp_path):
    assert read_duration(write(tmp_path, Run(SMALL, 1), duration_s=90.0)) == 90.0
    assert read_duration(write(tmp_path, Run(SMALL, 2), duration_s=7, status="failed")) == 7.0
    for odd in (0, -1.0, float("nan"), None, "1"):
        assert read_duration(write(tmp_path, Run(SMALL, 1), duration_s=odd)) is None
    write(tmp_path, Run(SMALL, 1), duration_s=120.0)
    write(tmp_path, Run(SMALL, 2), duration_s=150.0)
    elsewhere = LARGE._replace(instance="there")
    choice = select_runs(plan(SMALL, LARGE, elsewhere, runs=3, budget_minutes=1000), tmp_path)
    # 120 + 150 s as measured, four runs of 150 s, and three of which nothing is known: 180 s each.
    assert choice.minutes == pytest.approx((120 + 150 + 4 * 150 + 3 * 180) / 60)


def test_without_a_cap_every_run_of_every_cell_is_made_and_nothing_is_read(tmp_path):
    every = [Run(SMALL, 1), Run(SMALL, 2), Run(LARGE, 1), Run(LARGE, 2)]
    write(tmp_path, Run(SMALL, 1), duration_s=9e9)
    for choice in (
        select_runs(plan(SMALL, LARGE), tmp_path),
        select_runs(plan(SMALL, LARGE, budget_minutes=1), tmp_path, use_budget=False),
    ):
        assert choice == (every, [], 0.0)


def test_what_is_measured_is_spent_first_and_the_rest_goes_to_what_decides(tmp_path):
    write(tmp_path, Run(SMALL, 1), duration_s=120.0)
    choice = select_runs(plan(LARGE, SMALL, budget_minutes=6), tmp_path)
    # SMALL is the headline's: 120 s as its first run, and so is the estimate of LARGE. Three of them make 6 minutes; a
    # second run of LARGE would make 8.
    assert choice.selected == [Run(LARGE, 1), Run(SMALL, 1), Run(SMALL, 2)]  # in the order of the matrix
    assert choice.minutes == pytest.approx(6)
    assert schedule.skipped_rows(choice) == [{**LARGE._asdict(), "run": 2}]


def test_a_run_file_is_missed_only_where_its_table_is_there(tmp_path):
    there, gone, table = tmp_path / "run~1.parquet", tmp_path / "run~2.parquet", tmp_path / "throughput.parquet"
    there.touch()
    assert schedule.missing_runs([str(there), str(gone)], table) == []
    table.touch()
    assert schedule.missing_runs([str(there), str(gone)], table) == [str(gone)]


def test_the_table_of_what_a_budget_cuts_has_a_row_a_cell_in_the_order_of_the_rows():
    rows = [{**LARGE._asdict(), "run": 2}, {**SMALL._asdict(), "run": 1}, {**SMALL._asdict(), "run": 2}]
    table = schedule.skipped_table(rows, "budget_minutes 6")
    assert table.to_dict("records") == [
        {**LARGE._asdict(), "runs": "2", "budget": "budget_minutes 6"},
        {**SMALL._asdict(), "runs": "1, 2", "budget": "budget_minutes 6"},
    ]
    empty = schedule.skipped_table([], "")
    assert empty.empty and list(empty.dtypes) == list(table.dtypes)
