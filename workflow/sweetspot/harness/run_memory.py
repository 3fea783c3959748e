"""Memory of a run: the peak of one device, and whether a process ended because memory ran out."""

import re
from collections.abc import Mapping
from typing import Any

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


def peak_memory(facts: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return `peak_memory_gib` of one device and `peak_memory_source`, from the facts of a run; {} where none is known.

    The source is the framework's counter (`framework`), the fullest sample of the device (`nvml`), or the largest
    process on a processor (`resident`).
    """
    peaks = {"framework": "peak_memory_bytes", "nvml": "gpu_memory_peak_bytes"}
    if device == "cpu":
        peaks["resident"] = "memory_peak_bytes"
    for source, name in peaks.items():
        if facts.get(name):
            return {"peak_memory_gib": facts[name] / GIB, "peak_memory_source": source}
    return {}


def memory_error(errors: str) -> str | None:
    """Return the line of a process's stderr which says that memory ran out, in its last exception; None if none does.

    Without an exception the last three lines are searched.
    """
    lines = errors.strip().splitlines()
    starts = [number for number, line in enumerate(lines) if EXCEPTION_START.match(line)]
    lines = lines[starts[-1] if starts else -LAST_LINES :]
    return next((line for line in lines if MEMORY_ERROR.search(line)), None)
