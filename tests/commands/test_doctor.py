"""`sweetspot doctor` on machines that have and lack things."""

import json
import platform
import subprocess
import sys
from importlib import metadata

import pytest
from project_copy import ROOT, SECRET, environment
from sweetspot import __version__
from sweetspot.commands.command_line import main
from sweetspot.commands.doctor import Look, examine, sentences

FULL = {
    "snakemake": "9.27.1", "tensorflow": "2.21.0", "torch": "2.6",
    "snakemake-executor-plugin-slurm": "2.8.0", "snakemake-executor-plugin-kubernetes": "0.5.1",
    "snakemake-interface-common": "1.23.0", "left-pad": "1",
}  # fmt: skip
WORKSTATION = Look(lambda: FULL, lambda: [], lambda name: f"/usr/bin/{name}", lambda: (["Tesla V100"] * 2, ""))


def lacking(look):
    return {each["what"]: each["needed_for"] for each in examine(look)["missing"]}


def without(part):
    return {"installed": lambda: {name: version for name, version in FULL.items() if part not in name}}


def unfound(part):
    return {"which": lambda name: None if part in name else name}


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({}, {}),
        (unfound("chromium"), {}),  # one browser of three is enough
        ({"missing": lambda: ["altair", "scipy"]}, {"altair, scipy (pip install -r envs/core.lock)": "everything"}),
        ({"nvidia": lambda: ([], "the NVIDIA driver does not answer (x)")},
         {"a GPU: the NVIDIA driver does not answer (x)": "measuring on a GPU (make report GPU=1)"}),
        (unfound("chrom"), {"chromium or chromium-browser or google-chrome": "the page on paper (make pdf)"}),
        (unfound("squeue"), {"sbatch and squeue": "measuring on Slurm"}),
        (without("torch"), {"torch (pip install '.[torch]')": "measuring with framework: torch"}),
        ({"installed": lambda: FULL | {"torch": "2.13.0+cpu"}},
         {"torch for GPUs (pip install 'sweetspot[torch]')":
          "measuring with framework: torch on the GPUs that are here"}),
        (without("tensorflow"), {"tensorflow (pip install '.[measure]')": "measuring with framework: tensorflow"}),
        (without("kubernetes"), {"snakemake-executor-plugin-kubernetes (pip install '.[kubernetes]')":
                                 "measuring on Kubernetes"}),
    ],
)  # fmt: skip
def test_each_thing_that_is_missing_is_named_with_what_needs_it(change, missing):
    assert lacking(WORKSTATION._replace(**change)) == missing


def test_plugins_are_the_plugins_and_strangers_are_not_told():
    found = examine(WORKSTATION)
    executors = {name: version for name, version in FULL.items() if "executor-plugin" in name}
    assert found["plugins"] == executors and len(executors) == 2
    assert "left-pad" not in json.dumps(found)
    assert "GPUs: Tesla V100, Tesla V100." in sentences(found)


def test_on_this_machine_it_tells_the_versions_and_no_secret():
    command = [sys.executable, "-m", "sweetspot", "doctor", "--json"]
    done = subprocess.run(command, env=environment(ROOT), capture_output=True, text=True, check=True)
    versions = json.loads(done.stdout)["versions"]
    assert versions["sweetspot"] == __version__ and versions["python"] == platform.python_version()
    assert versions["snakemake"] == metadata.version("snakemake")
    assert SECRET not in done.stdout and str(ROOT) not in done.stdout and platform.node() not in done.stdout


def test_every_line_is_a_sentence(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.endswith(".") for line in lines) and lines[0].startswith(f"Versions: sweetspot {__version__}, ")


def test_no_framework_and_no_table_is_imported():
    code = (
        "import sys; from sweetspot.commands.command_line import main\nmain(['doctor'])\n"
        "assert not {'tensorflow', 'keras', 'torch', 'pandas', 'numpy', 'pydantic'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(ROOT), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_the_core_it_still_answers_and_ends_with_1():
    """With Python's own library only: the doctor is asked where the installation failed."""
    command = [sys.executable, "-S", "-m", "sweetspot", "doctor"]
    env = environment(ROOT) | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "Missing for everything: altair, jinja2, " in done.stdout
    assert "Missing for measuring on a GPU (make report GPU=1): a GPU: the package nvidia-ml-py" in done.stdout
