"""A Slurm for each file of tests; without root or the packages the tests say so and are skipped."""

from pathlib import Path

import pytest
from accounting import NEEDED, PACKAGES, AccountedSlurm
from one_node_slurm import OneNodeSlurm, missing
from private_mounts import private_folders
from slurm_project import STARTED, on_two_partitions


def written(folder: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of the last change of all that lies below: what was written there, or removed, shows."""
    return {place: (place.lstat().st_size, place.lstat().st_mtime_ns) for place in folder.rglob("*")}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory, request):
    """One a file of tests, whose process sees its own /etc while it lives; ACCOUNTED there asks for accounting."""
    accounted = getattr(request.module, "ACCOUNTED", False)
    reason = missing(NEEDED, PACKAGES) if accounted else missing()
    if reason is not None:
        pytest.skip(reason)
    machines = written(Path("/etc"))
    with private_folders(tmp_path_factory.mktemp("own")):
        controller = (AccountedSlurm if accounted else OneNodeSlurm)(tmp_path_factory.mktemp("slurm"))
        try:
            controller.start()
            yield controller
        finally:
            controller.stop()
    assert written(Path("/etc")) == machines  # what was written in its own stayed there


@pytest.fixture
def cluster_project(tmp_path, slurm):
    yield on_two_partitions(tmp_path / "project")
    while STARTED:  # those of a test that failed
        STARTED.pop().kill()
