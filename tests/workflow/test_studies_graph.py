"""Every study runs through the same graph: which jobs, how many, and what an edit of a log makes anew."""

import json
import re
import shutil

import pandas as pd
import pytest
from project_copy import ROOT, copy_project, edit, run_snakemake, scheduled

STUDIES = sorted(path.name for path in (ROOT / "config" / "studies").iterdir() if (path / "study.yaml").is_file())
PAPER = [name for name in STUDIES if name != "parkopedia-2018"]  # nothing of them is measured here


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("papers") / "project")


def test_the_five_studies_are_there():
    assert {"parkopedia-2018", "woolf-2017", "rare-2018", "cheap-cron-2018", "initialized-2017"} <= set(STUDIES)


@pytest.mark.parametrize("study", PAPER)
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
def test_a_study_ends_in_its_page_and_the_manual_says_its_answer(papers, study):
    done = run_snakemake(papers, "--config", f"study={study}")
    assert done.returncode == 0, done.stdout[-4000:]
    page = papers / "results" / study / "report" / "index.html"
    assert page.stat().st_size > 10_000
    assert scheduled(papers, "--config", f"study={study}") == {}
    assert told_in_the_manual(study) == answer_of(papers, study)
    answer = json.loads((page.parent / "answer.json").read_text())
    assert answer_of(papers, study) in " ".join(answer["sentences"])


@pytest.mark.slow
def test_the_manual_says_the_answer_of_the_founding_study_which_rests_on_no_measurement_here(papers, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(papers, project, symlinks=True)
    file = project / "config" / "studies" / "parkopedia-2018" / "study.yaml"
    file.write_text(file.read_text() + "measure: false\n")
    target = "results/parkopedia-2018/comparison/verdict.parquet"
    done = run_snakemake(project, target, "--config", "study=parkopedia-2018")
    assert done.returncode == 0, done.stdout[-4000:]
    assert told_in_the_manual("parkopedia-2018") == answer_of(project, "parkopedia-2018")
    days = pd.read_parquet(project / target.replace("verdict", "break_even")).set_index(["model", "instance"])
    readme = (ROOT / "config" / "studies" / "parkopedia-2018" / "README.md").read_text()
    decides = days.loc[("resnet50", "TPUv2")]
    ends = f"({decides['gain_low']:.2f} to {decides['gain_high']:.2f})"
    times, pays = f"{decides['gain_at_use']:.2f} times", f"{decides['days']:.1f} days"
    assert f"| TPUv2, {times} {ends}, pays from {pays} |" in readme
    manual = " ".join((ROOT / "docs" / "studies.md").read_text().split())
    assert f"the box is {times} cheaper {ends}" in manual and f"pays from {pays} a month" in manual
    for model in ("inception3", "vgg16"):
        row = days.loc[(model, "GCE_1xV100")]
        assert f"| GCE_1xV100, {row['gain_at_use']:.2f} times, {row['days']:.1f} days |" in readme


def told_in_the_manual(study):
    """The answer of a study in docs/studies.md: its item of the list, on one line."""
    text = (ROOT / "docs" / "studies.md").read_text()
    item = re.search(rf"(?m)^- `{study}`: (.*(?:\n  .*)*)", text)
    assert item is not None
    return " ".join(item[1].split())


def comparison(project, study):
    return {file.stem: pd.read_parquet(file) for file in (project / "results" / study / "comparison").glob("*.parquet")}


def answer_of(project, study):
    """The verdict and what to do."""
    first = comparison(project, study)["verdict"].iloc[0]
    return f"{first['sentence']} {first['do_this']}"


@pytest.mark.slow
def test_an_edited_log_collects_throughput_anew_and_what_follows(papers, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(papers, project, symlinks=True)
    choice = ("--config", "study=woolf-2017")
    assert run_snakemake(project, *choice).returncode == 0
    edit(project / "config" / "studies" / "woolf-2017" / "logs" / "p100" / "mnist_mlp_cntk.csv", "\n1,", "\n1,9")
    jobs = scheduled(project, *choice)
    after = {"collect_throughput", "fit_scaling", "extrapolate", "price_workloads", "compare", "check_claims"}
    after |= {"render_report"}
    assert after <= set(jobs)
