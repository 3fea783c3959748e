"""The real workflow through a real Slurm: partitions, cards, failures, cancellation, a killed Snakemake."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from fault_projects import MAIN, TRAINING, train_with
from one_node_slurm import CARDS
from patience import PATIENCE_S, until
from project_copy import copy_project, edit, environment

pytestmark = pytest.mark.cluster
INSTANCES = """
small-node:
  title: A node of the small partition
  provider: university
  gpu: CPU
  gpus: 1
  measure: {where: slurm, device: cpu, partition: small, mem_mb: 2000, runtime_min: 15}
large-node:
  title: A node of the large partition
  provider: university
  gpu: CPU
  gpus: 2
  measure: {where: slurm, device: cpu, partition: large, mem_mb: 2000, runtime_min: 15}
two-nodes:
  title: Two nodes of a partition
  provider: university
  gpu: CPU
  gpus: 1
  measure: {where: slurm, device: cpu, partition: pair, mem_mb: 2000, runtime_min: 15, gpus_per_node: 1}
other-kind:
  title: A node that is not what the partition gives
  provider: university
  gpu: CPU
  gpus: 1
  measure: {where: slurm, device: cpu, partition: large, mem_mb: 2000, runtime_min: 15, expect_gpu: No such processor}
nowhere:
  title: A node of a partition that this Slurm does not have
  provider: university
  gpu: CPU
  gpus: 1
  measure: {where: slurm, device: cpu, partition: nowhere, mem_mb: 2000, runtime_min: 15}
brief-node:
  title: A node of a partition whose jobs end after five minutes
  provider: university
  gpu: CPU
  gpus: 1
  measure: {where: slurm, device: cpu, partition: brief, mem_mb: 2000, runtime_min: 6}
"""
WITHOUT = """
exclude:
  - {instance: two-nodes, gpus: 1}
  - {instance: two-nodes, batch_size: 4}
  - {instance: two-nodes, batch_size: 8}
  - {instance: other-kind, gpus: 2}
  - {instance: other-kind, batch_size: 4}
  - {instance: other-kind, batch_size: 8}
"""


@pytest.fixture
def cluster_project(tmp_path, slurm):
    """A project whose matrix lies on two partitions, with the shipped profile changed as its comments say."""
    project = copy_project(tmp_path / "project")
    instances = project / "config" / "instances.yaml"
    instances.write_text(instances.read_text() + INSTANCES)
    config = project / "config" / "config.yaml"
    edit(config, "measure_on: [workstation]", "measure_on: [small-node, large-node]")
    edit(config, "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(config, "min_seconds: 20", "min_seconds: 0.1")
    edit(config, "runs: 2 ", "runs: 1 ")
    file = project / "profiles" / "slurm" / "profile.yaml"
    profile = yaml.safe_load(file.read_text())
    profile["default-resources"]["slurm_account"] = "test"
    profile["set-resources"]["run_benchmark"] = {"gpu": 1}  # shared node, one (fake) card a job: four at once
    profile["slurm-init-seconds-before-status-checks"] = 2
    profile["latency-wait"] = 10
    file.write_text(yaml.safe_dump(profile))
    return project


def without_framework(project):
    """Runs say their steps as a training process does, at once; real ones on several nodes or an expected device."""
    train = project / "workflow" / "sweetspot" / "harness" / "train.py"
    real, stub = (indent(text.partition(MAIN)[2], "    ") for text in (train.read_text(), TRAINING))
    choice = "asked = Request.from_json(sys.argv[1])\n    if asked.gpus_per_node or asked.expect_gpu:"
    train_with(project, f"{MAIN}    {choice}\n{real}\n    else:\n{stub}")


def command(*targets):
    return [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm", *(targets or ("throughput",))]


def submit(project, slurm, *targets):
    env = {**environment(project), "PATH": slurm.environment["PATH"]}
    return subprocess.run(
        command(*targets),
        cwd=project,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE_S,
        check=False,
    )


def runs(project):
    return sorted((project / "results" / "benchmarks").rglob("*.parquet"))


def facts(file):
    import json

    return json.loads(pq.read_schema(file).metadata[b"sweetspot"])


def jobs(slurm, *fields):
    """Rows of every job that the controller remembers."""
    lines = slurm.run("squeue", "-h", "-t", "all", "-o", "|".join(f"%{field}" for field in fields)).splitlines()
    return [line.split("|") for line in lines]


def most_held(slurm, cards):
    """The most cards that the jobs of `cards` held at any time, from the controller's own times."""
    held = [row for row in jobs(slurm, "i", "S", "e") if row[0] in cards]
    return max(sum(cards[other[0]] for other in held if other[1] <= row[1] < other[2]) for row in held)


def test_twelve_cells_on_two_partitions_beside_two_nodes_and_a_node_of_another_kind(cluster_project, slurm):
    config = cluster_project / "config" / "config.yaml"
    edit(config, "batch_size: [16] ", "batch_size: [4, 8, 16] ")
    edit(config, "gpus: [1]", "gpus: [1, 2]")
    everywhere = "measure_on: [small-node, large-node, two-nodes, other-kind]"
    edit(config, "measure_on: [small-node, large-node]", everywhere)
    config.write_text(config.read_text() + WITHOUT)
    file = cluster_project / "profiles" / "slurm" / "profile.yaml"
    profile = yaml.safe_load(file.read_text())
    profile["set-resources"]["run_benchmark"] = {
        "gpu": "int(wildcards.gpus) if wildcards.instance != 'two-nodes' else 0"
    }
    file.write_text(yaml.safe_dump(profile))
    without_framework(cluster_project)
    before = {row[0] for row in jobs(slurm, "i")}
    done = submit(cluster_project, slurm)
    assert done.returncode != 0
    assert "nothing was measured" in done.stdout
    partition = {row[0]: row[1] for row in jobs(slurm, "i", "P") if row[0] not in before}
    assert len(partition) == 12 + 1 + 2  # the refused cell once and, by the profile's `retries: 1`, once again
    found = {(facts(file)["job_id"], file) for file in runs(cluster_project)}
    assert len(found) == 13
    assert not [file for _, file in found if "other-kind" in str(file)]
    wanted = {"small-node": "small", "large-node": "large", "two-nodes": "pair"}
    for job, file in found:
        assert partition[job] == next(wanted[name] for name in wanted if f"instance~{name}" in str(file))
    cards = {job: int(pd.read_parquet(file)["gpus"][0]) for job, file in found if "two-nodes" not in str(file)}
    assert CARDS // 2 <= most_held(slurm, cards) <= CARDS
    (file,) = (file for _, file in found if "two-nodes" in str(file))
    check_two_workers(pd.read_parquet(file), facts(file))


def check_two_workers(steps, told):
    assert set(steps["status"]) <= {"ok", "unstable"}
    assert [worker["node"] for worker in told["workers"]] == ["sweetspot1", "sweetspot2"]
    assert told["device_count"] == 2
    assert steps["logical"].all()  # both nodes of this test are one machine


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        ("nowhere", "partition is 'nowhere'; expected one of Slurm's: brief, large, pair, small"),
        ("brief-node", "runtime_min is 6; partition 'brief' allows at most 5 minutes a job"),
    ],
)
def test_what_slurm_would_never_start_is_refused_before_anything_is_submitted(cluster_project, slurm, instance, words):
    edit(
        cluster_project / "config" / "config.yaml",
        "measure_on: [small-node, large-node]",
        f"measure_on: [small-node, {instance}]",
    )
    before = jobs(slurm, "i")
    done = submit(cluster_project, slurm)
    assert done.returncode == 1
    assert f"instance {instance}: {words}" in done.stdout
    assert "Traceback" not in done.stdout
    assert jobs(slurm, "i") == before
    edit(cluster_project / "config" / "instances.yaml", "partition: nowhere", "partition: small")
    edit(cluster_project / "config" / "instances.yaml", "partition: brief", "partition: small")
    without_framework(cluster_project)
    assert submit(cluster_project, slurm).returncode == 0  # nothing is locked
    assert len(runs(cluster_project)) == 2


def test_a_job_that_waits_for_ever_is_said_and_sigterm_ends_and_cancels_it(cluster_project, slurm):
    slurm.run("scontrol", "update", "PartitionName=large", "State=DOWN")
    try:
        edit(
            cluster_project / "config" / "config.yaml",
            "measure_on: [small-node, large-node]",
            "measure_on: [large-node]",
        )
        told = cluster_project / "told.txt"
        process, (waiting,) = started(cluster_project, slurm, state="PD", told=told)
        sentence = f"Slurm job {waiting} (partition large) waits for 'PartitionDown', which no waiting ends"
        until(lambda: sentence in told.read_text(), "what the queue says of a job that waits for ever")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 1
        assert {row[0]: row[1] for row in jobs(slurm, "i", "t")}[waiting] == "CA"
    finally:
        slurm.run("scontrol", "update", "PartitionName=large", "State=UP")
    assert runs(cluster_project) == []
    without_framework(cluster_project)
    assert submit(cluster_project, slurm).returncode == 0


def started(project, slurm, count=1, state="R", told=Path(os.devnull)):
    """Snakemake in the background, once `count` jobs run (or are in that state); what it says goes to `told`."""
    env = {**environment(project), "PATH": slurm.environment["PATH"]}
    before = {row[0] for row in jobs(slurm, "i")}
    with told.open("w") as said:
        process = subprocess.Popen(
            command(), cwd=project, env=env, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
    running = lambda: [row[0] for row in jobs(slurm, "i", "t") if row[1] == state and row[0] not in before]  # noqa: E731
    until(lambda: len(running()) >= count or process.poll() is not None, "jobs that run")
    assert process.poll() is None, "Snakemake ended before a job ran"
    return process, running()


def hang(slurm, job):
    """Stop every process of a job, as a dead network drive would."""
    stopped: set[int] = set()

    def stands_still():
        new = alive(slurm, job) - stopped  # a process may have started another before its signal came
        for pid in new:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stopped.update(new)
        return stopped and not new

    until(stands_still, "a job that stands still")


def alive(slurm, job):
    """Processes of a job; `-1` is Slurm's own."""
    lines = slurm.run("scontrol", "listpids", job, check=False).splitlines()[1:]
    return {int(line.split()[0]) for line in lines} - {-1}


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
    slurm.run("scancel", small)
    assert process.wait(timeout=PATIENCE_S) == 0
    assert {row[0]: row[1] for row in jobs(slurm, "i", "t") if row[0] in running} == {small: "CA", large: "TO"}
    measured = {facts(file)["job_id"] for file in runs(cluster_project)}
    assert len(measured) == 2
    assert not measured & {small, large}


def test_a_killed_snakemake_is_started_again_and_its_orphan_overwrites_nothing(cluster_project, slurm):
    edit(cluster_project / "config" / "config.yaml", "measure_on: [small-node, large-node]", "measure_on: [small-node]")
    process, (orphan,) = started(cluster_project, slurm)
    hang(slurm, orphan)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    slurm.run("scancel", orphan)  # docs/cluster.md: cancel the old run's jobs first
    unlock = subprocess.run(
        [sys.executable, "-m", "snakemake", "--unlock"],
        cwd=cluster_project,
        env=environment(cluster_project),
        check=False,
    )
    assert unlock.returncode == 0
    done = submit(cluster_project, slurm)
    assert done.returncode == 0, done.stdout[-3000:]
    (file,) = runs(cluster_project)
    assert facts(file)["job_id"] != orphan
    assert not list(Path(cluster_project / "results" / "benchmarks").rglob(".*.tmp"))


def test_cells_in_one_job_keep_what_finished_when_one_is_refused(cluster_project, slurm):
    config = cluster_project / "config" / "config.yaml"
    edit(config, "measure_on: [small-node, large-node]", "measure_on: [small-node, other-kind]")
    edit(config, "batch_size: [16] ", "batch_size: [4, 8, 16] ")
    config.write_text(config.read_text() + "exclude: [{instance: other-kind, batch_size: 4}]\n")
    file = cluster_project / "profiles" / "slurm" / "profile.yaml"
    profile = yaml.safe_load(file.read_text())
    profile |= {
        "groups": {"run_benchmark": "short_{instance}_{gpus}"},
        "group-components": {"short_{instance}_{gpus}": 3},
        "resources": {"timing_slot": 1},
        "set-resource-scopes": {"timing_slot": "local"},
        "retries": 0,
    }
    file.write_text(yaml.safe_dump(profile))
    before = {row[0] for row in jobs(slurm, "i")}
    done = submit(cluster_project, slurm)
    assert done.returncode != 0  # other-kind is refused
    new = [row for row in jobs(slurm, "i", "l") if row[0] not in before]
    assert sorted(row[1] for row in new) == ["30:00", "45:00"]  # one job an instance: runtime_min of its cells, added
    files = runs(cluster_project)
    assert len(files) == 3
    assert len({facts(file)["job_id"] for file in files}) == 1
