"""How a run ends badly, and cards that are leased: each end really provoked."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from fault_projects import TRAINING, train_with
from harness_runs import CELL, ROOT, command
from patience import PATIENCE_S, until
from project_copy import copy_project
from sweetspot.harness.runfile import run_facts

LEASE = """
import sys, time
from sweetspot.harness.devices import leased_cards
with leased_cards(int(sys.argv[1]), ["card-a", "card-b"]) as cards:
    print(*cards, flush=True)
    time.sleep(float(sys.argv[2]))
"""


PROCESSOR = """
import sys, time
from sweetspot.harness.devices import leased_processor
with leased_processor(exclusive=sys.argv[1] == "alone"):
    print(sys.argv[1], flush=True)
    time.sleep(float(sys.argv[2]))
"""


def lease(folder, count, seconds):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "SWEETSPOT_LEASES": str(folder)}
    program = [LEASE, str(count)] if isinstance(count, int) else [PROCESSOR, count]
    line = [sys.executable, "-c", *program, str(seconds)]
    return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_jobs_never_share_a_card_and_a_killed_job_frees_its_own(tmp_path):
    first, second = lease(tmp_path, 1, PATIENCE_S), None
    try:
        held = first.stdout.readline().split()
        second = lease(tmp_path, 1, PATIENCE_S)
        other = second.stdout.readline().split()
        assert {*held, *other} == {"card-a", "card-b"}
        both = lease(tmp_path, 2, 0)
        first.kill()
        second.kill()
        assert sorted(both.communicate(timeout=PATIENCE_S)[0].split()) == ["card-a", "card-b"]
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()


WAITS = "waiting: another measurement holds this host's processor\n"


@pytest.mark.parametrize(("first", "second"), [("alone", "alone"), ("alone", "beside"), ("beside", "alone")])
def test_a_run_on_the_processor_is_measured_alone_and_a_killed_one_frees_it(tmp_path, first, second):
    holder, waiter = lease(tmp_path, first, PATIENCE_S), None
    try:
        assert holder.stdout.readline() == f"{first}\n"
        waiter = lease(tmp_path, second, 0)
        assert waiter.stderr.readline() == WAITS
        assert waiter.poll() is None
        holder.kill()
        assert waiter.communicate(timeout=PATIENCE_S) == (f"{second}\n", "")
    finally:
        for process in filter(None, (holder, waiter)):
            process.kill()
            process.wait()


def test_runs_on_cards_go_beside_each_other_but_not_past_one_that_waits_for_the_processor(tmp_path):
    running = [lease(tmp_path, "beside", PATIENCE_S)]
    try:
        running[0].stdout.readline()
        running.append(lease(tmp_path, "beside", PATIENCE_S))
        assert running[1].stdout.readline() == "beside\n"
        running.append(lease(tmp_path, "alone", PATIENCE_S))
        assert running[2].stderr.readline() == WAITS
        running.append(lease(tmp_path, "beside", 0))
        assert running[3].stderr.readline() == WAITS
        running[0].kill()
        running[1].kill()
        assert running[2].stdout.readline() == "alone\n"
        running[2].kill()
        assert running[3].stdout.readline() == "beside\n"
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_another_user_may_lease_too_and_more_cards_than_there_are_are_refused_at_once(tmp_path):
    folder = tmp_path / "leases"
    lease(folder, "alone", 0).communicate(timeout=PATIENCE_S)
    assert folder.stat().st_mode & 0o777 == 0o777
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o666}
    process = lease(folder, 3, 0)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    assert "--gpus is 3; this machine shows 2 device(s)" in errors


@pytest.mark.slow
def test_running_out_of_memory_is_an_outcome_not_an_error(tmp_path):
    cell = CELL.replace("--batch-size 8", "--batch-size 100000")
    limited = f"ulimit -v 5000000; exec {' '.join(command(tmp_path / 'run~1.parquet', cell=cell))}"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(["bash", "-c", limited], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert list(table["status"]) == ["oom"]
    assert table["seconds"].isna().all()
    assert table["message"].iloc[0]
    facts = run_facts(tmp_path / "run~1.parquet")
    assert {"tensorflow", "keras", "python"} <= set(facts["versions"])
    assert (facts["device_count"], facts["mean_step_s"]) == (1, None)
    assert facts["device_name"] == facts["cpu"]
    assert facts["duration_s"] > 1


def started(folder, *more, library=ROOT / "workflow", **other):
    """A run that has made its first step, by the program of that library, in the folder in which that lies."""
    env = {**os.environ, "PYTHONPATH": str(library), "CUDA_VISIBLE_DEVICES": ""}
    line = command(folder / "run~1.parquet", *more, **other)
    line[1] = str(library / "scripts" / "run_benchmark.py")
    process = subprocess.Popen(line, cwd=library.parent, env=env, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if ": step 1 of" in line:
            return process
    raise AssertionError("the run never came to its first step")


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    """A library whose training process waits in its third timed step, and needs no framework."""
    project = copy_project(tmp_path_factory.mktemp("waiting") / "project")
    train_with(project, TRAINING)
    (project / "hold-measure").touch()
    return project / "workflow"


def children(pid):
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.slow
def test_a_training_process_killed_by_the_kernel_is_recorded(tmp_path, waiting):
    process = started(tmp_path, library=waiting)
    (child,) = children(process.pid)
    os.kill(child, signal.SIGKILL)
    assert process.wait(timeout=PATIENCE_S) == 0
    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert list(table["status"]) == ["oom"]
    assert "signal 9" in table["message"].iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_leaves_no_file_and_no_process(tmp_path, waiting, number):
    process = started(tmp_path, library=waiting)
    (child,) = children(process.pid)
    process.send_signal(number)
    assert process.wait(timeout=PATIENCE_S) == 128 + number
    assert list(tmp_path.iterdir()) == []
    until(lambda: not Path(f"/proc/{child}/stat").exists(), "the end of the training process")


@pytest.mark.slow
def test_no_training_outlives_a_killed_supervisor_whose_cards_are_free_again(tmp_path):
    process = started(tmp_path, "--min-steps", "10000000", "--min-seconds", "1000")
    (child,) = children(process.pid)
    process.kill()
    process.wait(timeout=PATIENCE_S)
    until(lambda: not alive(child), "the end of the training process")
    assert list(tmp_path.iterdir()) == []


def alive(pid):
    """Running, and not merely waiting for a parent to ask how it ended."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def held_up(folder):
    """The run file of a process that is stopped within every step from the third on, each time for half a step longer.

    Half of the second step, and after a third of it: on a machine that others make slow all of it is longer. Stopped at
    once, it may not have begun the step whose seconds are to grow.
    """
    # A step longer than its line takes to be read, of what starts the quickest.
    cell = CELL.replace("--batch-size 8", "--batch-size 8192")
    process = started(folder, "--min-steps", "10", "--min-seconds", "1000", cell=cell)
    (child,) = children(process.pid)
    moments = [time.monotonic()]
    for line in process.stderr:
        if ": step " in line:
            moments.append(time.monotonic())
            second = moments[1] - moments[0]
            time.sleep(second / 3)
            with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(child, signal.SIGSTOP)
                time.sleep(len(moments) * second / 2)
                os.kill(child, signal.SIGCONT)
    assert process.wait(PATIENCE_S) == 0
    return pd.read_parquet(folder / "run~1.parquet")


@pytest.mark.slow
def test_a_process_that_is_held_up_longer_and_longer_is_unstable(tmp_path):
    table = held_up(tmp_path)
    assert set(table["status"]) == {"unstable"}, table[["seconds", "warnings"]]
    # Beside busy neighbours, who took the CPUs in most steps, it is them that the run file blames.
    blamed = {rule for rule, _ in json.loads(table["warnings"].iloc[0])}
    assert blamed & {"drift", "throttling", "disturbed"}
    assert table["message"].isna().all()
    assert table["seconds"].notna().all()
