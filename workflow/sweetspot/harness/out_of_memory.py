"""What a run that ended for want of memory asked for, and what there was."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweetspot.harness.peak_memory import GIB

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
    asked, there = asked_bytes(errors), _there(facts, device)
    told = [] if asked is None else [f"asked for {_size(asked)} more"]
    return "; ".join([*told, *there]) or None


def _there(facts: Mapping[str, Any], device: str) -> list[str]:
    if device == "cpu":
        peak, free = facts.get("memory_peak_bytes"), facts.get("memory_available_bytes")
        largest = [f"its largest process held {_size(peak)}"] if peak else []
        return [*largest, *([f"{_size(free)} were free before it began"] if free else [])]
    sizes = [card["memory_bytes"] for card in facts.get("cards", []) if card.get("memory_bytes")]
    held = facts.get("gpu_memory_peak_bytes")
    known = [f"the fullest device held {_size(held)}"] if held else []
    return [*known, *([f"each device has {_size(min(sizes))}"] if sizes else [])]


def _size(count: float) -> str:
    return f"{count / GIB:.3g} GiB" if count >= 2**20 else f"{count:.0f} bytes"


def available_bytes(root: Path = Path("/")) -> int | None:
    """Memory that a new process can have: what the kernel calls available, and at most the control group's limit."""
    known = [size for size in (_free(root), _limit(root)) if size is not None]
    return min(known) if known else None


def _free(root: Path) -> int | None:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", (root / "proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _limit(root: Path) -> int | None:
    """Of this process's group and all above it (version 2), or of the container (version 1)."""
    try:
        own = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    place = next((line.split("::", 1)[1].strip("/") for line in own if line.startswith("0::")), "")
    groups = root / "sys/fs/cgroup"
    above = [groups / Path(*Path(place).parts[:depth]) for depth in range(len(Path(place).parts) + 1)]
    files = [*(group / "memory.max" for group in above), groups / "memory" / "memory.limit_in_bytes"]
    limits = [int(text) for file in files if (text := _text(file)).isdigit()]
    below = [limit for limit in limits if limit < UNLIMITED]
    return min(below) if below else None


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
