"""Real training scripts, measured as they stand and held against a stopwatch inside them.

What is not installed is skipped with its reason. The validation and the checkpoints of each take 0.2 s at a time,
sixteen steps' worth.
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
SCRIPTS = {
    "keras_fit": (["keras", "tensorflow"], [BARS, "{scratch}"], {"steps": "keras"}),
    "huggingface_trainer": (["torch", "transformers", "accelerate"], [BARS, "{scratch}"],
                            {"steps": "huggingface", "unit": "tokens", "samples_per_step": "{batch_size} * 16"}),
    "lightning_fit": (["torch", "pytorch_lightning"], [BARS, "{scratch}"], {"steps": "lightning"}),
    "tqdm_loop": (["tqdm"], [], {"steps": {"pattern": r"^train \d+: .*\| (?P<step>\d+)/100 ", "apart": "^evaluate"}}),
    "json_lines": ([], ["{scratch}"],
                   {"steps": {"json_lines": "{scratch}/log.jsonl", "step": "global_step", "steps_per_s": "it_per_s"}}),
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_real_script_is_read_as_a_stopwatch_in_it_says(name, tmp_path):
    packages, arguments, keys = SCRIPTS[name]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed here")
    for script in (name, "stopwatch"):
        shutil.copy(ROOT / "tests" / "data" / "scripts" / f"{script}.py", tmp_path)
    (tmp_path / "config" / "commands").mkdir(parents=True)
    around = {"TF_CPP_MIN_LOG_LEVEL": "3", "STOPWATCH": str(tmp_path / "stopwatch")}
    described = {"command": [sys.executable, f"{name}.py", *arguments], "environment": around}
    (tmp_path / "config" / "commands" / "mine.yaml").write_text(yaml.safe_dump(described | keys))
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    rule = ["--time-limit-s", "300", "--least-seconds", "6", "--least-seconds-power", "6", "--min-seconds", "60"]
    measure_mine(tmp_path, *rule, env=env, cell=CELL)

    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert set(table["status"]) <= {"ok", "unstable"}, table["message"].iloc[0]
    assert run_facts(tmp_path / "run~1.parquet")["script_files"].keys() == {f"{name}.py"}
    steps = table["steps"].sum()
    # As many steps as were timed: the script goes on until it is stopped, on a busy machine at another speed.
    own = [float(line) for line in (tmp_path / "stopwatch").read_text().splitlines()][5:][:steps]
    found = (table["seconds"] * table["steps"]).sum() / steps
    print(f"{name}: {1000 * found:.3f} ms, stopwatch {1000 * statistics.fmean(own):.3f} ms of {len(own)} steps")
    assert found == pytest.approx(statistics.fmean(own), rel=0.02)
