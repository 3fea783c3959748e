"""The budget on the real graph: what fits is scheduled, what is measured stays, and the rest is said."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decision_tables import only, settings
from project_copy import edit, run_snakemake, scheduled
from sweetspot.decision.offers_left_out import warning_table
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.matrix.schedule import Run, priorities, run_file, select_runs, skipped_table

ROOT = Path(__file__).parent.parent.parent


def a_plan(**measure):
    """Six runs of three models on this machine, at the headline's batch and at another."""
    overrides = {"matrix": {"model": ["vgg16"], "batch_size": [32, 64]}, "measure": measure}
    return load_invocation(ROOT / "config" / "config.yaml", overrides, ROOT / "config")


def a_run_of(plan, folder, batch_size, run, facts, seconds=(1.0, 1.0)):
    cell = next(cell for cell in plan.cells if cell.batch_size == batch_size)
    file = run_file(folder, Run(cell, run))
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"seconds": list(seconds)}).replace_schema_metadata({"sweetspot": json.dumps(facts)})
    pq.write_table(table, file)
    return Run(cell, run)


def chosen(plan, folder):
    return [(run.cell.batch_size, run.run) for run in select_runs(plan, folder).selected]


def test_the_headlines_batch_is_measured_first_and_second_runs_after_first_ones(tmp_path):
    plan = a_plan(budget_minutes=6, estimate_minutes=2)
    assert plan.study.cells.headline("vgg16") == 64
    assert chosen(plan, tmp_path) == [(32, 1), (64, 1), (64, 2)]  # in the matrix's order; (32, 2) is left out
    order = sorted(priorities(plan).items(), key=lambda item: -item[1])
    assert [(run.cell.batch_size, run.run) for run, _ in order] == [(64, 1), (64, 2), (32, 1), (32, 2)]


def test_what_is_measured_stays_and_its_real_time_is_spent_first(tmp_path):
    plan = a_plan(budget_minutes=6, estimate_minutes=2)
    a_run_of(plan, tmp_path, 32, 2, {"duration_s": 300.0, "mean_step_s": None})
    # five of six minutes are spent on a run that would have been left out; nothing else of two minutes fits,
    # and a second run of that cell takes five
    assert chosen(plan, tmp_path) == [(32, 2)]
    assert chosen(a_plan(budget_minutes=1), tmp_path) == [(32, 2)]
    assert chosen(a_plan(), tmp_path) == [(32, 1), (32, 2), (64, 1), (64, 2)]


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [({"duration_s": 100.0, "mean_step_s": 32.0}, (32.0,)), ({}, (32.0, 32.0, 32.0))],  # as now, and as before
)
def test_another_batch_of_the_model_is_estimated_by_its_seconds_per_sample(tmp_path, facts, seconds):
    plan = a_plan(budget_minutes=1000, min_seconds=20, min_steps_slow=3, warmup_steps=2)
    done = a_run_of(plan, tmp_path, 32, 1, facts, seconds)
    choice = select_runs(plan, tmp_path)
    own = 100.0 if facts else 30 + 96
    # 1 s a sample: 64 s a step; 30 s to start, two warm-up steps, three timed and at most one more: 30 + 6 x 64
    assert choice.minutes * 60 == pytest.approx(2 * own + 2 * (30 + 6 * 64))
    assert done in choice.selected


def test_a_torn_run_file_is_kept_and_estimated_like_one_that_is_missing(tmp_path):
    plan = a_plan(budget_minutes=4, estimate_minutes=2)
    run = a_run_of(plan, tmp_path, 64, 1, {})
    run_file(tmp_path, run).write_bytes(b"PAR1 and no more")
    assert chosen(plan, tmp_path) == [(64, 1), (64, 2)]


def test_dollars_are_counted_by_the_configured_rate_never_by_a_price_list(tmp_path):
    plan = a_plan(budget_usd=0.25, usd_per_hour={"workstation": 3.0}, estimate_minutes=2)
    assert chosen(plan, tmp_path) == [(64, 1), (64, 2)]  # 0.10 USD a run
    with pytest.raises(UserError, match="usd_per_hour"):
        a_plan(budget_usd=1.0)
    with pytest.raises(UserError, match="elsewhere"):
        a_plan(budget_usd=1.0, usd_per_hour={"elsewhere": 3.0})


def test_the_budget_is_no_part_of_how_a_run_is_measured():
    assert a_plan(budget_minutes=5).config.measure.flags() == a_plan().config.measure.flags()


def test_what_is_left_out_is_a_warning_of_its_cell():
    row = {"instance": "w", "framework": "torch", "model": "vgg16", "batch_size": 64, "gpus": 1, "precision": "fp32"}
    table = skipped_table([{**row, "variant": "A", "run": number} for number in (1, 2)], "budget_minutes 6")
    assert table[["model", "batch_size", "runs", "budget"]].to_dict("records") == [
        {"model": "vgg16", "batch_size": 64, "runs": "1, 2", "budget": "budget_minutes 6"}
    ]
    none = pd.DataFrame(
        columns=["warnings", "status", "efficiency", "severity", "assumed_interval", "throughput_basis"]
    )
    none = none.assign(instance=None, model=None)
    (said,) = warning_table(only(throughput=none, left_out=table), none, settings(), {}).to_dict("records")
    assert (said["rule"], said["instance"], said["batch_size"]) == ("left_out", "w", 64)
    assert "not measured within budget_minutes 6: run 1, 2" in said["message"]
    assert skipped_table([], "").empty


@pytest.mark.slow
def test_a_budget_never_repeats_or_removes_what_is_measured_and_reaches_the_page(project):
    edit(project / "config" / "config.yaml", "budget_minutes: null", "budget_minutes: 0.1")
    assert scheduled(project) == {}
    edit(project / "config" / "config.yaml", "batch_size: [16]", "batch_size: [16, 32]")
    told = run_snakemake(project, "--dry-run")
    assert "left out: instance=workstation framework=tensorflow model=tiny_cnn batch_size=32" in told.stdout
    assert set(scheduled(project)) == {
        "list_left_out",
        "compare",
        "check_claims",
        "draw_figures",
        "write_tables",
        "render_report",
        "write_index",
    }
    done = run_snakemake(project)
    assert done.returncode == 0, done.stdout[-4000:]
    results = project / "results" / "parkopedia-2018"
    assert list(pd.read_parquet(results / "left_out.parquet")["batch_size"]) == [32]
    assert 16 in list(pd.read_parquet(results / "throughput.parquet").query("basis == 'measured'")["batch_size"])
    assert "not measured within budget_minutes 0.1" in (results / "report" / "tables" / "warnings.csv").read_text()
    assert scheduled(project) == {}
    assert scheduled(project, "--config", "measure={budget_minutes: 600}")["run_benchmark"] == 2
