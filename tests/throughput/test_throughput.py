"""Throughput tables: run files written here by hand, and every kind of broken file."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from run_files import cells_of, rules_of, write_run
from sweetspot.errors import UserError
from sweetspot.throughput.run_files import summarise_runs
from sweetspot.warnings import pairs


def test_times_are_averaged_not_rates(tmp_path):
    files = [write_run(tmp_path, run=1, seconds=[1, 1, 1]), write_run(tmp_path, run=2, seconds=[3, 3, 3])]
    row = cells_of(files).iloc[0]
    assert row["images_per_s"] == pytest.approx(16 / 2.0)  # not (16 + 16 / 3) / 2
    assert (row["runs"], row["basis"], row["status"]) == (2, "measured", "ok")
    assert row["source"] == str(Path(files[0]).parent)
    for seconds in (1e-7, 1e7):  # the shortest and the longest mean that a step can have
        row = cells_of([write_run(tmp_path / str(seconds), seconds=[seconds] * 2)]).iloc[0]
        assert row["images_per_s"] == pytest.approx(16 / seconds)


def test_a_run_that_slows_down_is_a_named_warning(tmp_path):
    said = json.dumps([["drift", "step time changed by +20% over the run"]])
    row = cells_of([write_run(tmp_path, run=n, status="unstable", warnings=said) for n in (1, 2)]).iloc[0]
    assert (row["status"], row["images_per_s"]) == ("unstable", 8.0)
    assert rules_of(row) == ["unstable", "drift"]  # both runs say it, the reader is told once


def test_a_cell_that_failed_keeps_its_row_without_a_figure(tmp_path):
    file = write_run(tmp_path, seconds=[-1.0], status="oom", message="killed by the kernel")
    row = cells_of([file]).iloc[0]
    assert (row["status"], row["runs"]) == ("oom", 0)
    assert math.isnan(row["images_per_s"])
    assert pairs(row["warnings"]) == [("oom", "killed by the kernel")]


def test_one_failed_run_of_two_leaves_the_figure_of_the_other(tmp_path):
    failed = {"seconds": [math.nan], "status": "failed", "message": "x", "gpu": "unknown"}
    row = cells_of([write_run(tmp_path, run=1, **failed), write_run(tmp_path, run=2)]).iloc[0]
    assert (row["status"], row["runs"], row["images_per_s"], row["gpu"]) == ("ok", 1, 8.0, "Test CPU")
    assert pairs(row["warnings"]) == [("failed", "x"), ("n_is_1", "one run, no interval")]


def test_a_figure_is_dated_by_its_last_run(tmp_path):
    days = ("2026-11-19", "2026-11-21", "2026-11-20")
    files = [write_run(tmp_path, run=n, measured_on=day) for n, day in enumerate(days, start=1)]
    assert cells_of(files).iloc[0]["as_of"] == "2026-11-21"


def test_the_same_run_under_two_names_is_refused(tmp_path):
    with pytest.raises(UserError, match="hold the same run"):
        summarise_runs([write_run(tmp_path), write_run(tmp_path, name="copy")])


def with_columns(**columns):
    return lambda path: pd.read_parquet(path).assign(**columns).to_parquet(path)


@pytest.mark.parametrize(
    "breaking",
    [lambda path: path.write_bytes(path.read_bytes()[:-200]), lambda path: path.write_bytes(b""),
     lambda path: pd.read_parquet(path).drop(columns="seconds").to_parquet(path), with_columns(seconds="fast"),
     with_columns(gpus="two"), with_columns(gpu=1), with_columns(xla=1.0), with_columns(protocol="first")],
)  # fmt: skip
def test_a_broken_run_file_is_named_with_the_remedy(tmp_path, breaking):
    good, bad = write_run(tmp_path, run=1), write_run(tmp_path, run=2)
    breaking(Path(bad))
    with pytest.raises(UserError) as caught:
        summarise_runs([good, bad])
    told = str(caught.value)
    assert bad in told and good not in told and "remove it" in told and "\n" not in told
