"""What a later reader must know of the machine and the software that a figure comes from.

Facts are read by name, one by one; the environment is never copied, so no secret can reach a run file.
"""

import datetime
import os
import platform
import re
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from sweetspot.harness.request import Request
from sweetspot.harness.run_memory import available_bytes

ISA = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "avx512_fp16", "asimd", "bf16")
# Instructions without which a precision is computed as fp32.
NATIVE = {"bf16": {"avx512_bf16", "amx_bf16", "bf16"}, "fp16": {"avx512_fp16"}}
NVIDIA = tuple(f"nvidia-{library}-cu{version}" for library in ("cudnn", "nccl") for version in (12, 13))
PACKAGES = ("tensorflow", "keras", "numpy", "torch", *NVIDIA)
SETTINGS = (  # the only variables of the environment that are recorded
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "NCCL_P2P_DISABLE",
    "XLA_FLAGS",
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_MAX_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_TOP_PAD_",
)


def device_facts(request: Request) -> dict[str, Any]:
    """Name and count of the devices, versions, and what a reader must be told of them; a backend adds its own."""
    on_cpu = request.device == "cpu"
    return {
        **identity(request),
        "logical": on_cpu and request.cell.gpus > 1,
        "emulated": on_cpu and emulated(request.cell.precision, instruction_sets()),
    }


def identity(request: Request) -> dict[str, Any]:
    """What is known before a framework is asked, and so also of a run that dies early; the framework names a card."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    name = processor_name() if request.device == "cpu" else "unknown"
    return {"device_name": name, "device_count": request.cell.gpus, "versions": versions}


def kind_of_machine(facts: Mapping[str, Any]) -> str | None:
    """What a machine is beside its devices, whatever it is called: processor and how many CPUs a run may use.

    None where the facts (`machine_facts`) do not say it. The memory is left out: it moves no figure, and a kernel's
    own share of it changes.
    """
    processor, usable = facts.get("cpu"), facts.get("cpu_usable")
    return f"{processor}, {usable} CPU{'s' if usable > 1 else ''}" if processor and usable else None


def machine_facts(request: Request, command: list[str]) -> dict[str, Any]:
    """Device, versions, host, processor, memory, load before the run, start time and command."""
    return {
        "protocol": request.protocol,
        "sweetspot": sweetspot_version(),
        **identity(request),
        "cpu": processor_name(),
        "cpu_count": os.cpu_count(),
        "cpu_usable": len(os.sched_getaffinity(0)),
        "isa": instruction_sets(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "memory_available_bytes": available_bytes(),
        "load_before": os.getloadavg()[0],
        "kernel": platform.release(),
        "host": socket.gethostname(),
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "job_id": os.environ.get("SLURM_JOB_ID"),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "xla": request.xla,
    }


def sweetspot_version() -> dict[str, str]:
    """Version of Sweetspot, and the commit where it runs from a clone."""
    from sweetspot import __version__

    facts = {"version": __version__}
    project = Path(__file__).parents[3]
    if (project / ".git").exists():
        command = ["git", "-C", str(project), "rev-parse", "HEAD"]
        with suppress(OSError, subprocess.SubprocessError):
            facts["commit"] = subprocess.check_output(command, text=True, timeout=10, stderr=subprocess.DEVNULL).strip()
    return facts


def processor_name() -> str:
    """The processor's model name."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def instruction_sets() -> list[str]:
    """Those of the processor's instruction sets that decide the speed of training."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    return [name for name in ISA if name in flags]


def emulated(precision: str, instructions: list[str]) -> bool:
    """Whether a processor with these instruction sets computes the precision by converting to fp32 and back."""
    return precision in NATIVE and not NATIVE[precision].intersection(instructions)


def _cpuinfo(key: str) -> str:
    """Return the value of a key for the first processor of /proc/cpuinfo; '' without it."""
    match = re.search(rf"^{key}\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1].strip() if match else ""
