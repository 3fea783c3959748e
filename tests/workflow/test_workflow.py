"""What a change may cost, each line on the real graph; and mistakes seen through the real command."""

import hashlib
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from fault_projects import TRAINING, train_with
from project_copy import ROOT, copy_project, edit, job_counts, run_snakemake, scheduled
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import write_run

STUDY = Path("config/studies/parkopedia-2018")
CONFIG = Path("config/config.yaml")
AFTER_PRICES = {"compare", "check_claims", "draw_figures", "write_tables", "render_report", "write_index"}
STAGES = ["collect_throughput", "fit_scaling", "extrapolate", "price_workloads"]
LISTS = len(list((ROOT / STUDY / "prices").glob("*.yaml")))
GRID = 'energy: {sites: [{provider: own, g_per_kwh: {value: 380, as_of: "2018", source: this test}}]}\n'


@pytest.fixture(scope="module")
def planned(finished_project, tmp_path_factory) -> Path:
    """A copy of the finished project in which things are only planned: who edits a file puts it back."""
    return Path(shutil.copytree(finished_project, tmp_path_factory.mktemp("planned") / "project", symlinks=True))


def measured(project: Path) -> dict[str, str]:
    """Content of every run file, by name."""
    files = sorted((project / "results" / "benchmarks").rglob("*.parquet"))
    return {str(file.relative_to(project)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def remark(file: Path) -> None:
    file.write_text(file.read_text() + "\n# a remark\n")


def test_a_price_edit_reruns_that_lists_pricing_the_comparison_and_the_report(project):
    prices = project / STUDY / "prices"
    for file in prices.glob("*.yaml"):
        file.touch()
    assert scheduled(project) == {}  # content decides, not time
    remark(prices / "gce.yaml")
    os.utime(prices / "gce.yaml", (1.5e9, 1.5e9))  # as by `mv` of a file prepared last week, or a clock that was ahead
    done = run_snakemake(project, "--dry-run", "--printshellcmds")
    jobs = job_counts(done.stdout)
    assert jobs["price_workloads"] == 1
    assert set(jobs) - {"all", "price_workloads", "print_report"} == AFTER_PRICES
    assert set(re.findall(r"\bprice_list=([\w-]+)", done.stdout)) == {"gce"}


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (STUDY / "claims.yaml", "", "# seen again\n", {"check_claims", "write_tables", "render_report", "write_index"}),
        (STUDY / "workloads.yaml", "", "# seen again\n", {*STAGES[3:], *AFTER_PRICES}),
        (STUDY / "study.yaml", "", GRID, {*STAGES[3:], *AFTER_PRICES}),
        (STUDY / "study.yaml", "method: mean_efficiency", "method: usl", {*STAGES[2:], *AFTER_PRICES}),
        (STUDY / "throughput.csv", ",213.0,", ",214.0,", {*STAGES, *AFTER_PRICES}),
        (CONFIG, "batch_size: [16]", "batch_size: [16, 32]", {"run_benchmark", *STAGES, *AFTER_PRICES}),
        (CONFIG, "protocol: 2", "protocol: 3", {"run_benchmark", *STAGES, *AFTER_PRICES}),
    ],
)
def test_an_edit_reruns_the_first_table_that_it_is_in_and_what_follows(planned, file, old, new, expected):
    target = planned / file
    before = target.read_text()
    edit(target, old, new) if old else target.write_text(before + new)
    jobs = scheduled(planned)
    target.write_text(before)
    tables = {"run_benchmark", *STAGES, *AFTER_PRICES}
    assert set(jobs) & tables == expected and (file.stem != "claims" or set(jobs) == expected)
    assert jobs.get("price_workloads", LISTS) == LISTS
    assert jobs.get("run_benchmark", 2) == 2  # two runs of the one cell that is new, or measured otherwise


def test_a_comment_git_pull_and_a_library_upgrade_never_repeat_a_benchmark(project):
    for file in [*(project / "workflow").rglob("*.py"), *(project / "rules").glob("*.smk"), project / "Snakefile"]:
        file.touch()
    for file in (project / "results" / "benchmarks").rglob("*.parquet"):
        os.utime(file, (4e9, 4e9))  # the year 2096: the clock was wrong when they were written
    for name in ("scripts/run_benchmark", "sweetspot/harness/__init__", "sweetspot/harness/train", "sweetspot/draws"):
        remark(project / "workflow" / f"{name}.py")
    for name in ("rules/benchmark.smk", CONFIG, "config/instances.yaml", STUDY / "study.yaml"):
        remark(project / name)
    edit(project / "rules" / "benchmark.smk", "else tee {log:q}", "else  tee {log:q}")
    jobs = scheduled(project)
    assert "run_benchmark" not in jobs and jobs["compare"] == 1  # of the draws: compared anew


def test_a_cell_out_of_memory_is_not_measured_again_unless_asked(project):
    victim = sorted((project / "results" / "benchmarks").rglob("*.parquet"))[0]
    names = dict(part.split("~") for part in victim.relative_to(project / "results" / "benchmarks").parts)
    names["run"] = names["run"].removesuffix(".parquet")
    flags = [word for name, value in names.items() for word in (f"--{name.replace('_', '-')}", value)]
    write_run(parse_request([*flags, "--output", str(victim)]), [], {}, "oom", "killed by the kernel")
    jobs = scheduled(project)
    assert jobs["collect_throughput"] == 1 and "run_benchmark" not in jobs
    assert scheduled(project, "--forcerun", str(victim.relative_to(project)))["run_benchmark"] == 1


@pytest.mark.parametrize("damaged", ["a figure", "a run file"])
def test_a_mistake_ends_in_one_sentence_and_keeps_what_was_measured(project, damaged):
    victim = sorted((project / "results" / "benchmarks").rglob("*.parquet"))[0]
    words = [str(victim.relative_to(project))]
    if damaged == "a run file":
        victim.write_bytes(victim.read_bytes()[:100])
    else:
        edit(project / STUDY / "throughput.csv", ",213.0,", ",many,")
        words = ["throughput.csv, line", "'many'", "expected a number"]
    before = measured(project)
    done = run_snakemake(project)
    assert done.returncode != 0
    assert "Traceback" not in done.stdout and all(word in done.stdout for word in words), done.stdout
    assert measured(project) == before


def test_parsing_imports_no_tensorflow_writes_nothing_and_refuses_a_hostile_name(tmp_path):
    project = copy_project(tmp_path / "project")
    fake = project / "workflow" / "tensorflow.py"
    fake.write_text("raise SystemExit('tensorflow was imported while the workflow was parsed')\n")
    done = run_snakemake(project, "--dry-run")
    assert done.returncode == 0, done.stdout
    assert not (project / "results").exists()
    done = run_snakemake(project, "--dry-run", "--config", "study=$(touch owned)")
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert not list(tmp_path.rglob("owned"))


def test_two_devices_yield_an_efficiency_row_and_logical_ones_are_priced_nowhere(project):
    edit(project / CONFIG, "gpus: [1]", "gpus: [1, 2]")
    train_with(project, TRAINING)  # steps of 0.25 s
    file = project / STUDY / "prices" / "office-box.yaml"
    edit(file, "offers:\n", "offers:\n  - {instance: workstation, purchase: on_demand, per_hour: 1.0}\n")
    workloads = project / STUDY / "workloads.yaml"
    job = "tiny: {kind: training, title: Tiny, model: tiny_cnn, samples: 1000, source: test}\n"
    workloads.write_text(workloads.read_text() + job)
    done = run_snakemake(project, "results/parkopedia-2018/costs/office-box.parquet", "--quiet", "all")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1, done.stdout[-4000:]
    logs = [
        file for file in (project / "results" / "logs" / "run_benchmark").rglob("run~*.log") if "gpus~2" in str(file)
    ]
    assert logs and all("step 2 of" in log.read_text() for log in logs)  # said quietly, to the log
    results = project / "results" / "parkopedia-2018"
    speed = pd.read_parquet(results / "throughput.parquet").query("instance == 'workstation'").set_index("gpus")
    assert list(speed["logical"]) == [False, True]
    efficiency = pd.read_parquet(results / "efficiency.parquet").query("instance == 'workstation'")
    (row,) = efficiency.to_dict("records")
    assert (row["gpus"], row["basis"]) == (2, "measured")
    by_hand = speed.loc[2, "images_per_s"] / (2 * speed.loc[1, "images_per_s"])
    assert row["efficiency"] == pytest.approx(by_hand)
    assert speed.loc[2, "images_per_s"] == pytest.approx(2 * 16 / 0.25)
    priced = pd.read_parquet(results / "costs" / "office-box.parquet").query("instance == 'workstation'")
    assert set(priced["gpus"]) == {1}
