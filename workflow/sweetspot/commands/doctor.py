"""What this machine has, and what is missing for what."""

import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

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
    """What is installed on a machine. `versions`: by Python package, in small letters. `missing`: packages of the
    core. `programs`, `gpus`: those of PROGRAMS and of NVIDIA's driver that are found. `no_gpu`: why none, or "".
    """

    versions: Mapping[str, str]
    missing: Sequence[str]
    programs: Sequence[str]
    gpus: Sequence[str]
    no_gpu: str


def this_machine() -> Machine:
    """Return what is installed here: packages with versions, programs, GPUs; for `report` and `missing_parts`."""
    distributions = ((distribution.metadata["Name"], distribution.version) for distribution in metadata.distributions())
    versions = {name.lower().replace("_", "-"): version for name, version in distributions if name}
    return Machine(versions, missing_packages(), [name for name in PROGRAMS if shutil.which(name)], *nvidia_gpus())


def nvidia_gpus() -> tuple[list[str], str]:
    """Return (names of this machine's GPUs, '' or why there are none) by NVIDIA's driver, for `doctor`, `new-study`."""
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
    """Return {part that a machine lacks, with the command that installs it: what needs it}, the advice of `doctor`."""
    versions, parts = machine.versions, dict[str, str]()
    if machine.missing:
        parts[f"{', '.join(machine.missing)} (pip install -r envs/core.lock)"] = "everything"
    for package, name in FRAMEWORK_BY_PACKAGE.items():
        if package not in versions:
            parts[f"{package} (pip install '.[{FRAMEWORKS[name].extra}]')"] = f"measuring with framework: {name}"
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


def report(machine: Machine) -> list[str]:
    """Return the lines that `sweetspot doctor` prints: what the machine has, and what it lacks for what."""
    packages = {name: machine.versions[name] for name in PACKAGES if name in machine.versions}
    plugins = {name: version for name, version in sorted(machine.versions.items()) if PLUGIN.fullmatch(name)}
    processor = platform.processor() or platform.machine()
    if not machine.missing:  # what reads more of a processor needs the packages of the core
        from sweetspot.harness.facts import instruction_sets, processor_name

        processor = f"{processor_name()} ({', '.join(instruction_sets()) or 'no special instructions'})"
    system = {"sweetspot": __version__, "python": platform.python_version(), platform.system(): platform.machine()}
    return [
        f"Versions: {_listed(system | packages)}.",
        f"Plugins of Snakemake: {_listed(plugins)}.",
        f"Processor: {processor}, {len(os.sched_getaffinity(0))} cores.",
        f"GPUs: {', '.join(machine.gpus) or 'none'}.",
        f"Programs: {', '.join(machine.programs) or 'none'}.",
        *(f"Missing for {use}: {part}." for part, use in missing_parts(machine).items()),
    ]


def _listed(versions: Mapping[str, str]) -> str:
    """Return versions by name as text, `numpy 2.1, pandas 2.3`; `none` without any."""
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "none"


def run() -> int:
    """Print what this machine has and lacks; return 1 where a study that measures nothing would not run, else 0."""
    machine = this_machine()
    print("\n".join(report(machine)))
    return int("everything" in missing_parts(machine).values())
