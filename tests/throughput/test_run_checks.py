"""Run files that are impossible, misplaced or of another machine are refused by name when they are read."""

import json
import math

import pandas as pd
import pyarrow.parquet as pq
import pytest
from run_files import CELL, cells_of, rules_of, write_run
from sweetspot.cells import run_path
from sweetspot.errors import UserError
from sweetspot.harness.runfile import run_facts
from sweetspot.matrix.schedule import read_duration
from sweetspot.throughput.run_files import summarise_runs
from sweetspot.warnings import pairs


def refusal(files):
    with pytest.raises(UserError) as caught:
        summarise_runs(files)
    assert "\n" not in str(caught.value)
    return str(caught.value)


STEPS = "expected steps of 1e-07 to 1e+07 s, not {}"
IMPOSSIBLE = [
    *(({"seconds": [2.0, value]}, STEPS.format(text)) for value, text in
      ((-1.0, "-1 s"), (0.0, "0 s"), (1e-300, "1e-300 s"))),
    *(({"seconds": [2.0, value]}, "expected a finite number") for value in (math.inf, -math.inf, 1e308)),
    ({"seconds": [math.nan], "step": None}, "expected a timed step in a run of status ok"),
    *(({"status": status}, f"key 'status' is {status!r}; expected 'ok'") for status in ("OK", "", pd.NA)),
    *(({"name": "somewhere", name: value}, f"key '{name}' is {value}; expected a number above 0")
      for name, value in (("batch_size", 0), ("gpus", -4), ("run", 0))),
    *(({"warnings": text}, "key 'warnings") for text in ("drift", '["drift"]', '[["drift", 3]]', "null", "[1]")),
    ({"measured_on": "yesterday"}, "key 'measured_on' is 'yesterday'"),
    ({"name": run_path(CELL, 3)}, "the path says run '3', the file '2'"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), IMPOSSIBLE)
def test_a_run_that_cannot_be_is_refused_with_file_and_value(tmp_path, columns, words):
    good, bad = write_run(tmp_path, run=1), write_run(tmp_path, **{"run": 2} | columns)
    told = refusal([good, bad])
    assert told.startswith(f"{bad}: ") and words.replace("<NA>", "None") in told and good not in told
    assert told.endswith("remove it and it is measured again")


def test_the_shortest_and_the_longest_step_that_there_may_be(tmp_path):
    rows = cells_of(
        [write_run(tmp_path, seconds=[1e-7, 1e-7]), write_run(tmp_path, CELL._replace(gpus=2), seconds=[1e7])]
    )
    assert rows["images_per_s"].tolist() == pytest.approx([16e7, 32e-7])


def test_what_runs_say_is_told_in_the_order_of_the_runs(tmp_path):
    said = [f"sentence {letter}" for letter in "hbgcfade"]
    files = [write_run(tmp_path, run=run, warnings=json.dumps([["note", text]])) for run, text in enumerate(said, 1)]
    assert [pair.message for pair in pairs(cells_of(files).iloc[0]["warnings"])] == said


def test_of_two_runs_one_that_is_compiled_or_of_parts_of_a_processor_marks_the_cell(tmp_path):
    files = [write_run(tmp_path, run=1), write_run(tmp_path, run=2, xla=True, logical=True)]
    row = cells_of(files).iloc[0]
    assert row["xla"] and row["logical"] and "logical_devices" in rules_of(row)


def test_seconds_that_are_no_number_are_refused(tmp_path):
    bad = write_run(tmp_path, seconds=[2.0, math.nan, 2.0])
    pq.write_table(_with_nan(bad), bad)
    assert "expected a finite number" in refusal([bad])


def _with_nan(path):
    """The run with a true NaN in its second step; pandas would write a null."""
    import pyarrow as pa

    table = pq.read_table(path)
    place = table.schema.get_field_index("seconds")
    return table.set_column(place, "seconds", pa.array([2.0, math.nan, 2.0], type=pa.float64()))


def test_the_seconds_of_a_failed_run_do_not_count(tmp_path):
    row = cells_of([write_run(tmp_path, seconds=[-1.0], status="failed", message="x")]).iloc[0]
    assert (row["status"], row["runs"]) == ("failed", 0) and math.isnan(row["images_per_s"])


@pytest.mark.parametrize(
    ("name", "said", "holds"), [("instance", "'renamed'", "'workstation'"), ("batch_size", "'32'", "'16'")]
)
def test_a_run_under_the_path_of_another_cell_is_refused(tmp_path, name, said, holds):
    # an instance whose folder was renamed, a run file copied beside another batch
    other = CELL._replace(**{name: type(getattr(CELL, name))(said.strip("'"))})
    bad = write_run(tmp_path, name=run_path(other, 1))
    assert refusal([bad]).startswith(f"{bad}: the path says {name} {said}, the file {holds}")


def test_runs_of_one_cell_on_two_devices_are_refused_by_name(tmp_path):
    one = write_run(tmp_path, run=1, gpu="AMD EPYC 7B13")
    two = write_run(tmp_path, run=2, seconds=[40.0] * 3, gpu="Intel Xeon 2.20GHz")
    words = refusal([two, one])
    assert [part in words for part in (one, "'AMD EPYC 7B13'", two, "'Intel Xeon 2.20GHz'")] == [True] * 4


def test_a_failed_run_that_never_saw_its_device_is_no_other_device(tmp_path):
    files = [
        write_run(tmp_path, run=1, seconds=[math.nan], status="failed", message="x", gpu="unknown"),
        write_run(tmp_path, run=2, gpu="AMD EPYC 7B13"),
    ]
    row = cells_of(files).iloc[0]
    assert (row["gpu"], row["images_per_s"]) == ("AMD EPYC 7B13", 8.0)


def test_cells_of_one_instance_on_two_devices_stay_apart(tmp_path):
    other = CELL._replace(batch_size=32)
    files = [write_run(tmp_path, run=run, gpu="A", seconds=[2 + run / 10] * 3) for run in (1, 2)]
    files += [write_run(tmp_path, other, run=run, gpu="B", seconds=[4 + run] * 3) for run in (1, 2)]
    table = cells_of(files)
    assert table["interval_df"].tolist() == [1, 1]  # no spread is shared across devices


ODD = ("null", "[1, 2]", '"text"', "{", "3", '{"duration_s": null, "mean_step_s": null}')


def with_metadata(path, text):
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"sweetspot": text}), path)


@pytest.mark.parametrize("text", [word.encode() for word in ODD])
def test_odd_metadata_is_no_traceback_in_the_plan_nor_in_the_table(tmp_path, text):
    path = write_run(tmp_path)
    with_metadata(path, text)
    assert cells_of([path]).iloc[0]["images_per_s"] == 8.0
    assert isinstance(run_facts(path), dict)
    assert read_duration(tmp_path / f"{run_path(CELL, 1)}.parquet") is None


def test_metadata_that_are_no_text_are_named(tmp_path):
    path = write_run(tmp_path)
    with_metadata(path, b"\xff\xfe")
    assert refusal([path]).startswith(f"{path}: not a whole run file")
    assert read_duration(tmp_path / f"{run_path(CELL, 1)}.parquet") is None


def test_a_run_says_what_it_counts(tmp_path):
    cell = CELL._replace(framework="command", model="mine", gpus=4)
    files = [write_run(tmp_path, cell, run=run, unit="tokens", samples_per_step=4096) for run in (1, 2)]
    files.append(write_run(tmp_path, CELL))
    mine, other = cells_of(files).sort_values("model").to_dict("records")
    assert (mine["unit"], mine["images_per_s"]) == ("tokens", 2048.0)
    assert (other["unit"], other["images_per_s"]) == ("images", 8.0)  # 16 in two seconds
