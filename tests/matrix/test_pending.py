"""Slurm jobs that wait for ever are said to, from the queue's own reason; the others are left in peace."""

import time

import pytest
from patience import until
from sweetspot.matrix import slurm as pending

COMMENT = "rule_run_benchmark_wildcards_small_tensorflow_resnet50"


def line(reason, job="4211", partition="gpu", comment=COMMENT):
    """As `squeue --format=%i|%P|%r|%k` prints it."""
    return f"{job}|{partition}|{reason}|{comment}"


NEVER = [
    "PartitionTimeLimit", "PartitionNodeLimit", "PartitionDown", "PartitionInactive",
    "BadConstraints",
    "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed", "AssocMaxCpuPerJobLimit",
    "AssocMaxWallDurationPerJobLimit",
    "QOSMaxWallDurationPerJobLimit", "QOSMaxGRESPerJob", "QOSMaxCpuPerNode", "QOSMinGRES", "QOSTimeLimit",
    "AccountingPolicy", "JobHeldUser", "JobHeldAdmin", "DependencyNeverSatisfied",
    "ReqNodeNotAvail, UnavailableNodes:gpu[01-02]", "ReqNodeNotAvail(Unavailable:gpu01)",
]  # fmt: skip


@pytest.mark.parametrize("reason", NEVER)
def test_a_reason_that_never_ends_is_said_with_job_and_partition(reason):
    (sentence,) = pending.told([line(reason)]).values()
    assert sentence.startswith(f"Slurm job 4211 (partition gpu) waits for '{reason}', which no waiting ends")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "reason",
    [
        "AssocGrpCpuLimit",
        "AssocGrpGRES",
        "QOSGrpCpuLimit",
        "QOSMaxGRESPerUser",
        "MaxCpuPerAccount",
        "AssocMaxJobsLimit",
    ],
)
def test_a_limit_of_a_group_may_end(reason):
    (sentence,) = pending.told([line(reason)]).values()
    assert "until other jobs end, or for ever if it alone asks for more" in sentence


@pytest.mark.parametrize(
    "reason", ["Priority", "Resources", "None", "BeginTime", "Dependency", "Licenses", "Reservation"]
)
def test_a_reason_that_time_ends_is_not_said(reason):
    assert pending.told([line(reason)]) == {}


def test_a_drained_or_down_node_is_said_as_the_queue_says_it():
    """squeue of Slurm 22.05: the one reason in words, where every node that could take the job is away."""
    reason = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    (sentence,) = pending.told([line(reason)]).values()
    assert sentence.startswith(f"Slurm job 4211 (partition gpu) waits for '{reason}', until somebody brings nodes")


def test_jobs_of_others_are_left_out():
    lines = [
        line("PartitionTimeLimit", job="1", comment="(null)"),
        line("BadConstraints", job="2"),
        "",
        "slurm_load_jobs error",
    ]
    assert set(pending.told(lines)) == {"2"}


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A `squeue` that prints what the test wants."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def says(text, code=0):
        program = tmp_path / "squeue"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
        program.chmod(0o755)

    return says


def test_a_job_is_said_once_however_long_it_waits(queue):
    queue(f"{line('PartitionTimeLimit', job='7')}\n{line('Priority', job='8')}")
    said = []
    ended = pending.watch(said.append, 0.02)
    until(lambda: said, "the word of a job")
    time.sleep(0.2)
    ended.set()
    assert len(said) == 1
    assert said[0].startswith("Slurm job 7 (partition gpu) waits for 'PartitionTimeLimit'")


def test_it_is_said_within_a_minute_though_the_queue_answers_slowly():
    assert pending.PAUSE_S + pending.PATIENCE_S < 60


def test_a_controller_that_goes_and_comes_back_is_said_once_each(queue):
    queue("", code=1)
    assert pending._said(pending.SQUEUE) is None
    said = []
    ended = pending.watch(said.append, 0.02)
    until(lambda: said, "the word that it is away")
    queue(line("PartitionTimeLimit", job="7"))
    until(lambda: len(said) >= 3, "the word that it is back, and of its job")
    ended.set()
    assert said[:2] == [pending.AWAY, pending.BACK]
    assert said[2].startswith("Slurm job 7 (partition gpu) waits")
