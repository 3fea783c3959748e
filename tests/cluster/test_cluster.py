"""The real workflow through a real Slurm: partitions, cards, failures, cancellation, a killed Snakemake."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from project_copy import copy_project, edit, environment

pytestmark = pytest.mark.cluster
INSTANCES = """
small-node:
  title: A node of the small partition
  provider: university
  gpu: CPU
  gpus: 1
  measure: {where: slurm, device: cpu, partition: small, mem_mb: 2000, runtime_min: 5}
large-node:
  title: A node of the large partition
  provider: university
  gpu: CPU
  gpus: 2
  measure: {where: slurm, device: cpu, partition: large, mem_mb: 2000, runtime_min: 5}
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
    edit(config, "min_seconds: 20", "min_seconds: 1")
    edit(config, "runs: 2 ", "runs: 1 ")
    file = project / "profiles" / "slurm" / "profile.yaml"
    profile = yaml.safe_load(file.read_text())
    profile["default-resources"]["slurm_account"] = "test"
    profile["set-resources"]["run_benchmark"] = {"gpu": 1}  # shared node, one (fake) card a job: four at once
    profile["slurm-init-seconds-before-status-checks"] = 2
    profile["latency-wait"] = 10
    file.write_text(yaml.safe_dump(profile))
    return project


def command(*targets):
    return [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm", *(targets or ("throughput",))]


def submit(project, slurm, *targets, timeout=300):
    env = {**environment(project), "PATH": slurm.environment["PATH"]}
    return subprocess.run(
        command(*targets),
        cwd=project,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
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


def test_cells_are_measured_on_the_partition_of_their_instance(cluster_project, slurm):
    edit(cluster_project / "config" / "config.yaml", "batch_size: [16] ", "batch_size: [4, 8, 16] ")
    before = {row[0] for row in jobs(slurm, "i")}
    done = submit(cluster_project, slurm)
    assert done.returncode == 0, done.stdout[-4000:]
    table = pd.read_parquet(cluster_project / "results" / "parkopedia-2018" / "throughput.parquet")
    measured = table[table["basis"] == "measured"]
    assert sorted(zip(measured["instance"], measured["batch_size"], strict=True)) == sorted(
        (name, size) for name in ("small-node", "large-node") for size in (4, 8, 16)
    )
    partition = {row[0]: row[1] for row in jobs(slurm, "i", "P") if row[0] not in before}
    for file in runs(cluster_project):
        wanted = "small" if "instance~small-node" in str(file) else "large"
        assert partition[facts(file)["job_id"]] == wanted


def test_a_partition_that_does_not_exist_fails_with_slurms_words_and_the_rest_is_measured(cluster_project, slurm):
    edit(cluster_project / "config" / "instances.yaml", "partition: large", "partition: nowhere")
    done = submit(cluster_project, slurm)
    assert done.returncode != 0
    assert "nowhere" in done.stdout or "invalid partition" in done.stdout
    assert [file.name for file in runs(cluster_project)] == ["run~1.parquet"]


def test_retries_mean_what_they_say(cluster_project, slurm):
    edit(
        cluster_project / "config" / "instances.yaml", "device: cpu, partition: large", "device: gpu, partition: large"
    )
    before = len(jobs(slurm, "i"))
    done = submit(cluster_project, slurm)
    assert done.returncode != 0
    assert "nothing was measured" in done.stdout
    assert len(jobs(slurm, "i")) - before == 1 + 2  # the good cell once; the refused one once and once again


def started(project, slurm, timeout=120):
    """Snakemake in the background, once a job runs."""
    env = {**environment(project), "PATH": slurm.environment["PATH"]}
    before = {row[0] for row in jobs(slurm, "i")}
    process = subprocess.Popen(
        command(), cwd=project, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        running = [row[0] for row in jobs(slurm, "i", "t") if row[1] == "R" and row[0] not in before]
        if running:
            return process, running
        time.sleep(0.3)
    process.kill()
    raise AssertionError("no job came to run")


def slow(project):
    """One cell that measures for about ten seconds."""
    config = project / "config" / "config.yaml"
    edit(config, "measure_on: [small-node, large-node]", "measure_on: [small-node]")
    edit(config, "min_seconds: 1 ", "min_seconds: 10 ")
    edit(config, "min_steps: 5 ", "min_steps: 100000 ")


def test_a_cancelled_job_is_measured_again(cluster_project, slurm):
    slow(cluster_project)
    process, running = started(cluster_project, slurm)
    slurm.run("scancel", *running)
    assert process.wait(timeout=240) == 0
    (file,) = runs(cluster_project)
    assert facts(file)["job_id"] not in running


def test_a_killed_snakemake_is_started_again_and_its_orphan_overwrites_nothing(cluster_project, slurm):
    slow(cluster_project)
    process, orphans = started(cluster_project, slurm)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    slurm.run("scancel", *orphans)  # docs/cluster.md: cancel the old run's jobs first
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
    assert facts(file)["job_id"] not in orphans
    assert not list(Path(cluster_project / "results" / "benchmarks").rglob(".*.tmp"))
