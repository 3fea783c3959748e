"""Which runs an invocation makes: estimates from run files, the budget, and the order, each worked by hand."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sweetspot.cells import Cell
from sweetspot.matrix.schedule import (
    Run,
    Timing,
    budget_words,
    choose_runs,
    estimate_cells,
    left_out_rows,
    left_out_table,
    missing_runs,
    priorities,
    run_file,
    timing_of,
)
from sweetspot.study.config import Measure
from sweetspot.study.study import Question

QUESTION = Question(model=["vgg16"], batch_size=[16], precision="fp32", headline_batch_size=16)
SMALL = Cell("here", "tensorflow", "vgg16", 16, 1, "fp32", "default")
LARGE = SMALL._replace(batch_size=64)


def plan(*cells, runs=2, **measure):
    config = SimpleNamespace(runs=runs, measure=Measure(**measure))
    return SimpleNamespace(config=config, cells=cells, study=SimpleNamespace(cells=QUESTION))


def write(folder, run, seconds=(1.0,), **facts):
    file = run_file(folder, run)
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"seconds": pa.array(seconds, pa.float64())})
    pq.write_table(table.replace_schema_metadata({"sweetspot": json.dumps(facts)} if facts else None), file)
    return file


def test_a_run_file_tells_the_length_of_its_process_and_the_seconds_of_a_sample(tmp_path):
    told = write(tmp_path, Run(SMALL, 1), duration_s=90.0, mean_step_s=3.2)
    assert timing_of(told) == Timing(90.0, pytest.approx(0.2))  # 3.2 s / 16 samples
    more = write(tmp_path, Run(SMALL, 2), duration_s=7, mean_step_s=None, status="failed")
    assert timing_of(more) == Timing(7.0, None)


def test_a_run_file_from_before_that_is_timed_by_its_steps(tmp_path):
    old = write(tmp_path / "a~b~c", Run(SMALL, 1), (None, 1.0, 3.0), host="h")
    assert timing_of(old) == Timing(34.0, pytest.approx(0.125))  # 30 s to start + 1 + 3; a step of 2 s / 16 samples
    assert timing_of(write(tmp_path, Run(SMALL, 2), (1.0, 3.0))) == Timing(34.0, pytest.approx(0.125))
    assert timing_of(write(tmp_path, Run(SMALL, 3), (None,))) == Timing(30.0, None)
    old.write_bytes(b"PAR1")
    assert timing_of(old) is None


def test_without_a_cap_every_run_of_every_cell_is_made_and_nothing_is_read(tmp_path):
    every = [Run(SMALL, 1), Run(SMALL, 2), Run(LARGE, 1), Run(LARGE, 2)]
    write(tmp_path, Run(SMALL, 1), duration_s=9e9, mean_step_s=1.0)
    for choice in (
        choose_runs(plan(SMALL, LARGE), tmp_path),
        choose_runs(plan(SMALL, LARGE, budget_minutes=1), tmp_path, budget=False),
    ):
        assert choice == (every, [], 0.0, 0.0)


def test_where_nothing_is_missing_no_budget_cuts_anything(tmp_path):
    write(tmp_path, Run(SMALL, 1), duration_s=9e9, mean_step_s=1.0)
    assert choose_runs(plan(SMALL, runs=1, budget_minutes=1), tmp_path) == ([Run(SMALL, 1)], [], 0.0, 0.0)


def test_what_is_measured_is_spent_first_and_the_rest_goes_to_what_decides(tmp_path):
    write(tmp_path, Run(SMALL, 1), duration_s=120.0, mean_step_s=3.2)
    choice = choose_runs(plan(LARGE, SMALL, budget_minutes=6), tmp_path)
    # SMALL is the headline's: 120 s as its first run. LARGE: 64 x 0.2 = 12.8 s a step; three slow steps, 38.4 s, and
    # one more end it before five do (64 s): 30 + 2 x 12.8 + 51.2 = 106.8 s. 120 + 120 + 106.8 s make 5.78 minutes; a
    # second run of LARGE would make 7.56.
    assert choice.kept == [Run(LARGE, 1), Run(SMALL, 1), Run(SMALL, 2)]  # in the order of the matrix
    assert choice.minutes == pytest.approx(5.78)
    assert left_out_rows(choice) == [{**LARGE._asdict(), "run": 2}]
    assert choice.left_out[0].minutes == pytest.approx(1.78)


def test_a_run_file_that_is_not_whole_is_spent_as_estimated(tmp_path):
    write(tmp_path, Run(SMALL, 1)).write_bytes(b"half")
    choice = choose_runs(plan(SMALL, budget_minutes=5), tmp_path)
    assert (choice.kept, choice.minutes) == ([Run(SMALL, 1)], 3.0)  # estimate_minutes; a second would make 6
    assert choice.left_out[0].minutes == 3.0


def test_the_estimate_is_of_a_cells_own_runs_else_of_the_nearest_like_it():
    half = SMALL._replace(precision="fp16", batch_size=64)
    middle = SMALL._replace(batch_size=32)
    elsewhere = SMALL._replace(instance="there", batch_size=64)
    timings = {
        Run(SMALL, 1): Timing(100.0, 0.2),
        Run(SMALL, 2): Timing(140.0, 0.2),
        Run(half, 1): Timing(50.0, 0.1),
        Run(middle, 1): Timing(60.0, 0.3),
        Run(elsewhere, 1): Timing(1.0, None),
    }
    other = SMALL._replace(model="resnet50")
    found = estimate_cells([SMALL, LARGE, elsewhere._replace(batch_size=8), other], timings, Measure())
    assert found[SMALL] == 120.0  # the mean of its two
    # fp32 before fp16 whatever the batch, then 32 before 16: 64 x 0.3 = 19.2 s a step, 3 of them 57.6 s
    assert found[LARGE] == pytest.approx(30 + 2 * 19.2 + 57.6 + 19.2)
    assert found[elsewhere._replace(batch_size=8)] == 180.0  # nothing was timed there: estimate_minutes, 3
    assert found[other] == 180.0


def test_the_cells_nearest_to_the_question_come_first_each_number_of_devices_by_itself():
    far, near = SMALL._replace(batch_size=64), SMALL._replace(batch_size=32)  # asked is 16: |log 4| against |log 2|
    two = far._replace(gpus=2)
    other = SMALL._replace(model="resnet50")
    order = priorities(plan(other, far, two, near, runs=1))
    # decisive are `near` and, alone with its devices, `two`; one device before two; then the matrix' order by devices
    assert order == {Run(near, 1): 4, Run(two, 1): 3, Run(other, 1): 2, Run(far, 1): 1}


@pytest.mark.parametrize("column", [{"precision": "fp16"}, {"framework": "jax"}])
def test_of_two_cells_of_one_batch_the_one_as_asked_decides(column):
    other = SMALL._replace(**column)
    assert priorities(plan(other, SMALL, runs=1)) == {Run(SMALL, 1): 2, Run(other, 1): 1}


def test_first_runs_of_what_decides_have_the_highest_priority():
    order = priorities(plan(LARGE, SMALL))
    assert order == {Run(SMALL, 1): 4, Run(SMALL, 2): 3, Run(LARGE, 1): 2, Run(LARGE, 2): 1}


def test_a_run_file_is_missed_only_where_its_table_is_there(tmp_path):
    there, gone, table = tmp_path / "run~1.parquet", tmp_path / "run~2.parquet", tmp_path / "throughput.parquet"
    there.touch()
    assert missing_runs([str(there), str(gone)], table) == []
    table.touch()
    assert missing_runs([str(there), str(gone)], table) == [str(gone)]


def test_the_table_of_what_a_budget_cuts_has_a_row_a_cell_in_the_order_of_the_rows():
    rows = [{**LARGE._asdict(), "run": 2}, {**SMALL._asdict(), "run": 1}, {**SMALL._asdict(), "run": 2}]
    table = left_out_table(rows, "budget_minutes 6")
    assert table.to_dict("records") == [
        {**LARGE._asdict(), "runs": "2", "budget": "budget_minutes 6"},
        {**SMALL._asdict(), "runs": "1, 2", "budget": "budget_minutes 6"},
    ]
    assert {str(table[name].dtype) for name in ("batch_size", "gpus")} == {"int64"}
    assert {str(table[name].dtype) for name in ("instance", "model", "runs")} == {"str"}
    empty = left_out_table([], "")
    assert empty.empty
    assert list(empty.dtypes.astype(str)) == list(table.dtypes.astype(str))


def test_the_budget_is_told_as_it_was_written():
    caps = {"budget_minutes": 6, "usd_per_hour": {"here": 1.0}, "budget_usd": 2.5}
    assert budget_words(plan(**caps).config) == "budget_minutes 6, budget_usd 2.5"
    assert budget_words(plan(budget_minutes=90.5).config) == "budget_minutes 90.5"
    assert budget_words(plan().config) == ""
