"""What Slurm refuses is said before anything is submitted; its commands hold while it is away."""

import os
import subprocess

import pytest
from patience import PATIENCE_S, until
from sweetspot.errors import UserError
from sweetspot.matrix import slurm
from sweetspot.matrix.slurm import require_accepted
from sweetspot.study.instances import Executor


def executor(**keys):
    return Executor(**{"where": "slurm", "device": "cpu", "partition": "short", "runtime_min": 30} | keys)


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    """A command of Slurm that notes how it is asked, and answers as the test wants."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def answer(code, words):
        text = f"#!/bin/sh\necho \"$@\" >>{tmp_path}/asked\necho '{words}' >&2\nexit {code}\n"
        (tmp_path / "sbatch").write_text(text)
        (tmp_path / "sbatch").chmod(0o755)
        return tmp_path / "asked"

    return answer


def test_slurm_is_asked_for_the_minutes_of_all_runs_of_a_job(sbatch):
    asked = sbatch(0, "sbatch: Job 7 to start at 2026-11-27T09:00:00 using 1 processors on nodes node1")
    local = executor(where="local", partition=None)
    require_accepted({"a": executor(), "b": local}, runs_per_job=3, accounts="physics")
    # 30 minutes a run, three runs a job
    assert asked.read_text() == "--test-only --partition=short --time=90 --wrap=true --account=physics\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sbatch: error: invalid partition specified: nowhere", "invalid partition specified: nowhere"),
        ("allocation failure: Requested time limit is invalid (missing or exceeds some limit)", "Requested time limit"),
        ("", "it says no reason"),
    ],
)
def test_a_job_that_slurm_does_not_take_is_one_sentence_in_its_words(sbatch, words, said):
    sbatch(1, words)
    with pytest.raises(UserError) as caught:
        require_accepted({"a": executor()})
    assert "instance a: Slurm takes no job of 30 minutes in partition 'short': " + said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_slurm_that_does_not_answer_or_is_not_there_stops_nothing(sbatch, monkeypatch):
    sbatch(1, "sbatch: error: Unable to contact slurm controller (connect failure)")
    require_accepted({"a": executor()})
    monkeypatch.setenv("PATH", "")
    require_accepted({"a": executor()})


FAILS = "echo 'x: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
RUN = "0f1e"
# As snakemake-executor-plugin-slurm 2.8.0 asks: job_status_query.py, and check_active_jobs for reasons and nodes.
STATES = (
    "sacct -X --parsable2 --clusters all --noheader --format=JobIdRaw,State --starttime 2026-11-20T10:00 --endtime now "
    f"--name {RUN}"
)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Writes commands of Slurm; then asks those that stand before them."""
    real, own = tmp_path / "real commands", tmp_path / "own"
    real.mkdir()
    monkeypatch.setenv("PATH", f"{real}:{os.environ['PATH']}")

    def program(name, text):
        (real / name).write_text(f"#!/bin/sh\n{text}\n")
        (real / name).chmod(0o755)

    def asked(line):
        return subprocess.run(line, shell=True, capture_output=True, text=True, timeout=PATIENCE_S)

    for name in ("sacct", "squeue", "sbatch", "sacctmgr", "sshare"):
        program(name, FAILS)
    monkeypatch.setenv(slurm.PROCESS_VARIABLE, "")
    slurm.install_commands(own)
    asked.program, asked.own = program, own
    return asked


def test_states_are_those_of_the_accounting_with_the_queue_s_last_and_reasons_its_own(ask):
    ask.program("sacct", "echo '1|COMPLETED'; echo '2|RUNNING'; echo '3|CANCELLED by 1000'")
    assert ask(STATES).stdout.split("\n") == ["1|COMPLETED", "2|RUNNING", "3|CANCELLED", ""]
    ask.program("squeue", f'[ "$*" = "--states=all --noheader --format=%i|%T --name {RUN}" ] && echo "2|FAILED"')
    states = dict(row.split("|") for row in ask(STATES).stdout.split())
    assert states == {"1": "COMPLETED", "2": "FAILED", "3": "CANCELLED"}
    ask.program("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert ask(STATES).stdout == "2|FAILED\n"
    ask.program("squeue", 'case "$*" in *%r*12) echo TimeLimit ;; *%N*12) echo node7 ;; esac')
    assert ask("sacct -j 12.0 --format=Reason --noheader").stdout == "TimeLimit\n"
    assert ask("sacct -j 12.1 --format=Reason --noheader").stdout == ""  # once is enough
    assert ask("sacct -j 12 -n -X -o nodelist%-256").stdout == "node7\n"


def test_a_job_is_submitted_once_the_controller_is_back(ask, tmp_path):
    asked = tmp_path / "asked"
    ask.program("sbatch", f'echo "$*" >>"{asked}"; {FAILS}')
    waiting = subprocess.Popen(["sbatch", "--wrap", "a b"], stdout=subprocess.PIPE, text=True)
    until(asked.exists, "a first try")
    assert waiting.poll() is None
    ask.program("sbatch", 'echo "$2"; echo warned >&2')
    assert waiting.communicate(timeout=PATIENCE_S)[0] == "a b\n"
    assert waiting.returncode == 0
    ask.program("sbatch", "echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2; exit 1")
    refused = ask("sbatch x")
    assert refused.returncode == 1 and "Invalid qos specification" in refused.stderr


def test_nothing_is_submitted_for_a_process_that_is_gone(ask, monkeypatch):
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setenv(slurm.PROCESS_VARIABLE, str(gone.pid))
    assert ask("sbatch x").returncode == 1


def test_they_install_commands_once_and_never_before_themselves_and_nowhere_without_it(ask, tmp_path, monkeypatch):
    path = os.environ["PATH"]
    slurm.install_commands(ask.own)
    assert os.environ["PATH"] == path
    assert str(ask.own) not in os.environ["REAL_sacct"]  # noqa: SIM112
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    slurm.install_commands(tmp_path / "other")
    assert not (tmp_path / "other").exists()
