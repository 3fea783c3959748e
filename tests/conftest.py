"""The workflow run once, for every test that looks at what it made."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# As Snakemake does for a job of one thread, and before numpy is imported: on small matrices threads that wait for each
# other cost five times what they give where another test holds the second core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Byte code is kept, as it is where nobody says otherwise: all workers and hundreds of processes would compile the same.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Runs of tests are no measurements: neither those of another process of these tests nor real ones wait for them.
LEASES = tempfile.TemporaryDirectory(prefix="leases-")
os.environ["SWEETSPOT_LEASES"] = LEASES.name

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings
from project_copy import OFFLINE, copy_project, edit, run_snakemake

# A machine that is busy with something else fails no test.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

RUN_THE_WORKFLOW = {"workflow", "faults", "browser", "cluster"}  # folders; elsewhere the fixtures tell


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what runs the workflow; tests that train a model mark themselves. The rest is `make fast`."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        asks_for_results = "finished_project" in getattr(item, "fixturenames", ())
        if folder in RUN_THE_WORKFLOW or asks_for_results:
            item.add_marker(pytest.mark.slow)
    gc.freeze()  # what was imported stays to the end: it is not to be searched for garbage again and again


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory, worker_id) -> Path:
    """The default study, run to its report, with a network small enough to measure in seconds; without network
    where the machine lets us take it away. Made once for all workers that test at the same time."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    project = base / "finished" / "project"
    with FileLock(base / "finished.lock"):
        if not project.exists():
            made = finish(copy_project(base / "making" / "project"))
            made.parent.rename(project.parent)
    return project


@pytest.fixture(scope="session")
def study_results(tmp_path_factory, worker_id) -> Callable[[str], Path]:
    """Results of a shipped study by its name, made without measuring; once for all workers, and nobody changes them."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    project = base / "studies" / "project"

    def make(name: str) -> Path:
        with FileLock(base / "studies.lock"):
            if not project.exists():
                copy_project(base / "copying" / "project").parent.rename(project.parent)
            folder = project / "results" / name
            if not (folder / "report" / "index.html").is_file():
                run = run_snakemake(project, "--config", f"study={name}", "measure_on=[]")
                assert run.returncode == 0, run.stdout[-6000:]
        return folder

    return make


def finish(project: Path) -> Path:
    """Run the default study with a tiny network to its report."""
    edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(project / "config" / "config.yaml", "min_seconds: 20", "min_seconds: 1")
    edit(project / "config" / "config.yaml", "least_seconds: 2 ", "least_seconds: 0.2 ")
    seen = subprocess.run([*OFFLINE, "cat", "/proc/net/dev"], capture_output=True, text=True, check=True)
    (project / "network.txt").write_text(seen.stdout)
    done = run_snakemake(project, prefix=OFFLINE)
    assert done.returncode == 0, done.stdout[-6000:]
    return project


@pytest.fixture
def project(finished_project, tmp_path) -> Path:
    """A copy of the finished project with all its times kept, free to be edited."""
    target = tmp_path / "project"
    shutil.copytree(finished_project, target, symlinks=True)
    return target
