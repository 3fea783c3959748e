"""The most memory that a run took of one device: the framework's own count, else NVML's, else the process's."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from sweetspot.harness.request import Request
from sweetspot.study.frameworks import FRAMEWORKS

GIB = 2.0**30
FRAMEWORK, NVML, RESIDENT = "framework", "nvml", "resident"


def counted(request: Request) -> dict[str, Any]:
    """`peak_memory_bytes` of the fullest GPU as the framework counts it, and `peak_memory_counter`; {} where it cannot.

    Called in the training process behind the last step. Workspace of the first steps, in which kernels are tried, is
    in it; the framework's own programs and what it reserves beyond what it uses are not.
    """
    package = FRAMEWORKS[request.cell.framework].package
    if request.device != "gpu" or package not in COUNTERS or package not in sys.modules:
        return {}
    name, count = COUNTERS[package]
    try:
        return {"peak_memory_bytes": int(count(sys.modules[package], request)), "peak_memory_counter": name}
    except Exception as error:  # a fact beside the figure: whatever a framework's version lacks, the run stands
        return {"peak_memory_lacks": f"{name}: {type(error).__name__}: {error}"[:200]}


def _torch(torch: Any, request: Request) -> int:
    if request.cell.gpus == 1 or not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return max(torch.cuda.max_memory_allocated(index) for index in range(torch.cuda.device_count()))
    most = torch.tensor([torch.cuda.max_memory_allocated()], device="cuda", dtype=torch.int64)
    torch.distributed.all_reduce(most, op=torch.distributed.ReduceOp.MAX)  # a process has one device
    return int(most.item())


def _tensorflow(tensorflow: Any, request: Request) -> int:
    info = tensorflow.config.experimental.get_memory_info
    return max(info(f"GPU:{index}")["peak"] for index in range(request.local_gpus))


def _jax(jax: Any, request: Request) -> int:
    return max(device.memory_stats()["peak_bytes_in_use"] for device in jax.local_devices())


COUNTERS: Mapping[str, tuple[str, Callable[[Any, Request], int]]] = {
    "torch": ("torch.cuda.max_memory_allocated", _torch),
    "tensorflow": ("tf.config.experimental.get_memory_info", _tensorflow),
    "jax": ("jax.Device.memory_stats", _jax),
}


def peak(facts: Mapping[str, Any], device: str) -> dict[str, Any]:
    """`peak_memory_gib` of one device and `peak_memory_source` from a run's facts; {} where nobody told.

    `framework`: its own counter. `nvml`: the fullest look at all that lay on the device, the driver's share too.
    `resident`: the largest process, on a processor only; parts of a processor (logical devices) share one.
    """
    workers = facts.get("workers") or []
    counted = [worker["peak_memory_bytes"] for worker in workers if "peak_memory_bytes" in worker]
    resident = [worker["memory_peak_bytes"] for worker in workers] or [facts.get("memory_peak_bytes")]
    told = {
        FRAMEWORK: max(counted) if counted else facts.get("peak_memory_bytes"),
        NVML: facts.get("gpu_memory_peak_bytes"),
        RESIDENT: max(resident) if device == "cpu" and None not in resident else None,
    }
    for source, most in told.items():
        if most:
            return {"peak_memory_gib": most / GIB, "peak_memory_source": source}
    return {}
