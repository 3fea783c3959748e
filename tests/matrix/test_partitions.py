"""Jobs that Slurm would never start are refused before they are submitted."""

import math

import pytest
from sweetspot.errors import UserError
from sweetspot.matrix import slurm as partitions
from sweetspot.matrix.slurm import minutes, require_accounts, require_partitions
from sweetspot.study.instances import Executor

# slurm.conf(5), sinfo(1)
TIMES = {
    "30": 30,
    "30:00": 30,
    "0:30": 0.5,
    "2:00:00": 120,
    "1:30:30": 90.5,
    "2-0": 2880,
    "2-12": 3600,
    "2-12:30": 3630,
    "1-00:00:00": 1440,
    "1:30": 1.5,
    "2:00:45": 120.75,
    "1-00:00:30": 1440.5,
    "1-02:03:15": 1563.25,
    "infinite": math.inf,
    "n/a": math.inf,
}


@pytest.mark.parametrize("text", TIMES)
def test_a_time_of_slurm_is_minutes(text):
    assert minutes(text) == TIMES[text]


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A `sinfo` that says what the test wants, on two lines for a partition with two kinds of nodes."""

    def says(text, code=0):
        program = tmp_path / "sinfo"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
        program.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    says("short|30:00\nshort|30:00\nlong|infinite")
    return says


def executor(**keys):
    return Executor(**{"where": "slurm", "device": "cpu", "partition": "short", "runtime_min": 30} | keys)


def test_what_fits_is_submitted(slurm):
    require_partitions({"a": executor(), "b": executor(partition="long", runtime_min=100_000)})
    require_partitions({"a": executor(runtime_min=10)}, runs_a_job=3)
    require_partitions({"a": executor(where="local", partition=None, runtime_min=999)})


@pytest.mark.parametrize(
    ("keys", "runs", "words"),
    [
        ({"runtime_min": 31}, 1, "instance a: runtime_min is 31; partition 'short' allows at most 30 minutes a job"),
        ({"runtime_min": 11}, 3, "runtime_min is 11 and 3 runs share a job .*allows at most 30 minutes"),
        ({"partition": "nowhere"}, 1, "instance a: partition is 'nowhere'; expected one of Slurm's: long, short"),
    ],
)
def test_what_would_wait_for_ever_is_one_sentence(slurm, keys, runs, words):
    with pytest.raises(UserError, match=words):
        require_partitions({"b": executor(runtime_min=1), "a": executor(**keys)}, runs)


@pytest.mark.parametrize(("text", "code"), [("", 0), ("short|1:00", 1)])
def test_a_slurm_that_does_not_answer_stops_nothing(slurm, text, code):
    slurm(text, code)
    require_partitions({"a": executor()})


def test_without_slurm_nothing_is_asked(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert partitions.time_limits() == {}


def qos(folder, text):
    """A `sacctmgr` that prints these lines of `show qos format=Name,Flags,MaxWall`."""
    program = folder / "sacctmgr"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("lines", "fits"),
    [
        ("normal||\nlong|DenyOnLimit,PartitionTimeLimit|2-00:00:00", True),
        ("normal||\nlong|PartitionTimeLimit|00:31:00", True),
        ("normal||\nlong|PartitionTimeLimit|00:30:30", False),
        ("normal||\nlong|PartitionTimeLimit|", True),  # without a limit of its own
        ("normal||\nlong|DenyOnLimit|2-00:00:00", False),
        ("normal||", False),
        ("slurmdbd: no connection", False),
    ],
)
def test_a_qos_may_override_the_partitions_limit(slurm, tmp_path, lines, fits):
    qos(tmp_path, lines)
    if fits:
        require_partitions({"a": executor(runtime_min=31)})
    else:
        with pytest.raises(UserError, match="allows at most 30 minutes a job"):
            require_partitions({"a": executor(runtime_min=31)})


def test_an_account_that_slurm_does_not_know_for_this_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    program = tmp_path / "sacctmgr"

    def answers(text, code=0):
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
        program.chmod(0o755)

    answers("root|\nphysics|ada\nbiology|bob")
    require_accounts(["physics", "Physics"])  # Slurm's accounts know no case
    words = "slurm_account is 'biology'; expected one of Slurm's for ada: physics; correct it in default-resources"
    with pytest.raises(UserError, match=words):
        require_accounts(["physics,biology"])
    answers("physics|ada", code=1)
    require_accounts(["anything"])  # no accounting
