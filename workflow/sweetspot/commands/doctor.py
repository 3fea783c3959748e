"""What this machine has, and what is missing for what: versions, devices, plugins and programs.

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
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from typing import Any, NamedTuple

from sweetspot import __version__
from sweetspot.harness.backends import backend
from sweetspot.harness.facts import instruction_sets, processor_name
from sweetspot.packages import missing_packages
from sweetspot.report.finished import BROWSERS
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.platforms import PLATFORMS

PACKAGES = {ability.package: name for name, ability in FRAMEWORKS.items() if ability.package}  # what measures in each
SUBMITTED = [row for row in PLATFORMS.values() if row.plugin]
PROGRAMS = ("git", "make", "uv", *(program for row in SUBMITTED for program in row.programs), "rsync")
OTHERS = ("keras", "numpy", "pandas", "polars", "pyarrow", "pydantic", "altair")  # what faults have hung on
PLUGIN = re.compile(r"snakemake[-_](executor|storage|logger|report|scheduler|software-deployment)[-_]plugin[-_].+")


class Look(NamedTuple):
    """Where the doctor looks; tests put other machines here."""

    installed: Callable[[], Mapping[str, str]]  # version by distribution, in small letters
    missing: Callable[[], list[str]]  # packages of the core
    which: Callable[[str], str | None]
    nvidia: Callable[[], tuple[list[str], str]]  # names of the devices; why there are none


def here() -> Look:
    """The machine that it runs on."""
    return Look(_installed, missing_packages, shutil.which, _nvidia)


def _installed() -> dict[str, str]:
    found = ((each.metadata["Name"], each.version) for each in metadata.distributions())
    return {name.lower().replace("_", "-"): version for name, version in found if name}


def _nvidia() -> tuple[list[str], str]:
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


def examine(look: Look) -> dict[str, Any]:
    """What is here and what is missing: plain values.

    Keys: `versions` and `plugins` (by name), `processor`, `gpus` (names), `programs` (those found), `missing`, a list
    of {"what", "needed_for"}.
    """
    installed, cores = look.installed(), len(os.sched_getaffinity(0))
    gpus, why_none = look.nvidia()
    named = ("snakemake", *PACKAGES, *OTHERS)
    programs = [name for name in (*PROGRAMS, *BROWSERS) if look.which(name)]
    missing = _missing(look.missing(), installed, why_none, programs)
    return {
        "versions": {
            "sweetspot": __version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            **{name: installed[name] for name in named if name in installed},
        },
        "plugins": {name: version for name, version in sorted(installed.items()) if PLUGIN.fullmatch(name)},
        "processor": {"name": processor_name(), "cores": cores, "instructions": instruction_sets()},
        "gpus": gpus,
        "programs": programs,
        "missing": [{"what": what, "needed_for": purpose} for what, purpose in missing],
    }


def _missing(
    core: list[str], installed: Mapping[str, str], no_gpu: str, programs: list[str]
) -> Iterator[tuple[str, str]]:
    is_old = sys.version_info < (3, 11)  # where the installation failed
    if is_old:
        yield "Python 3.11 or newer", "everything"
    if core:
        yield f"{', '.join(core)} (pip install -r envs/core.lock)", "everything"
    for package, name in PACKAGES.items():
        if package not in installed:
            yield f"{package} (pip install '.[{FRAMEWORKS[name].extra}]')", f"measuring with framework: {name}"
    if not no_gpu and installed.get("torch", "").endswith("+cpu"):
        on = "measuring with framework: torch on the GPUs that are here"
        yield f"torch for GPUs ({backend('torch').INSTALL['gpu']})", on
    if no_gpu:
        yield f"a GPU: {no_gpu}", "measuring on a GPU (make report GPU=1)"
    if not set(BROWSERS) & set(programs):
        yield " or ".join(BROWSERS), "the page on paper (make pdf)"
    for row in SUBMITTED:
        if not set(row.programs) <= set(programs):
            yield " and ".join(row.programs), f"measuring on {row.title}"
    for row in SUBMITTED:
        if row.plugin not in installed:
            yield f"{row.plugin} (pip install '.[{row.extra}]')", f"measuring on {row.title}"


def sentences(found: Mapping[str, Any]) -> list[str]:
    """The same in lines for a person, one sentence each."""

    def listed(versions: Mapping[str, str]) -> str:
        return ", ".join(f"{name} {version}" for name, version in versions.items()) or "none"

    processor = found["processor"]
    return [
        f"Versions: {listed(found['versions'])}.",
        f"Plugins of Snakemake: {listed(found['plugins'])}.",
        f"Processor: {processor['name']}, {processor['cores']} cores ({', '.join(processor['instructions']) or 'none'} "
        "of the instruction sets that matter).",
        f"GPUs: {', '.join(found['gpus']) or 'none'}.",
        f"Programs: {', '.join(found['programs']) or 'none'}.",
        *(f"Missing for {each['needed_for']}: {each['what']}." for each in found["missing"]),
    ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot doctor`."""
    parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")


def run(arguments: argparse.Namespace) -> int:
    """Print what is here; 1 where a study that measures nothing would not run, else 0."""
    found = examine(here())
    print(json.dumps(found, indent=2) if arguments.json else "\n".join(sentences(found)))
    return int(any(each["needed_for"] == "everything" for each in found["missing"]))
