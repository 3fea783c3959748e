"""What devices did: looks at them; joules a step by counters, what stands in for them, and what silence costs."""

from types import SimpleNamespace

import pytest
from sweetspot.harness import sampling
from sweetspot.harness.sampling import (
    DeviceSample,
    DeviceSampler,
    EnergyCounter,
    EnergyReading,
    energy_facts,
    read_processor_counters,
)


@pytest.mark.parametrize(
    ("before", "after", "joules"),
    [
        ({"a": (90_000_000, 100_000_000)}, {"a": (20_000_000, 100_000_000)}, 30.0),  # 10 up to its range, 20 from 0 on
        ({"a": (90_000_000, 100_000_000), "b": (1, 9)}, {"a": (95_000_000, 100_000_000), "b": (1, 9)}, 5.0),
        ({"a": (90_000_000, 0)}, {"a": (20_000_000, 0)}, None),  # fell, and its range is not told
        ({"a": (1, 9)}, {"a": (2, 9), "b": (3, 9)}, None),
    ],
)
def test_an_energy_counter_that_started_again_is_counted_over_its_range(before, after, joules):
    looks = ({name: EnergyCounter(*values) for name, values in look.items()} for look in (before, after))
    assert sampling.joules_between(*looks) == joules


def metered(monkeypatch, packages, devices=(), steps=(1, 1, 1), seconds=1.0):
    """Marks of a meter whose clock moves on by `seconds` a step; looks at packages (J) and devices in turn."""
    told = iter({} if value is None else {"p": EnergyCounter(int(value * 1e6), int(100e6))} for value in packages)
    monkeypatch.setattr(sampling, "read_processor_counters", lambda: next(told))
    looks, now = iter(devices), 0.0
    meter = sampling.EnergyMeter(SimpleNamespace(joules=lambda: next(looks, ())), lambda: now)
    meter.start()
    for count in steps:
        now += seconds
        meter.add_steps(count)
    meter.add_steps(0, is_last=True)
    return meter.readings


def test_the_processors_joules_are_summed_from_mark_to_mark_though_its_counter_starts_again_twice(monkeypatch):
    # 90 to 60 (+70), 60 to 10 (+50), 10 to 30 (+20), over a range of 100: 140 J in 3 steps; two looks: 40 J
    facts = energy_facts(metered(monkeypatch, [90, 60, 10, 30]), [])
    assert facts == {
        "processor_joules": 140, "energy_steps": 3, "energy_seconds": 3, "joules_per_step": pytest.approx(140 / 3),
        "energy_source": "rapl",
    }  # fmt: skip


@pytest.mark.parametrize("packages", [[None] * 4, [5, None, 7, 8], [5, 6, 7, None], [None, 6, 7, 8]])
def test_a_processor_that_does_not_tell_has_no_joules(monkeypatch, packages):
    assert energy_facts(metered(monkeypatch, packages), []) == {}


def test_steps_and_joules_belong_together_where_steps_are_quicker_than_marks(monkeypatch):
    # ten steps of 0.1 s; marks after 0.3, 0.6, 0.9 s and at the end: 3, 6, 9, 10 steps
    marks = metered(monkeypatch, [0, 3, 6, 9, 10], steps=[1] * 10, seconds=0.1)
    assert [mark.steps for mark in marks] == [0, 3, 6, 9, 10]
    assert energy_facts(marks, [])["joules_per_step"] == pytest.approx(1.0)


def test_a_run_without_a_timed_step_has_no_joules(monkeypatch):
    assert energy_facts(metered(monkeypatch, [1], steps=[]), []) == {}
    assert energy_facts([], []) == {}


def marks(*devices, processor=None):
    return [EnergyReading(10 * place, 5.0 * place, tuple(look), processor) for place, look in enumerate(devices)]


def test_joules_of_all_devices_and_of_the_processor_are_one_figure():
    told = [EnergyReading(0, 0.0, (100.0, 50.0), 0.0), EnergyReading(10, 5.0, (1100.0, 550.0), 300.0)]
    facts = energy_facts(told, [None, None])
    assert (facts["device_joules"], facts["joules_per_step"]) == ([1000, 500], 180)
    assert facts["energy_source"] == "nvml_counter+rapl"


def test_a_device_without_a_counter_is_counted_by_its_sampled_power():
    facts = energy_facts(marks((100, None), (200, None), (600, None)), [None, 80.0])
    # 500 J by the counter, 80 W x 10 s, over 20 steps
    assert (facts["device_joules"], facts["joules_per_step"]) == ([500, 800], 65)
    assert facts["energy_source"] == "nvml_power"
    lacks = energy_facts(marks((100, None), (200, None)), [None, None])
    assert lacks == {"energy_lacks": "a device tells neither its energy nor its power"}


def test_a_device_that_falls_silent_is_counted_until_then_if_that_is_half_of_the_steps():
    facts = energy_facts(marks((0, 0), (30, 10), (60, 20), (90, None)), [5.0, 5.0])
    assert (facts["device_joules"], facts["energy_steps"], facts["joules_per_step"]) == ([60, 20], 20, 4)
    early = energy_facts(marks((0, 0), (30, 10), (60, None), (90, None)), [5.0, None])
    assert early == {"energy_lacks": "device 1 fell silent after 10 of 30 steps; its joules are not known"}
    at_once = energy_facts(marks((0, 0), (30, None)), [5.0, None])
    assert at_once == {"energy_lacks": "device 1 fell silent; its joules are not known"}


def test_a_counter_that_starts_again_with_its_driver_is_no_negative_energy():
    told = energy_facts(marks((900,), (5,)), [10.0])
    assert told == {"energy_lacks": "the energy counter of a device started again; its joules are not known"}


def test_a_sampler_looks_twice_a_second_until_it_is_finished(monkeypatch):
    assert sampling.SAMPLE_INTERVAL_S == 0.5
    monkeypatch.setattr(sampling, "SAMPLE_INTERVAL_S", 0.001)
    monkeypatch.setattr(sampling, "read_processor_counters", dict)
    looks = []

    def look():
        looks.append(1)
        if len(looks) == 3:
            sampler._stop.wait = lambda _: True
        return [DeviceSample(0.5, 7, None, 40.0, None), DeviceSample(1.0, 5, None, 60.0, None)]

    sampler = DeviceSampler(SimpleNamespace(samples=look, joules=list))
    sampler.start()
    sampler._thread.join(30)
    assert sampler.finish() == {
        "gpu_samples": 6, "gpu_utilisation": 0.75, "gpu_memory_peak_bytes": 7, "gpu_celsius": 50,
    }  # fmt: skip
    assert sampling.sample_facts([]) == {}


def test_energy_is_that_of_the_packages_and_none_where_the_machine_is_silent(tmp_path):
    for name, microjoules in (("intel-rapl:0", 3_000_000), ("intel-rapl:1", 4_500_000), ("intel-rapl:0:0", 9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "energy_uj").write_text(f"{microjoules}\n")
    (tmp_path / "intel-rapl:1" / "max_energy_range_uj").write_text("262143328850\n")
    # The core within a package (0:0) is part of it.
    assert read_processor_counters(tmp_path) == {
        "intel-rapl:0": (3_000_000, 0),
        "intel-rapl:1": (4_500_000, 262_143_328_850),
    }
    assert read_processor_counters(tmp_path / "absent") == {}
