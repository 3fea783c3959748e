"""The facts that come with the library are found from anywhere: a checkout, a wheel, and another project."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE_S
from project_copy import ROOT, tracked_files
from sweetspot.facts.shipped_tables import POOLS, STUDIES, figures_file

ASKED = ["--measured", "RTX 4090:resnet50:fp16:256=1120", "--on", "h100-sxm,rtx-5090", "--gpus", "1,8", "--json"]


def test_a_study_of_ones_own_comes_before_a_pool_and_a_pool_before_nothing(tmp_path):
    assert figures_file("scaling-2026", tmp_path) == POOLS / "scaling-2026" / "throughput.csv"
    assert figures_file("parkopedia-2018", tmp_path) == STUDIES / "parkopedia-2018" / "throughput.csv"
    assert figures_file("nobody", tmp_path) == tmp_path / "nobody" / "throughput.csv"
    mine = tmp_path / "scaling-2026" / "throughput.csv"
    mine.parent.mkdir()
    mine.touch()
    assert figures_file("scaling-2026", tmp_path) == mine


def told(folder: Path, *command: str, path: Path) -> str:
    """What a command prints in a folder, with the library of `path`."""
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=os.environ | {"PYTHONPATH": str(path)}, text=True,
        capture_output=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_installed_library_predicts_and_estimates_as_a_checkout_does(tmp_path):
    """`pip install .` into an empty folder, and the command outside of any project."""
    source, site, away = (tmp_path / name for name in ("source", "site", "away"))
    for name in tracked_files():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    away.mkdir()
    how = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(site)]
    told(source, "-m", "pip", "install", *how, ".", path=tmp_path)
    assert str(site) in told(away, "-c", "import sweetspot; print(sweetspot.__file__)", path=site)
    for command in (["predict", *ASKED], ["estimate", "llama-3.1-8b lora 100M tokens", "--json"]):
        paths = (site, ROOT / "workflow")
        shipped, checkout = (json.loads(told(away, "-m", "sweetspot", *command, path=path)) for path in paths)
        assert shipped == checkout
