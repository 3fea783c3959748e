"""Snakemake's own report, made with the packages of the core alone, as a person opens it in headless Chromium."""

import shutil
from pathlib import Path

import pytest
from bare_packages import linked, locked, snakemake_with
from report_tables import CHROMIUM, opened

STUDY = ("--config", "study=rare-2018", "measure_on=[]")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_it_opens_with_its_first_page_and_the_answer(study_results, tmp_path):
    project = Path(shutil.copytree(study_results("rare-2018").parents[1], tmp_path / "project", symlinks=True))
    core = linked(locked("core"), tmp_path / "core")
    done = snakemake_with(core, project, "report", "figures", *STUDY, "--force-use-threads")
    assert done.returncode == 0, done.stdout[-3000:]
    done = snakemake_with(core, project, "report", "figures", *STUDY, "--report", "own.html")
    assert done.returncode == 0, done.stdout[-3000:]
    with opened(project / "own.html") as (tab, noise):
        tab.wait_for_selector("text=Which infrastructure gives the best compromise")
        first = tab.inner_text("body")
        assert {"Answer", "Costs", "Decision", "Speed"} <= set(first.split("\n"))
        tab.click("text=Answer >> nth=0")
        tab.wait_for_selector("text=index.html")
        assert [words for words in noise if "error" in words.lower()] == []
