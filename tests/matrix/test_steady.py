"""Slurm's commands as the executor calls them: what they answer while the controller or the accounting is away."""

import os
import subprocess

import pytest
from patience import PATIENCE_S, until
from sweetspot.matrix import steady

AWAY = "echo 'x: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
RUN = "0f1e"
# As snakemake-executor-plugin-slurm 2.8.0 asks: job_status_query.py, and check_active_jobs for reasons and nodes.
STATES = (
    "sacct -X --parsable2 --clusters all --noheader --format=JobIdRaw,State --starttime 2026-11-20T10:00 --endtime now "
    f"--name {RUN}"
)


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Writes commands of Slurm; then asks those that stand before them."""
    real, own = tmp_path / "real commands", tmp_path / "own"
    real.mkdir()
    monkeypatch.setenv("PATH", f"{real}:{os.environ['PATH']}")

    def program(name, text):
        (real / name).write_text(f"#!/bin/sh\n{text}\n")
        (real / name).chmod(0o755)

    def ask(line):
        return subprocess.run(line, shell=True, capture_output=True, text=True, timeout=PATIENCE_S)

    for name in ("sacct", "squeue", "sbatch", "sacctmgr", "sshare"):
        program(name, AWAY)
    monkeypatch.setenv(steady.CONTROL, "")
    steady.stand_before_slurm(own)
    ask.program, ask.own = program, own
    return ask


def test_where_nobody_answers_every_job_is_still_on_its_way(slurm):
    told = slurm(STATES)
    assert (told.returncode, told.stdout) == (0, "")  # the executor forgets its jobs where this fails


def test_states_are_those_of_the_accounting_with_the_queue_s_last(slurm):
    slurm.program("sacct", "echo '1|COMPLETED'; echo '2|RUNNING'; echo '3|CANCELLED by 1000'")
    assert slurm(STATES).stdout.split("\n") == ["1|COMPLETED", "2|RUNNING", "3|CANCELLED", ""]
    slurm.program("squeue", f'[ "$*" = "--states=all --noheader --format=%i|%T --name {RUN}" ] && echo "2|FAILED"')
    assert dict(row.split("|") for row in slurm(STATES).stdout.split()) == {
        "1": "COMPLETED",
        "2": "FAILED",
        "3": "CANCELLED",
    }
    slurm.program("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert slurm(STATES).stdout == "2|FAILED\n"


def test_why_a_job_ended_and_where_comes_from_the_queue(slurm):
    slurm.program("squeue", 'case "$*" in *%r*12) echo TimeLimit ;; *%N*12) echo node7 ;; esac')
    assert slurm("sacct -j 12.0 --format=Reason --noheader").stdout == "TimeLimit\n"
    assert slurm("sacct -j 12.1 --format=Reason --noheader").stdout == ""  # once is enough
    assert slurm("sacct -j 12 -n -X -o nodelist%-256").stdout == "node7\n"


def test_a_job_is_submitted_once_the_controller_is_back(slurm, tmp_path):
    asked = tmp_path / "asked"
    slurm.program("sbatch", f'echo "$*" >>"{asked}"; {AWAY}')
    waiting = subprocess.Popen(["sbatch", "--wrap", "a b"], stdout=subprocess.PIPE, text=True)
    until(asked.exists, "a first try")
    assert waiting.poll() is None
    slurm.program("sbatch", 'echo "$2"; echo warned >&2')
    assert waiting.communicate(timeout=PATIENCE_S)[0] == "a b\n"
    assert waiting.returncode == 0
    slurm.program("sbatch", "echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2; exit 1")
    refused = slurm("sbatch x")
    assert refused.returncode == 1 and "Invalid qos specification" in refused.stderr


def test_nothing_is_submitted_for_a_process_that_is_gone(slurm, monkeypatch):
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setenv(steady.CONTROL, str(gone.pid))
    assert slurm("sbatch x").returncode == 1


def test_an_account_that_nobody_can_check_passes(slurm):
    for line in ("sacctmgr -n -s list user ada", "sshare -U --format Account%256 --noheader"):
        told = slurm(line)
        assert (told.returncode, told.stdout) == (0, "")


def test_they_stand_before_slurm_once_and_never_before_themselves(slurm, tmp_path):
    path = os.environ["PATH"]
    steady.stand_before_slurm(slurm.own)
    assert os.environ["PATH"] == path
    assert str(slurm.own) not in (slurm.own / "sacct").read_text()


def test_where_there_is_no_slurm_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    steady.stand_before_slurm(tmp_path / "own")
    assert not (tmp_path / "own").exists()
