"""A rerun that is refused or killed: the run file stays, and its run is asked for until it is made."""

import os
import shutil
import signal

import pandas as pd
import pytest
from fault_projects import CELL, fill, measured, small_disk, start, waiting_project
from patience import PATIENCE_S, until
from project_copy import edit, run_snakemake, scheduled
from sweetspot.matrix.reruns import attempts, must_replace, note_reruns

PROTOCOL_3 = ("--config", "measure={protocol: 3}")


def test_a_run_that_was_not_replaced_is_the_next_attempt_and_one_that_was_keeps_its_number(tmp_path):
    notes, run = tmp_path / "notes.json", tmp_path / "run~1.parquet"
    name = str(run)
    assert attempts(notes) == {}
    run.write_text("old")
    numbers = []
    for _ in range(3):  # three invocations, each refused
        note_reruns([name, str(tmp_path / "run~2.parquet")], attempts(notes), notes)
        numbers.append(attempts(notes))
    assert numbers == [{name: 1}, {name: 2}, {name: 3}]
    note_reruns([name], attempts(notes), notes)
    assert must_replace(name, notes)
    run.write_text("new")
    assert not must_replace(name, notes)
    assert not must_replace(str(tmp_path / "other"), notes)
    run_2 = tmp_path / "run~2.parquet"
    run_2.write_text("old")
    note_reruns([str(run_2)], {}, notes)
    run_2.write_text("new")
    note_reruns([], {}, notes)  # a note of a run that was made at the first attempt is dropped
    assert attempts(notes) == {name: 3}  # as Snakemake recorded it when the run was made


@pytest.mark.slow
def test_where_a_run_is_made_and_how_long_it_may_take_repeat_none(project):
    instances = project / "config" / "instances.yaml"
    edit(instances, "measure: {where: local, device: cpu}", "measure: {where: local, device: cpu, expect_gpu: Else}")
    assert "run_benchmark" not in scheduled(project, "--config", "measure={time_limit_s: 60}")
    limit = ("--config", "measure={time_limit_s: 60}")
    told = run_snakemake(project, "--dry-run", "--printshellcmds", "-R", "run_benchmark", *limit)
    assert told.stdout.count("--time-limit-s 60 --expect-gpu Else") == 2
    elsewhere = "measure: {where: slurm, partition: cpu, device: cpu, mem_mb: 100}"
    edit(instances, "measure: {where: local, device: cpu, expect_gpu: Else}", elsewhere)
    assert "run_benchmark" not in scheduled(project)
    edit(instances, elsewhere, "measure: {where: local, device: gpu}")  # another device is another measurement
    assert scheduled(project)["run_benchmark"] == 2


@pytest.mark.slow
def test_a_refused_rerun_leaves_the_old_runs_and_is_asked_for_until_it_is_made(project):
    before = measured(waiting_project(project))
    refusal = "measure: {where: local, device: cpu, expect_gpu: No such processor}"
    edit(project / "config" / "instances.yaml", "measure: {where: local, device: cpu}", refusal)
    for _ in range(2):
        done = run_snakemake(project, *PROTOCOL_3)
        assert done.returncode == 1
        assert "--expect-gpu is 'No such processor'" in done.stdout and "Traceback" not in done.stdout
        assert measured(project) == before
    edit(project / "config" / "instances.yaml", refusal, "measure: {where: local, device: cpu}")
    done = run_snakemake(project, *PROTOCOL_3)
    assert done.returncode == 0, done.stdout[-3000:]
    assert {pd.read_parquet(project / file)["protocol"][0] for file in before} == {3}
    assert scheduled(project, *PROTOCOL_3) == {}


@pytest.mark.slow
def test_a_rerun_of_which_everything_is_killed_leaves_the_old_runs_and_is_asked_for(project):
    before = measured(waiting_project(project))
    (project / "hold-measure").touch()
    process = start(project, *PROTOCOL_3)
    until(lambda: "step 2 of" in (project / "out.txt").read_text(), "the second step")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=PATIENCE_S)
    assert measured(project) == before
    assert scheduled(project, *PROTOCOL_3)["run_benchmark"] == 2
    (project / "hold-measure").unlink()
    done = run_snakemake(project, *PROTOCOL_3)
    assert done.returncode == 0, done.stdout[-3000:]
    assert {pd.read_parquet(project / file)["protocol"][0] for file in before} == {3}


@pytest.mark.slow
def test_a_run_that_outlived_its_killed_invocation_stays_unless_asked_for_or_of_another_protocol(project, tmp_path):
    (waiting_project(project) / "hold-write").touch()
    file, records = f"{CELL}/run~1.parquet", project / ".snakemake"
    process = start(project, "-R", "run_benchmark", "--", file)
    until(lambda: list((project / CELL).glob(".*.tmp")), "a file half written")
    process.kill()  # Snakemake alone
    process.wait(timeout=PATIENCE_S)
    old = measured(project)[file]
    (project / "hold-write").unlink()
    until(lambda: measured(project)[file] != old, "the run")
    filed = measured(project)
    shutil.copytree(records, tmp_path / "records")
    assert run_snakemake(project, file).returncode == 0
    assert measured(project) == filed
    assert "Nothing to be done" in run_snakemake(project, file).stdout
    for arguments in (("-R", "run_benchmark"), PROTOCOL_3):
        shutil.rmtree(records)
        shutil.copytree(tmp_path / "records", records)
        filed = measured(project)
        assert run_snakemake(project, *arguments, "--", file).returncode == 0
        assert measured(project)[file] != filed[file]


@pytest.mark.slow
def test_a_rerun_that_the_disk_has_no_room_for_leaves_the_old_runs(project, tmp_path):
    folder = project / "results" / "benchmarks"
    folder.rename(tmp_path / "there")
    with small_disk(folder, "2m"):
        shutil.copytree(tmp_path / "there", folder, dirs_exist_ok=True)
        before = measured(waiting_project(project))
        fill(folder)
        done = run_snakemake(project, *PROTOCOL_3)
        (folder / "filling").unlink()
        assert done.returncode == 1
        assert "cannot be written" in done.stdout
        assert measured(project) == before


@pytest.mark.slow
def test_a_missing_run_is_made_again_and_so_are_all_where_their_folder_is_gone(project):
    benchmarks = project / "results" / "benchmarks"
    first, *others = sorted(benchmarks.rglob("*.parquet"))
    aside = first.rename(project / "aside")
    assert scheduled(project)["run_benchmark"] == 1
    aside.rename(first)
    benchmarks.rename(project / "aside")
    assert scheduled(project)["run_benchmark"] == 1 + len(others)
