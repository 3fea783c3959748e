"""A Slurm with accounting: accounts and QOS that allow something else, states that the queue has forgotten, and what
`sweetspot import-use sacct` reads of it, against Slurm's own database."""

import datetime
import signal
from zoneinfo import ZoneInfo

import pytest
from patience import PATIENCE_S, until
from project_copy import edit
from slurm_project import facts, jobs, measure_on, popen, profile, runs, submit, without_framework
from sweetspot.use.job_records import SACCT_COMMAND, read_runs

pytestmark = pytest.mark.cluster
ACCOUNTED = True
SQL = "select tres_alloc, time_end - time_start from sweetspot_job_table where time_start > 0 and time_end > 0"
GPU = "select id from tres_table where type = 'gres' and name = 'gpu'"


def states(slurm):
    """Job and state as the accounting has them, of all jobs."""
    lines = slurm.run("sacct", "-X", "--noheader", "--parsable2", "--allusers", "--format=JobIDRaw,State").splitlines()
    return dict(line.split("|") for line in lines)


def test_an_account_of_others_is_refused_before_anything_is_submitted(cluster_project, slurm):
    profile(cluster_project, **{"default-resources": {"slurm_account": "physics"}})
    done = submit(cluster_project, slurm)
    assert done.returncode == 1
    assert "Invalid account" in done.stdout and "slurm_account of the profile" in done.stdout
    assert "Traceback" not in done.stdout and states(slurm) == {}


def test_what_a_qos_refuses_is_said_in_slurms_words_without_the_commands(cluster_project, slurm):
    profile(cluster_project, **{"slurm-qos": "short"})
    edit(cluster_project / "config" / "instances.yaml", "partition: small, mem_mb: 2000, runtime_min: 15", "partition: "
         "small, mem_mb: 2000, runtime_min: 30")  # fmt: skip
    measure_on(cluster_project, "small-node")
    done = submit(cluster_project, slurm)
    assert done.returncode == 1
    (sentence,) = {line for line in done.stdout.splitlines() if line.startswith("error: ")}
    assert sentence.startswith("error: Slurm took no job: QOSMaxWallDurationPerJobLimit; Batch job submission failed: ")
    assert "--wrap" not in done.stdout and "Traceback" not in done.stdout and states(slurm) == {}


def test_the_end_of_a_job_that_a_qos_lets_wait_is_learnt_from_the_accounting(cluster_project, slurm):
    without_framework(cluster_project)
    profile(cluster_project, **{"slurm-qos": "crowded"})
    measure_on(cluster_project, "large-node")
    slurm.run("sacctmgr", "-i", "modify", "qos", "crowded", "set", "GrpTRES=cpu=0")
    told = cluster_project / "told.txt"
    process = popen(cluster_project, slurm, told)
    waits = lambda: "QOSGrp" in slurm.run("squeue", "-h", "-o", "%r")  # noqa: E731
    until(lambda: waits() or process.poll() is not None, "a job that a QOS lets wait")
    slurm.run("sacctmgr", "-i", "modify", "qos", "crowded", "set", "GrpTRES=cpu=-1")
    assert process.wait(timeout=PATIENCE_S) == 0, told.read_text()[-3000:]
    (file,) = runs(cluster_project)
    assert states(slurm)[facts(file)["job_id"]] == "COMPLETED"
    assert slurm.run("squeue", "-h", "-t", "all", "-o", "%i %T").strip() in ("", f"{facts(file)['job_id']} COMPLETED")


def test_a_job_that_ends_while_the_accounting_is_away_is_waited_for(cluster_project, slurm):
    """The queue forgets it meanwhile, unless it is asked in the minute before that: for a while nobody knows of it."""
    without_framework(cluster_project)
    measure_on(cluster_project, "large-node")
    before, held, told = set(states(slurm)), cluster_project / "hold-measure", cluster_project / "told.txt"
    held.touch()
    process = popen(cluster_project, slurm, told)
    logs = cluster_project / "results" / "logs" / "run_benchmark"
    until(lambda: list(logs.rglob("*.log")) or process.poll() is not None, "a job that measures")
    slurm.kill("slurmdbd", signal.SIGTERM)
    held.unlink()
    until(lambda: runs(cluster_project), "a run file")
    until(lambda: not jobs(slurm, "i"), "a queue that has forgotten it")
    slurm.start_accounting()
    assert process.wait(timeout=PATIENCE_S) == 0, told.read_text()[-3000:]
    (file,) = runs(cluster_project)
    ended = {facts(file)["job_id"]: "COMPLETED"}
    until(lambda: {job: state for job, state in states(slurm).items() if job not in before} == ended, "one job, ended")


def sent(slurm, folder, seconds, *flags):
    """A job that sleeps; its number."""
    file = folder / "job.sh"
    file.write_text(f"#!/bin/sh\nsleep {seconds}\n")
    given = ["--parsable", "--mem=100", "--output=/dev/null", "--chdir=/tmp", *flags, str(file)]
    return slurm.run("sbatch", *given).strip()


def sql(slurm, words):
    """Rows of Slurm's database."""
    lines = slurm.run("mariadb", "--no-defaults", "-BN", "slurm_acct_db", "-e", words).splitlines()
    return [line.split("\t") for line in lines]


def running(slurm, *jobs):
    return slurm.run("squeue", "-h", "-t", "R", "-j", ",".join(jobs), "-o", "%i").split() == sorted(jobs)


def test_device_seconds_are_those_of_slurms_database(slurm, tmp_path):
    earlier = len(sql(slurm, SQL))  # of the tests above
    sent(slurm, tmp_path, 2, "--job-name=a|b", "--gres=gpu:3")
    sent(slurm, tmp_path, 1, "--job-name=array", "--array=0-4%2", "--gres=gpu:1")
    sent(slurm, tmp_path, 1, "--job-name=none")
    sent(slurm, tmp_path, 2, "--job-name=wide", "--partition=pair", "--nodes=2", "--gres=gpu:1")
    again = sent(slurm, tmp_path, 300, "--job-name=again", "--requeue", "--gres=gpu:1", "--partition=pair")
    late = sent(slurm, tmp_path, 300, "--job-name=late", "--gres=gpu:2", "--partition=pair")
    until(lambda: running(slurm, again, late), "two running jobs")
    slurm.run("scontrol", "requeue", again)
    slurm.run("scancel", late)
    until(lambda: len(sql(slurm, SQL)) == earlier + 10, "ten ended runs in the database")
    slurm.run("scancel", again)
    until(lambda: not slurm.run("squeue", "-h", "-t", "all", check=False).strip(), "an empty queue")

    ((gpu,),) = sql(slurm, GPU)
    expected = [
        int(dict(part.split("=") for part in tres.split(",")).get(gpu, 0)) * int(seconds)
        for tres, seconds in sql(slurm, SQL)
    ]
    record = tmp_path / "record.txt"
    command = SACCT_COMMAND.replace("JobID,", "JobID,JobName,").split()
    record.write_text(slurm.run(*command, "-S", "2020-01-01"))
    runs = read_runs(str(record), "sacct", ZoneInfo("UTC"), datetime.datetime.now(datetime.UTC))
    started = runs[runs["start"].notna()]
    device_seconds = (started["end"] - started["start"]).dt.total_seconds() * started["devices"]
    assert sorted(device_seconds) == sorted(expected)
    runs_by_job = started["job"].value_counts()
    assert (runs_by_job.drop(again) == 1).all()  # the one that was put back may have started again
