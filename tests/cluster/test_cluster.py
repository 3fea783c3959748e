"""The real workflow through a real Slurm: partitions, cards, failures, cancellation, a killed Snakemake, and a
controller or a node that goes away.

SWEETSPOT_AWAY_S=300 keeps the controller away for five minutes each time; what that showed: docs/evidence/ways-in.md.
"""

import os
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from one_node_slurm import CARDS
from patience import PATIENCE_S, until
from project_copy import edit
from slurm_project import (
    facts,
    hang,
    jobs,
    measure_on,
    most_held,
    popen,
    profile,
    runs,
    started,
    submit,
    without_framework,
)

pytestmark = pytest.mark.cluster
AWAY_S = float(os.environ.get("SWEETSPOT_AWAY_S", "20"))
WITHOUT = """
exclude:
  - {instance: other-kind, gpus: 2}
  - {instance: other-kind, batch_size: 8}
"""


def test_eight_cells_on_two_partitions_beside_a_node_of_another_kind(cluster_project, slurm):
    config = cluster_project / "config" / "config.yaml"
    edit(config, "batch_size: [16] ", "batch_size: [8, 16] ")
    edit(config, "gpus: [1]", "gpus: [1, 2]")
    measure_on(cluster_project, "small-node, large-node, other-kind")
    config.write_text(config.read_text() + WITHOUT)
    profile(cluster_project, **{"set-resources": {"run_benchmark": {"gpu": "int(wildcards.gpus)"}}})
    without_framework(cluster_project)
    before = {row[0] for row in jobs(slurm, "i")}
    done = submit(cluster_project, slurm)
    assert done.returncode != 0
    assert "nothing was measured" in done.stdout
    partition = {row[0]: row[1] for row in jobs(slurm, "i", "P") if row[0] not in before}
    assert len(partition) == 8 + 2  # the refused cell once and, by the profile's `retries: 1`, once again
    found = {(facts(file)["job_id"], file) for file in runs(cluster_project)}
    assert len(found) == 8
    assert not [file for _, file in found if "other-kind" in str(file)]
    wanted = {"small-node": "small", "large-node": "large"}
    for job, file in found:
        assert partition[job] == next(wanted[name] for name in wanted if f"instance~{name}" in str(file))
        assert "NumTasks=1 " in slurm.run("scontrol", "show", "job", job)  # one process sees all cards of its job
    cards = {job: int(pd.read_parquet(file)["gpus"][0]) for job, file in found}
    assert CARDS // 2 <= most_held(slurm, cards) <= CARDS


def test_what_slurm_does_not_take_is_refused_before_anything_is_submitted(cluster_project, slurm):
    measure_on(cluster_project, "small-node, nowhere")
    before = jobs(slurm, "i")
    done = submit(cluster_project, slurm)
    assert done.returncode == 1
    assert "instance nowhere: Slurm takes no job of " in done.stdout
    assert "Traceback" not in done.stdout
    assert jobs(slurm, "i") == before


def test_sigterm_ends_and_cancels_a_job_that_waits_for_ever(cluster_project, slurm):
    slurm.run("scontrol", "update", "PartitionName=large", "State=DOWN")
    try:
        measure_on(cluster_project, "large-node")
        process, (waiting,) = started(cluster_project, slurm, state="PD")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 1
        until(lambda: dict(row[:2] for row in jobs(slurm, "i", "t"))[waiting] == "CA", "the end of the job")
    finally:
        slurm.run("scontrol", "update", "PartitionName=large", "State=UP")
    assert runs(cluster_project) == []
    without_framework(cluster_project)
    assert submit(cluster_project, slurm).returncode == 0


def test_a_cancelled_job_and_one_at_its_time_limit_are_measured_again_though_the_controller_restarts(
    cluster_project, slurm
):
    process, running = started(cluster_project, slurm, count=2)
    partition = {row[0]: row[1] for row in jobs(slurm, "i", "P")}
    small, large = sorted(running, key=lambda job: partition[job] == "large")
    hang(slurm, small)
    hang(slurm, large)
    slurm.run("scontrol", "update", f"JobId={large}", "EndTime=now+5")  # the job that follows it has its full time
    slurm.crash_controller()
    slurm.start_controller()
    slurm.run("scancel", small)
    assert process.wait(timeout=PATIENCE_S) == 0
    assert {row[0]: row[1] for row in jobs(slurm, "i", "t") if row[0] in running} == {small: "CA", large: "TO"}
    measured = {facts(file)["job_id"] for file in runs(cluster_project)}
    assert len(measured) == 2
    assert not measured & {small, large}


def test_a_killed_snakemake_is_started_again_and_its_orphan_overwrites_nothing(cluster_project, slurm):
    measure_on(cluster_project, "small-node")
    process, (orphan,) = started(cluster_project, slurm)
    hang(slurm, orphan)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    slurm.run("scancel", orphan)  # docs/cluster.md: cancel the old run's jobs first
    done = submit(cluster_project, slurm)
    assert done.returncode == 0, done.stdout[-3000:]
    (file,) = runs(cluster_project)
    assert facts(file)["job_id"] != orphan
    assert not list(Path(cluster_project / "results" / "benchmarks").rglob(".*.tmp"))


def test_cells_in_one_job_keep_what_finished_when_one_is_refused(cluster_project, slurm):
    config = cluster_project / "config" / "config.yaml"
    measure_on(cluster_project, "small-node, other-kind")
    edit(config, "batch_size: [16] ", "batch_size: [4, 8, 16] ")
    config.write_text(config.read_text() + "exclude: [{instance: other-kind, batch_size: 4}]\n")
    grouped = {
        "groups": {"run_benchmark": "short_{instance}_{gpus}"},
        "group-components": {"short_{instance}_{gpus}": 3},
        "resources": {"timing_slot": 1},
        "set-resource-scopes": {"timing_slot": "local"},
        "retries": 0,
    }
    profile(cluster_project, **grouped)
    before = {row[0] for row in jobs(slurm, "i")}
    done = submit(cluster_project, slurm)
    assert done.returncode != 0  # other-kind is refused
    new = [row for row in jobs(slurm, "i", "l") if row[0] not in before]
    assert sorted(row[1] for row in new) == ["30:00", "45:00"]  # one job an instance: runtime_min of its cells, added
    files = runs(cluster_project)
    assert len(files) == 3
    assert len({facts(file)["job_id"] for file in files}) == 1


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
    measure_on(cluster_project, "large-node")
    told = cluster_project / "told.txt"
    slurm.run("scontrol", "update", "NodeName=sweetspot1", "State=DRAIN", "Reason=test")
    try:
        process = popen(cluster_project, slurm, told)
        until(lambda: "Nodes required" in slurm.run("squeue", "-h", "-o", "%r"), "a job that no node can take")
    finally:
        slurm.run("scontrol", "update", "NodeName=sweetspot1", "State=RESUME")
    assert process.wait(timeout=PATIENCE_S) == 0, told.read_text()[-3000:]
    assert len(runs(cluster_project)) == 1
