"""`--sdm conda` and `--containerize`. No conda is here: one that writes down stands in, and makes no environment."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from fault_projects import TRAINING, train_with
from project_copy import ROOT, captured, copy_project, edit, environment, job_counts

# Answers what Snakemake asks of conda; an environment is a `python` that says that it was called, and is this one.
CONDA = f"""#!{sys.executable}
import json, os, pathlib, shutil, sys
home, words = pathlib.Path(__file__).parent.parent, sys.argv[1:]
if words == ["--version"]:
    print("conda 25.9.1")
elif words[:1] == ["info"]:
    print(json.dumps({{"conda_prefix": str(home), "platform": "linux-64"}}))
elif words[:1] == ["config"]:
    print(json.dumps({{"get": {{"channel_priority": "strict"}}}}))
elif words[:2] == ["env", "create"]:
    asked = dict(zip(words, words[1:]))
    prefix = pathlib.Path(asked["--prefix"])
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(asked["--file"], home / f"made-{{len(list(home.glob('made-*')))}}.yaml")
    name = pathlib.Path(asked["--file"]).read_text().split("name: ")[1].split()[0]
    python = prefix / "bin" / "python"
    python.write_text(f'#!/bin/sh\\necho {{name}} "$1" >> "{{home}}/ran"\\nexec {sys.executable} "$@"\\n')
    python.chmod(0o755)
elif words[:1] != ["clean"]:
    sys.exit(f"not expected: {{words}}")
"""


@pytest.fixture
def conda(tmp_path) -> Path:
    home = tmp_path / "conda"
    (home / "bin").mkdir(parents=True)
    for name, text in {"conda": CONDA, "activate": 'export PATH="$1/bin:$PATH"\n'}.items():
        (home / "bin" / name).write_text(text)
        (home / "bin" / name).chmod(stat.S_IRWXU)
    return home


def run(project: Path, conda: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = environment(project)
    line = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    return captured(line, project, {**env, "PATH": f"{conda / 'bin'}{os.pathsep}{env['PATH']}"})


def test_what_runs_in_a_shell_runs_in_its_environment(conda, tmp_path):
    """The benchmark in the one with TensorFlow, the pictures in the core's; neither of them in Snakemake's Python."""
    project = copy_project(tmp_path / "project")
    edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    train_with(project, TRAINING)
    edit(project / "config" / "config.yaml", "runs: 2 ", "runs: 1 ")
    figure = "results/parkopedia-2018/report/figures/throughput.png"
    made = run(project, conda, "throughput", figure, "--sdm", "conda")
    assert made.returncode == 0, made.stdout
    ran = [line.split() for line in (conda / "ran").read_text().splitlines()]
    scripts = {(name, Path(script).name) for name, script in ran if script.endswith(".py")}
    assert scripts >= {("sweetspot-measure", "run_benchmark.py"), ("sweetspot-core", "draw_pictures.py")}
    assert {name for name, script in scripts if script == "run_benchmark.py"} == {"sweetspot-measure"}
    made = {file.read_text() for file in conda.glob("made-*.yaml")}
    assert made == {(ROOT / "envs" / f"{name}.yaml").read_text() for name in ("core", "measure")}

    # Another version in the environment, or none deployed: what was measured stays.
    edit(project / "envs" / "measure.yaml", "  - python=3.11", "  - python=3.12")
    for deployed in (["--sdm", "conda"], []):
        again = run(project, conda, "throughput", "--dry-run", *deployed)
        assert again.returncode == 0, again.stdout
        assert "run_benchmark" not in job_counts(again.stdout)


@pytest.mark.parametrize(
    ("config", "asked"),
    [("study=parkopedia-2018", {"core", "measure"}), ("measure_on=workstation-gpu", {"core", "gpu"})],
)
def test_a_container_of_the_environments_holds_their_pins(conda, tmp_path, config, asked):
    done = run(copy_project(tmp_path / "project"), conda, "--config", config, "--containerize")
    assert done.returncode == 0, done.stdout
    copied = set(re.findall(r"^COPY envs/(\w+)\.yaml (/conda-envs/\w+)/environment\.yaml$", done.stdout, re.M))
    assert {name for name, _ in copied} >= asked and ("gpu" in asked) <= ("measure" not in dict(copied))
    for _, prefix in copied:
        assert f"conda env create --prefix {prefix} --file {prefix}/environment.yaml" in done.stdout
    assert '"pandas==' in done.stdout and "--hash" not in done.stdout
