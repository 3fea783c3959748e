"""Faults of the machine while it measures: clock, loss, devices; each really provoked."""

import subprocess
import time

import numpy as np
import pandas as pd
import pytest
from fault_projects import MAIN, TRAINING, measured, train_with
from harness_runs import command
from project_copy import copy_project, edit, environment, run_snakemake

# Python runs sitecustomize at its start: here the wall clock jumps a day, to and fro, at every look.
JUMPING = """
import itertools, pathlib, time
real, jump = time.time, itertools.cycle([-86400.0, 86400.0])
time.time = lambda: real() + next(jump)
time.time_ns = lambda: int(time.time() * 1e9)
assert abs(time.time() - time.time()) > 80000
pathlib.Path(__file__).with_name("jumped").touch()
"""
# Steps of a twentieth of a second of the processor, timed as those of a framework are.
BURNING = f"""{MAIN}
    def burn():
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return 1.0

    train(Request.from_json(sys.argv[1]), Step(burn))
"""
LOST = "F cuda_event.cc:29] Error polling for event status: CUDA_ERROR_UNKNOWN: GPU is lost"


def run_with(training, folder, *more):
    """A run whose training process is `training`, which needs no framework; its only rows."""
    project = copy_project(folder / "project")
    train_with(project, training)
    line = command(folder / "run~1.parquet", *more)
    line[1] = str(project / "workflow" / "scripts" / "run_benchmark.py")
    done = subprocess.run(line, env=environment(project), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return pd.read_parquet(folder / "run~1.parquet")


def test_a_clock_that_jumps_changes_no_duration(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(JUMPING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    began = time.monotonic()
    seconds = run_with(BURNING, tmp_path, "--min-seconds", "0.1")["seconds"]
    spent = time.monotonic() - began
    assert (tmp_path / "jumped").exists()
    assert seconds.gt(0).all() and seconds.sum() < spent


@pytest.mark.parametrize(
    ("ending", "time_limit_s", "words"),
    [
        ("import os; os.abort()", 600, ["ended by signal 6", "GPU is lost"]),
        ("sys.exit(1)", 600, ["ended with exit code 1", "GPU is lost"]),
        ("while True: time.sleep(1)", 3, ["time limit of 3 s"]),  # a hung driver
    ],
    ids=["aborts", "raises", "hangs"],
)
def test_a_device_that_vanishes_in_mid_run_is_a_failed_cell_with_the_frameworks_words(
    tmp_path, ending, time_limit_s, words
):
    dying = f"if step == 4:\n            print({LOST!r}, file=sys.stderr, flush=True)\n            {ending}\n"
    training = TRAINING.replace("say(seconds", f"{dying}        say(seconds")
    (row,) = run_with(training, tmp_path, "--time-limit-s", str(time_limit_s)).to_dict("records")
    assert row["status"] == "failed" and np.isnan(row["seconds"])
    assert all(word in row["message"] for word in words)


def test_no_device_stops_only_its_own_runs_and_says_how_many_there_are(project, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    before = measured(project)
    file = project / "config" / "config.yaml"
    edit(file, "measure_on: [workstation]", "measure_on: [workstation-gpu, workstation]")
    edit(file, "batch_size: [16] ", "batch_size: [8, 16] ")
    edit(file, "runs: 2 ", "runs: 1 ")
    train_with(project, TRAINING)
    done = run_snakemake(project, "throughput")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    assert "error: --gpus is 1; this machine shows 0 device(s); nothing was measured" in done.stdout
    after = measured(project)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1  # the processor's new cell was measured, the missing card's were not
