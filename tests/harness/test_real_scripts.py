"""Real training scripts of PyTorch, JAX, Keras, Hugging Face and Lightning, measured as they stand.

What is not installed is skipped with its reason; docs/measuring.md says when these ran, and with which versions.
"""

import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import yaml
from harness_runs import ROOT, command
from sweetspot.throughput.old_run_files import run_facts

pytestmark = pytest.mark.slow
CELL = "--instance here --framework command --model mine --batch-size 4 --precision bf16 --variant default"
BARS = "{batch_size}"
SCRIPTS = {
    "torch_loop": (
        ["torch"],
        ["--batch", BARS, "--precision", "{precision}"],
        {"steps": {"pattern": r"step (?P<step>[\d,]+) loss (?P<loss>\S+)"}, "precisions": {"bf16": "bf16-mixed"}},
    ),
    "jax_loop": (["jax"], [BARS], {"steps": "iterator"}),
    "keras_fit": (["keras", "tensorflow"], [BARS], {"steps": "keras"}),
    "huggingface_trainer": (
        ["torch", "transformers", "accelerate"],
        [BARS, "{scratch}"],
        {"steps": "huggingface", "unit": "tokens", "samples_per_step": "{batch_size} * 64"},
    ),
    "lightning_fit": (["torch", "pytorch_lightning"], [BARS], {"steps": "lightning"}),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_real_script_is_measured_as_it_stands(name, tmp_path):
    packages, arguments, keys = SCRIPTS[name]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed here")
    shutil.copy(ROOT / "tests" / "data" / "scripts" / f"{name}.py", tmp_path)
    (tmp_path / "config" / "commands").mkdir(parents=True)
    described = {"command": [sys.executable, f"{name}.py", *arguments], "environment": {"TF_CPP_MIN_LOG_LEVEL": "3"}}
    (tmp_path / "config" / "commands" / "mine.yaml").write_text(yaml.safe_dump(described | keys))
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    line = command("run~1.parquet", "--min-steps", "6", "--time-limit-s", "300", cell=CELL)
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert set(table["status"]) <= {"ok", "unstable"}, table["message"].iloc[0]
    assert len(table) >= 3
    assert table["samples_per_step"].iloc[0] == (256 if name == "huggingface_trainer" else 4)
    # a step of these takes from a millisecond to a tenth of a second, on a busy machine ten times that
    assert 1e-5 < table["seconds"].median() < 2
    assert run_facts(tmp_path / "run~1.parquet")["script_files"].keys() == {f"{name}.py"}
