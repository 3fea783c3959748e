"""The budget on the real graph: what fits is scheduled, what is measured stays, and the rest is said."""

import pandas as pd
from decision_tables import only, settings
from project_copy import edit, run_snakemake, scheduled
from sweetspot.decision.compare import warning_table
from sweetspot.matrix.schedule import skipped_table


def test_what_is_left_out_is_a_warning_of_its_cell():
    row = {"instance": "w", "framework": "torch", "model": "vgg16", "batch_size": 64, "gpus": 1, "precision": "fp32"}
    table = skipped_table([{**row, "variant": "A", "run": number} for number in (1, 2)], "budget_minutes 6")
    assert table[["model", "batch_size", "runs", "budget"]].to_dict("records") == [
        {"model": "vgg16", "batch_size": 64, "runs": "1, 2", "budget": "budget_minutes 6"}
    ]
    columns = "warnings status efficiency severity assumed_interval throughput_basis fits workload instance model"
    none = pd.DataFrame(columns=[*columns.split(), "in_answer"])
    (said,) = warning_table(only(throughput=none, left_out=table), none, settings(), {}).to_dict("records")
    assert (said["rule"], said["instance"], said["batch_size"]) == ("left_out", "w", 64)
    assert "not measured within budget_minutes 6: run 1, 2" in said["message"]
    assert skipped_table([], "").empty


def test_a_budget_never_repeats_or_removes_what_is_measured_and_reaches_the_page(project):
    edit(project / "config" / "config.yaml", "budget_minutes: null", "budget_minutes: 0.1")
    assert scheduled(project) == {}
    edit(project / "config" / "config.yaml", "batch_size: [16]", "batch_size: [16, 32]")
    told = run_snakemake(project, "--dry-run")
    assert "2 runs of 1 cells are left out" in told.stdout
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
