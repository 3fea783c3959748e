"""Peak memory of one device: who is asked, in which order, and what a run that ran out of it says."""

import sys
from types import SimpleNamespace

import psutil
import pytest
from harness_runs import request
from sweetspot.harness.run_memory import available_bytes, framework_peak, peak_memory

GIB = 2**30


def torch(together=False):
    """Two devices of 3 and 5 bytes, or one process of a group whose fullest device holds 9."""
    tensor = SimpleNamespace(value=None, item=lambda: tensor.value)

    def made(values, **kind):
        assert kind == {"device": "cuda", "dtype": "int64"}
        tensor.value = values[0]
        return tensor

    def all_reduce(given, op):
        assert (given.value, op) == (5, "max")
        given.value = 9

    group = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: together, all_reduce=all_reduce,
        ReduceOp=SimpleNamespace(MAX="max"),
    )  # fmt: skip
    cuda = SimpleNamespace(device_count=lambda: 2, max_memory_allocated=lambda index=1: (3, 5)[index])
    return SimpleNamespace(cuda=cuda, distributed=group, tensor=made, int64="int64")


def tensorflow():
    info = {"GPU:0": {"current": 1, "peak": 7}, "GPU:1": {"current": 2, "peak": 6}}
    return SimpleNamespace(config=SimpleNamespace(experimental=SimpleNamespace(get_memory_info=info.__getitem__)))


@pytest.mark.parametrize(
    ("framework", "module", "most", "counter"),
    [
        ("torch", torch(), 5, "torch.cuda.max_memory_allocated"),
        ("torch", torch(together=True), 9, "torch.cuda.max_memory_allocated"),
        ("tensorflow", tensorflow(), 7, "tf.config.experimental.get_memory_info"),
    ],
)
def test_the_framework_is_asked_for_its_fullest_device(monkeypatch, framework, module, most, counter):
    asked = request(framework=framework, device="gpu", gpus=2)
    monkeypatch.setitem(sys.modules, framework, module)
    assert framework_peak(asked) == {"peak_memory_bytes": most, "peak_memory_counter": counter}
    assert framework_peak(request(framework=framework, gpus=2)) == {}


def test_a_framework_that_cannot_tell_costs_no_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace())
    found = framework_peak(request(framework="tensorflow", device="gpu"))
    assert list(found) == ["peak_memory_lacks"]
    assert found["peak_memory_lacks"].startswith("tf.config.experimental.get_memory_info: AttributeError: ")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    for framework in ("torch", "command"):
        assert framework_peak(request(framework=framework, device="gpu")) == {}


ALL = {"peak_memory_bytes": 3 * GIB, "gpu_memory_peak_bytes": 4 * GIB, "memory_peak_bytes": 5 * GIB}


@pytest.mark.parametrize(
    ("without", "device", "gib", "source"),
    [
        ((), "gpu", 3, "framework"),
        (("peak_memory_bytes",), "gpu", 4, "nvml"),
        (("peak_memory_bytes", "gpu_memory_peak_bytes"), "cpu", 5, "resident"),
        (("peak_memory_bytes", "gpu_memory_peak_bytes"), "gpu", None, None),  # the host's memory is not the device's
    ],
)
def test_the_best_of_three_counts_and_says_which(without, device, gib, source):
    found = peak_memory({name: value for name, value in ALL.items() if name not in without}, device)
    assert (found.get("peak_memory_gib"), found.get("peak_memory_source")) == (gib, source)


def test_what_there_is_is_what_the_kernel_calls_available_and_at_most_the_limit_of_the_group(tmp_path, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8000 * 1024))
    own = tmp_path / "proc" / "self"
    own.mkdir(parents=True)
    assert available_bytes(tmp_path) == 8000 * 1024
    (own / "cgroup").write_text("0::/slurm/job_7/step_0\n")
    job = tmp_path / "sys" / "fs" / "cgroup" / "slurm" / "job_7"
    (job / "step_0").mkdir(parents=True)
    (job / "step_0" / "memory.max").write_text("max\n")
    (job / "memory.max").write_text("4096000\n")
    assert available_bytes(tmp_path) == 4_096_000
