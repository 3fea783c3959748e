"""A folder with some of the packages that are installed here, for `python -S` to know those alone."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from project_copy import ROOT, captured


def brought_by(name: str) -> set[str]:
    """A package and all that it needs, by their names in pip's spelling."""
    found: set[str] = set()
    wanted = [name]
    while wanted:
        one = wanted.pop()
        key = re.sub(r"[-_.]+", "-", one).lower()
        if key in found:
            continue
        try:
            needs = distribution(one).requires or []
        except PackageNotFoundError:  # of another system
            continue
        found.add(key)
        wanted += [re.match(r"[\w.-]+", need)[0] for need in needs if "extra ==" not in need]
    return found


def locked(lock: str) -> set[str]:
    """The packages of envs/<lock>.lock."""
    return set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "envs" / f"{lock}.lock").read_text(), re.M))


def linked(names: Iterable[str], folder: Path) -> Path:
    """`folder` with those packages that are installed here."""
    folder.mkdir()
    for name in names:
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue
        for top in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (folder / top).exists():
                (folder / top).symlink_to(one.locate_file(top))
    return folder


def snakemake_with(
    packages: Path, project: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Snakemake in `project` with those packages alone; stdout and stderr come together in `.stdout`."""
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(packages), "HOME": str(packages)}
    return captured([sys.executable, "-S", "-m", "snakemake", "--cores", "2", *arguments], project, known | variables)
