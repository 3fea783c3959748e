"""What needs no package but Snakemake's own: plans, lint and graphs, as on the machine of the workflow catalogue."""

import pytest
from bare_packages import brought_by, linked, snakemake_with
from project_copy import ROOT, copy_project

STUDIES = sorted(file.parent.name for file in (ROOT / "config" / "studies").glob("*/workloads.yaml"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    names = brought_by("snakemake")
    assert not names & {"pandas", "numpy", "pyarrow", "altair", "sweetspot"}
    return linked(names, tmp_path_factory.mktemp("alone") / "packages")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("alone") / "project")


@pytest.mark.parametrize(("asked", "words"), [("--lint", "good condition"), ("--rulegraph", "render_report")])
def test_lint_and_graph(alone, project, asked, words):
    done = snakemake_with(alone, project, asked)
    assert done.returncode == 0 and words in done.stdout, done.stdout[-2000:]


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_is_planned(alone, project, study):
    done = snakemake_with(alone, project, "--dry-run", "--config", f"study={study}")
    assert done.returncode == 0 and "render_report" in done.stdout, done.stdout[-2000:]


def test_a_run_says_what_it_needs_before_it_starts_anything(alone, project):
    done = snakemake_with(alone, project, "--config", "study=rare-2018")
    assert done.returncode == 1
    assert "Sweetspot finds no altair, click, numpy, " in done.stdout
    assert f"-m pip install -r '{project / 'envs' / 'core.lock'}'" in done.stdout
    assert "Traceback" not in done.stdout and not (project / "results").exists()
