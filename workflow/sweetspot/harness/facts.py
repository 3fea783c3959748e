"""What a later reader must know of the machine and the software that a figure comes from.

Facts are read by name, one by one; the environment is never copied, so no secret can reach a run file.
"""

import datetime
import os
import platform
import socket
from importlib import metadata
from pathlib import Path
from typing import Any

from sweetspot.harness.request import Request

PACKAGES = ("tensorflow", "keras", "numpy", "jax", "jaxlib", "torch")
PACKAGES += tuple(f"nvidia-{library}-cu{version}" for library in ("cudnn", "nccl") for version in (12, 13))
ISA = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "avx512_fp16", "asimd", "bf16")
BF16 = {"avx512_bf16", "amx_bf16", "bf16"}  # instructions without which bf16 is computed as fp32
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


def framework_facts(request: Request) -> dict[str, Any]:
    """Name and count of the devices, versions, and what a reader must be told of them."""
    on_cpu = request.device == "cpu"
    facts = {
        **identity(request),
        "logical": on_cpu and request.cell.gpus > 1,
        "emulated": on_cpu and emulated(request.cell.precision, instruction_sets()),
    }
    if request.cell.framework == "tensorflow":
        facts |= _tensorflow_facts(request)
    elif not on_cpu:
        facts |= _other_card(request.cell.framework)
    return facts


def identity(request: Request) -> dict[str, Any]:
    """What is known before a framework is asked, and so also of a run that dies early; the framework names a card."""
    return {
        "device_name": processor_name() if request.device == "cpu" else "unknown",
        "device_count": request.cell.gpus,
        "versions": {**_versions(), "python": platform.python_version()},
    }


def emulated(precision: str, instructions: list[str]) -> bool:
    """Whether a processor with these instruction sets computes the precision by converting to fp32 and back."""
    if precision == "bf16":
        return not BF16.intersection(instructions)
    return precision == "fp16" and "avx512_fp16" not in instructions


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _tensorflow_facts(request: Request) -> dict[str, Any]:
    import tensorflow as tf

    facts: dict[str, Any] = {"onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default") != "0"}
    if request.device == "gpu":
        build = tf.sysconfig.get_build_info()
        cards = tf.config.list_physical_devices("GPU")
        details = [tf.config.experimental.get_device_details(card) for card in cards]
        facts["device_name"] = details[0].get("device_name", "unknown")
        facts["compute_capability"] = [list(detail.get("compute_capability", ())) for detail in details]
        facts |= {"cuda": build.get("cuda_version"), "cudnn": build.get("cudnn_version")}
    return facts


def _other_card(framework: str) -> dict[str, Any]:
    if framework == "jax":
        import jax

        return {"device_name": jax.devices()[0].device_kind}
    import torch

    name, capability = torch.cuda.get_device_name(0), torch.cuda.get_device_capability(0)
    cudnn = torch.backends.cudnn.version()
    return {"device_name": name, "compute_capability": [list(capability)], "cuda": torch.version.cuda, "cudnn": cudnn}


def machine_facts(request: Request, command: list[str]) -> dict[str, Any]:
    """Device, versions, host, processor, memory, load before the run, start time and command."""
    return {
        "protocol": request.protocol,
        **identity(request),
        "cpu": processor_name(),
        "cpu_count": os.cpu_count(),
        "cpu_usable": len(os.sched_getaffinity(0)),
        "isa": instruction_sets(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load_before": os.getloadavg()[0],
        "kernel": platform.release(),
        "host": socket.gethostname(),
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "job_id": os.environ.get("SLURM_JOB_ID"),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "xla": request.xla or request.cell.framework == "jax",  # JAX compiles with XLA always
    }


def processor_name() -> str:
    """The processor's model name."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def instruction_sets() -> list[str]:
    """Those of the processor's instruction sets that decide the speed of training."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    return [name for name in ISA if name in flags]


def _cpuinfo(key: str) -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""
