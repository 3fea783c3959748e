"""Several processes on one machine: their share of its cores."""

import pytest
from harness_runs import request
from sweetspot.harness import launcher


@pytest.mark.parametrize(("cores", "gpus", "threads"), [(8, 2, 4), (7, 2, 3), (1, 2, 1)])
def test_processes_on_a_processor_share_its_cores_and_each_has_one_at_least(monkeypatch, cores, gpus, threads):
    monkeypatch.setattr(launcher.os, "sched_getaffinity", lambda _: set(range(cores)))
    assert launcher.threads_per_process(request(gpus=gpus, device="cpu")) == threads
    assert launcher.threads_per_process(request(gpus=gpus, device="gpu")) == 1
