"""The processor of this machine: its model name and the instruction sets that decide the speed of training."""

import platform
from pathlib import Path

ISA = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "avx512_fp16", "asimd", "bf16")
BF16 = {"avx512_bf16", "amx_bf16", "bf16"}  # instructions without which bf16 is computed as fp32


def processor_name() -> str:
    """The processor's model name."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def instruction_sets() -> list[str]:
    """Those of the processor's instruction sets that decide the speed of training."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    return [name for name in ISA if name in flags]


def emulated(precision: str, instructions: list[str]) -> bool:
    """Whether a processor with these instruction sets computes the precision by converting to fp32 and back."""
    if precision == "bf16":
        return not BF16.intersection(instructions)
    return precision == "fp16" and "avx512_fp16" not in instructions


def _cpuinfo(key: str) -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""
