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

import pytest
import yaml
from harness_runs import ROOT, command
from sweetspot.throughput.collect import measured_cells, summarise_runs
from sweetspot.throughput.old_run_files import run_facts

COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler to build the fake library with")
SOURCE = Path(__file__).parent.parent / "support" / "fake_nvml.c"
GIB = 2**30
A = {"uuid": "GPU-aaaa", "name": "NVIDIA A100-SXM4-80GB", "memory": 80 * GIB, "used": 30 * GIB, "mw": 300_000,
     "limit": 400_000, "mj": 1000, "alive": 1}  # fmt: skip
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
    from sweetspot.harness.joules import Meter, energy_facts
    from sweetspot.harness.sampling import card_facts, card_joules, card_watch, fell_silent, summary
    pynvml.nvmlInit()
    cards = visible_cards()
    file = os.environ["FAKE_NVML"]

    def change(*lines):
        open(file, "w").write("\\n".join(lines))
"""


def test_facts_looks_and_joules_come_through_the_real_binding(library, tmp_path):
    told = asked(
        library, tmp_path, PREAMBLE + """
    print(json.dumps([cards, card_facts(pynvml, cards), summary(card_watch(pynvml, cards)(), 2),
                      card_joules(pynvml, cards)()]))
    """, A, B | {"limit": 250_000, "mj": -1})  # fmt: skip
    cards, facts, looked, joules = told
    assert cards == ["GPU-aaaa", "GPU-bbbb"]
    assert facts["driver"] == "580.00"
    assert [card["power_limit_watts"] for card in facts["cards"]] == [400, 250]
    assert facts["cards"][0]["memory_bytes"] == 80 * GIB
    assert facts["cards"][0]["max_clock_mhz"] == 1981  # of the SM clock, type 1
    assert looked == {
        "gpu_samples": 2, "gpu_utilisation": 0.9, "gpu_memory_peak_bytes": 31 * GIB, "gpu_watts": 275,
        "gpu_celsius": 60, "gpu_clock_mhz": 1401,
    }  # fmt: skip
    assert joules == [1.0, None]  # mJ to J; the second has no counter


def test_the_environment_narrows_to_a_device_and_the_order_of_its_names_counts(library, tmp_path):
    program = PREAMBLE + "    print(json.dumps([cards, card_facts(pynvml, cards)['cards'][0]['memory_bytes']]))"
    own = B | {"memory": 40 * GIB}
    assert asked(library, tmp_path, program, A, own, CUDA_VISIBLE_DEVICES="1") == [["GPU-bbbb"], 40 * GIB]


def test_a_device_that_falls_silent_midway_is_counted_until_then_and_told(library, tmp_path):
    states = [line(A | {"mj": 1000 + 70_000 * step}) for step in range(5)]
    other = [line(B | {"mj": 30_000 * step, "alive": int(step < 3)}) for step in range(5)]
    told = asked(
        library, tmp_path, PREAMBLE + f"""
    states, other, now = {states!r}, {other!r}, 0.0
    change(states[0], other[0])
    meter, look, looks = Meter(card_joules(pynvml, cards), lambda: now), card_watch(pynvml, cards), []
    meter.start()
    for step in range(1, 5):
        now += 1.0
        change(states[step], other[step])
        meter.stepped()
        looks.append(look())
    meter.finish()
    told = summary([sample for look in looks for sample in look], 2)
    print(json.dumps([energy_facts(meter.marks, [300.0, None]), fell_silent(looks), told["gpu_watts"]]))
    """, A, B)  # fmt: skip
    facts, silent, watts = told
    # two of four steps: 2 x 70 J and 2 x 30 J
    assert (facts["device_joules"], facts["energy_steps"], facts["joules_per_step"]) == ([140, 60], 2, 100)
    assert silent == [1]
    assert watts == 275  # of each device by what it told, not four looks of one and two of the other


SCRIPT = """
    import os, sys, time
    state = os.environ["FAKE_NVML"]
    lines = open(state).read().split("\\n")
    print("devices", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    for step in range(1, 100_000):
        told = []
        for place, text in enumerate(lines):
            fields = text.split(";")
            fields[6] = str(int(fields[6]) + step * (2000, 1000)[place])
            told.append(";".join(fields))
        open(state + ".new", "w").write("\\n".join(told))
        os.replace(state + ".new", state)
        time.sleep(0.01)
        print("step 0.01 s", flush=True)
"""


def measured(library, folder, *more, devices=(A, B), code=0):
    (folder / "train.py").write_text(textwrap.dedent(SCRIPT))
    (folder / "config" / "commands").mkdir(parents=True)
    steps = {"pattern": r"^step (?P<seconds>[\d.]+) s"}
    text = yaml.safe_dump({"command": [sys.executable, "train.py"], "steps": steps})
    (folder / "config" / "commands" / "mine.yaml").write_text(text)
    cell = "--instance here --framework command --model mine --batch-size 4 --precision bf16 --variant default"
    rule = ["--device", "gpu", "--min-steps", "40", "--min-seconds", "1000", *more]
    env = environment(library, folder, *devices)
    line = command("run~1.parquet", *rule, cell=cell, gpus=2)
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_a_run_on_two_gpus_carries_energy_and_memory_to_the_throughput_table(library, tmp_path):
    measured(library, tmp_path, "--expect-gpu", "A100")
    file = tmp_path / "run~1.parquet"
    facts = run_facts(file)
    assert facts["device_name"] == A["name"]
    assert [card["power_limit_watts"] for card in facts["cards"]] == [400, 400]
    assert facts["energy_source"].startswith("nvml_counter")
    (cell,) = measured_cells(summarise_runs([str(file)]), {}).to_dict("records")
    # 3 J a step of 8 samples, as far as the counters and the lines told keep in step; RAPL where this machine has it
    assert sum(facts["device_joules"]) / facts["energy_steps"] == pytest.approx(3, rel=0.2)
    assert cell["joules_per_sample"] == pytest.approx(facts["joules_per_step"] / 8)
    assert (cell["peak_memory_gib"], cell["peak_memory_source"]) == (31, "nvml")


def test_gpus_of_another_name_are_refused_and_nothing_is_written(library, tmp_path):
    said = measured(library, tmp_path, "--expect-gpu", "H100", code=2)
    assert "--expect-gpu is 'H100'; this node has 'NVIDIA A100-SXM4-80GB'; nothing was measured" in said
    assert not (tmp_path / "run~1.parquet").exists()


def test_fewer_gpus_than_asked_for_are_refused(library, tmp_path):
    said = measured(library, tmp_path, devices=(A,), code=2)
    assert "--gpus is 2; this machine shows 1 device(s); nothing was measured" in said
