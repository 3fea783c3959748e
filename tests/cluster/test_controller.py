"""A Slurm whose controller goes away, or whose nodes do: what runs goes on.

SWEETSPOT_AWAY_S=300 keeps the controller away for five minutes each time; what that showed: docs/evidence/ways-in.md.
"""

import os
import shutil
import time

import pytest
from patience import PATIENCE_S, until
from project_copy import edit
from slurm_project import facts, jobs, popen, runs, without_framework

pytestmark = pytest.mark.cluster
AWAY_S = float(os.environ.get("SWEETSPOT_AWAY_S", "20"))


@pytest.fixture
def asked(slurm, tmp_path, monkeypatch):
    """How the questions for the states of jobs ended, so far: exit statuses of squeue, as a list that grows."""
    folder = tmp_path / "recording"
    folder.mkdir()
    squeue = folder / "squeue"
    real = shutil.which("squeue", path=slurm.environment["PATH"])
    squeue.write_text(
        f'#!/bin/sh\n{real} "$@"\nended=$?\ncase "$*" in *--name*) echo $ended >>{folder}/asked ;; esac\nexit $ended\n'
    )
    squeue.chmod(0o755)
    monkeypatch.setitem(slurm.environment, "PATH", f"{folder}:{slurm.environment['PATH']}")
    (folder / "asked").touch()
    return lambda: (folder / "asked").read_text().split()


def bring_back(slurm, since, asked_then, asked):
    """Start the controller once it was away for AWAY_S and was asked in vain meanwhile."""
    until(lambda: time.monotonic() - since >= AWAY_S and "1" in asked()[asked_then:], "a question without an answer")
    slurm.start_controller()


def test_a_controller_that_is_away_before_during_and_at_the_end_of_a_job_ends_nothing(cluster_project, slurm, asked):
    before = {row[0] for row in jobs(slurm, "i")}
    without_framework(cluster_project)
    held = cluster_project / "hold-measure"
    held.touch()
    told = cluster_project / "told.txt"
    slurm.stop_controller()
    since = time.monotonic()
    process = popen(cluster_project, slurm, told)
    until(lambda: time.monotonic() - since >= AWAY_S, "the end of its absence")
    slurm.start_controller()
    submitted = lambda: {row[0]: row[1] for row in jobs(slurm, "i", "t") if row[0] not in before}  # noqa: E731
    logs = cluster_project / "results" / "logs" / "run_benchmark"
    until(lambda: len(list(logs.rglob("*.log"))) == 2 or process.poll() is not None, "two jobs that measure")
    running = submitted()
    assert set(running.values()) == {"R"}
    for at_the_end in (False, True):
        slurm.stop_controller()
        since, seen = time.monotonic(), len(asked())
        if at_the_end:
            held.unlink()
            until(lambda: len(runs(cluster_project)) == 2, "two run files")
        bring_back(slurm, since, seen, asked)
    back = time.monotonic()
    assert process.wait(timeout=PATIENCE_S) == 0, told.read_text()[-3000:]
    print(f"\n  away for {AWAY_S:.0f} s three times; ended {time.monotonic() - back:.0f} s after the last")
    assert set(submitted()) == set(running)  # each was submitted once, and none a second time
    assert {facts(file)["job_id"] for file in runs(cluster_project)} == set(running)


def test_the_job_of_a_drained_node_starts_when_it_is_back(cluster_project, slurm):
    without_framework(cluster_project)
    edit(cluster_project / "config" / "config.yaml", "measure_on: [small-node, large-node]", "measure_on: [large-node]")
    told = cluster_project / "told.txt"
    slurm.run("scontrol", "update", "NodeName=sweetspot1", "State=DRAIN", "Reason=test")
    try:
        process = popen(cluster_project, slurm, told)
        until(lambda: "Nodes required" in slurm.run("squeue", "-h", "-o", "%r"), "a job that no node can take")
    finally:
        slurm.run("scontrol", "update", "NodeName=sweetspot1", "State=RESUME")
    assert process.wait(timeout=PATIENCE_S) == 0, told.read_text()[-3000:]
    assert len(runs(cluster_project)) == 1
