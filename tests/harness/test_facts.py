"""Facts of the machine: devices, instructions, software, nothing of the environment, memory; how a run is assessed."""

import sys
from types import SimpleNamespace

import pytest
from harness_runs import request
from sweetspot.harness import facts
from sweetspot.harness.backends import backend
from sweetspot.harness.facts import machine_facts, peak_memory


@pytest.mark.parametrize(("flags", "gpus", "logical"), [([], 2, True), ([], 1, False), (["--device", "gpu"], 2, False)])
def test_devices_of_one_processor_are_logical_beyond_the_first(monkeypatch, flags, gpus, logical):
    monkeypatch.setattr(facts, "instruction_sets", lambda: [])
    monkeypatch.setattr(facts.os, "getloadavg", lambda: (0.25, 3.0, 4.0))
    monkeypatch.setattr(facts.os, "sched_getaffinity", lambda process: {process, 2, 1})
    told = machine_facts(request(*flags, gpus=gpus, precision="bf16"), [])
    assert (told["logical"], told["emulated"]) == (logical, not flags)
    assert (told["device_count"], told["cpu_usable"], told["load_before"]) == (gpus, 3, 0.25)
    assert (told["device_name"] == "unknown") == bool(flags)


def test_versions_are_of_the_packages_that_a_figure_depends_on(monkeypatch):
    def version(package):
        if package == "torch":
            raise facts.metadata.PackageNotFoundError
        return f"of {package}"

    monkeypatch.setattr(facts.metadata, "version", version)
    found = machine_facts(request(), [])["versions"]
    # CUDA 12 and 13 have packages of their own
    names = {"tensorflow", "keras", "numpy", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-nccl-cu12"}
    assert set(found) == names | {"nvidia-nccl-cu13", "python"}
    assert found["keras"] == "of keras"


CPUINFO = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu fma avx2 avx512f\n"


@pytest.mark.parametrize(
    ("text", "name", "sets"),
    [
        (CPUINFO, "Some CPU @ 2.00GHz", ["avx2", "fma", "avx512f"]),
        ("processor\t: 0\nFeatures\t: fp asimd bf16\n", "arm", ["asimd", "bf16"]),
    ],
)
def test_the_processor_tells_its_name_and_instructions(monkeypatch, tmp_path, text, name, sets):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(facts, "Path", lambda _: tmp_path / "cpuinfo")
    monkeypatch.setattr(facts.platform, "processor", lambda: "")
    monkeypatch.setattr(facts.platform, "machine", lambda: "arm")
    assert facts.processor_name() == name
    assert facts.instruction_sets() == sets


@pytest.mark.parametrize(("precision", "instructions", "emulated"), [
    ("fp32", [], False), ("bf16", ["avx2", "fma"], True), ("bf16", ["avx512f", "avx512_bf16"], False),
    ("bf16", ["amx_bf16"], False), ("fp16", ["avx512f", "amx_bf16"], True), ("fp16", ["avx512_fp16"], False)
])  # fmt: skip
def test_a_precision_without_instructions_of_its_own_is_emulated(monkeypatch, precision, instructions, emulated):
    monkeypatch.setattr(facts, "instruction_sets", lambda: instructions)
    assert machine_facts(request(precision=precision), [])["emulated"] is emulated


def test_no_secret_of_the_environment_reaches_the_facts(monkeypatch):
    monkeypatch.setenv("CLOUD_TOKEN", "hunter2")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    told = machine_facts(request(), ["run_benchmark.py"])
    assert "hunter2" not in repr(told)
    assert told["settings"]["OMP_NUM_THREADS"] == "3"
    assert told["cpu"]
    assert told["memory_bytes"] > 1e8


def test_the_commit_is_that_of_the_clone_and_no_kind_of_machine_is_known_by_half(monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(facts, "__file__", str(tmp_path / "workflow" / "sweetspot" / "harness" / "facts.py"))
    monkeypatch.setattr(facts.subprocess, "check_output", lambda command, text, **_: f"{command[2]}\n" * text)
    assert facts.sweetspot_version()["commit"] == str(tmp_path)
    assert facts.kind_of_machine({"cpu": "EPYC", "cpu_usable": 4}) == "EPYC, 4 CPUs"
    assert facts.kind_of_machine({"cpu": "EPYC", "cpu_usable": 1}) == "EPYC, 1 CPU"
    assert facts.kind_of_machine({"cpu": "EPYC"}) is facts.kind_of_machine({"cpu_usable": 2}) is None
    assert facts.memory_error("bad_alloc\n1\n2") == "bad_alloc"  # the last three lines
    assert facts.memory_error("bad_alloc\n1\n2\n3") is None


GIB = 2**30


def test_tensorflow_is_asked_for_its_fullest_device(monkeypatch):
    read = {"GPU:0": {"current": 1, "peak": 7}, "GPU:1": {"current": 2, "peak": 6}}.__getitem__
    experimental = SimpleNamespace(get_memory_info=read)
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(config=SimpleNamespace(experimental=experimental)))
    assert backend("tensorflow").peak_memory_bytes(request(device="gpu", gpus=2)) == 7


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
