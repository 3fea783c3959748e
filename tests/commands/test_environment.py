"""What is installed where: dependencies are what modules import, locks agree, make picks the smallest lock."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from project_copy import ROOT
from sweetspot import packages

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = {file.stem: file.read_text() for file in sorted((ROOT / "envs").glob("*.lock"))}
DISTRIBUTIONS = {
    "yaml": "pyyaml", "pynvml": "nvidia-ml-py", "vl_convert": "vl-convert-python",
    "keras": "tensorflow"
}  # fmt: skip
# Of make, which would reach it through the environment.
OPTIONS = {"GPU", "SLURM", "KUBERNETES", "STUDY", "VENV", "PYTHON", "CORES"}
FOUNDATIONS = {"snakemake", "pydantic_core", "psutil"}  # the workflow's own; parts of pydantic and snakemake


def names(requirements):
    return {re.match(r"[a-z0-9-]+", requirement)[0] for requirement in requirements}


def imported(*folders):
    """Distributions that the modules of these folders of the library import, anywhere in them."""
    text = "\n".join(file.read_text() for folder in folders for file in folder.rglob("*.py"))
    found = set(re.findall(r"^ *(?:from|import) (\w+)[\w.]*(?: import .*| as \w+)?$", text, re.M))
    return {DISTRIBUTIONS.get(name, name) for name in found - set(sys.stdlib_module_names) - {"sweetspot"}}


LIBRARY = ROOT / "workflow" / "sweetspot"


def test_dependencies_are_what_the_rooms_import():
    rooms = [room for room in LIBRARY.iterdir() if room.is_dir() and room.name != "harness"]
    core = names(PROJECT["dependencies"])
    assert imported(*rooms) - FOUNDATIONS <= core
    used = imported(LIBRARY, ROOT / "workflow" / "scripts") | {"snakemake", "pygments"}
    assert core <= used, "a dependency that no module imports"
    assert set(packages.CORE.values()) == core  # what the rules look for before they start
    assert {DISTRIBUTIONS.get(module, module) for module in packages.CORE} == core
    extras = PROJECT["optional-dependencies"]
    declared = core.union(*(names(extras[name]) for name in ("measure", "torch")))
    assert imported(LIBRARY / "harness") - FOUNDATIONS <= declared


def pins(lock):
    """Versions by package; several where they depend on the version of Python."""
    found = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==(\S+)", LOCKS[lock], re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def test_the_locks_agree_and_each_is_whole():
    assert set(LOCKS) == {"core", "gpu", "kubernetes", "measure", "slurm", "test"}
    newest = {}
    for lock in LOCKS:
        for name, versions in pins(lock).items():
            assert newest.setdefault(name, versions) == versions, f"{lock}.lock has another {name}"
        assert names(PROJECT["dependencies"]) | {"setuptools"} <= set(pins(lock)), lock
        assert "://" not in LOCKS[lock], "no registry stands in a lock"
    assert "pygments" in pins("core")  # of `snakemake --report`
    assert "tensorflow" in pins("measure").keys() & pins("gpu").keys()
    assert not {"tensorflow", "keras", "snakemake-executor-plugin-slurm", "pytest"} & set(pins("core"))


@pytest.mark.parametrize("name", ["core", "measure", "gpu"])
def test_what_conda_installs_is_the_lock(name):
    """Every package of the lock at its version, and no other; `make lock` writes both."""
    conda = yaml.safe_load((ROOT / "envs" / f"{name}.yaml").read_text())
    *of_conda, of_pip = conda["dependencies"]
    assert of_conda == ["python=3.11", "pip"] and conda["channels"] == ["conda-forge", "nodefaults"]
    lines = [line for line in LOCKS[name].splitlines() if not line.startswith(("#", " "))]  # the rest are hashes
    assert of_pip["pip"] == [line.removesuffix("\\").rstrip() for line in lines]
    assert f"envs/{name}.yaml" in make(ROOT, "--dry-run", "lock").stdout


@pytest.fixture
def project(tmp_path):
    for part in ("Makefile", "pyproject.toml", "envs", "config"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / part)
    return tmp_path


def make(project, *arguments):
    """make as a person calls it, also where `make test` runs this."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name not in OPTIONS}
    return subprocess.run(["make", *arguments], cwd=project, env=own, capture_output=True, text=True, check=False)


def installed(project, *arguments):
    done = make(project, "--dry-run", "environment", *arguments)
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"-r envs/(\w+)\.lock", done.stdout))


INSTALLED = [
    ([], {"measure"}),
    (["STUDY=rare-2018"], {"core"}),
    (["STUDY=woolf-2017"], {"core"}),  # `measure: false` with a comment behind it
    (["GPU=1"], {"gpu"}),
    (["STUDY=rare-2018", "GPU=1"], {"core"}),
    (["SLURM=1"], {"measure", "slurm"}),
    (["KUBERNETES=1"], {"measure", "kubernetes"}),
]


def test_tensorflow_is_installed_where_something_is_measured(project):
    for arguments, locks in INSTALLED:
        assert installed(project, *arguments) == locks, arguments
    config = project / "config" / "config.yaml"
    config.write_text(config.read_text().replace("measure_on: [workstation]", "measure_on: []"))
    assert installed(project) == {"core"}
    assert installed(project, "GPU=1") == {"gpu"}  # GPU=1 measures on the GPU whatever the file says


def has_driver():
    try:
        return ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == 0
    except OSError:
        return False


@pytest.mark.skipif(has_driver(), reason="an NVIDIA driver is here")
def test_gpu_without_a_driver_is_one_sentence_before_anything_is_installed(project):
    done = make(project, "report", "GPU=1")
    assert done.returncode == 2
    assert done.stdout == ""
    said, makes_own = done.stderr.splitlines()
    assert said == "error: no NVIDIA driver here: leave GPU=1 out"
    assert makes_own.startswith("make: ***")
    assert not (project / ".venv").exists()


def steps(project, *arguments):
    """What `make report` does, in order: which lock is installed, with which words Snakemake is called."""
    done = make(project, "--dry-run", "report", *arguments)
    assert done.returncode == 0, done.stderr
    return re.findall(r"-r envs/\w+\.lock|snakemake .*", done.stdout)


def test_a_first_page_comes_from_published_figures_before_anything_is_measured(project):
    first, whole = "--config study=parkopedia-2018 'measure_on=[]'", "--config study=parkopedia-2018 "
    early = ["-r envs/core.lock", f"snakemake --cores all {first}"]
    assert steps(project) == [*early, "-r envs/measure.lock", f"snakemake --cores all {whole}"]
    # a page that is there keeps the figures measured before: it is not written without them
    page = project / "results" / "parkopedia-2018" / "report" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    assert steps(project) == ["-r envs/measure.lock", f"snakemake --cores all {whole}"]
    # nothing is measured: one page
    assert steps(project, "STUDY=rare-2018") == ["-r envs/core.lock", "snakemake --cores all --config study=rare-2018 "]
