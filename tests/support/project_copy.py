"""A copy of the project to work in, and ways to run the workflow in it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from patience import PATIENCE_S
from warm_snakemake import run_warm

ROOT = Path(__file__).parent.parent.parent
SECRET = "correct-horse-battery-staple"  # in the environment of every run here; it must stand in no file
PROJECT_PARTS = ("Snakefile", "rules", "workflow", "config", "profiles", "envs", "pyproject.toml")


def copy_project(target: Path) -> Path:
    """The files that the workflow needs, without results and environments; with its byte code, which stays valid."""
    ignore = shutil.ignore_patterns("*.pyc.*", "*.egg-info")  # the first: half written by another worker
    for part in PROJECT_PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=ignore)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / part)
    return target


def tracked_files() -> list[str]:
    """What a clone has, of the files as they are here now. Skips the test where this is no clone."""
    known = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if known.returncode != 0:
        pytest.skip("not a clone: which files belong to the project is not known")
    return [file for file in known.stdout.split("\0") if file and (ROOT / file).is_file()]


def as_github(repository: Path, home: Path) -> None:
    """Commit and tag `repository` (.../somebody/sweetspot) as v1; Git finds it at github.com with this home."""
    known = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "."], [*known, "commit", "-q", "-m", "one"], ["tag", "v1"]):
        subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True)
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[url "file://{repository.parent.parent}/"]\n    insteadOf = https://github.com/\n'
        "[safe]\n    directory = *\n[advice]\n    detachedHead = false\n"
    )


def environment(project: Path) -> dict[str, str]:
    """The library of `project` itself, not the installed one, so that an edit there counts; NumPy's warnings end it."""
    path = [str(project / "workflow"), *filter(None, [os.environ.get("PYTHONPATH")])]
    more = {"TF_CPP_MIN_LOG_LEVEL": "3", "CLOUD_TOKEN": SECRET, "PYTHONWARNINGS": "error::RuntimeWarning"}
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **more}


def _offline() -> list[str]:
    """What takes the network away from a command, where this machine lets us."""
    for prefix in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]) if shutil.which("unshare") else ():
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


OFFLINE = _offline()


def captured(command: Sequence[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`; stdout and stderr come together in `.stdout`."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, cwd=folder, env=env, timeout=PATIENCE_S, check=False, **pipe)


def run_snakemake(project: Path, *arguments: str, prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run the project's workflow; stdout and stderr come together in `.stdout`."""
    if not prefix and "PYTHONPATH" not in os.environ:  # what lies there Python may read before any import
        return run_warm(["--cores", "2", *arguments], project, environment(project), PATIENCE_S)
    return captured(
        [*prefix, sys.executable, "-m", "snakemake", "--cores", "2", *arguments], project, environment(project)
    )


def job_counts(output: str) -> dict[str, int]:
    """Jobs by rule from the table that Snakemake prints; empty where nothing is to be done."""
    if "Nothing to be done" in output and "Job stats:" not in output:
        return {}
    table = output.split("Job stats:", 1)[1].split("total", 1)[0]
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


def scheduled(project: Path, *arguments: str) -> dict[str, int]:
    """What an invocation would run, the collecting rules (all, report, ...) left out."""
    done = run_snakemake(project, "--dry-run", *arguments)
    assert done.returncode == 0, done.stdout
    stops = {"all", "throughput", "scaling", "costs", "comparison", "report"}
    return {rule: count for rule, count in job_counts(done.stdout).items() if rule not in stops}


def edit(file: Path, old: str, new: str) -> None:
    """Replace text that must be there, as a person with an editor would."""
    text = file.read_text()
    assert old in text, f"{file} does not hold {old!r}"
    file.write_text(text.replace(old, new))
