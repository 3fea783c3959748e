"""Runs over several nodes without Slurm: the plan, Slurm's variables as TensorFlow's resolver reads them, the end."""

from types import SimpleNamespace

import pytest
from harness_runs import request as run_request
from sweetspot.errors import UserError
from sweetspot.harness import nodes
from sweetspot.harness.backends import tensorflow
from sweetspot.study.instances import Executor

SLURM = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_ID": "1",
    "SLURM_PROCID": "0",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_NODELIST": "gpu[9-10]",
    "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
    "SLURMD_NODENAME": "gpu9",
}


def request(gpus=8):
    return run_request(gpus=gpus, gpus_per_node=4, device="gpu", where="slurm")


def place(**other):
    return Executor(where="slurm", device="gpu", partition="big", gpus_per_node=4, **other)


@pytest.mark.parametrize(("gpus", "nodes", "local"), [(1, 1, 1), (4, 1, 4), (8, 2, 4), (16, 4, 4)])
def test_more_devices_than_a_node_has_take_several_nodes(gpus, nodes, local):
    assert (request(gpus).nodes, request(gpus).local_gpus) == (nodes, local)
    assert place().nodes(gpus) == nodes


def test_workers_are_started_one_a_node_and_end_together_in_an_environment_of_their_own():
    words = nodes.command(request(), "a.module", "more")
    assert words[:5] == ["srun", "--nodes", "2", "--ntasks", "2"]
    assert {"--overlap", "--ntasks-per-node=1", "--kill-on-bad-exit=1"} <= set(words)
    assert words[words.index("-m") + 1] == "a.module"
    assert words[-1] == "more"
    kept = {"SLURM_JOB_ID": "7", "SLURM_CONF": "/c", "PATH": "/bin"}
    assert nodes.outer({**kept, "SLURM_NTASKS": "1", "SLURM_NNODES": "1", "SLURM_STEP_ID": "0"}) == kept


@pytest.mark.slow  # eight CPU-seconds, in which TensorFlow starts
def test_a_worker_finds_itself_by_its_nodes_name_since_the_resolver_sorts_names_as_text(monkeypatch):
    pytest.importorskip("tensorflow")
    found = {}
    for rank, node in enumerate(["gpu9", "gpu10"]):  # Slurm's order; as text gpu10 comes first
        here = {**SLURM, "SLURM_PROCID": str(rank), "SLURMD_NODENAME": node}
        for name, value in here.items():
            monkeypatch.setenv(name, value)
        found[node] = tensorflow.cluster(here, 2)
    assert found["gpu9"]["cluster"] == found["gpu10"]["cluster"]
    workers = found["gpu9"]["cluster"]["worker"]
    for node, configuration in found.items():
        assert workers[configuration["task"]["index"]].startswith(f"{node}:")
    ports = [int(worker.rsplit(":")[1]) for worker in workers]
    assert ports[1] == ports[0] + 1
    assert ports[0] == 10_000 + 7 * 101 + 1 * 10
    with pytest.raises(UserError, match="takes 3 nodes"):
        tensorflow.cluster(SLURM, 3)


def test_a_worker_tells_its_node_its_own_devices_and_its_memory(monkeypatch):
    monkeypatch.setattr(nodes.resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=3))  # KiB on Linux
    monkeypatch.setattr(nodes.socket, "gethostname", lambda: "host-a")
    monkeypatch.setenv("SLURMD_NODENAME", "gpu9")
    told = nodes.worker_facts(request(), {"device_name": "A100", "versions": {"torch": "2"}, "more": 1})
    assert told == {
        "host": "host-a", "node": "gpu9", "device_name": "A100", "device_count": 4, "versions": {"torch": "2"},
        "memory_peak_bytes": 3072,
    }  # fmt: skip


def test_facts_of_workers_add_up_where_all_tell_them_and_a_shared_processor_is_named():
    one = {"host": "a", "node": "n1", "machine_matmul_flops": 4.0, "memory_peak_bytes": 10}
    other = {**one, "host": "b", "node": "n2", "machine_matmul_flops": 3.0, "machine_conv_flops": 1.0}
    apart = nodes.joined([other, one], "cpu")
    assert (apart["machine_matmul_flops"], apart["memory_peak_bytes"], apart["logical"]) == (7.0, 20, False)
    assert "machine_conv_flops" not in apart
    assert [worker["node"] for worker in apart["workers"]] == ["n1", "n2"]
    assert nodes.joined([one, {**one, "node": "n2"}], "cpu")["logical"] is True
    assert nodes.joined([one, {**one, "node": "n2"}], "gpu")["logical"] is False
    assert nodes.joined([], "cpu") == {"workers": []}


def test_the_worker_that_failed_first_is_named():
    ended = "srun: error: n2: task 1: Exited with exit code 1\nsrun: error: n1: task 0: Killed\n"
    errors = f"srun: Job step aborted\n{ended}"
    said = nodes.message(["ValueError on n2: bad", "second"], errors, None)
    assert said == "n2: task 1: Exited with exit code 1; ValueError on n2: bad"
    assert nodes.message([], "", "ended with exit code 1") == "ended with exit code 1"
    assert len(nodes.message(["long" * 200], "", None)) == 300


@pytest.mark.parametrize(
    ("listed", "first"),
    [("gpu9", "gpu9"), ("gpu[9-10]", "gpu9"), ("gpu[07,09-12],big1", "gpu07"), ("big1,gpu[1-2]", "big1")],
)
def test_workers_meet_at_the_first_node_of_slurms_list(listed, first):
    assert nodes.first_host({"SLURM_STEP_NODELIST": listed}) == first


def test_torchs_launcher_starts_a_process_a_device_and_those_of_all_nodes_meet():
    asked = request()
    assert nodes.launcher_flags(asked, SLURM | {"SLURM_NODEID": "1"}) == [
        *("--nnodes", "2", "--node-rank", "1", "--master-addr", "gpu9"),
        *("--master-port", str(10_000 + 7 * 101 + 1 * 10), "--nproc-per-node", "4"),
    ]
    assert nodes.launcher_flags(request(gpus=4), {}) == ["--standalone", "--nproc-per-node", "4"]
    assert nodes.share_of_cores(asked) == 1


@pytest.mark.parametrize(("cores", "gpus", "threads"), [(8, 2, 4), (7, 2, 3), (1, 2, 1)])
def test_processes_on_a_processor_share_its_cores_and_each_has_one_at_least(monkeypatch, cores, gpus, threads):
    monkeypatch.setattr(nodes.os, "sched_getaffinity", lambda _: set(range(cores)))
    assert nodes.share_of_cores(run_request(gpus=gpus, device="cpu")) == threads
