"""Memory: the most that a run took of one device; of one that ended for want of it, what it asked for and there was.

The peak is the framework's own count, else NVML's, else the process's.
"""

import math
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sweetspot.harness.request import Request
from sweetspot.study.frameworks import FRAMEWORKS

GIB = 2.0**30
SIZES = {"B": 1, "BYTES": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
WIDTH = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int32": 4, "int64": 8, "bool": 1}
# PyTorch: Tried to allocate 2.00 GiB. XLA: trying to allocate 123 bytes, Out of memory allocating 123 bytes, Failed to
# allocate 2.0GiB. numpy: Unable to allocate 7.28 TiB for an array.
ASKED = re.compile(
    r"(?:(?:[Tt]ried|[Tt]rying|[Uu]nable|[Ff]ailed) to allocate|[Oo]ut of memory allocating) "
    r"(?P<count>[\d.]+) ?(?P<unit>[KMGT]iB|[Bb]ytes|B)\b"
)
# TensorFlow: OOM when allocating tensor with shape[64,64,112,112] and type float on ...
TENSOR = re.compile(r"OOM when allocating tensor with shape ?\[(?P<shape>[\d,]*)\] and type (?P<type>\w+)")
# What libraries say where an allocation has ended them; never the words "out of memory" alone, which TensorFlow's
# allocator also prints of an attempt that "is not a failure".
SIGNS = re.compile(
    r"OutOfMemoryError|CUDA(?: error:)? out of memory|CUDA_ERROR_OUT_OF_MEMORY|HIP out of memory"
    r"|RESOURCE_EXHAUSTED: (?:Out of memory|Failed to allocate)|ResourceExhausted|OOM when allocating"
    r"|Out of memory (?:allocating|while trying to allocate)|Dst tensor is not initialized"
    r"|CU(?:BLAS|DNN|FFT|SOLVER)_STATUS_ALLOC_FAILED|DefaultCPUAllocator|bad_alloc|MemoryError"
    r"|[Cc]annot allocate memory"
)
# The line that begins an ending: of an exception in Python, of one in C++, of a failed check.
ENDING = re.compile(r"^(?:[\w.]+(?:Error|Exception|Exhausted|Interrupt|Exit)\b|terminate called|F\d{4} |F0000 )")
LAST_LINES = 3  # of what was said, where no line begins an ending
UNLIMITED = 2**60  # a control group without a limit of its own says so by a number near 2^63


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


COUNTERS: Mapping[str, tuple[str, Callable[[Any, Request], int]]] = {
    "torch": ("torch.cuda.max_memory_allocated", _torch),
    "tensorflow": ("tf.config.experimental.get_memory_info", _tensorflow),
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
        "framework": max(counted) if counted else facts.get("peak_memory_bytes"),
        "nvml": facts.get("gpu_memory_peak_bytes"),
        "resident": max(resident) if device == "cpu" and None not in resident else None,
    }
    for source, most in told.items():
        if most:
            return {"peak_memory_gib": most / GIB, "peak_memory_source": source}
    return {}


def asked_bytes(text: str) -> float | None:
    """Bytes of the allocation that failed, as a framework says it; None where it does not. The last one counts."""
    found = [*ASKED.finditer(text), *TENSOR.finditer(text)]
    if not found:
        return None
    last = max(found, key=lambda match: match.start()).groupdict()
    if "shape" in last:
        width = WIDTH.get(last["type"])
        return None if width is None else width * math.prod(int(size) for size in last["shape"].split(",") if size)
    return float(last["count"].rstrip(".")) * SIZES[last["unit"].upper()]


def ended_by(errors: str, failure: str | None = None) -> str | None:
    """The line that says that memory ran out, where that is what ended a process; else None.

    failure: the process's own word on the exception that ended it. Else the last exception in `errors` counts, up to
    the end, or the last lines where there is none.
    """
    lines = (failure or errors).strip().splitlines()
    starts = [number for number, line in enumerate(lines) if ENDING.match(line)]
    ending = lines[starts[-1] :] if starts and not failure else lines if failure else lines[-LAST_LINES:]
    return next((line for line in ending if SIGNS.search(line)), None)


def sentence(errors: str, facts: Mapping[str, Any], device: str) -> str | None:
    """`asked for 2 GiB more; each device has 79.2 GiB`, as much of it as is known; None where nothing is.

    facts: of the run, with `cards` (NVML) or, on a processor, `memory_available_bytes` before it began and
    `memory_peak_bytes` of its largest process.
    """
    told = [("asked for {} more", asked_bytes(errors))]
    if device == "cpu":
        told.append(("its largest process held {}", facts.get("memory_peak_bytes")))
        told.append(("{} were free before it began", facts.get("memory_available_bytes")))
    else:
        sizes = [card["memory_bytes"] for card in facts.get("cards", []) if card.get("memory_bytes")]
        told.append(("the fullest device held {}", facts.get("gpu_memory_peak_bytes")))
        told.append(("each device has {}", min(sizes, default=None)))
    return "; ".join(words.format(_size(count)) for words, count in told if count) or None


def _size(count: float) -> str:
    return f"{count / GIB:.3g} GiB" if count >= 2**20 else f"{count:.0f} bytes"


def available_bytes(root: Path = Path("/")) -> int:
    """Memory that a new process can have: what the kernel calls available, and at most the control group's limit.

    That of this process's group and all above it (version 2), or of the container (version 1).
    """
    import psutil  # lazily: it comes with what measures, and `doctor` answers without it

    known = [psutil.virtual_memory().available]
    place = re.search(r"^0::/?(.*?)/?$", own := text_of(root / "proc/self/cgroup"), re.MULTILINE)
    if own:
        groups, parts = root / "sys/fs/cgroup", Path(place[1] if place else "").parts
        above = [groups.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]
        files = [*(group / "memory.max" for group in above), groups / "memory" / "memory.limit_in_bytes"]
        known += [limit for text in map(text_of, files) if text.isdigit() and (limit := int(text)) < UNLIMITED]
    return min(known)


def text_of(file: Path) -> str:
    """What a file of the kernel says, without white space around it; nothing where it cannot be read."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""
