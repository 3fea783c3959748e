"""Starting the measuring script as the workflow does, on a tiny network."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import yaml
from sweetspot.harness.request import parse_request

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "workflow" / "scripts" / "run_benchmark.py"
CELL = "--instance here --framework tensorflow --model tiny_cnn --batch-size 8 --precision fp32 --variant default"


def command(output, *more, cell=CELL, gpus=1):
    """The command of a run that ends after its least steps."""
    least = ["--least-seconds", "0", "--least-seconds-power", "0"]
    run = ["--gpus", str(gpus), "--run", "1", *least, *more, "--output", str(output)]
    return [sys.executable, str(SCRIPT), *cell.split(), *run]


def request(*more, output="x", **flags):
    """The request of one run: of `flags`, by the names of its fields, and of more words of the command line."""
    cell = {"instance": "here", "framework": "tensorflow", "model": "vgg16", "batch_size": 16, "gpus": 1}
    given = cell | {"precision": "fp32", "variant": "default", "run": 1, "output": output} | flags
    return parse_request([*(f"--{name.replace('_', '-')}={value}" for name, value in given.items()), *more])


def described(project, program, *more, **keys):
    """In `project` the script `train.py` and its description, by which `model: mine` is measured."""
    (project / "train.py").write_text(textwrap.dedent(program))
    (project / "config" / "commands").mkdir(parents=True, exist_ok=True)
    text = {"command": [sys.executable, "train.py", *more]} | keys
    (project / "config" / "commands" / "mine.yaml").write_text(yaml.safe_dump(text))


def measure_mine(folder, *more, env, cell, gpus=1, code=0):
    """Measure that script into `run~1.parquet`; what is said on the terminal."""
    line = command("run~1.parquet", *more, cell=cell, gpus=gpus)
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def measure(output, *more, **other):
    path = os.pathsep.join([str(ROOT / "workflow"), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command(output, *more, **other), env=env, capture_output=True, text=True, check=False)
