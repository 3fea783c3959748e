"""A Slurm and an S3 server for the session; without root or the packages the tests say so and are skipped."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from accounting import NEEDED, PACKAGES, AccountedSlurm
from one_node_slurm import OneNodeSlurm, missing
from patience import until
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


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory):
    """Address of an S3 server that keeps everything in its memory."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("s3") / "server.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
    )

    def answers():
        with socket.socket() as line:
            return line.connect_ex(("127.0.0.1", port)) == 0

    try:
        until(answers, "moto's server")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)
        log.close()


@pytest.fixture
def cluster_project(tmp_path, slurm):
    yield on_two_partitions(tmp_path / "project")
    while STARTED:  # those of a test that failed
        STARTED.pop().kill()
