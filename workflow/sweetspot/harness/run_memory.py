"""Memory of a run: the peak of one device, and whether a process ended because memory ran out."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweetspot.harness.request import Request

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


def framework_peak(request: Request) -> dict[str, Any]:
    """Read the framework's counter of the fullest GPU, in the training process after the last step.

    Returns
    -------
    dict
        `peak_memory_bytes` and `peak_memory_counter`; `peak_memory_lacks` where the counter fails; {} where there is
        none.
    """
    framework = request.cell.framework
    module = sys.modules.get(framework)
    if request.device != "gpu" or module is None:
        return {}
    counter = "torch.cuda.max_memory_allocated" if framework == "torch" else "tf.config.experimental.get_memory_info"
    try:
        if framework == "torch":
            peak_bytes = _torch_peak_bytes(module)
        else:
            read = module.config.experimental.get_memory_info
            peak_bytes = max(read(f"GPU:{index}")["peak"] for index in range(request.cell.gpus))
    except Exception as error:  # the run stands, whatever a version of a framework lacks
        return {"peak_memory_lacks": f"{counter}: {type(error).__name__}: {error}"[:200]}
    return {"peak_memory_bytes": int(peak_bytes), "peak_memory_counter": counter}


def _torch_peak_bytes(torch: Any) -> int:
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return max(torch.cuda.max_memory_allocated(index) for index in range(torch.cuda.device_count()))
    peak = torch.tensor([torch.cuda.max_memory_allocated()], device="cuda", dtype=torch.int64)
    distributed.all_reduce(peak, op=distributed.ReduceOp.MAX)  # each process has one device
    return int(peak.item())


def peak_memory(facts: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Choose the peak memory of one device from the facts of a run.

    Returns
    -------
    dict
        `peak_memory_gib` and `peak_memory_source`: the framework's counter (`framework`), the fullest sample of the
        device (`nvml`), or the largest process on a processor (`resident`); {} where none is known.
    """
    peaks = {
        "framework": facts.get("peak_memory_bytes"),
        "nvml": facts.get("gpu_memory_peak_bytes"),
        "resident": facts.get("memory_peak_bytes") if device == "cpu" else None,
    }
    for source, peak_bytes in peaks.items():
        if peak_bytes:
            return {"peak_memory_gib": peak_bytes / GIB, "peak_memory_source": source}
    return {}


def memory_error(errors: str, failure: str | None = None) -> str | None:
    """Return the line which says that memory ran out, if that ended a process.

    Parameters
    ----------
    errors
        What the process wrote to stderr. Its last exception counts, or its last lines where there is none.
    failure
        The exception that the process itself reported; it replaces `errors`.
    """
    lines = (failure or errors).strip().splitlines()
    if not failure:
        starts = [number for number, line in enumerate(lines) if EXCEPTION_START.match(line)]
        lines = lines[starts[-1] :] if starts else lines[-LAST_LINES:]
    return next((line for line in lines if MEMORY_ERROR.search(line)), None)


def available_bytes(root: Path = Path("/")) -> int:
    """Return the memory that a new process can have: what is free, at most the limit of its control groups."""
    import psutil  # lazily: it comes with what measures, and `doctor` answers without it

    available = psutil.virtual_memory().available
    membership = re.search(r"^0::/?(.*?)/?$", read_kernel_file(root / "proc/self/cgroup"), re.MULTILINE)
    group = root / "sys/fs/cgroup" / (membership[1] if membership else "")
    limits = (read_kernel_file(folder / "memory.max") for folder in (group, *group.parents))
    return min([available, *(int(text) for text in limits if text.isdigit())])


def read_kernel_file(file: Path) -> str:
    """Return what a file of the kernel contains, stripped; '' where it cannot be read."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""
