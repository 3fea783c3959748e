"""A Slurm for the session; without root or the packages the tests say so and are skipped."""

import pytest
from one_node_slurm import OneNodeSlurm, missing
from slurm_project import on_two_partitions


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    controller = OneNodeSlurm(tmp_path_factory.mktemp("slurm"))
    try:
        controller.start()
        yield controller
    finally:
        controller.stop()


@pytest.fixture
def cluster_project(tmp_path, slurm):
    return on_two_partitions(tmp_path / "project")
