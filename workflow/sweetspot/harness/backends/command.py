"""A training script of one's own (`framework: command`): any program; `harness/script_run.py` starts and reads it."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sweetspot.harness.request import Request
from sweetspot.study.scripts import Script

VERSIONS_TIMEOUT_S = 20.0
# What the Python of a script is asked to run.
VERSIONS = """
import importlib.metadata, json, platform
names = ("torch tensorflow keras jax jaxlib numpy transformers lightning pytorch-lightning accelerate peft")
versions = {"python": platform.python_version()}
for name in names.split():
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(versions))
"""
MAX_SOURCE_BYTES = 10_000_000


def launch(request: Request) -> list[str]:
    """Return the command (argv) of the process that starts the script and reads its output."""
    return [sys.executable, "-m", "sweetspot.harness.script_run", request.to_json()]


def script_facts(request: Request, script: Script, argv: Sequence[str]) -> dict[str, Any]:
    """Return what the run file records of a user's script, {fact: value}, so that its speed can be read and repeated:
    unit, samples per step, command, SHA-256 of its files, versions of its frameworks.

    Parameters
    ----------
    request, script, argv
        The run, the script's description, and its program and arguments; files among these are hashed.
    """
    files = {}
    for argument in argv:
        file = Path(script.folder, argument)
        if file.suffix and file.is_file() and file.stat().st_size <= MAX_SOURCE_BYTES:
            files[argument] = hashlib.sha256(file.read_bytes()).hexdigest()
    return {
        "program": "command",
        "unit": script.unit,
        "samples_per_step": script.samples(request.cell),
        "training_flop_per_sample": script.training_flop_per_sample,
        "script": argv,
        "script_files": files,
        "versions": interpreter_versions(argv[0]),
    }


def interpreter_versions(program: str) -> dict[str, str]:
    """Return {package: version} of the frameworks in the Python that runs a script, for the run file; {} without one.
    `program`: name or path of a Python, or of a script with a `#!` line that names one (torchrun, accelerate).
    """
    path = shutil.which(program) or ""
    interpreter = path if Path(path).name.startswith("python") else ""
    with suppress(OSError), Path(path).open("rb") as file:
        if shebang := re.match(rb"#!\s*(\S*python[^\s/]*)\s", file.readline(200)):
            interpreter = shebang[1].decode()
    versions: dict[str, str] = {}
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        command = [interpreter, "-c", VERSIONS]
        versions = json.loads(subprocess.check_output(command, stderr=subprocess.DEVNULL, timeout=VERSIONS_TIMEOUT_S))
    return versions
