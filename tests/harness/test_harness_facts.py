"""Facts of the machine: averages over all cards, energy, instruction sets, and nothing of the environment."""

import pytest
from fake_nvml import NVML
from step_lists import even
from sweetspot.harness import facts
from sweetspot.harness.cards import card_facts, card_watch
from sweetspot.harness.devices import visible_cards
from sweetspot.harness.joules import processor_energy
from sweetspot.harness.request import parse_request
from sweetspot.harness.sampling import Sampler, summary
from sweetspot.harness.supervise import judged


def test_utilisation_is_averaged_over_all_cards_and_a_silent_fact_is_left_out():
    look = card_watch(NVML, ["GPU-a", "GPU-b"])
    found = summary([*look(), *look()])
    assert found == pytest.approx(
        {"gpu_samples": 4, "gpu_utilisation": 0.6, "gpu_memory_peak_bytes": 7, "gpu_watts": 150, "gpu_celsius": 60}
    )


def test_facts_of_the_cards_by_uuid():
    told = card_facts(NVML, ["GPU-a", "GPU-b"])
    assert told["driver"] == "535.1"
    assert [card["power_limit_watts"] for card in told["cards"]] == [149, 149]


def test_a_sampler_tells_its_facts_once():
    sampler = Sampler(list)
    assert sampler.finish() == {}
    sampler.start()
    sampler.finish()
    assert sampler.finish() == {}


def test_energy_is_that_of_the_packages_and_none_where_the_machine_is_silent(tmp_path):
    for name, microjoules in (("intel-rapl:0", 3_000_000), ("intel-rapl:1", 4_500_000), ("intel-rapl:0:0", 9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "energy_uj").write_text(f"{microjoules}\n")
    (tmp_path / "intel-rapl:1" / "max_energy_range_uj").write_text("262143328850\n")
    # The core within a package (0:0) is part of it.
    assert processor_energy(tmp_path) == {"intel-rapl:0": (3_000_000, 0), "intel-rapl:1": (4_500_000, 262_143_328_850)}
    assert processor_energy(tmp_path / "absent") == {}


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
def test_a_precision_without_instructions_of_its_own_is_emulated(precision, instructions, emulated):
    assert facts.emulated(precision, instructions) is emulated


def request(*more):
    cell = "--instance a --framework tensorflow --model vgg16 --batch-size 16 --gpus 2 --precision bf16"
    flags = f"{cell} --variant default --run 1 --output x"
    return parse_request([*flags.split(), *more])


def test_no_secret_of_the_environment_reaches_the_facts(monkeypatch):
    monkeypatch.setenv("CLOUD_TOKEN", "hunter2")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    told = facts.machine_facts(request(), ["run_benchmark.py"])
    assert "hunter2" not in repr(told)
    assert told["settings"]["OMP_NUM_THREADS"] == "3"
    assert told["cpu"]
    assert told["memory_bytes"] > 1e8


def test_the_share_of_the_machines_rate_is_arithmetic_over_time():
    told = {
        "training_flop_per_sample": 3e9,
        "machine_matmul_flops": 96e9,
        "machine_conv_flops": 192e9,
        "emulated": True,
    }
    status, warnings = judged(request(), even([2.0] * 5), told)
    # 2 devices x 16 images / 2 s x 3 GFLOP = 48 GFLOP/s
    assert told["share_of_matmul"] == pytest.approx(0.5)
    assert told["share_of_conv"] == pytest.approx(0.25)
    assert status == "ok"
    assert warnings == [("emulation", "this processor computes bf16 as fp32; no speed-up is to be had")]


def test_a_drifting_run_is_unstable_and_says_why():
    told = {}
    status, warnings = judged(request(), even([1.0 + 0.03 * step for step in range(8)]), told)
    assert status == "unstable"
    assert warnings[0].rule == "drift"
    assert warnings[0].message.startswith("step time changed by +")
    assert told["warnings"] == warnings


def test_no_card_is_visible_where_the_environment_hides_all(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_cards() == []


def test_all_that_a_run_says_of_itself_is_told():
    _, warnings = judged(request(), even([1.5, 1.0, 1.0, 1.0, 1.0, 1.0]), {"emulated": True})
    assert [pair.rule for pair in warnings] == ["emulation", "warm_up", "imprecise"]
