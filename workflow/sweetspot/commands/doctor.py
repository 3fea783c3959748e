"""Say what this machine has, and what is missing for what: versions, devices, plugins and programs.

Nothing of the environment is printed but what is named here; no file, path, user or host name. No framework is
imported. Paste it into a report of a fault.

    sweetspot doctor
    sweetspot doctor --json
"""

import argparse
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from sweetspot import __version__
from sweetspot.frameworks import FRAMEWORKS
from sweetspot.packages import missing_packages
from sweetspot.platforms import PLATFORMS
from sweetspot.report.finished import BROWSERS

FRAMEWORK_BY_PACKAGE = {ability.package: name for name, ability in FRAMEWORKS.items() if ability.package}
CLUSTERS = [row for row in PLATFORMS.values() if row.plugin]
PROGRAMS = ("git", "make", "uv", *(program for row in CLUSTERS for program in row.programs), "rsync", *BROWSERS)
PACKAGES = ("snakemake", *FRAMEWORK_BY_PACKAGE, "keras", "numpy", "pandas", "pyarrow", "pydantic", "altair")
PLUGIN = re.compile(r"snakemake[-_](executor|storage|logger|report|scheduler|software-deployment)[-_]plugin[-_].+")


@dataclass(frozen=True)
class Machine:
    """What is installed on a machine.

    Attributes
    ----------
    versions
        Version by Python package, in small letters.
    missing
        Packages of the core that are missing.
    programs
        Those of PROGRAMS that are found.
    gpus
        Names of the devices that NVIDIA's driver shows.
    no_gpu
        Why there are none; "" where there is one.

    """

    versions: Mapping[str, str]
    missing: Sequence[str]
    programs: Sequence[str]
    gpus: Sequence[str]
    no_gpu: str


def this_machine() -> Machine:
    """Look at the machine that the program runs on."""
    distributions = ((each.metadata["Name"], each.version) for each in metadata.distributions())
    versions = {name.lower().replace("_", "-"): version for name, version in distributions if name}
    return Machine(versions, missing_packages(), [name for name in PROGRAMS if shutil.which(name)], *_nvidia_gpus())


def _nvidia_gpus() -> tuple[list[str], str]:
    try:
        import pynvml
    except ModuleNotFoundError:
        return [], "the package nvidia-ml-py is missing"
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        names = [str(pynvml.nvmlDeviceGetName(handle)) for handle in handles]
        return names, "" if names else "the NVIDIA driver shows no device"
    except pynvml.NVMLError as error:
        return [], f"the NVIDIA driver does not answer ({error})"


def missing_parts(machine: Machine) -> dict[str, str]:
    """Return what a machine lacks and what that is needed for."""
    versions, parts = machine.versions, dict[str, str]()
    if sys.version_info < (3, 11):  # noqa: UP036 - the doctor is asked where an installation failed
        parts["Python 3.11 or newer"] = "everything"
    if machine.missing:
        parts[f"{', '.join(machine.missing)} (pip install -r envs/core.lock)"] = "everything"
    for package, name in FRAMEWORK_BY_PACKAGE.items():
        if package not in versions:
            parts[f"{package} (pip install '.[{FRAMEWORKS[name].extra}]')"] = f"measuring with framework: {name}"
    if machine.gpus and not machine.missing and versions.get("torch", "").endswith("+cpu"):
        from sweetspot.harness.backends import backend  # It needs the packages of the core.

        install = backend("torch").INSTALL["gpu"]
        parts[f"torch for GPUs ({install})"] = "measuring with framework: torch on the GPUs of this machine"
    if not machine.gpus:
        parts[f"a GPU: {machine.no_gpu}"] = "measuring on a GPU (make report GPU=1)"
    if not set(BROWSERS) & set(machine.programs):
        parts[" or ".join(BROWSERS)] = "the page on paper (make pdf)"
    for cluster in CLUSTERS:
        if not set(cluster.programs) <= set(machine.programs):
            parts[" and ".join(cluster.programs)] = f"measuring on {cluster.title}"
        if cluster.plugin not in versions:
            parts[f"{cluster.plugin} (pip install '.[{cluster.extra}]')"] = f"measuring on {cluster.title}"
    return parts


def examine(machine: Machine) -> dict[str, Any]:
    """Return what a machine has and lacks as plain values, for --json."""
    versions = machine.versions
    return {
        "versions": {
            "sweetspot": __version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            **{name: versions[name] for name in PACKAGES if name in versions},
        },
        "plugins": {name: version for name, version in sorted(versions.items()) if PLUGIN.fullmatch(name)},
        "processor": _processor(machine),
        "gpus": list(machine.gpus),
        "programs": list(machine.programs),
        "missing": [{"what": part, "needed_for": use} for part, use in missing_parts(machine).items()],
    }


def _processor(machine: Machine) -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0))
    if machine.missing:  # What reads more of a processor needs the packages of the core.
        return {"name": platform.processor() or platform.machine(), "cores": cores, "instructions": []}
    from sweetspot.harness.facts import instruction_sets, processor_name

    return {"name": processor_name(), "cores": cores, "instructions": instruction_sets()}


def sentences(facts: Mapping[str, Any]) -> list[str]:
    """Return the facts of `examine` as lines for a person."""
    versions, plugins = (
        ", ".join(f"{name} {version}" for name, version in facts[key].items()) or "none"
        for key in ("versions", "plugins")
    )
    processor = facts["processor"]
    instructions = ", ".join(processor["instructions"]) or "no special instructions"
    return [
        f"Versions: {versions}.",
        f"Plugins of Snakemake: {plugins}.",
        f"Processor: {processor['name']}, {processor['cores']} cores ({instructions}).",
        f"GPUs: {', '.join(facts['gpus']) or 'none'}.",
        f"Programs: {', '.join(facts['programs']) or 'none'}.",
        *(f"Missing for {part['needed_for']}: {part['what']}." for part in facts["missing"]),
    ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line of `sweetspot doctor`."""
    parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")


def run(arguments: argparse.Namespace) -> int:
    """Print what this machine has; return 1 where a study that measures nothing would not run, else 0."""
    facts = examine(this_machine())
    print(json.dumps(facts, indent=2) if arguments.json else "\n".join(sentences(facts)))
    return int(any(part["needed_for"] == "everything" for part in facts["missing"]))
