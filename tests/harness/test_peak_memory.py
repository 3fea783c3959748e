"""Peak memory of one device: who is asked, in which order, and what a run that ran out of it says."""

import sys
from types import SimpleNamespace

import psutil
import pytest
from harness_runs import request
from step_lists import even
from sweetspot.harness.run_memory import COUNTERS, asked_bytes, available_bytes, counted, peak, sentence
from sweetspot.harness.supervise import judged
from sweetspot.study.frameworks import FRAMEWORKS

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
    assert counted(asked) == {"peak_memory_bytes": most, "peak_memory_counter": counter}
    assert counted(request(framework=framework, gpus=2)) == {}


def test_a_framework_that_cannot_tell_costs_no_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace())
    found = counted(request(framework="tensorflow", device="gpu"))
    assert list(found) == ["peak_memory_lacks"]
    assert found["peak_memory_lacks"].startswith("tf.config.experimental.get_memory_info: AttributeError: ")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    for framework in ("torch", "command"):
        assert counted(request(framework=framework, device="gpu")) == {}


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
    found = peak({name: value for name, value in ALL.items() if name not in without}, device)
    assert (found.get("peak_memory_gib"), found.get("peak_memory_source")) == (gib, source)


def test_of_several_nodes_the_fullest_worker_counts_not_their_sum():
    workers = [{"memory_peak_bytes": 2 * GIB}, {"memory_peak_bytes": 3 * GIB}]
    assert peak({"workers": workers, "memory_peak_bytes": 5 * GIB}, "cpu")["peak_memory_gib"] == 3
    counted = [worker | {"peak_memory_bytes": place * GIB} for place, worker in enumerate(workers, 6)]
    assert peak({"workers": counted, "memory_peak_bytes": 5 * GIB}, "gpu")["peak_memory_gib"] == 7


# Printed by PyTorch 2 (pytorch/pytorch issue 16417) and on a processor, jaxlib (jax-ml/jax issues 13428, 788, 22755),
# TensorFlow 2, numpy 2.
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 22.00 MiB. GPU 0 has a total capacity of "
         "23.65 GiB of which 11.06 MiB is free.", 22 * 2**20),
        ("RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you "
         "tried to allocate 4398046511104 bytes. Error code 12", 4398046511104),
        ("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 "
         "bytes.", 6291456),
        ("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 20029400304 bytes.", 20029400304),
        ("ResourceExhaustedError: OOM when allocating tensor with shape[64,64,112,112] and type float on /job:"
         "localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]", 64 * 64 * 112 * 112 * 4),
        ("OOM when allocating tensor with shape[8,1024] and type half on", 8 * 1024 * 2),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB for an array with shape (1000000,)",
         7.28 * 2**40),
        ("Tried to allocate 1.00 GiB\nretried with less: Tried to allocate 512.00 MiB", 512 * 2**20),
        ("MemoryError", None),
        ("OOM when allocating tensor with shape[8,1024] and type complex64 on", None),
    ],
)  # fmt: skip
def test_what_a_framework_asked_for_is_read_from_its_words(text, asked):
    assert asked_bytes(text) == pytest.approx(asked)


def test_an_end_for_want_of_memory_says_what_was_asked_and_what_there_was():
    cards = [{"memory_bytes": 80 * GIB}, {"memory_bytes": 40 * GIB}, {"memory_bytes": None}]
    facts = {"cards": cards, "gpu_memory_peak_bytes": 39.5 * GIB}
    text = "CUDA out of memory. Tried to allocate 2.00 GiB."
    words = "asked for 2 GiB more; the fullest device held 39.5 GiB; each device has 40 GiB"
    assert sentence(text, facts, "gpu") == words
    facts = {"memory_peak_bytes": 23 * GIB, "memory_available_bytes": 24 * GIB}
    assert sentence("", facts, "cpu") == "its largest process held 23 GiB; 24 GiB were free before it began"
    assert sentence("MemoryError", {}, "gpu") is None


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
    (own / "cgroup").write_text("5:memory:/docker/x\n")  # version 1, in a container
    (tmp_path / "sys" / "fs" / "cgroup" / "memory").mkdir()
    limit = tmp_path / "sys" / "fs" / "cgroup" / "memory" / "memory.limit_in_bytes"
    limit.write_text("9223372036854771712\n")
    assert available_bytes(tmp_path) == 8000 * 1024
    limit.write_text("2048000\n")
    assert available_bytes(tmp_path) == 2_048_000


def test_every_framework_that_is_installed_with_a_package_has_a_counter():
    assert {ability.package for ability in FRAMEWORKS.values()} - {""} == set(COUNTERS)


def test_a_device_that_fell_silent_is_told_in_the_run_file():
    _, warnings = judged(request(), even([1.0, 1.0, 1.0]), {"gpu_silent": [1]})
    assert warnings == [("silent_device", "device 1 stopped answering NVML: its power, clock and use are of before")]
