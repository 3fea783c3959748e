"""What Snakemake is told of a run, for machines measured here, through Slurm and on Kubernetes."""

from types import SimpleNamespace
from typing import get_args

import pytest
from sweetspot.matrix.jobs import Jobs
from sweetspot.study.executors import Executor
from sweetspot.study.platforms import PLATFORMS

HERE = Executor(where="local", device="cpu")
CARD = Executor(where="local", device="gpu", expect_gpu="Tesla V100")
SLURM = Executor(where="slurm", device="gpu", partition="p3", gpu_model="v100", cpus=16, mem_mb=9000, runtime_min=45)
NODES = Executor(where="slurm", device="gpu", partition="big", gpu_model="a100", gpus_per_node=8)
PODS = Executor(where="kubernetes", device="gpu", machine_type="p3.8xlarge", cpus=8)


class Wildcards(SimpleNamespace):
    """As Snakemake gives them: by attribute and by name, all text."""

    def __getitem__(self, name):
        return getattr(self, name)


def run(instance="a", gpus=1, **other):
    return Wildcards(instance=instance, gpus=str(gpus), **other)


def jobs(**executors):
    config = SimpleNamespace(measure_on=list(executors))
    instances = {name: SimpleNamespace(measure=executor) for name, executor in executors.items()}
    return Jobs(SimpleNamespace(config=config, instances=instances))


def of(value, wildcards):
    return value(wildcards) if callable(value) else value


def test_a_machine_measured_here_asks_for_no_word_of_any_platform():
    assert jobs(a=HERE).resources() == {"nodes": 1, "gpu": 0}
    asked = jobs(a=CARD).resources()
    assert set(asked) == {"nodes", "gpu"}
    assert of(asked["gpu"], run(gpus=2)) == 2


def test_slurm_is_asked_for_partition_kind_cores_memory_and_time():
    asked = jobs(a=SLURM).resources()
    assert {name: of(value, run(gpus=4)) for name, value in asked.items()} == {
        "nodes": 1, "slurm_partition": "p3", "gpu_model": "v100", "cpus_per_task": 16, "mem_mb": 9000, "runtime": 45,
        "gpu": 4,
    }  # fmt: skip
    assert jobs(a=SLURM).threads() == 1


@pytest.mark.parametrize(("gpus", "nodes", "gres", "held"), [(8, 1, "", 8), (16, 2, "gpu:a100:8", 0)])
def test_a_cell_of_several_nodes_asks_for_the_devices_of_each(gpus, nodes, gres, held):
    asked = {name: of(value, run(gpus=gpus)) for name, value in jobs(a=NODES).resources().items()}
    assert (asked["nodes"], asked["tasks"], asked["tasks_per_gpu"]) == (nodes, nodes, 0)
    assert (asked["gres"], asked["gpu"]) == (gres, held)


def test_kubernetes_is_asked_for_a_machine_type_and_takes_cores_from_threads():
    asked = jobs(a=PODS).resources()
    assert (asked["machine_type"], asked["mem_mb"]) == ("p3.8xlarge", 8000)
    assert "slurm_partition" not in asked
    assert jobs(a=PODS).threads() == 8


def test_machines_that_differ_are_asked_for_by_the_instance_of_the_run():
    both = jobs(a=HERE, b=SLURM)
    asked = both.resources()
    assert (asked["slurm_partition"](run("a")), asked["slurm_partition"](run("b"))) == (None, "p3")
    assert (of(asked["gpu"], run("a", 2)), of(asked["gpu"], run("b", 2))) == (0, 2)


def test_every_platform_has_a_row_and_asks_for_keys_that_an_executor_has():
    assert list(PLATFORMS) == list(get_args(Executor.model_fields["where"].annotation))
    for platform in PLATFORMS.values():
        assert set(platform.resources.values()) <= set(Executor.model_fields)
        assert platform.names_machine is None or platform.names_machine in Executor.model_fields
