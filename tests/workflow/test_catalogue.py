"""The Snakemake Workflow Catalog's own check, step by step, and its `snakedeploy` on a repository.

The steps and their order are those of scripts/generate-catalog.py of github.com/snakemake/snakemake-workflow-catalog
(2cac294, 2025-02-17). Left out because they ask GitHub: the search for repositories, the list of refused ones, whether
anything changed since the last visit, the archive of the latest release (here: the tracked files), topics, stars, and
GitHub's rendering of config/README.md.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
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


def bare(home: Path | None = None) -> dict[str, str]:
    """An environment that knows no library of Sweetspot, as the catalogue's machine."""
    known = {name: os.environ[name] for name in ("PATH",)}
    return known if home is None else known | {"HOME": str(home)}


def run(words: list[str], folder: Path, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    return captured(words, folder, bare(home))


def test_it_is_found_and_not_skipped(repository):
    readme = (repository / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme  # the search: `snakemake workflow in:readme`
    workflow = repository / "workflow"  # "workflow" where it exists, else the root
    assert (workflow / "Snakefile").is_file(), "skipped: missing Snakefile"
    rules = workflow / "rules"
    assert not rules.is_dir() or list(rules.glob("*.smk")), "skipped: rule modules are not using .smk extension"
    assert sum(file.stat().st_size for file in repository.rglob("*")) < 50e6, "small enough to be cloned"


def test_its_usage_is_standardised(repository):
    """settings and config_readme are both found; what is shown of them."""
    usage = yaml.safe_load((repository / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert (repository / "config" / "README.md").read_text().startswith("# Configuration")
    assert set(usage) == {"mandatory-flags", "software-stack-deployment"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    deployment = usage["software-stack-deployment"]
    # At least one of them, else no command is shown: `snakemake --cores all --sdm conda`, which test_conda.py runs.
    assert [name for name, works in deployment.items() if works] == ["conda", "report"]


def test_the_linter_ends_well(repository):
    done = run([sys.executable, "-m", "snakemake", "--lint"], repository)  # linting = its stderr if it fails
    assert done.returncode == 0, done.stdout


def test_the_formatter_ends_well(repository):
    """As the catalogue calls it, and over the rules that lie where it does not look."""
    looked_at = [Path("workflow", "Snakefile"), *Path("workflow", "rules").glob("*.smk")]
    own = [Path("Snakefile"), *(file.relative_to(repository) for file in (repository / "rules").glob("*.smk"))]
    for files in (looked_at, own):
        assert len(files) > 0
        done = run([sys.executable, "-m", "snakefmt", "--check", "-v", *map(str, files)], repository)
        assert done.returncode == 0, done.stdout


needs_snakedeploy = pytest.mark.skipif(
    importlib.util.find_spec("snakedeploy") is None, reason="snakedeploy is not installed here"
)


@needs_snakedeploy
def test_snakedeploy_lays_a_project_that_runs_to_its_page(repository, tmp_path):
    """The program itself. Git finds github.com in a folder here; nothing else is in its place."""
    as_github(repository, home := tmp_path / "home")
    place = str(Path(importlib.util.find_spec("snakedeploy").origin).parent.parent)
    start = f"import sys; sys.path.append({place!r}); from snakedeploy.client import main; sys.exit(main())"
    program = [sys.executable, "-c", start]
    words = ["deploy-workflow", "https://github.com/somebody/sweetspot", "mine", "--tag", "v1"]
    done = run([*program, *words], tmp_path, home)
    mine = tmp_path / "mine"
    assert done.returncode == 0 and "Deployment complete" in done.stdout, done.stdout
    snakefile = (mine / "workflow" / "Snakefile").read_text()
    assert 'github("somebody/sweetspot", path="workflow/Snakefile", tag="v1")' in snakefile
    assert {file.name for file in mine.iterdir()} == {"LICENSE", "config", "profiles", "workflow"}

    # What the page of the catalogue says next: install the library of the same tag, then run.
    installed = tmp_path / "installed"
    shutil.copytree(repository / "workflow" / "sweetspot", installed / "sweetspot")
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--config", f"study={STUDY}"]
    made = captured(command, mine, bare(home) | {"PYTHONPATH": str(installed)})
    assert made.returncode == 0, made.stdout[-4000:]
    assert (mine / "results" / STUDY / "report" / "index.html").is_file()
    # The profile that came along says what a module's user would have to write: no benchmark is repeated by code.
    profile = (mine / "profiles" / "default" / "profile.yaml").read_text()
    assert re.search(r"^rerun-triggers: \[mtime, params, input\]", profile, re.M)
    assert "profile profiles/default" in made.stdout
