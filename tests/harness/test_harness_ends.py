"""How a run ends badly, and cards that are leased: each end really provoked."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from fault_projects import TRAINING, train_with
from harness_runs import ROOT, command
from patience import PATIENCE_S, until
from project_copy import copy_project
from sweetspot.harness.runfile import run_facts

LEASE = """
import sys, time
from sweetspot.harness.devices import leased_cards, leased_processor
cards = ["card-a", "card-b"]
kind = sys.argv[1]
lease = leased_cards(int(kind), cards) if kind.isdigit() else leased_processor(exclusive=kind == "alone")
with lease as leased:
    print(*(leased or [kind]), flush=True)
    time.sleep(float(sys.argv[2]))
"""
WAITS = "waiting: another measurement holds this host's processor\n"


@contextmanager
def leases(folder):
    """A function that starts a process which leases so many cards, or the processor `alone` or `beside` others."""
    started = []

    def lease(kind, seconds=PATIENCE_S):
        env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "SWEETSPOT_LEASES": str(folder)}
        line = [sys.executable, "-c", LEASE, str(kind), str(seconds)]
        started.append(subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    try:
        yield lease
    finally:
        for process in started:
            with process:
                process.kill()


def test_two_jobs_never_share_a_card_and_a_killed_job_frees_its_own(tmp_path):
    with leases(tmp_path) as lease:
        first, second = lease(1), lease(1)
        assert {*first.stdout.readline().split(), *second.stdout.readline().split()} == {"card-a", "card-b"}
        both = lease(2, 0)
        first.kill()
        second.kill()
        assert both.communicate(timeout=PATIENCE_S)[0] == "card-a card-b\n"


@pytest.mark.parametrize(("first", "second"), [("alone", "beside"), ("beside", "alone")])
def test_a_run_on_the_processor_is_measured_alone_and_a_killed_one_frees_it(tmp_path, first, second):
    with leases(tmp_path) as lease:
        holder = lease(first)
        assert holder.stdout.readline() == f"{first}\n"
        waiter = lease(second, 0)
        assert waiter.stderr.readline() == WAITS
        assert waiter.poll() is None
        holder.kill()
        assert waiter.communicate(timeout=PATIENCE_S) == (f"{second}\n", "")


def test_runs_on_cards_go_beside_each_other_but_not_past_one_that_waits_for_the_processor(tmp_path):
    with leases(tmp_path) as lease:
        running = [lease("beside"), lease("beside")]
        assert [process.stdout.readline() for process in running] == ["beside\n"] * 2
        alone = lease("alone")
        assert alone.stderr.readline() == WAITS
        late = lease("beside", 0)
        assert late.stderr.readline() == WAITS
        for process in running:
            process.kill()
        assert alone.stdout.readline() == "alone\n"
        alone.kill()
        assert late.stdout.readline() == "beside\n"


def test_another_user_may_lease_too_and_more_cards_than_there_are_are_refused_at_once(tmp_path):
    folder = tmp_path / "leases"
    with leases(folder) as lease:
        lease("alone", 0).communicate(timeout=PATIENCE_S)
        assert folder.stat().st_mode & 0o777 == 0o777
        assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o666}
        process = lease(3, 0)
        assert "--gpus is 3; this machine shows 2 device(s)" in process.communicate(timeout=PATIENCE_S)[1]
        assert process.returncode != 0


def library(folder, main):
    """A copy of the library whose training process is `main`, which needs no framework."""
    project = copy_project(folder / "project")
    train_with(project, main)
    return project / "workflow"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    """A library whose training process waits in its third timed step."""
    workflow = library(tmp_path_factory.mktemp("waiting"), TRAINING)
    (workflow.parent / "hold-measure").touch()
    return workflow


def started(folder, library, *more):
    """A run that has made its first step, by the program of that library, in the folder in which that lies."""
    env = {**os.environ, "PYTHONPATH": str(library), "CUDA_VISIBLE_DEVICES": ""}
    line = command(folder / "run~1.parquet", *more)
    line[1] = str(library / "scripts" / "run_benchmark.py")
    process = subprocess.Popen(line, cwd=library.parent, env=env, stderr=subprocess.PIPE, text=True)
    assert any(": step 1 of" in line for line in process.stderr), "the run never came to its first step"
    return process


def child(process):
    (pid,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(pid)


def is_alive(pid):
    """Running, and not merely waiting for a parent to ask how it ended."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_a_training_process_killed_by_the_kernel_is_recorded(tmp_path, waiting):
    process = started(tmp_path, waiting)
    os.kill(child(process), signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert list(table["status"]) == ["oom"]
    assert table["seconds"].isna().all()
    assert "signal 9" in table["message"].iloc[0]
    facts = run_facts(tmp_path / "run~1.parquet")
    assert {"tensorflow", "keras", "python"} <= set(facts["versions"])
    assert (facts["device_count"], facts["device_name"]) == (1, facts["cpu"])
    assert facts["duration_s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_or_killed_run_leaves_no_file_and_no_process(tmp_path, waiting, number, code):
    process = started(tmp_path, waiting)
    pid = child(process)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert list(tmp_path.iterdir()) == []
    until(lambda: not is_alive(pid), "the end of the training process")
