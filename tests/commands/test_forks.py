"""What a fork finds on its first day: checks, templates and a citation that fit the project they stand in."""

import re
import tomllib

import yaml
from project_copy import ROOT
from sweetspot import __version__

GITHUB = ROOT / ".github"
JOBS = yaml.safe_load((GITHUB / "workflows" / "tests.yml").read_text())["jobs"]


def commands(job):
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_there_is_a_page_of_every_study_and_none_is_measured_for_it():
    """A study is one that has a study.yaml; the rest of config/studies/ is figures that studies borrow."""
    studies = {file.parent.name: yaml.safe_load(file.read_text()) for file in ROOT.glob("config/studies/*/study.yaml")}
    measured = {name for name, study in studies.items() if study.get("measure") is not False}
    assert set(JOBS["pages"]["strategy"]["matrix"]["study"]) == set(studies)
    by = {step["run"].split()[1]: step["if"] for step in JOBS["pages"]["steps"] if "run" in step}
    (name,) = measured
    assert by == {"report": f"matrix.study != '{name}'", "early": f"matrix.study == '{name}'"}
    kept = JOBS["pages"]["steps"][-1]["with"]
    assert kept["path"] == "results/${{ matrix.study }}/report"


def test_everything_runs_on_schedule_only_by_our_own_script_without_a_secret():
    assert "schedule" in JOBS["whole"]["if"] and commands("whole")[-1] == "bash .ci/run"
    assert all("if" not in job for name, job in JOBS.items() if name != "whole")
    text = (GITHUB / "workflows" / "tests.yml").read_text()
    assert "secrets." not in text and yaml.safe_load(text)["permissions"] == {"contents": "read"}
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)  # as looked at


def test_the_version_is_semantic_and_the_same_wherever_it_stands():
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "repository-code"} <= set(citation)
    assert citation["version"] == __version__
    (newest,) = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[:1]
    assert newest.startswith("Unreleased") or newest == f"{__version__} - {citation['date-released']}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "sweetspot.__version__"}
    assert project["project"]["urls"]["Repository"] == citation["repository-code"]


def test_what_others_are_told_to_install_is_the_tag_of_this_version():
    named = ("rules/process.smk", "config/README.md", "README.md")
    texts = [*(ROOT / name for name in named), *sorted((ROOT / "docs").rglob("*.md"))]
    tags = {tag for file in texts for tag in re.findall(r"""tag="(\S+?)"|OWNER/NAME@(\S+?)[`"'\s]""", file.read_text())}
    assert {"".join(tag) for tag in tags} == {f"v{__version__}"}
