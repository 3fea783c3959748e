"""What a person sees in the terminal: a line a step, how many are left, and last the sentence of what failed."""

import re

from project_copy import captured, copy_project, edit, environment, run_snakemake

STUDY = "study=rare-2018"
STEP = re.compile(r"\[(\d+)/(\d+)\] (\w+)((?: \w+=\S+)*)")
PRICES = "config/studies/rare-2018/prices"
COSTS = "results/rare-2018/costs/aws.parquet"


def test_a_run_shows_a_line_a_step_and_a_failed_one_its_sentence_last(tmp_path):
    project = copy_project(tmp_path / "project")
    lists = sorted(file.stem for file in (project / PRICES).glob("*.yaml"))
    done = run_snakemake(project, "costs", "--config", STUDY)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    found = [STEP.fullmatch(line) for line in lines if line.startswith("[")]
    assert all(found), done.stdout
    # Throughput, fit, extrapolation and each price list; the last step, `costs` itself, makes nothing.
    last = 3 + len(lists) + 1
    assert [(int(step[1]), int(step[2])) for step in found] == [(number, last) for number in range(1, last)]
    priced = sorted(step[4] for step in found if step[3] == "price_workloads")
    assert priced == [f" price_list={name}" for name in lists]
    # The steps, and two lines before: the profile, and that the plan is made, which may take a while.
    assert lines[-1] == f"{last} of {last} steps done" and len(lines) == last + 2, done.stdout
    (kept,) = (project / ".snakemake" / "log").iterdir()
    assert "    input: config/instances.yaml, " in kept.read_text()  # the file has all

    # One line is Snakemake's own, of the profile, before it reads anything of ours.
    quiet = run_snakemake(project, COSTS, "--config", STUDY, "--quiet", "all", "--force")
    assert quiet.returncode == 0 and len(quiet.stdout.splitlines()) == 1, quiet.stdout
    edit(project / PRICES / "aws.yaml", "per_hour: 0.9", "per_huor: 0.9")
    quiet = run_snakemake(project, COSTS, "--config", STUDY, "--quiet", "all").stdout.splitlines()
    assert (len(quiet), quiet[-2]) == (3, "failed: price_workloads")
    assert quiet[-1].startswith(f"error: {PRICES}/aws.yaml: key 'offers[0].per_huor' is unknown; ")

    edit(project / PRICES / "gce.yaml", "as_of:", "as_off:")
    done = run_snakemake(project, "--config", STUDY)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    failed = {line for line in lines if line.startswith("failed: ")}
    assert failed == {f"failed: price_workloads price_list={name}" for name in ("aws", "gce")}
    assert sorted(line.split(": key '")[0] for line in lines[-2:]) == [
        f"error: {PRICES}/{name}.yaml" for name in ("aws", "gce")
    ]


def test_v_shows_all_and_a_dry_run_lists_what_it_would_do(tmp_path):
    project = copy_project(tmp_path / "project")
    target = ("--config", STUDY, "--", "results/rare-2018/throughput.parquet")
    planned = run_snakemake(project, "--dry-run", *target)
    assert "rule collect_throughput:" in planned.stdout and "reason: " in planned.stdout
    told = captured(["snakemake", "--cores", "1", *target], project, environment(project) | {"V": "1"})
    assert told.returncode == 0
    assert "localrule collect_throughput:" in told.stdout and "Job stats:" in told.stdout
