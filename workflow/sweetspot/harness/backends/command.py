"""A training script of one's own (`framework: command`): any program; `harness/script_run.py` starts and reads it."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sweetspot.errors import UserError
from sweetspot.harness.backends import the_gpus, the_processor
from sweetspot.harness.cards import watch_cards
from sweetspot.harness.request import Request
from sweetspot.study.scripts import Script, load_script

INSTALL = dict.fromkeys(("cpu", "gpu"), "nothing: the script brings what it needs")
VERSIONS_TIMEOUT_S = 20.0  # that an interpreter has to tell its versions
VERSIONS = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
PACKAGES = (
    *("torch", "tensorflow", "keras", "jax", "jaxlib", "numpy"),
    *("transformers", "lightning", "pytorch-lightning", "accelerate", "peft"),
)
LARGEST = 10_000_000  # bytes of a file that is still taken for source


def script(request: Request) -> Script:
    """The description of the script. Raises UserError where there is none."""
    return load_script(Path(request.script or f"config/commands/{request.cell.model}.yaml"))


def launch(request: Request) -> list[str]:
    """Return the command of the process that starts the script and reads its output."""
    return [sys.executable, "-m", "sweetspot.harness.script_run", request.to_json()]


def devices(request: Request) -> list[str]:
    """Names of the devices that the script is shown. Raises UserError if they are not those asked for."""
    if request.device == "cpu":
        return the_processor(request)
    cards = watch_cards(request).facts
    if "nvml" in cards:
        raise UserError(f"the NVIDIA driver does not answer ({cards['nvml']}); nothing was measured")
    return the_gpus(request, [card["name"] for card in cards["cards"]])


def facts(request: Request) -> dict[str, Any]:
    """What the script counts, and the definition that it was started by."""
    description = script(request)
    values: dict[str, Any] = {
        "unit": description.unit,
        "samples_per_step": description.samples(request.cell),
        "script_digest": description.digest(),
        "program": "command",
    }
    if description.training_flop_per_sample is not None:
        values["training_flop_per_sample"] = description.training_flop_per_sample
    return values


def digests(description: Script, argv: Sequence[str]) -> dict[str, str]:
    """SHA-256 of the files that the command names, so that a later reader knows which script it was."""
    values = {}
    for word in argv:
        file = Path(description.folder, word)
        if file.suffix and file.is_file() and file.stat().st_size <= LARGEST:
            values[word] = hashlib.sha256(file.read_bytes()).hexdigest()
    return values


def interpreter_versions(argv: Sequence[str]) -> dict[str, str]:
    """Ask the Python that runs a script for the versions of its frameworks; {} where it runs none.

    The program is an interpreter itself, or a text whose first line names one (torchrun, accelerate).
    """
    program = shutil.which(argv[0]) or ""
    interpreter = program if Path(program).name.startswith("python") else _shebang(program)
    if not interpreter:
        return {}
    command = [interpreter, "-c", VERSIONS, *PACKAGES]
    try:
        text = subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True, timeout=VERSIONS_TIMEOUT_S)
        versions: dict[str, str] = json.loads(text)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return versions


def _shebang(program: str) -> str:
    """The Python that the first line of a program names; '' for none."""
    try:
        with Path(program).open("rb") as text:
            first = text.readline(200).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    interpreter = first.removeprefix("#!").split(" ")[0]
    return interpreter if first.startswith("#!") and "python" in Path(interpreter).name else ""
