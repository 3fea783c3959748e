"""Facts of the machine: devices, instruction sets, software, and nothing of the environment; how a run is assessed."""

import pytest
from harness_runs import request
from step_lists import even
from sweetspot.harness import facts
from sweetspot.harness.devices import visible_cards
from sweetspot.harness.facts import machine_facts
from sweetspot.harness.supervise import assess


@pytest.mark.parametrize(("flags", "gpus", "logical"), [([], 2, True), ([], 1, False), (["--device", "gpu"], 2, False)])
def test_devices_of_one_processor_are_logical_beyond_the_first(monkeypatch, flags, gpus, logical):
    monkeypatch.setattr(facts, "instruction_sets", lambda: [])
    told = machine_facts(request(*flags, gpus=gpus, precision="bf16"), [])
    assert (told["logical"], told["emulated"]) == (logical, not flags)
    assert told["device_count"] == gpus
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


@pytest.mark.parametrize(
    ("precision", "instructions", "emulated"),
    [
        ("fp32", [], False),
        ("bf16", ["avx2", "fma"], True),
        ("bf16", ["avx512f", "avx512_bf16"], False),
        ("bf16", ["amx_bf16"], False),
        ("fp16", ["avx512f", "amx_bf16"], True),
        ("fp16", ["avx512_fp16"], False),
    ],
)
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


def test_a_drifting_run_is_unstable_and_says_why():
    told = {}
    status, warnings = assess(request(), even([1.0 + 0.03 * step for step in range(8)]), told)
    assert (status, warnings[0].rule) == ("unstable", "drift")
    assert told["warnings"] == warnings


def test_no_card_is_visible_where_the_environment_hides_all(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_cards() == []


def test_a_precision_that_the_device_converts_a_lowered_clock_and_a_silent_device_are_warnings():
    told = {"emulated": True, "gpu_silent": [1], "gpu_held_back": {"hardware": 0.04, "heat (software)": 0.05}}
    status, warnings = assess(request(precision="bf16"), even([2.0] * 5), told)
    assert status == "ok"
    assert [warning.rule for warning in warnings] == ["emulation", "silent_device", "held_back"]
    assert "heat (software) in 5%" in warnings[-1].message and "hardware" not in warnings[-1].message
