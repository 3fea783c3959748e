"""What a person sees in the terminal: a line a step, how many are left, and last the sentence of what failed."""

import re
import subprocess

from fault_projects import CELL, TRAINING, train_with
from project_copy import copy_project, edit, environment, run_snakemake

STUDY = "study=rare-2018"
STEP = re.compile(r"\[(\d+)/(\d+)\] (\w+)((?: \w+=\S+)*)")
PRICES = "config/studies/rare-2018/prices"


def steps(output):
    return [STEP.fullmatch(line) for line in output.splitlines() if line.startswith("[")]


def test_a_run_shows_a_line_a_step_and_a_failed_one_its_sentence_last(tmp_path):
    project = copy_project(tmp_path / "project")
    done = run_snakemake(project, "--config", STUDY)
    assert done.returncode == 0, done.stdout
    found = steps(done.stdout)
    assert all(found), done.stdout
    # Six price lists; fit, extrapolate and the rest once each; `all` makes nothing, and is the eighteenth.
    assert [int(step[1]) for step in found] == list(range(1, 18))
    assert {step[2] for step in found} == {"18"}
    priced = sorted(step[4] for step in found if step[3] == "price_workloads")
    assert priced == sorted(f" price_list={file.stem}" for file in (project / PRICES).glob("*.yaml"))
    assert done.stdout.splitlines()[-1] == "18 of 18 steps done"
    # 17 steps, the last line, and two before: the profile, and that the plan is made, which may take a while.
    assert len(done.stdout.splitlines()) == 20, done.stdout
    (kept,) = (project / ".snakemake" / "log").iterdir()
    assert "    input: config/instances.yaml, " in kept.read_text()  # the file has all

    edit(project / PRICES / "aws.yaml", "per_hour: 0.9", "per_huor: 0.9")
    edit(project / PRICES / "gce.yaml", "as_of:", "as_off:")
    done = run_snakemake(project, "--config", STUDY)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    failed = {line for line in lines if line.startswith("failed: ")}
    assert failed == {f"failed: price_workloads price_list={name}" for name in ("aws", "gce")}
    last = sorted(line.split(": key '")[0] for line in lines[-2:])
    assert last == [f"error: {PRICES}/{name}.yaml" for name in ("aws", "gce")]


def test_quiet_says_nothing_but_why_it_failed(tmp_path):
    """One line is Snakemake's own, of the profile, before it reads anything of ours."""
    project = copy_project(tmp_path / "project")
    asked = ("results/rare-2018/costs/aws.parquet", "--config", STUDY)
    done = run_snakemake(project, *asked, "--quiet", "all")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1, done.stdout

    edit(project / PRICES / "aws.yaml", "per_hour: 0.9", "per_huor: 0.9")
    sentence = f"error: {PRICES}/aws.yaml: key 'offers[0].per_huor' is unknown; "
    done = run_snakemake(project, *asked, "--quiet", "all")
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines), lines[-2]) == (1, 3, "failed: price_workloads")
    assert lines[-1].startswith(sentence), done.stdout


def test_quiet_leaves_the_words_of_a_measurement_to_its_log(project):
    train_with(project, TRAINING)
    done = run_snakemake(project, f"{CELL}/run~3.parquet", "--quiet", "all")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1, done.stdout
    (log,) = (project / "results" / "logs" / "run_benchmark").rglob("run~3.log")
    assert "step 2 of" in log.read_text()


def test_v_shows_all_and_a_dry_run_lists_what_it_would_do(tmp_path):
    project = copy_project(tmp_path / "project")
    planned = run_snakemake(project, "results/rare-2018/throughput.parquet", "--dry-run", "--config", STUDY)
    assert "rule collect_throughput:" in planned.stdout
    assert "reason: " in planned.stdout
    line = ["snakemake", "--cores", "1", "--config", STUDY, "--", "results/rare-2018/throughput.parquet"]
    told = subprocess.run(
        line, cwd=project, env=environment(project) | {"V": "1"}, capture_output=True, text=True, check=True
    )
    assert "localrule collect_throughput:" in told.stderr
    assert "Job stats:" in told.stderr
