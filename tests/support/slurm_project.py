"""A project whose cells lie on the partitions of the tests' Slurm, and what that Slurm says of its jobs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pyarrow.parquet as pq
import yaml
from fault_projects import MAIN, TRAINING, train_with
from patience import until
from project_copy import captured, copy_project, edit, environment

STARTED: list[subprocess.Popen[bytes]] = []  # by `popen`
# Name, number of devices, partition, and what else `measure` says. No machine here is of another kind than processors;
# this Slurm has no partition `nowhere`, and ends the jobs of `brief` after five minutes.
NODES = (
    ("small-node", 1, "small", ""), ("large-node", 2, "large", ""),
    ("other-kind", 1, "large", ", expect_gpu: No such processor"), ("nowhere", 1, "nowhere", ""),
    ("brief-node", 1, "brief", "")
)  # fmt: skip
INSTANCES = "".join(
    f"{name}:\n  title: {name}, of the partition {partition}\n  provider: university\n  gpu: CPU\n  gpus: {gpus}\n"
    f"  measure: {{where: slurm, device: cpu, partition: {partition}, mem_mb: 2000, "
    f"runtime_min: {6 if partition == 'brief' else 15}{more}}}\n"
    for name, gpus, partition, more in NODES
)


def on_two_partitions(folder):
    """A project whose matrix lies on two partitions, with the shipped profile changed as its comments say."""
    project = copy_project(folder)
    instances = project / "config" / "instances.yaml"
    instances.write_text(instances.read_text() + INSTANCES)
    config = project / "config" / "config.yaml"
    edit(config, "measure_on: [workstation]", "measure_on: [small-node, large-node]")
    edit(config, "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(config, "min_seconds: 20", "min_seconds: 0.1")
    edit(config, "least_seconds: 2 ", "least_seconds: 0.2 ")
    edit(config, "runs: 2 ", "runs: 1 ")
    shipped = yaml.safe_load((project / "profiles" / "slurm" / "profile.yaml").read_text())
    shipped["default-resources"]["slurm_account"] = "test"
    shipped["set-resources"]["run_benchmark"] = {"gpu": 1}  # shared node, one (fake) card a job: four at once
    profile(project, **shipped | {"slurm-init-seconds-before-status-checks": 2, "latency-wait": 10})
    return project


def measure_on(project, names):
    """Measure on these nodes instead of on both."""
    old = "measure_on: [small-node, large-node]"
    edit(project / "config" / "config.yaml", old, f"measure_on: [{names}]")


def profile(project, **settings):
    """Replace settings of the project's Slurm profile."""
    file = project / "profiles" / "slurm" / "profile.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | settings))


def without_framework(project):
    """Runs say their steps as a training process does, at once; real ones on an expected device."""
    train = project / "workflow" / "sweetspot" / "harness" / "train.py"
    real, stub = (indent(text.partition(MAIN)[2], "    ") for text in (train.read_text(), TRAINING))
    choice = "asked = Request.from_json(sys.argv[1])\n    if asked.expect_gpu:"
    train_with(project, f"{MAIN}    {choice}\n{real}\n    else:\n{stub}")


def command(*targets):
    return [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm", *(targets or ("throughput",))]


def submit(project, slurm, *targets):
    env = {**environment(project), "PATH": slurm.environment["PATH"]}
    return captured(command(*targets), project, env)


def runs(project):
    return sorted((project / "results" / "benchmarks").rglob("*.parquet"))


def facts(file):
    return json.loads(pq.read_schema(file).metadata[b"sweetspot"])


def jobs(slurm, *fields):
    """Rows of every job that the controller remembers."""
    lines = slurm.run("squeue", "-h", "-t", "all", "-o", "|".join(f"%{field}" for field in fields)).splitlines()
    return [line.split("|") for line in lines]


def most_held(slurm, cards):
    """The most cards that the jobs of `cards` held at any time, from the controller's own times."""
    held = [row for row in jobs(slurm, "i", "S", "e") if row[0] in cards]
    return max(sum(cards[other[0]] for other in held if other[1] <= row[1] < other[2]) for row in held)


def popen(project, slurm, told=Path(os.devnull)):
    """Snakemake in the background; what it says goes to `told`."""
    env = {**environment(project), "PATH": slurm.environment["PATH"]}
    with told.open("w") as said:
        process = subprocess.Popen(
            command(), cwd=project, env=env, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
    STARTED.append(process)
    return process


def started(project, slurm, count=1, state="R", told=Path(os.devnull)):
    """Snakemake in the background, once `count` jobs run (or are in that state); what it says goes to `told`."""
    before = {row[0] for row in jobs(slurm, "i")}
    process = popen(project, slurm, told)
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
