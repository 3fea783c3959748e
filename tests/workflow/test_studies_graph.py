"""Every study runs through the same graph: which jobs, how many, and what an edit of a log makes anew."""

import json
import re
import shutil

import pandas as pd
import pytest
from project_copy import ROOT, copy_project, edit, scheduled
from sweetspot.report.decided_anew import answer_of

STUDIES = sorted(path.name for path in (ROOT / "config" / "studies").iterdir() if (path / "study.yaml").is_file())
PAPER = [name for name in STUDIES if name != "parkopedia-2018"]  # nothing of them is measured here


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("papers") / "project")


@pytest.mark.parametrize("study", ["office-box-2026", "start-up-2026", "woolf-2017"])
def test_a_study_on_paper_measures_nothing_and_prices_each_list_once(papers, study):
    jobs = scheduled(papers, "--config", f"study={study}")
    lists = len(list((ROOT / "config" / "studies" / study / "prices").glob("*.yaml")))
    assert "run_benchmark" not in jobs
    assert jobs["price_workloads"] == lists
    assert {name: count for name, count in jobs.items() if name != "price_workloads" and count != 1} == {}


def test_pictures_for_slides_are_made_when_asked_for(papers):
    """The page draws its charts itself: a price edit waits for no picture."""
    choice = ("--config", "study=rare-2018")
    pictures = {"draw_pictures", "draw_speed_pictures"}
    assert not pictures & set(scheduled(papers, *choice))
    assert pictures | {"draw_figures", "draw_speed"} <= set(scheduled(papers, "figures", *choice))


@pytest.mark.slow
@pytest.mark.parametrize("study", PAPER)
def test_a_study_ends_in_its_page_and_the_manual_says_its_answer(study_results, study):
    made = study_results(study)
    assert (made / "report" / "index.html").stat().st_size > 5_000
    # The list of all pages follows the studies that were made since.
    assert set(scheduled(made.parents[1], "--config", f"study={study}", "measure_on=[]")) <= {"write_index"}
    answer = answer_of(pd.read_parquet(made / "comparison" / "verdict.parquet"))
    assert told_in_the_manual(study) == answer
    assert answer in " ".join(json.loads((made / "report" / "answer.json").read_text())["sentences"])


def told_in_the_manual(study):
    """The answer of a study in docs/studies.md: its item of the list, on one line."""
    text = (ROOT / "docs" / "studies.md").read_text()
    item = re.search(rf"(?m)^- `{study}`: (.*(?:\n  .*)*)", text)
    assert item is not None
    return " ".join(item[1].split())


@pytest.mark.slow
def test_an_edited_log_collects_throughput_anew_and_what_follows(study_results, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(study_results("woolf-2017").parents[1], project, symlinks=True)
    choice = ("--config", "study=woolf-2017", "measure_on=[]")
    edit(project / "config" / "studies" / "woolf-2017" / "logs" / "p100" / "mnist_mlp_cntk.csv", "\n1,", "\n1,9")
    jobs = scheduled(project, *choice)
    after = {"collect_throughput", "fit_scaling", "extrapolate", "price_workloads", "compare", "check_claims"}
    after |= {"render_report"}
    assert after <= set(jobs)
