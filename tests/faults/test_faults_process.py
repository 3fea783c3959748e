"""Signals, a second invocation, a stale lock and a power cut, each given to a real Snakemake that is measuring."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from fault_projects import CELL, measured, start, waiting_project
from patience import PATIENCE_S, until
from project_copy import OFFLINE, SECRET, edit, environment, run_snakemake

KILLED, TERMINATED, INTERRUPTED = signal.SIGKILL, signal.SIGTERM, signal.SIGINT


@pytest.fixture
def held(project):
    """Two finished runs, and a project whose next one waits for the test; nothing of it outlives the test."""
    started = []

    def begin(*arguments):
        started.append(start(project, *arguments))
        return started[-1]

    yield waiting_project(project), begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def said(project):
    return (project / "out.txt").read_text()


def run_file(number):
    return f"{CELL}/run~{number}.parquet"


def at_start(project, begin, target):
    (project / "hold-measure").touch()  # so that the run is not over before the signal comes
    process = begin(target)
    until(lambda: "Building DAG" in said(project), "the plan")
    return process


def measuring(project, begin, target):
    (project / "hold-measure").touch()
    process = begin(target)
    until(lambda: "step 2 of" in said(project), "the second step")
    return process


def writing(project, begin, target):
    (project / "hold-write").touch()
    process = begin(target)
    until(lambda: list((project / CELL).glob(".*.tmp")), "a file half written")
    return process


def release(project):
    for name in ("hold-measure", "hold-write"):
        (project / name).unlink(missing_ok=True)


def strike(project, process, number):
    """Send the signal as it comes: Ctrl-C to all of the terminal, TERM and KILL to Snakemake alone; its exit code."""
    if number == INTERRUPTED:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    if number == TERMINATED and (project / "hold-measure").exists() | (project / "hold-write").exists():
        until(lambda: "Will exit after finishing" in said(project) or process.poll() is not None, "the answer to TERM")
        release(project)
    code = process.wait(timeout=PATIENCE_S)
    release(project)
    return code


def alive(group):
    """Whether a process of a group still runs: who ended and was not waited for yet does not."""
    found = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    return any(int(name) == group and not state.startswith("Z") for name, state in map(str.split, found.splitlines()))


@pytest.mark.parametrize("number", [INTERRUPTED, TERMINATED, KILLED], ids=lambda number: number.name)
def test_a_signal_to_snakemake_loses_no_run_and_the_next_invocation_continues(held, number):
    project, begin = held
    before = measured(project)
    moments = {3: at_start, 4: measuring, 5: writing}
    for run, moment in moments.items():
        process = moment(project, begin, run_file(run))
        code = strike(project, process, number)
        # At the start a busy machine may hear the signal before or after Snakemake has its own answer to it.
        assert code in ((-number,) if number == KILLED else (-number, 1) if moment is at_start else (1,))
        if moment is not at_start:
            assert "Traceback" not in said(project)
            assert (project / run_file(run)).is_file() == (number == TERMINATED) or number == KILLED
        if number == KILLED:  # a job that had begun goes on, and files its run whole
            until(lambda process=process: not alive(process.pid), "the end of the orphan")
            assert (project / run_file(run)).is_file() or moment is at_start
        assert before.items() <= measured(project).items()
    filed = measured(project)  # also by the orphans of a killed Snakemake: nothing of it is measured again
    done = run_snakemake(project, *(run_file(run) for run in moments))
    assert done.returncode == 0, done.stdout[-3000:]
    after = measured(project)
    assert filed.items() <= after.items()
    assert set(after) == {*before, *(run_file(run) for run in moments)}
    for run in moments:
        # A busy machine is unsteady.
        assert set(pd.read_parquet(project / run_file(run))["status"]) <= {"ok", "unstable"}


WAITING = """
    import time
    while Path("hold-price").exists():
        time.sleep(0.02)
    raise sweetspot.errors.UserError("the price list is broken")
"""


def test_a_reader_that_goes_away_while_a_job_fails_ends_the_workflow(project):
    prices = project / "config" / "studies" / "parkopedia-2018" / "prices" / "gce.yaml"
    script = project / "workflow" / "scripts" / "price_workloads.py"
    whole = script.read_text()
    edit(prices, "offers:", "# seen again\noffers:")
    first = '    """Write all tables that one price list makes."""\n'
    edit(script, first, first + WAITING)
    edit(script, "from sweetspot.files", "import sweetspot.errors\nfrom sweetspot.files")
    (project / "hold-price").touch()
    line = [sys.executable, "-m", "snakemake", "--cores", "2"]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(line, cwd=project, env=environment(project), start_new_session=True, **pipe)
    try:
        assert any("] price_workloads" in said for said in process.stdout)
        process.stdout.close()
        (project / "hold-price").unlink()  # the job fails, and the words about that reach nobody
        assert process.wait(timeout=PATIENCE_S) == 1
    finally:
        process.kill()
        process.wait()
    (log,) = (file for file in (project / ".snakemake" / "log").iterdir() if "list is broken" in file.read_text())
    assert "Will exit after finishing currently running jobs" in log.read_text()
    script.write_text(whole)
    done = run_snakemake(project, "costs")
    assert done.returncode == 0, done.stdout[-3000:]  # nothing is locked


def test_two_clones_that_share_run_files_measure_a_run_once(held, tmp_path):
    project, begin = held
    before = measured(project)
    other = tmp_path / "other"
    shutil.copytree(project, other, symlinks=True)
    shutil.rmtree(other / "results" / "benchmarks")
    (other / "results" / "benchmarks").symlink_to(project / "results" / "benchmarks")
    first = measuring(project, begin, run_file(3))
    second = start(other, run_file(3))
    try:
        until(lambda: "waiting: another measurement holds this host's processor" in said(other), "the lease")
        assert "starting tensorflow" not in said(other)
        release(project)
        assert first.wait(timeout=PATIENCE_S) == 0
        made = measured(project)
        assert second.wait(timeout=PATIENCE_S) == 0
    finally:
        if second.poll() is None:
            os.killpg(second.pid, signal.SIGKILL)
            second.wait()
    assert f"{run_file(3)}: another invocation has measured this run; it stays" in said(other)
    assert measured(project) == made
    assert set(made) == {*before, run_file(3)}
    again = run_snakemake(other, run_file(3))
    assert "Nothing to be done" in again.stdout
    asked = run_snakemake(other, "-R", "run_benchmark", "--", run_file(3))
    assert asked.returncode == 0, asked.stdout[-3000:]
    assert measured(project)[run_file(3)] != made[run_file(3)]


def test_two_clones_that_share_all_results_make_them_one_after_the_other(held, tmp_path):
    project, begin = held
    other = tmp_path / "other"
    shutil.copytree(project, other, symlinks=True)
    shutil.rmtree(other / "results")
    (other / "results").symlink_to(project / "results")
    first = measuring(project, begin, run_file(3))
    before = contents(project / "results")
    second = run_snakemake(other, "-R", "price_workloads")
    assert second.returncode == 1
    told = f"error: results/parkopedia-2018: process {first.pid} on {socket.gethostname()} (since "
    (sentence,) = (line for line in second.stdout.splitlines() if line.startswith("error: "))
    assert sentence.startswith(told) and sentence.endswith("start again when that has ended")
    assert "Traceback" not in second.stdout and contents(project / "results") == before
    assert run_snakemake(other, "--dry-run").returncode == 0  # a plan reads only
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    release(project)
    # The dead hold nothing.
    done = run_snakemake(other, "results/parkopedia-2018/costs/gce.parquet", "-R", "price_workloads")
    assert done.returncode == 0, done.stdout[-3000:]


def contents(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and "logs" not in file.parts}


def test_a_second_invocation_in_one_folder_is_told_what_to_do_unless_it_makes_another_study(held):
    """The first holds still while it measures; another study is made beside it from start to end."""
    project, begin = held
    before = measured(project)
    first = measuring(project, begin, run_file(3))
    second = run_snakemake(project, "throughput", "--config", "runs=3")
    assert second.returncode == 1
    assert f"results/parkopedia-2018: process {first.pid} on " in second.stdout
    assert "is making it; start again when that has ended" in second.stdout
    assert "Traceback" not in second.stdout
    beside = run_snakemake(project, "scaling", "--config", "study=rare-2018", "measure_on=[]")
    assert beside.returncode == 0, beside.stdout[-3000:]
    assert (project / "results" / "rare-2018" / "extrapolation.parquet").is_file()
    assert first.poll() is None
    release(project)
    assert first.wait(timeout=PATIENCE_S) == 0
    assert before.items() <= measured(project).items()
    assert set(pd.read_parquet(project / run_file(3))["status"]) <= {"ok", "unstable"}  # a busy machine is unsteady


def test_after_a_power_cut_nothing_is_locked_half_a_file_is_no_run_and_measuring_goes_on(held):
    project, begin = held
    before = measured(project)
    process = writing(project, begin, run_file(3))
    os.killpg(process.pid, signal.SIGKILL)  # everything at once
    process.wait(timeout=PATIENCE_S)
    (left,) = set(measured(project)) - set(before)
    assert Path(left).name.startswith(".run~3.parquet")
    release(project)
    done = run_snakemake(project, "throughput", "--config", "runs=3")
    assert done.returncode == 0, done.stdout[-3000:]
    after = measured(project)
    assert before.items() <= after.items()
    assert set(after) == {*before, left, run_file(3)}
    table = pd.read_parquet(project / "results" / "parkopedia-2018" / "throughput.parquet")
    assert table.query("basis == 'measured'")["runs"].tolist() == [3]


def test_a_secret_of_the_environment_stands_in_no_file_that_the_workflow_wrote(finished_project):
    files = [file for part in ("results", ".snakemake") for file in (finished_project / part).rglob("*")]
    files = [file for file in files if file.is_file()]
    assert len(files) > 50
    assert [file for file in files if SECRET.encode() in file.read_bytes()] == []


def test_the_workflow_runs_without_network(finished_project):
    if not OFFLINE:
        pytest.skip("this machine lets no one take the network away (unshare -n): needs root or user namespaces")
    namespace = (finished_project / "network.txt").read_text().splitlines()
    assert [line.split(":")[0].strip() for line in namespace[2:]] == ["lo"]  # the only interface that the run saw
    assert (finished_project / "results" / "parkopedia-2018" / "report" / "index.html").is_file()
