"""Starting the measuring script as the workflow does, on a tiny network."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "workflow" / "scripts" / "run_benchmark.py"
CELL = "--instance here --framework tensorflow --model tiny_cnn --batch-size 8 --precision fp32 --variant default"


def command(output, *more, cell=CELL, gpus=1, watched=False):
    """The command of a run that counts every step, however busy this machine is, and ends after its least steps;
    `watched`: counts as by default.
    """
    return [
        sys.executable,
        str(SCRIPT),
        *cell.split(),
        "--gpus",
        str(gpus),
        "--run",
        "1",
        *([] if watched else ["--all-steps"]),
        *["--least-seconds", "0", "--least-seconds-power", "0"],
        *more,
        "--output",
        str(output),
    ]


def measure(output, *more, **other):
    path = os.pathsep.join([str(ROOT / "workflow"), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command(output, *more, **other), env=env, capture_output=True, text=True, check=False)
