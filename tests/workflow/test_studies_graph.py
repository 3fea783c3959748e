"""Every study runs through the same graph to its page, whose answer the manual prints; and what an edit makes anew."""

import json
import re
import shutil

import pandas as pd
import pytest
from project_copy import ROOT, edit, scheduled
from study_tables import STUDIES
from sweetspot.report.decided_anew import answer_of

PAPER = sorted({file.parent.name for file in STUDIES.glob("*/study.yaml")} - {"parkopedia-2018"})  # measured nowhere
WOOLF = ("--config", "study=woolf-2017", "measure_on=[]")


@pytest.mark.parametrize("study", PAPER)
def test_a_study_ends_in_its_page_and_the_manual_says_its_answer(study_results, study):
    made = study_results(study)
    assert (made / "report" / "index.html").stat().st_size > 5_000
    answer = answer_of(pd.read_parquet(made / "comparison" / "verdict.parquet"))
    item = re.search(rf"(?m)^- `{study}`: (.*(?:\n  .*)*)", (ROOT / "docs" / "studies.md").read_text())
    assert " ".join(item[1].split()) == answer
    assert answer in " ".join(json.loads((made / "report" / "answer.json").read_text())["sentences"])


def test_a_made_study_has_nothing_to_do_pictures_are_asked_for_and_an_edited_log_collects_anew(study_results, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(study_results("woolf-2017").parents[1], project, symlinks=True)
    # The list of all pages follows the studies that were made since.
    assert set(scheduled(project, *WOOLF)) <= {"write_index"}
    # The page draws its charts itself: a price edit waits for no picture.
    assert {"draw_pictures", "draw_speed_pictures"} <= set(scheduled(project, "figures", *WOOLF))
    edit(project / "config" / "studies" / "woolf-2017" / "logs" / "p100" / "mnist_mlp_cntk.csv", "\n1,", "\n1,9")
    jobs = scheduled(project, *WOOLF)
    after = {"collect_throughput", "fit_scaling", "extrapolate", "compare", "check_claims", "render_report"}
    assert after <= set(jobs)
    assert jobs["price_workloads"] == len(list((STUDIES / "woolf-2017" / "prices").glob("*.yaml")))
    assert not {"run_benchmark", "draw_pictures", "draw_speed_pictures"} & set(jobs)
