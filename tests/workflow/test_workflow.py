"""What a change may cost, each line on the real graph; and mistakes seen through the real command."""

import hashlib
import os
import re
import shutil
from pathlib import Path

import pytest
from fault_projects import TRAINING, train_with
from project_copy import ROOT, copy_project, edit, job_counts, run_snakemake, scheduled

pytestmark = pytest.mark.slow
STUDY = Path("config/studies/parkopedia-2018")
AFTER_PRICES = {"compare", "check_claims", "draw_figures", "write_tables", "render_report", "write_index"}
LISTS = len(list((ROOT / STUDY / "prices").glob("*.yaml")))


def measured(project):
    """Content of every run file, by name."""
    files = sorted((project / "results" / "benchmarks").rglob("*.parquet"))
    return {str(file.relative_to(project)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_finished_project_has_nothing_to_do(project):
    assert scheduled(project) == {}


def test_price_edit_reruns_that_lists_pricing_the_comparison_and_the_report(project):
    remark(project / STUDY / "prices" / "gce.yaml")
    done = run_snakemake(project, "--dry-run", "--printshellcmds")
    jobs = job_counts(done.stdout)
    assert jobs["price_workloads"] == 1
    assert set(jobs) - {"all", "price_workloads", "print_report"} == AFTER_PRICES
    assert set(re.findall(r"\bprice_list=([\w-]+)", done.stdout)) == {"gce"}


def test_claim_edit_reruns_the_claims_and_the_report(project):
    remark(project / STUDY / "claims.yaml")
    assert scheduled(project) == {"check_claims": 1, "write_tables": 1, "render_report": 1, "write_index": 1}


GRID = 'energy: {sites: [{provider: own, g_per_kwh: {value: 380, as_of: "2018", source: this test}}]}\n'


@pytest.mark.parametrize(
    ("file", "old", "new", "first"),
    [
        ("workloads.yaml", "", "# seen again\n", "price_workloads"),
        ("study.yaml", "", GRID, "price_workloads"),
        ("study.yaml", "method: mean_efficiency", "method: usl", "extrapolate"),
        ("throughput.csv", ",213.0,", ",214.0,", "collect_throughput"),
    ],
)
def test_an_edit_reruns_the_first_table_that_it_is_in_and_what_follows(project, file, old, new, first):
    target = project / STUDY / file
    edit(target, old, new) if old else target.write_text(target.read_text() + new)
    jobs, stages = scheduled(project), ["collect_throughput", "fit_scaling", "extrapolate", "price_workloads"]
    expected = stages[stages.index(first) :]
    assert set(stages) & set(jobs) == set(expected)
    assert jobs["price_workloads"] == LISTS and set(jobs) >= AFTER_PRICES and "run_benchmark" not in jobs


def test_new_cell_measures_only_that_cell(project):
    edit(project / "config" / "config.yaml", "batch_size: [16]", "batch_size: [16, 32]")
    jobs = scheduled(project)
    assert jobs["run_benchmark"] == 2  # two runs of one new cell
    assert "collect_throughput" in jobs


def test_new_protocol_measures_everything_again(project):
    edit(project / "config" / "config.yaml", "protocol: 2", "protocol: 3")
    assert scheduled(project)["run_benchmark"] == 2


def test_a_comment_never_repeats_a_benchmark(project):
    for name in ("scripts/run_benchmark.py", "sweetspot/harness/__init__.py", "sweetspot/harness/train.py"):
        remark(project / "workflow" / name)
    for name in ("rules/benchmark.smk", "config/config.yaml", "config/instances.yaml", f"{STUDY}/study.yaml"):
        remark(project / name)
    assert "run_benchmark" not in scheduled(project)


def test_what_the_ground_says_otherwise_is_compared_anew(project):
    remark(project / "workflow" / "sweetspot" / "draws.py")
    jobs = scheduled(project)
    assert jobs["compare"] == 1 and "run_benchmark" not in jobs


def remark(file):
    file.write_text(file.read_text() + "\n# a remark\n")


def test_a_cell_out_of_memory_is_not_measured_again_unless_asked(project):
    from sweetspot.harness.request import parse_request
    from sweetspot.harness.runfile import write_run

    victim = sorted((project / "results" / "benchmarks").rglob("*.parquet"))[0]
    names = dict(part.split("~") for part in victim.relative_to(project / "results" / "benchmarks").parts)
    names["run"] = names["run"].removesuffix(".parquet")
    flags = [word for name, value in names.items() for word in (f"--{name.replace('_', '-')}", value)]
    write_run(parse_request([*flags, "--output", str(victim)]), [], {}, "oom", "killed by the kernel")
    jobs = scheduled(project)
    assert jobs["collect_throughput"] == 1
    assert "run_benchmark" not in jobs
    assert scheduled(project, "-R", "run_benchmark")["run_benchmark"] == 2
    one = scheduled(project, "--forcerun", str(victim.relative_to(project)))
    assert one["run_benchmark"] == 1


def test_git_pull_and_a_library_upgrade_never_repeat_a_benchmark(project):
    for file in [*(project / "workflow").rglob("*.py"), *(project / "rules").glob("*.smk"), project / "Snakefile"]:
        file.touch()
    edit(project / "rules" / "benchmark.smk", "else tee {log:q}", "else  tee {log:q}")
    assert "run_benchmark" not in scheduled(project)


def test_a_price_list_that_is_older_than_its_tables_but_another_is_priced(project):
    """`mv` of a file prepared last week, or a clock that was ahead: content decides, not time."""
    remark(file := project / STUDY / "prices" / "gce.yaml")
    os.utime(file, (1.5e9, 1.5e9))
    assert scheduled(project)["price_workloads"] == 1


def test_prices_touched_but_unchanged_rerun_nothing(project):
    for file in (project / STUDY / "prices").glob("*.yaml"):
        file.touch()
    assert scheduled(project) == {}


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("config/config.yaml", "runs: 2", "rums: 2", ["config/config.yaml", "'rums'", "unknown"]),
        ("config/config.yaml", "study: parkopedia-2018", "study: elsewhere", ["'elsewhere'", "does not exist"]),
        (f"{STUDY}/throughput.csv", ",213.0,", ",many,", ["throughput.csv, line", "'many'", "expected a number"]),
        (
            f"{STUDY}/prices/aws-on-demand.yaml",
            "instance: p2.xlarge",
            "instance: p9.xlarge",
            ["aws-on-demand.yaml", "p9.xlarge"],
        ),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_keeps_what_was_measured(project, file, old, new, words):
    before = measured(project)
    edit(project / file, old, new)
    done = run_snakemake(project)
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    for word in words:
        assert word in done.stdout
    assert measured(project) == before


def test_a_truncated_run_file_is_named_and_the_others_stay(project):
    victim = sorted((project / "results" / "benchmarks").rglob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:100])
    before = measured(project)
    done = run_snakemake(project)
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    assert str(victim.relative_to(project)) in done.stdout
    assert measured(project) == before


def test_a_hostile_name_on_the_command_line_is_refused(tmp_path):
    project = copy_project(tmp_path / "project")
    done = run_snakemake(project, "--dry-run", "--config", "study=$(touch owned)")
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    assert not list(tmp_path.rglob("owned"))
    shutil.rmtree(project)


def test_parsing_imports_no_tensorflow_and_writes_nothing(tmp_path):
    project = copy_project(tmp_path / "project")
    fake = project / "workflow" / "tensorflow.py"
    fake.write_text("raise SystemExit('tensorflow was imported while the workflow was parsed')\n")
    done = run_snakemake(project, "--dry-run")
    assert done.returncode == 0, done.stdout
    assert not (project / "results").exists()


def test_two_devices_yield_an_efficiency_row_and_logical_ones_are_priced_nowhere(project):
    import pandas as pd

    edit(project / "config" / "config.yaml", "gpus: [1]", "gpus: [1, 2]")
    train_with(project, TRAINING)  # steps of 0.25 s
    file = project / STUDY / "prices" / "office-box.yaml"
    offer = "  - {instance: workstation, purchase: on_demand, per_hour: 1.0}\n"
    edit(file, "offers:\n", f"offers:\n{offer}")
    workloads = project / STUDY / "workloads.yaml"
    job = "tiny: {kind: training, title: Tiny, model: tiny_cnn, samples: 1000, source: test}\n"
    workloads.write_text(workloads.read_text() + job)
    done = run_snakemake(project, "results/parkopedia-2018/costs/office-box.parquet")
    assert done.returncode == 0, done.stdout[-4000:]
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
