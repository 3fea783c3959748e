"""Scenarios of the start-up's study: by the workflow, by an edit of the study itself, and by hand."""

import shutil

import pandas as pd
import pytest
from project_copy import run_snakemake
from replanned import Replanned
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

STUDY = "start-up-2026"
ASKED = ("--config", f"study={STUDY}", "measure_on=[]")
KWH_A_MONTH = ((25 - 0.6667) * 10240000 / 117.2 / 3600 + 6 * 115305030 / 905 / 3600) * 0.45  # README.md of the study


@pytest.fixture(scope="module")
def project(study_results, tmp_path_factory):
    """A copy of the project with the study and its scenarios, made."""
    made = tmp_path_factory.mktemp("scenarios") / "project"
    shutil.copytree(study_results(STUDY).parents[1], made, symlinks=True)
    return made


def table_of(project):
    return pd.read_parquet(project / f"results/{STUDY}/comparison/scenarios.parquet").set_index("scenario")


def test_each_scenario_says_what_differs_and_what_it_costs(project):
    table = table_of(project).loc[["", "electricity", "twice-the-work"]]
    assert table["title"].iloc[0] == "as planned" and table["same_answer"].iloc[0]
    assert table["changes"].map(list).to_dict() == {
        "": [], "electricity": ["electricity 0.45"], "twice-the-work": ["2 times the jobs"],
    }  # fmt: skip
    planned, usd = table["usd_per_month"].iloc[0], table["usd_per_month"]
    # 0.35 EUR (0.28 to 0.45, 90 %) is a median. The mean of the log-normal in two pieces, s = ln(0.35 / 0.28) / 1.645
    # below and ln(0.45 / 0.35) / 1.645 above: 0.35 (exp(s^2 / 2) Phi(-s) + exp(s^2 / 2) Phi(s)) = 0.3561 EUR.
    assert usd["electricity"] - planned == pytest.approx(1.1378 * (0.45 - 0.3561) * KWH_A_MONTH, rel=0.06)


def test_a_scenario_is_what_an_edit_of_the_study_would_be(project, tmp_path):
    """Twice the jobs, written into workloads.yaml itself."""
    verdict = Replanned(project / "results" / STUDY, tmp_path).with_jobs(2.0).iloc[0]
    found = table_of(project).loc["twice-the-work"]
    for name in ("best_title", "rival_title"):
        assert found[name] == verdict[name], name
    assert [found[name] for name in ("usd", "ratio", "p_cheaper")] == pytest.approx(
        [verdict[name] for name in ("usd", "ratio", "p_cheaper")], rel=1e-9
    )


def test_the_command_prints_the_table(project, capsys, monkeypatch):
    monkeypatch.chdir(project)
    assert main(["compare-scenarios", STUDY]) == 0
    assert "| Electricity for 0.45 EUR | Keep what you have." in capsys.readouterr().out
    with pytest.raises(UserError, match="has no scenario"):
        main(["compare-scenarios", "rare-2018"])


def test_an_edit_of_a_scenario_prices_and_compares_nothing_of_the_study_again_and_a_mistake_is_one_sentence(project):
    folder = project / "config/studies" / STUDY / "scenarios"
    file = folder / "electricity.yaml"
    file.write_text(file.read_text().replace("per_kwh: 0.45", "per_kwh: 0.55"))
    done = run_snakemake(project, "report", *ASKED, "--dry-run")
    made = {line.split()[0] for line in done.stdout.splitlines() if line.startswith(("compare", "price", "render"))}
    assert made == {"compare_scenarios", "render_report"}, done.stdout
    file = folder / "wrong.yaml"
    file.write_text("title: Wrong\nworkloads: {month: {jobs: [{name: ViT-M, per_month: 4}]}}\n")
    done = run_snakemake(project, "scenarios", *ASKED)
    file.unlink()
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert "scenarios/wrong.yaml: with it" in last and "jobs[2].model' is missing and needed" in done.stdout
