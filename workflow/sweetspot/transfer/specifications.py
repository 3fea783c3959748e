"""What a device can do by its data sheet: memory, bandwidth and dense peaks, and how people write its name."""

import math
import re
from dataclasses import dataclass

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.spelling import slipped

# A device without a unit of its own computes these in fp32: the pseudo-half of cuDNN before Volta, and TF32 before
# Ampere, which PyTorch and cuDNN ask for without it being said. The others are refused.
IN_FP32 = ("fp32", "tf32", "fp16")
# What sources write of a precision, in small letters.
PRECISIONS = dict.fromkeys(("mixed", "amp", "fp16 amp", "float16", "half"), "fp16")
PRECISIONS |= {"bfloat16": "bf16", "float32": "fp32", "fp32/tf32": "tf32"}
COMMON = frozenset({"nvidia", "geforce", "tesla", "amd", "instinct", "graphics", "generation", "gpu", "gen5", "4", "5"})
# Parts of a name, as of RTX4090 and A100-SXM4-80GB, whose 4 does not count; V100's SXM2 and SXM3 differ in clock.
PARTS = re.compile(r"\d+gb|sxm(?=[45])|rtx|gtx|[a-z]+\d*|\d+")
PROCESSOR = re.compile(r"\bcpu\b|xeon|epyc|ryzen|core\(tm\)|logical|processor|^none$", re.IGNORECASE)


@dataclass(frozen=True)
class Device:
    """Data sheet of a device, a row of devices.csv: GB, GB/s, dense TFLOP/s by format (NaN: none, or not published)."""

    gpu: str
    names: str
    maker: str
    architecture: str
    released: str
    memory_gb: float
    memory_bandwidth_gb_s: float
    fp32_tflops: float
    tf32_tflops: float
    fp16_tflops: float
    bf16_tflops: float
    fp8_tflops: float
    fp4_tflops: float
    as_of: str
    unconfirmed: str
    source: str

    def unit(self, precision: str) -> str:
        """Return the format that computes a precision: tf32 for fp32 if there is a unit; fp32 for fp16 without one."""
        name = "tf32" if precision == "fp32" else precision
        return "fp32" if math.isnan(self.peak_of_unit(name)) and name in IN_FP32 else name

    def peak_of_unit(self, unit: str) -> float:
        """Return the dense TFLOP/s of a number format such as `tf32`; NaN if the device has no unit for it."""
        return float(getattr(self, f"{unit}_tflops", math.nan))

    def peak(self, precision: str) -> float:
        """Return the highest dense TFLOP/s in a precision (fp32 runs in TF32 if possible); NaN: it cannot run it."""
        return self.peak_of_unit(self.unit(precision))

    def computes(self, precision: str) -> bool:
        """Return whether the device can train in a precision, that is, has a known peak for it."""
        return not math.isnan(self.peak(precision))


class Devices:
    """Look-up of device specifications by any usual spelling of a device's name."""

    def __init__(self, sheet: pd.DataFrame) -> None:
        self.sheet = sheet.set_index("gpu")
        self.by_gpu = {row["gpu"]: Device(**row) for row in sheet.to_dict("records")}
        self.by_words: dict[frozenset[str], Device] = {}
        for device in self.by_gpu.values():
            names = filter(None, map(name_words, [device.gpu, *device.names.split(";")]))
            self.by_words |= dict.fromkeys(names, device)

    def find(self, name: str) -> Device | None:
        """Return the data sheet of the device that people call `name` (any usual spelling), else of the only device
        whose name has all its words; None if no device or several match.
        """
        words = name_words(name)
        without_memory = frozenset(word for word in words if not re.fullmatch(r"\d+gb", word))
        exact = self.by_words.get(words) or self.by_words.get(without_memory)
        if exact is not None or not words:
            return exact
        matches = {device.gpu: device for full_name, device in self.by_words.items() if words <= full_name}
        return next(iter(matches.values())) if len(matches) == 1 else None

    def get(self, name: str) -> Device:
        """Return the data sheet of the device that people call `name`; UserError that suggests what was meant."""
        device = self.find(name)
        if device is not None:
            return device
        meant = slipped(name, self.by_gpu)
        question = f": did you mean '{meant}'?" if meant else ""
        raise UserError(f"{name!r}: no device of that name is specified; expected one of facts/devices.csv{question}")


def precision_name(text: str) -> str:
    """Return the project's name of a precision, e.g. `fp16` for `fp16 AMP` and `mixed`; others in small letters."""
    name = text.strip().lower()
    return PRECISIONS.get(name, name)


def name_words(name: str) -> frozenset[str]:
    """Return the words of a device's name without common ones, e.g. {'rtx', '4090'} of 'NVIDIA GeForce RTX4090'."""
    return frozenset(PARTS.findall(name.lower())) - COMMON


def bare_name(name: str) -> str:
    """Return the letters (small) and digits of a name, e.g. 'bertlarge' for 'BERT-large'."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
