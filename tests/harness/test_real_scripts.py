"""Real training scripts, measured as they stand and held against a stopwatch inside them.

What is not installed is skipped with its reason; docs/measuring.md says when these ran, and with which versions. The
validation and the checkpoints of each take 0.2 s at a time, sixteen steps' worth.
"""

import os
import shutil
import statistics
import sys

import pandas as pd
import pytest
import yaml
from harness_runs import ROOT, measure_mine
from sweetspot.harness.runfile import run_facts

pytestmark = pytest.mark.slow
CELL = "--instance here --framework command --model mine --batch-size 4 --precision bf16 --variant default"
BARS = "{batch_size}"
LOSS = r"step (?P<step>[\d,]+) loss (?P<loss>\S+)"
NUMBERED = {"pattern": r"^step (?P<step>\d+) loss (?P<loss>\S+)", "apart": "^evaluated"}
SCRIPTS = {
    "torch_loop": (["torch"], ["--batch", BARS, "--precision", "{precision}"],
                   {"steps": {"pattern": LOSS}, "precisions": {"bf16": "bf16-mixed"}}),
    "jax_loop": (["jax"], [BARS], {"steps": "iterator"}),
    "keras_fit": (["keras", "tensorflow"], [BARS, "{scratch}"], {"steps": "keras"}),
    "huggingface_trainer": (["torch", "transformers", "accelerate"], [BARS, "{scratch}"],
                            {"steps": "huggingface", "unit": "tokens", "samples_per_step": "{batch_size} * 16"}),
    "lightning_fit": (["torch", "pytorch_lightning"], [BARS, "{scratch}"], {"steps": "lightning"}),
    "accelerate_loop": (["torch", "accelerate"], [BARS, "{scratch}"], {"steps": NUMBERED}),
    "tqdm_loop": (["tqdm"], [], {"steps": {"pattern": r"^train \d+: .*\| (?P<step>\d+)/100 ", "apart": "^evaluate"}}),
    "json_lines": ([], ["{scratch}"],
                   {"steps": {"json_lines": "{scratch}/log.jsonl", "step": "global_step", "steps_per_s": "it_per_s"}}),
}  # fmt: skip
WATCHED = [name for name in SCRIPTS if name not in ("torch_loop", "jax_loop")]


def measured(name, folder, *more):
    """The run's rows and its message on the terminal; the script's own stopwatch is in `stopwatch`."""
    packages, arguments, keys = SCRIPTS[name]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed here")
    for script in (name, "stopwatch"):
        shutil.copy(ROOT / "tests" / "data" / "scripts" / f"{script}.py", folder)
    (folder / "config" / "commands").mkdir(parents=True)
    around = {"TF_CPP_MIN_LOG_LEVEL": "3", "STOPWATCH": str(folder / "stopwatch")}
    described = {"command": [sys.executable, f"{name}.py", *arguments], "environment": around}
    (folder / "config" / "commands" / "mine.yaml").write_text(yaml.safe_dump(described | keys))
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    measure_mine(folder, "--time-limit-s", "300", *more, env=env, cell=CELL)
    table = pd.read_parquet(folder / "run~1.parquet")
    assert set(table["status"]) <= {"ok", "unstable"}, table["message"].iloc[0]
    assert run_facts(folder / "run~1.parquet")["script_files"].keys() == {f"{name}.py"}
    return table


@pytest.mark.parametrize("name", ["torch_loop", "jax_loop"])
def test_a_real_script_is_measured_as_it_stands(name, tmp_path):
    table = measured(name, tmp_path, "--min-steps", "6")
    assert len(table) >= 3
    assert table["samples_per_step"].iloc[0] == 4
    # a step of these takes from a millisecond to a tenth of a second, on a busy machine ten times that
    assert 1e-5 < table["seconds"].median() < 2


@pytest.mark.parametrize("name", WATCHED)
def test_a_real_script_is_read_as_a_stopwatch_in_it_says(name, tmp_path):
    table = measured(name, tmp_path, "--least-seconds", "6", "--least-seconds-power", "6", "--min-seconds", "60")
    own = [float(line) for line in (tmp_path / "stopwatch").read_text().splitlines()][5:]
    found = (table["seconds"] * table["steps"]).sum() / table["steps"].sum()
    print(f"{name}: {1000 * found:.3f} ms, stopwatch {1000 * statistics.fmean(own):.3f} ms of {len(own)} steps")
    assert found == pytest.approx(statistics.fmean(own), rel=0.02)
