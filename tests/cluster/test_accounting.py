"""A Slurm with accounting: accounts and QOS that allow something else, and states that the queue has forgotten.

What `sweetspot import-use` reads of its `sacct`: a real record of one, tests/use/test_job_records.py.
"""

import signal

import pytest
from patience import PATIENCE_S, until
from project_copy import edit
from slurm_project import facts, jobs, measure_on, popen, profile, runs, submit, without_framework

pytestmark = pytest.mark.cluster
ACCOUNTED = True


def states(slurm):
    """Job and state as the accounting has them, of all jobs."""
    lines = slurm.run("sacct", "-X", "--noheader", "--parsable2", "--allusers", "--format=JobIDRaw,State").splitlines()
    return dict(line.split("|") for line in lines)


def test_what_the_account_or_a_qos_does_not_allow_is_one_sentence_and_no_job(cluster_project, slurm):
    profile(cluster_project, **{"default-resources": {"slurm_account": "physics"}})
    done = submit(cluster_project, slurm)
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert "Invalid account" in done.stdout and "slurm_account of the profile" in done.stdout

    profile(cluster_project, **{"default-resources": {"slurm_account": "test"}, "slurm-qos": "short"})
    small = "partition: small, mem_mb: 2000, runtime_min: "
    edit(cluster_project / "config" / "instances.yaml", f"{small}15", f"{small}30")
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
