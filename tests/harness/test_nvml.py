"""GPU facts through NVIDIA's real binding, answered by a library that is built here: no GPU, but the whole way.

The binding loads libnvidia-ml.so.1 as the dynamic linker finds it, so a process with LD_LIBRARY_PATH sees ours.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from harness_runs import ROOT, described, measure_mine
from sweetspot.harness.runfile import run_facts
from sweetspot.throughput.collect import measured_cells
from sweetspot.throughput.run_files import summarise_runs

COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler to build the fake library with")
SOURCE = Path(__file__).parent.parent / "support" / "fake_nvml.c"
GIB = 2**30
A = {"uuid": "GPU-aaaa", "name": "NVIDIA A100-SXM4-80GB", "memory": 80 * GIB, "used": 30 * GIB, "mw": 300_000,
     "limit": 400_000, "mj": 1000, "alive": 1, "capability": 80, "mode": 0, "reasons": 0, "of": "-"}  # fmt: skip
B = A | {"uuid": "GPU-bbbb", "used": 31 * GIB, "mw": 250_000, "mj": 77_000}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nvml")
    build = [COMPILER, "-shared", "-fPIC", "-O1", str(SOURCE), "-o", str(folder / "libnvidia-ml.so.1")]
    subprocess.run(build, check=True, capture_output=True)
    return folder


def line(device):
    return ";".join(str(value) for value in device.values())


def environment(library, folder, *devices):
    (folder / "devices").write_text("\n".join(map(line, devices)))
    env = {name: value for name, value in os.environ.items() if name not in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID")}
    path = os.pathsep.join([str(ROOT / "workflow"), os.environ.get("PYTHONPATH", "")])
    own = {"LD_LIBRARY_PATH": str(library), "FAKE_NVML": str(folder / "devices"), "PYTHONPATH": path}
    return env | own | {"SWEETSPOT_LEASES": str(folder / "leases")}


def asked(library, folder, program, *devices, **more):
    """What a program prints as JSON, in a process of its own."""
    env = environment(library, folder, *devices) | more
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PREAMBLE = """
    import json, os, pynvml
    from sweetspot.harness.devices import visible_cards
    from sweetspot.harness.cards import CardWatch
    from sweetspot.harness.sampling import EnergyMeter, energy_facts, sample_facts, silent_devices
    pynvml.nvmlInit()
    cards = visible_cards()
    watch = CardWatch(pynvml, cards)
    file = os.environ["FAKE_NVML"]

    def change(*lines):
        open(file, "w").write("\\n".join(lines))
"""


def test_facts_looks_and_joules_come_through_the_real_binding(library, tmp_path):
    told = asked(
        library, tmp_path, PREAMBLE + """
    print(json.dumps([cards, watch.facts, sample_facts([watch.samples()]), watch.joules()]))
    """, A, B | {"limit": 250_000, "mj": -1})  # fmt: skip
    cards, facts, looked, joules = told
    assert cards == ["GPU-aaaa", "GPU-bbbb"]
    assert facts["driver"] == "580.00"
    assert [card["power_limit_watts"] for card in facts["cards"]] == [400, 250]
    assert facts["cards"][0]["memory_bytes"] == 80 * GIB
    assert facts["cards"][0]["max_clock_mhz"] == 1981  # of the SM clock, type 1
    assert looked == {
        "gpu_samples": 2, "gpu_utilisation": 0.9, "gpu_memory_peak_bytes": 31 * GIB, "gpu_watts": 275,
        "gpu_celsius": 60, "gpu_clock_mhz": 1401, "gpu_power_capped": 0, "gpu_held_back": {},
    }  # fmt: skip
    assert joules == [1.0, None]  # mJ to J; the second has no counter


def test_a_device_that_falls_silent_midway_is_counted_until_then_and_told(library, tmp_path):
    states = [line(A | {"mj": 1000 + 70_000 * step}) for step in range(5)]
    other = [line(B | {"mj": 30_000 * step, "alive": int(step < 3)}) for step in range(5)]
    told = asked(
        library, tmp_path, PREAMBLE + f"""
    states, other, now = {states!r}, {other!r}, 0.0
    change(states[0], other[0])
    watch, samples = CardWatch(pynvml, cards), []
    meter = EnergyMeter(watch, lambda: now)
    meter.start()
    for step in range(1, 5):
        now += 1.0
        change(states[step], other[step])
        meter.add_steps()
        samples.append(watch.samples())
    meter.add_steps(0, is_last=True)
    watts = sample_facts(samples)["gpu_watts"]
    print(json.dumps([energy_facts(meter.readings, [300.0, None]), silent_devices(samples), watts]))
    """, A, B)  # fmt: skip
    facts, silent, watts = told
    # two of four steps: 2 x 70 J and 2 x 30 J
    assert (facts["device_joules"], facts["energy_steps"], facts["joules_per_step"]) == ([140, 60], 2, 100)
    assert silent == [1]
    assert watts == 275  # of each device by what it told, not four looks of one and two of the other


# Steps of 10 ms, 2 J and 1 J; a line for every ten of them, as loggers have it, between which the counters renew.
SCRIPT = """
    import os, sys, time
    state = os.environ["FAKE_NVML"]
    lines = open(state).read().split("\\n")

    def renew(step):
        told = []
        for place, text in enumerate(lines):
            fields = text.split(";")
            fields[6] = str(int(fields[6]) + step * (2000, 1000)[place])
            told.append(";".join(fields))
        open(state + ".new", "w").write("\\n".join(told))
        os.replace(state + ".new", state)

    for step in range(1, 100_000):
        time.sleep(0.01)
        if step % 10 == 5:
            renew(step)
        if step % 10 == 0:
            print(f"step {step}: 10 ms", flush=True)
"""


def measured(library, folder, *more, devices=(A, B), code=0):
    described(folder, SCRIPT, steps={"pattern": r"^step (?P<step>\d+): (?P<milliseconds>\d+) ms"})
    cell = "--instance here --framework command --model mine --batch-size 4 --precision bf16 --variant default"
    rule = ["--device", "gpu", "--min-steps", "40", "--min-seconds", "1000", *more]
    return measure_mine(folder, *rule, env=environment(library, folder, *devices), cell=cell, gpus=2, code=code)


@pytest.mark.slow
def test_a_run_on_two_gpus_carries_energy_and_memory_to_the_throughput_table(library, tmp_path):
    measured(library, tmp_path, "--expect-gpu", "A100", "--least-seconds-power", "6")
    file = tmp_path / "run~1.parquet"
    facts = run_facts(file)
    assert facts["device_name"] == A["name"]
    assert [card["power_limit_watts"] for card in facts["cards"]] == [400, 400]
    assert facts["energy_source"].startswith("nvml_counter")
    (cell,) = measured_cells(summarise_runs([str(file)]), {}).to_dict("records")
    # 3 J a step of 8 samples, as far as the counters and the lines told keep in step; RAPL where this machine has it
    assert sum(facts["device_joules"]) / facts["energy_steps"] == pytest.approx(3, rel=0.05)
    rows = pq.read_table(file).to_pylist()
    assert {row["steps"] for row in rows} == {10}
    # Six seconds, since power is read, though 40 lines would be enough for the rest: at most 60 of a tenth and one.
    assert 40 < len(rows) <= 61
    mean_s = sum(row["seconds"] for row in rows) / len(rows)
    assert mean_s > 0.0099  # by the clock, which a busy machine makes longer
    assert cell["images_per_s"] == pytest.approx(8 / mean_s)
    assert cell["joules_per_sample"] == pytest.approx(facts["joules_per_step"] / 8)
    assert (cell["peak_memory_gib"], cell["peak_memory_source"]) == (31, "nvml")


def test_gpus_of_another_name_are_refused_and_nothing_is_written(library, tmp_path):
    said = measured(library, tmp_path, "--expect-gpu", "H100", code=2)
    assert "--expect-gpu is 'H100'; this node has 'NVIDIA A100-SXM4-80GB'; nothing was measured" in said
    assert not (tmp_path / "run~1.parquet").exists()


V100 = A | {"uuid": "GPU-v100", "name": "Tesla V100-SXM2-32GB", "memory": 32 * GIB, "capability": 70}
CARD = A | {"uuid": "GPU-card", "of": "mig"}
SLICES = [
    {**A, "uuid": f"MIG-slice-{place}", "name": f"{A['name']} MIG 3g.40gb", "memory": 40 * GIB, "used": 10 * GIB,
     "mw": -1, "mj": -1, "of": "GPU-card"}
    for place in (0, 1)
]  # fmt: skip
NAMED = """
    import json, os
    from sweetspot.errors import UserError
    from sweetspot.harness.cards import visible_cards
    try:
        print(json.dumps(visible_cards()))
    except UserError as error:
        print(json.dumps(str(error)))
"""


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("1,0", ["GPU-bbbb", "GPU-aaaa"]),  # numbers count along the bus, whatever is fastest
        ("0,1,", ["GPU-aaaa", "GPU-bbbb"]),
        (" 1 , GPU-aaaa", ["GPU-bbbb", "GPU-aaaa"]),
        ("GPU-b", ["GPU-bbbb"]),  # the beginning of a UUID, as CUDA takes it
        ("-1", []),
        ("1,-1,0", ["GPU-bbbb"]),  # CUDA takes what comes before
    ],
)
def test_each_way_to_name_a_card_is_its_uuid(library, tmp_path, names, found):
    devices = (A, B, CARD, *SLICES)
    assert asked(library, tmp_path, NAMED, *devices, CUDA_VISIBLE_DEVICES=names) == found


def test_a_card_that_is_lost_is_none_and_the_others_keep_their_numbers(library, tmp_path):
    devices = (A | {"alive": 0}, B)
    assert asked(library, tmp_path, NAMED, *devices) == ["GPU-bbbb"]
    assert asked(library, tmp_path, NAMED, *devices, CUDA_VISIBLE_DEVICES="1") == ["GPU-bbbb"]
    assert "'0' names none" in asked(library, tmp_path, NAMED, *devices, CUDA_VISIBLE_DEVICES="0")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("7", "'7' names none of this machine's 2 GPU(s)"),
        ("0,9", "'9' names none"),
        ("GPU-", "'GPU-' begins the names of 2"),
        ("all", "'all' names none"),
    ],
)
def test_a_name_of_no_card_is_one_sentence(library, tmp_path, names, words):
    said = asked(library, tmp_path, NAMED, A, B, CUDA_VISIBLE_DEVICES=names)
    assert said.startswith(f"CUDA_VISIBLE_DEVICES is {names!r}, of which {words}")


def test_a_divided_card_is_not_measured_and_the_others_keep_their_numbers(library, tmp_path):
    devices = (CARD, *SLICES, B)
    assert asked(library, tmp_path, NAMED, *devices) == ["GPU-bbbb"]
    assert asked(library, tmp_path, NAMED, *devices, CUDA_VISIBLE_DEVICES="1") == ["GPU-bbbb"]
    for name in ("0", "MIG-slice-1"):
        said = asked(library, tmp_path, NAMED, *devices, CUDA_VISIBLE_DEVICES=name)
        assert f"{name!r} names none of this machine's 2 GPU(s)" in said


ASKED = """
    import json, os
    from sweetspot.errors import UserError
    from sweetspot.harness.cards import watch_cards
    from sweetspot.harness.devices import leased_devices
    from sweetspot.harness.request import parse_request
    flags = "--instance a --framework torch --model tiny_cnn --batch-size 1 --gpus 1 --variant default --run 1"
    def asked(precision="fp32"):
        return parse_request([*flags.split(), "--precision", precision, "--device", "gpu", "--output", "x"])
"""


def test_the_child_numbers_cards_along_the_bus_and_sees_those_that_were_leased(library, tmp_path):
    program = """
    os.environ["CUDA_DEVICE_ORDER"] = "FASTEST_FIRST"
    with leased_devices(asked()):
        print(json.dumps([os.environ["CUDA_DEVICE_ORDER"], os.environ["CUDA_VISIBLE_DEVICES"]]))
    """
    told = asked(library, tmp_path, ASKED + program, V100, A, CUDA_VISIBLE_DEVICES="1")
    assert told == ["PCI_BUS_ID", "GPU-aaaa"]


@pytest.mark.parametrize(
    ("card", "precision", "told"),
    [
        (A | {"mode": 2}, "fp32", "NVIDIA A100-SXM4-80GB is in compute mode 'prohibited' (nvidia-smi -c 0 ends that)"),
        (A | {"mode": 3}, "fp32", 3),  # exclusive: the training process is the one that may
        (V100, "tf32", "--precision is tf32, which Tesla V100-SXM2-32GB has not; expected fp32 or fp16"),
    ],
)
def test_a_card_that_cannot_make_the_run_is_refused(library, tmp_path, card, precision, told):
    program = f"""
    try:
        print(json.dumps(watch_cards(asked({precision!r})).facts["cards"][0]["compute_mode"]))
    except UserError as error:
        print(json.dumps(str(error)))
    """
    assert asked(library, tmp_path, ASKED + program, card) == told


@pytest.mark.slow
def test_what_a_card_has_not_and_why_its_clock_is_low_is_told_in_the_table(library, tmp_path):
    measured(library, tmp_path, devices=(V100 | {"reasons": 0x04}, V100 | {"uuid": "GPU-w", "reasons": 0x24}))  # bf16
    facts = run_facts(tmp_path / "run~1.parquet")
    assert (facts["gpu_power_capped"], facts["gpu_held_back"]) == (1.0, {"heat (software)": 0.5})
    (cell,) = measured_cells(summarise_runs([str(tmp_path / "run~1.parquet")]), {}).to_dict("records")
    said = {found["rule"]: found["message"] for found in cell["warnings"]}
    assert said["emulation"] == "this device computes bf16 as fp32; no speed-up is to be had"
    assert said["held_back"] == "the devices were slowed down by heat (software) in 50% of the looks at them"


def test_cards_that_tell_neither_power_nor_energy_have_no_joules_and_two_seconds_are_enough(library, tmp_path):
    silent = [device | {"mw": -1, "mj": -1} for device in (A, B)]
    program = """
    from sweetspot.harness import sampling
    sampling.read_processor_counters = dict
    both = [sampling.DeviceSampler(CardWatch(pynvml, own)) for own in (cards[:2], cards[2:])]
    print(json.dumps([sampler.reads_power() for sampler in both]))
    """
    assert asked(library, tmp_path, PREAMBLE + program, *silent, A | {"uuid": "GPU-c"}) == [False, True]
