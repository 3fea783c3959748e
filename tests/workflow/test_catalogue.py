"""The Snakemake Workflow Catalog's own check, with no package but Snakemake's, and its `snakedeploy` on a repository.

The steps are those of scripts/generate-catalog.py of github.com/snakemake/snakemake-workflow-catalog (2cac294,
2025-02-17). Left out because they ask GitHub: the search for repositories, the list of refused ones, whether anything
changed since the last visit, the latest release's archive (here: the tracked files), topics, stars, and GitHub's
rendering of config/README.md. Its formatter is part of `make check`.
"""

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from bare_packages import brought_by, linked, snakemake_with
from project_copy import ROOT, as_github, captured, tracked_files

STUDY = "rare-2018"


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """The tracked files and nothing else, as its clone or a release's archive has them."""
    folder = tmp_path_factory.mktemp("catalogue") / "somebody" / "sweetspot"
    for file in tracked_files():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """What Snakemake brings, as on the machine of the catalogue."""
    names = brought_by("snakemake")
    assert not names & {"pandas", "numpy", "pyarrow", "altair", "sweetspot"}
    return linked(names, tmp_path_factory.mktemp("alone") / "packages")


def test_it_is_found_not_skipped_and_its_usage_is_standardised(repository):
    readme = (repository / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme  # the search: `snakemake workflow in:readme`
    workflow = repository / "workflow"  # "workflow" where it exists, else the root
    assert (workflow / "Snakefile").is_file(), "skipped: missing Snakefile"
    rules = workflow / "rules"
    assert not rules.is_dir() or list(rules.glob("*.smk")), "skipped: rule modules are not using .smk extension"
    assert sum(file.stat().st_size for file in repository.rglob("*")) < 50e6, "small enough to be cloned"
    usage = yaml.safe_load((repository / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert (repository / "config" / "README.md").read_text().startswith("# Configuration")
    assert set(usage) == {"mandatory-flags", "software-stack-deployment"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    deployment = usage["software-stack-deployment"]
    # At least one of them, else no command is shown: `snakemake --cores all --sdm conda`, which test_conda.py runs.
    assert [name for name, works in deployment.items() if works] == ["conda", "report"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lint"], "Congratulations, your workflow is in a good condition!"),
        (["--dry-run"], "run_benchmark"),
        (["--dry-run", "--config", "study=start-up-2026"], "render_report"),
    ],
)
def test_the_linter_ends_well_and_a_study_is_planned(alone, repository, arguments, words):
    done = snakemake_with(alone, repository, *arguments)
    assert done.returncode == 0 and words in done.stdout, done.stdout[-2000:]


def test_a_run_says_what_it_needs_before_it_starts_anything(alone, repository):
    done = snakemake_with(alone, repository, "--config", f"study={STUDY}")
    assert done.returncode == 1
    assert "Sweetspot finds no altair, click, numpy, " in done.stdout
    assert f"-m pip install -r '{repository / 'envs' / 'core.lock'}'" in done.stdout
    assert "Traceback" not in done.stdout and not list((repository / "results").glob("*/*"))


@pytest.mark.skipif(importlib.util.find_spec("snakedeploy") is None, reason="snakedeploy is not installed here")
def test_snakedeploy_lays_a_project_that_runs_to_its_page(repository, tmp_path):
    """The program itself. Git finds github.com in a folder here; nothing else is in its place."""
    as_github(repository, home := tmp_path / "home")
    place = str(Path(importlib.util.find_spec("snakedeploy").origin).parent.parent)
    start = f"import sys; sys.path.append({place!r}); from snakedeploy.client import main; sys.exit(main())"
    words = ["deploy-workflow", "https://github.com/somebody/sweetspot", "mine", "--tag", "v1"]
    bare = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = captured([sys.executable, "-c", start, *words], tmp_path, bare)
    mine = tmp_path / "mine"
    assert done.returncode == 0 and "Deployment complete" in done.stdout, done.stdout
    snakefile = (mine / "workflow" / "Snakefile").read_text()
    assert 'github("somebody/sweetspot", path="workflow/Snakefile", tag="v1")' in snakefile
    assert {file.name for file in mine.iterdir()} == {"LICENSE", "config", "profiles", "workflow"}

    # What the page of the catalogue says next: install the library of the same tag, then run.
    installed = tmp_path / "installed"
    shutil.copytree(repository / "workflow" / "sweetspot", installed / "sweetspot")
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--config", f"study={STUDY}"]
    known = bare | {"PYTHONPATH": str(installed)}
    made = captured([*command, "--force-use-threads"], mine, known)
    assert made.returncode == 0, made.stdout[-4000:]
    assert (mine / "results" / STUDY / "report" / "index.html").is_file()
    # The profile that came along says what a module's user would have to write: no benchmark is repeated by code.
    profile = (mine / "profiles" / "default" / "profile.yaml").read_text()
    assert re.search(r"^rerun-triggers: \[mtime, params, input\]", profile, re.M)
    assert "profile profiles/default" in made.stdout
    again = captured([*command, "--dry-run", "--rerun-triggers", "mtime", "params", "input", "code"], mine, known)
    assert "Nothing to be done" in again.stdout, again.stdout
