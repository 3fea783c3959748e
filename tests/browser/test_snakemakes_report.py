"""Snakemake's own report, made with the packages of the core alone, as a person opens it in headless Chromium."""

import pytest
from bare_packages import linked, locked, snakemake_with
from project_copy import copy_project
from report_tables import CHROMIUM, opened

STUDY = ("--config", "study=rare-2018")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_it_opens_with_its_first_page_and_the_answer(tmp_path):
    project = copy_project(tmp_path / "project")
    core = linked(locked("core"), tmp_path / "core")
    for words in ((), ("--report", "own.html")):
        done = snakemake_with(core, project, "report", "figures", *STUDY, *words)
        assert done.returncode == 0, done.stdout[-3000:]
    with opened(project / "own.html") as (tab, noise):
        tab.wait_for_selector("text=Which infrastructure gives the best compromise")
        first = tab.inner_text("body")
        assert {"Answer", "Costs", "Decision", "Speed"} <= set(first.split("\n"))
        tab.click("text=Answer >> nth=0")
        tab.wait_for_selector("text=index.html")
        assert [words for words in noise if "error" in words.lower()] == []
