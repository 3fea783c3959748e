"""What `sweetspot import-use sacct` reads of a Slurm that runs here, against Slurm's own database."""

import datetime
from zoneinfo import ZoneInfo

import pytest
from patience import until
from sweetspot.use.job_records import SACCT_COMMAND, read_runs

pytestmark = pytest.mark.cluster
ACCOUNTED = True
SQL = (
    "select job_name, tres_alloc, time_end - time_start from sweetspot_job_table where time_start > 0 and time_end > 0"
)
GPU = "select id from tres_table where type = 'gres' and name = 'gpu'"


def sent(slurm, folder, seconds, *flags):
    """A job that sleeps; its number."""
    file = folder / "job.sh"
    file.write_text(f"#!/bin/sh\nsleep {seconds}\n")
    given = ["--parsable", "--mem=100", "--output=/dev/null", "--chdir=/tmp", *flags, str(file)]
    return slurm.run("sbatch", *given).strip()


def sql(slurm, words):
    lines = slurm.run("mariadb", "--no-defaults", "-BN", "slurm_acct_db", "-e", words).splitlines()
    return [line.split("\t") for line in lines]


def running(slurm, *jobs):
    return slurm.run("squeue", "-h", "-t", "R", "-j", ",".join(jobs), "-o", "%i").split() == sorted(jobs)


def test_device_seconds_are_those_of_slurms_database(slurm, tmp_path):
    sent(slurm, tmp_path, 2, "--job-name=a|b", "--gres=gpu:3")
    sent(slurm, tmp_path, 1, "--job-name=array", "--array=0-4%2", "--gres=gpu:1")
    sent(slurm, tmp_path, 1, "--job-name=none")
    sent(slurm, tmp_path, 2, "--job-name=wide", "--partition=pair", "--nodes=2", "--gres=gpu:1")
    again = sent(slurm, tmp_path, 300, "--job-name=again", "--requeue", "--gres=gpu:1", "--partition=pair")
    late = sent(slurm, tmp_path, 300, "--job-name=late", "--gres=gpu:2", "--partition=pair")
    until(lambda: running(slurm, again, late), "two running jobs")
    slurm.run("scontrol", "requeue", again)
    slurm.run("scancel", late)
    until(lambda: len(sql(slurm, SQL)) == 10, "ten ended runs in the database")
    slurm.run("scancel", again)
    until(lambda: not slurm.run("squeue", "-h", "-t", "all", check=False).strip(), "an empty queue")

    ((gpu,),) = sql(slurm, GPU)
    expected = [
        int(dict(part.split("=") for part in tres.split(",")).get(gpu, 0)) * int(seconds)
        for _, tres, seconds in sql(slurm, SQL)
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
