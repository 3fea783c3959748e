"""What devices did: samples of them; joules a step by counters, what stands in for them, and what silence costs."""

from types import SimpleNamespace

import numpy as np
import pytest
from sweetspot.harness import sampling
from sweetspot.harness.devices import DeviceSample
from sweetspot.harness.sampling import DeviceSampler, read_processor_counters, sample_facts


def device(joules=None, watts=None, **fields):
    return DeviceSample(**dict.fromkeys(DeviceSample._fields) | {"joules": joules, "watts": watts} | fields)


def sampled(monkeypatch, readings, packages=(), steps=None, seconds=1.0):
    """Facts of a run: samples of its devices and joules of its processor's packages at the start and after each step.

    The clock moves on by `seconds` a step. A package counts to 100 J and starts again.
    """
    energies = iter([np.array([[joules * 1e6, 100e6] for joules in row]) for row in packages])
    monkeypatch.setattr(sampling, "read_processor_counters", lambda: next(energies, np.empty((0, 2))))
    now, current = 7.0, iter(readings)
    sampler = DeviceSampler(SimpleNamespace(samples=lambda: next(current, readings[-1])), lambda: now)
    sampler.start()
    for count in steps or [10] * (max(len(readings), len(packages) - 1) - 1):
        now += seconds
        sampler.add_steps(count)
    return sampler.finish()


def test_the_processors_joules_are_summed_though_its_counter_starts_again_twice(monkeypatch):
    # 90 to 60 (+70), 60 to 10 (+50), 10 to 30 (+20) over a range of 100: 140 J in 3 steps. Another package spends 3 J.
    packages = [(90, 1), (90, 1), (60, 2), (10, 3), (30, 4)]
    facts = sampled(monkeypatch, [[]], packages, steps=[1, 1, 1])
    assert facts == {
        "device_joules": [], "energy_steps": 3, "energy_seconds": 3, "joules_per_step": pytest.approx(143 / 3),
        "energy_source": "rapl",
    }  # fmt: skip


@pytest.mark.parametrize("packages", [(), [[5], [5], [], [7]], [[5, 1], [5, 1], [6, 1], [7]]])
def test_a_processor_that_stops_reporting_has_no_joules(monkeypatch, packages):
    assert sampled(monkeypatch, [[]], packages, steps=[1, 1]) == {}


def test_joules_are_those_of_the_steps_before_them_and_of_all_devices_with_the_processor(monkeypatch):
    # Ten steps of 0.1 s: counters are read after 0.3, 0.6 and 0.9 s, so the last reading is of 9 steps.
    facts = sampled(monkeypatch, [[device(joules)] for joules in (0, 3, 6, 9)], steps=[1] * 10, seconds=0.1)
    assert (facts["energy_steps"], facts["joules_per_step"]) == (9, 1.0)
    assert "joules_per_step" not in sampled(monkeypatch, [[device(1.0)]])
    assert DeviceSampler(SimpleNamespace(samples=list)).finish() == {}
    # Quarters of a second, each with a reading; half a joule in ten steps, of which one device spent nothing.
    facts = sampled(monkeypatch, [[device(joules)] for joules in range(5)], steps=[1] * 4, seconds=0.25)
    assert (facts["energy_steps"], facts["energy_seconds"], facts["joules_per_step"]) == (4, 1.0, 1.0)
    assert sampled(monkeypatch, [[device(5), device(5)], [device(5), device(5.5)]])["joules_per_step"] == 0.05
    readings = [[device(100.0), device(50.0)], [device(1100.0), device(550.0)]]
    facts = sampled(monkeypatch, readings, [[0], [4], [34]])  # 4 J before the first timed step
    # 1000 + 500 + 30 J in 10 steps
    assert (facts["device_joules"], facts["joules_per_step"]) == ([1000, 500], 153)
    assert facts["energy_source"] == "nvml_counter+rapl"


def test_a_device_without_a_counter_is_counted_by_its_sampled_power(monkeypatch):
    readings = [[device(joules), device(watts=80.0)] for joules in (100, 200, 600)]
    facts = sampled(monkeypatch, readings, seconds=5.0)
    # 500 J by the counter, 80 W x 10 s, over 20 steps
    assert (facts["device_joules"], facts["joules_per_step"]) == ([500, 800], 65)
    assert facts["energy_source"] == "nvml_power"
    assert sampled(monkeypatch, [[device(joules), device(celsius=50)] for joules in (0, 1)]) == {"gpu_celsius": 50}


@pytest.mark.parametrize(
    ("second_device", "joules", "steps"),
    [
        ((10, 20, 30, 40), [90, 30], 30),
        ((10, 20, 30, None), [60, 20], 20),  # it fell silent after two thirds of the steps
        ((10, 20, 30, 5), [60, 20], 20),  # its counter started again with its driver
        ((10, 20, None, None), None, None),  # after a third
    ],
)
def test_energy_is_counted_until_a_device_falls_silent_if_that_is_half_of_the_steps(
    monkeypatch, second_device, joules, steps
):
    pairs = zip((0, 30, 60, 90), second_device, strict=True)
    facts = sampled(monkeypatch, [[device(first), device(second)] for first, second in pairs])
    assert (facts.get("device_joules"), facts.get("energy_steps")) == (joules, steps)
    assert sampled(monkeypatch, [[device(0)], [device(9)], [device()]])["energy_steps"] == 10  # half of the steps


def test_devices_are_sampled_twice_a_second_until_the_end(monkeypatch):
    assert sampling.SAMPLE_INTERVAL_S == 0.5
    monkeypatch.setattr(sampling, "SAMPLE_INTERVAL_S", 0.001)
    taken = []

    def sample():
        taken.append(1)
        if len(taken) == 4:  # one was for the energy
            sampler._stop.wait = lambda _: True
        return [
            device(utilisation=0.5, memory_bytes=7 + len(taken), celsius=40.0, slowdown_bits=0x04),
            device(utilisation=1.0, memory_bytes=5, celsius=60.0, slowdown_bits=0x24),
        ]

    sampler = DeviceSampler(SimpleNamespace(samples=sample))
    sampler.start()
    assert sampler._thread.daemon  # no run waits for it
    sampler._thread.join(30)
    # Both are at their power limit, one is too hot.
    assert sampler.finish() == {
        "gpu_utilisation": 0.75, "gpu_memory_peak_bytes": 11, "gpu_celsius": 50, "gpu_power_capped": 1.0,
        "gpu_held_back": {"heat (software)": 0.5},
    }  # fmt: skip
    assert sampler.finish() == {}


def test_a_mean_is_of_each_device_by_what_it_reported():
    # The second one reported 100 W once and fell silent: (200 + 100) / 2, not (3 x 200 + 100) / 4.
    samples = [[device(watts=200), device(watts=100)], *[[device(watts=200), device()]] * 2]
    assert sample_facts(samples) == {"gpu_watts": 150, "gpu_silent": [1]}
    assert sample_facts([[], []]) == sample_facts([]) == {}
    # One sample each: idle (0x01, no fault), at the power limit, and each reason for a lowered clock.
    facts = sample_facts([[device(slowdown_bits=bits)] for bits in (0x01, 0x04, 0x08, 0x20, 0x40, 0x80)])
    assert facts["gpu_power_capped"] == pytest.approx(1 / 6)
    assert list(facts["gpu_held_back"].values()) == pytest.approx([1 / 6] * 4)


def test_energy_is_that_of_the_packages_and_none_where_the_machine_is_silent(tmp_path):
    for name, microjoules in (("intel-rapl:0", 3_000_000), ("intel-rapl:1", 4_500_000), ("intel-rapl:0:0", 9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "energy_uj").write_text(f"{microjoules}\n")
        (tmp_path / name / "max_energy_range_uj").write_text("262143328850\n")
    # The core within a package (0:0) is part of it.
    expected = [[3_000_000, 262_143_328_850], [4_500_000, 262_143_328_850]]
    assert sorted(read_processor_counters(tmp_path).tolist()) == expected
    (tmp_path / "intel-rapl:1" / "energy_uj").unlink()
    assert read_processor_counters(tmp_path).shape == read_processor_counters(tmp_path / "none").shape == (0, 2)
