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


def test_facts_and_samples_come_through_the_real_binding(library, tmp_path):
    program = """
    import json, pynvml
    from sweetspot.harness.devices import CardWatch, visible_cards
    from sweetspot.harness.sampling import DeviceSampler, sample_facts
    pynvml.nvmlInit()
    cards = visible_cards()
    watch = CardWatch(pynvml, cards)
    samples = watch.samples()
    reads = [DeviceSampler(CardWatch(pynvml, [card])).reads_power() for card in cards]
    print(json.dumps([cards, watch.facts, sample_facts([samples]), [sample.joules for sample in samples], reads]))
    """
    silent = A | {"uuid": "GPU-cccc", "used": 1, "limit": 250_000, "mj": -1, "mw": -1}
    cards, facts, looked, joules, reads = asked(library, tmp_path, program, A, B | {"mj": -1}, silent)
    assert cards == ["GPU-aaaa", "GPU-bbbb", "GPU-cccc"]
    assert (facts["driver"], facts["device_name"]) == ("580.00", A["name"])
    assert [card["power_limit_watts"] for card in facts["cards"]] == [400, 400, 250]
    assert facts["cards"][0]["memory_bytes"] == 80 * GIB
    assert facts["cards"][0]["max_clock_mhz"] == 1981  # of the SM clock, type 1
    assert looked == {
        "gpu_utilisation": 0.9, "gpu_memory_peak_bytes": 31 * GIB, "gpu_watts": 275,
        "gpu_celsius": 60, "gpu_clock_mhz": 1401, "gpu_power_capped": 0, "gpu_held_back": {},
    }  # fmt: skip
    assert joules == [1.0, None, None]  # mJ to J; the others have no counter
    # The processor's counters, where this machine has them, are power too.
    assert reads[:2] == [True, True]


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


V100 = A | {"uuid": "GPU-v100", "name": "Tesla V100-SXM2-32GB", "memory": 32 * GIB, "capability": 70}


@pytest.mark.slow
def test_a_run_on_two_gpus_carries_energy_memory_and_what_slowed_it_to_the_throughput_table(library, tmp_path):
    devices = (V100 | {"reasons": 0x04}, V100 | {"uuid": "GPU-w", "mj": 77_000, "used": 31 * GIB, "reasons": 0x24})
    said = measured(library, tmp_path, "--expect-gpu", "H100", code=2)
    assert "--expect-gpu is 'H100'; this node has 'NVIDIA A100-SXM4-80GB'; nothing was measured" in said
    measured(library, tmp_path, "--expect-gpu", "V100", "--least-seconds-power", "6", devices=devices)
    file = tmp_path / "run~1.parquet"
    facts = run_facts(file)
    assert facts["device_name"] == V100["name"]
    assert [card["power_limit_watts"] for card in facts["cards"]] == [400, 400]
    assert facts["energy_source"].startswith("nvml_counter")
    (cell,) = measured_cells(summarise_runs([str(file)]), {}).to_dict("records")
    # 3 J a step of 8 samples, as far as the counters and the lines told keep in step; RAPL where this machine has it
    assert sum(facts["device_joules"]) / facts["energy_steps"] == pytest.approx(3, rel=0.05)
    rows = pq.read_table(file).to_pylist()
    assert {row["steps"] for row in rows} == {10}
    # Six seconds, since power is read, though 40 lines would be enough for the rest: at most 60 of a tenth and one.
    assert 40 <= len(rows) <= 61 and sum(10 * row["seconds"] for row in rows) > 5.8
    mean_s = sum(row["seconds"] for row in rows) / len(rows)
    assert mean_s > 0.0099  # by the clock, which a busy machine makes longer
    assert cell["images_per_s"] == pytest.approx(8 / mean_s)
    assert cell["joules_per_sample"] == pytest.approx(facts["joules_per_step"] / 8)
    assert (cell["peak_memory_gib"], cell["peak_memory_source"]) == (31, "nvml")
    # Both are at their power limit, one is too hot; bf16 they have not.
    assert (facts["gpu_power_capped"], facts["gpu_held_back"]) == (1.0, {"heat (software)": 0.5})
    said = {found["rule"]: found["message"] for found in cell["warnings"]}
    assert said["emulation"] == "this device computes bf16 as fp32; no speed-up is to be had"
    assert "heat (software) in 50%" in said["held_back"]


CARD = A | {"uuid": "GPU-card", "of": "mig"}
SLICES = [
    {**A, "uuid": f"MIG-slice-{place}", "name": f"{A['name']} MIG 3g.40gb", "memory": 40 * GIB, "used": 10 * GIB,
     "mw": -1, "mj": -1, "of": "GPU-card"}
    for place in (0, 1)
]  # fmt: skip
NAMED = """
    import json, os
    from sweetspot.errors import UserError
    from sweetspot.harness.devices import visible_cards
    try:
        print(json.dumps(visible_cards()))
    except UserError as error:
        print(json.dumps(str(error)))
"""


@pytest.mark.parametrize(
    ("devices", "names", "found"),
    [
        ((A, B), "1,0", ["GPU-bbbb", "GPU-aaaa"]),  # numbers count along the bus, whatever is fastest
        ((A, B), " 1 , GPU-aaaa,", ["GPU-bbbb", "GPU-aaaa"]),
        ((A | {"alive": 0}, B), None, ["GPU-bbbb"]),  # a card that is lost is none, and the others keep their numbers
        ((A | {"alive": 0}, B), "1", ["GPU-bbbb"]),
        ((CARD, *SLICES, B), "1", ["GPU-bbbb"]),  # so is a divided one
        ((A, B), "0,9", "9"),  # a name of no card
        ((A | {"alive": 0}, B), "0", "0"),
        ((CARD, *SLICES, B), "MIG-slice-1", "MIG-slice-1"),
    ],
)
def test_each_way_to_name_a_card_is_its_uuid_or_one_sentence(library, tmp_path, devices, names, found):
    told = asked(library, tmp_path, NAMED, *devices, **({} if names is None else {"CUDA_VISIBLE_DEVICES": names}))
    if isinstance(found, list):
        assert told == found
    else:
        assert told.startswith(f"CUDA_VISIBLE_DEVICES is {names!r}, of which {found!r} names none of this machine's 2")


def test_the_child_numbers_cards_along_the_bus_and_sees_those_that_were_leased(library, tmp_path):
    program = """
    import json, os
    from sweetspot.harness.devices import leased_devices
    from sweetspot.harness.request import parse_request
    flags = "--instance a --framework torch --model tiny_cnn --batch-size 1 --gpus 1 --variant default --run 1"
    request = parse_request([*flags.split(), "--precision", "fp32", "--device", "gpu", "--output", "x"])
    with leased_devices(request):
        print(json.dumps([os.environ["CUDA_DEVICE_ORDER"], os.environ["CUDA_VISIBLE_DEVICES"]]))
    """
    told = asked(library, tmp_path, program, V100, A, CUDA_VISIBLE_DEVICES="1", CUDA_DEVICE_ORDER="FASTEST_FIRST")
    assert told == ["PCI_BUS_ID", "GPU-aaaa"]
