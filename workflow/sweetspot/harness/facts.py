"""What a later reader must know of a run: machine and software, the peak of memory, whether memory ran out. Facts are
read by name, one by one; the environment is never copied, so no secret can reach a run file.
"""

import datetime
import os
import platform
import re
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from sweetspot import __version__
from sweetspot.harness.request import Request

ISA = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "avx512_fp16", "asimd", "bf16")
# Instructions without which a precision is computed as fp32.
NATIVE = {"bf16": {"avx512_bf16", "amx_bf16", "bf16"}, "fp16": {"avx512_fp16"}}
NVIDIA = tuple(f"nvidia-{library}-cu{version}" for library in ("cudnn", "nccl") for version in (12, 13))
PACKAGES = ("tensorflow", "keras", "numpy", "torch", *NVIDIA)
# The only variables of the environment that are recorded.
SETTINGS = re.compile(
    "OMP_NUM_THREADS|OMP_WAIT_POLICY|TF_ENABLE_ONEDNN_OPTS|TF_NUM_INT(RA|ER)OP_THREADS|NCCL_P2P_DISABLE|XLA_FLAGS"
    "|MALLOC_ARENA_MAX|MALLOC_MMAP_MAX_|MALLOC_TRIM_THRESHOLD_|MALLOC_TOP_PAD_"
)
GIB = 2.0**30
LAST_LINES = 3  # searched where no line begins an exception
# What libraries print when an allocation ended them. The words "out of memory" alone are not enough: TensorFlow's
# allocator prints them for an attempt that "is not a failure".
MEMORY_ERROR = re.compile(
    r"OutOfMemoryError|CUDA(?: error:)? out of memory|CUDA_ERROR_OUT_OF_MEMORY|HIP out of memory"
    r"|RESOURCE_EXHAUSTED: (?:Out of memory|Failed to allocate)|ResourceExhausted|OOM when allocating"
    r"|Out of memory (?:allocating|while trying to allocate)|Dst tensor is not initialized"
    r"|CU(?:BLAS|DNN|FFT|SOLVER)_STATUS_ALLOC_FAILED|DefaultCPUAllocator|bad_alloc|MemoryError"
    r"|[Cc]annot allocate memory"
)
# The first line of an exception in Python, of one in C++, of a failed check.
EXCEPTION_START = re.compile(
    r"^(?:[\w.]+(?:Error|Exception|Exhausted|Interrupt|Exit)\b|terminate called|F\d{4} |F0000 )"
)


def machine_facts(request: Request, command: Sequence[str]) -> dict[str, Any]:
    """Return what a run's file records of its machine, {fact: value}: devices, software versions, host, settings,
    start time; so that a later reader can tell what was measured. `command`: the run's argv.
    """
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    processor, instructions = processor_name(), instruction_sets()
    native = NATIVE.get(request.cell.precision)
    on_cpu = request.device == "cpu"
    return {
        "protocol": request.protocol,
        "sweetspot": sweetspot_version(),
        "device_name": processor if on_cpu else "unknown",
        "device_count": request.cell.gpus,
        "logical": on_cpu and request.cell.gpus > 1,
        "emulated": on_cpu and native is not None and native.isdisjoint(instructions),
        "versions": versions,
        "cpu": processor,
        "cpu_count": os.cpu_count(),
        "cpu_usable": len(os.sched_getaffinity(0)),
        "isa": instructions,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load_before": os.getloadavg()[0],
        "kernel": platform.release(),
        "host": socket.gethostname(),
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "job_id": os.environ.get("SLURM_JOB_ID"),
        "settings": {name: value for name, value in os.environ.items() if SETTINGS.fullmatch(name)},
        "xla": request.xla,
    }


def kind_of_machine(facts: Mapping[str, Any]) -> str | None:
    """Return e.g. 'AMD EPYC 7B13, 8 CPUs' from a run's facts; runs of one such kind are averaged. None if unknown."""
    processor, usable = facts.get("cpu"), facts.get("cpu_usable")
    return f"{processor}, {usable} CPU{'s' if usable > 1 else ''}" if processor and usable else None


def sweetspot_version() -> dict[str, str]:
    """Return {'version': ...} of Sweetspot for a run's record, with 'commit' where it runs from a git clone."""
    facts = {"version": __version__}
    project = Path(__file__).parents[3]
    if (project / ".git").exists():
        command = ["git", "-C", str(project), "rev-parse", "HEAD"]
        with suppress(OSError, subprocess.SubprocessError):
            facts["commit"] = subprocess.check_output(command, text=True, timeout=10, stderr=subprocess.DEVNULL).strip()
    return facts


def processor_name() -> str:
    """Return the processor's model name, such as 'AMD EPYC 7B13', else its architecture."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def instruction_sets() -> list[str]:
    """Return those names of ISA that the processor has: instruction sets that decide the speed of training."""
    flags = _cpuinfo("flags|Features").split()
    return [name for name in ISA if name in flags]


def _cpuinfo(key: str) -> str:
    """Return the first value in /proc/cpuinfo whose key matches the regular expression `key`; '' if none does."""
    match = re.search(rf"^(?:{key})\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1].strip() if match else ""


def peak_memory(facts: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return `peak_memory_gib` of one device, which tells what fits into its memory, and `peak_memory_source`, from
    the facts of a run; {} where none is known. The source is the framework's counter (`framework`), the fullest sample
    of the device (`nvml`), or the largest process on a processor (`resident`; `device`: `cpu` or `gpu`).
    """
    peaks = {"framework": "peak_memory_bytes", "nvml": "gpu_memory_peak_bytes"}
    if device == "cpu":
        peaks["resident"] = "memory_peak_bytes"
    for source, name in peaks.items():
        if facts.get(name):
            return {"peak_memory_gib": facts[name] / GIB, "peak_memory_source": source}
    return {}


def memory_error(errors: str) -> str | None:
    """Find out whether a training process died because memory ran out (status `oom`): return the line of its stderr
    that says so, in its last exception (without an exception, in the last three lines); None if none does.
    """
    lines = errors.strip().splitlines()
    starts = [number for number, line in enumerate(lines) if EXCEPTION_START.match(line)]
    lines = lines[starts[-1] if starts else -LAST_LINES :]
    return next((line for line in lines if MEMORY_ERROR.search(line)), None)
