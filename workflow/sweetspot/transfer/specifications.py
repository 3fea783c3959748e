"""What a device can do by its data sheet: memory, bandwidth and dense peaks, and how people write its name."""

import math
import re
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pydantic import create_model

from sweetspot.errors import UserError
from sweetspot.throughput.csv_table import CsvRow, read_rows

PEAKS = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")
# A device without a unit of its own computes these in fp32: the pseudo-half of cuDNN before Volta, and TF32 before
# Ampere, which PyTorch and cuDNN ask for without it being said. The others are refused.
IN_FP32 = ("fp32", "tf32", "fp16")
# What sources write of a precision, in small letters.
PRECISIONS = dict.fromkeys(("mixed", "amp", "fp16 amp", "float16", "half"), "fp16")
PRECISIONS |= {"bfloat16": "bf16", "float32": "fp32", "fp32/tf32": "tf32"}
COMMON = frozenset({"nvidia", "geforce", "tesla", "amd", "instinct", "graphics", "generation", "gpu", "gen5"})
BOARD = re.compile(r"sxm[45]")  # V100's SXM2 and SXM3 stay apart: they differ in clock
RUN_TOGETHER = re.compile(r"(\d{4}) ?(ti|super)\b")
SERIES = re.compile(r"\b(rtx|gtx)[ -]?(?=[a-z]?\d)|\b(rtx)[ -]?(?=pro)")  # RTX4090, RTXA6000, GTX1080Ti, RTX-PRO-6000
MEMORY = re.compile(r"\d+gb")
PROCESSOR = re.compile(r"\bcpu\b|xeon|epyc|ryzen|core\(tm\)|logical|processor|^none$", re.IGNORECASE)
DAYS_A_YEAR = 365.25
FEATURES = ("peak", "bandwidth", "memory", "vector")
USUAL_VECTOR = 60.0  # TFLOP/s of fp32, as of the data-centre devices of the same years


COLUMNS: dict[str, Any] = dict.fromkeys(("gpu", "maker", "architecture", "released", "as_of", "source"), str)
COLUMNS |= {"names": (str, ""), "unconfirmed": (str, ""), "memory_gb": float, "memory_bandwidth_gb_s": float}
COLUMNS |= {f"{name}_tflops": (float | None, None) for name in PEAKS}
DeviceRow = create_model("DeviceRow", __base__=CsvRow, **COLUMNS)


class Device(NamedTuple):
    """One row of devices.csv: GB, GB/s and dense TFLOP/s (NaN: no such unit, or none published)."""

    gpu: str
    maker: str
    architecture: str
    memory_gb: float
    memory_bandwidth_gb_s: float
    peaks: dict[str, float]
    source: str
    released: str = ""  # YYYY-MM

    def age(self, day: date) -> float:
        """Years from the middle of the month in which it came out to a day; 0 before."""
        year, month = (int(part) for part in self.released.split("-")[:2])
        return max((day - date(year, month, 15)).days / DAYS_A_YEAR, 0.0)

    def unit(self, precision: str) -> str:
        """The number format whose peak a precision uses: TF32 or fp32 for fp32, fp32 for fp16 without a unit for it."""
        name = "tf32" if precision == "fp32" else precision
        return "fp32" if math.isnan(self.peaks.get(name, math.nan)) and name in IN_FP32 else name

    def peak(self, precision: str) -> float:
        """Dense TFLOP/s that training in a precision can use; NaN where the device cannot run it.

        fp32 runs in TF32 where the device has it: PyTorch's convolutions, TensorFlow from 2.4 on and JAX by default.
        """
        return self.peaks.get(self.unit(precision), math.nan)

    def computes(self, precision: str) -> bool:
        """Whether training in a precision has a peak."""
        return not math.isnan(self.peak(precision))


class Devices:
    """The devices of a table, found by any of the ways people write their names."""

    def __init__(self, path: Path, rows: list[tuple[Device, list[str]]]) -> None:
        self.path = path
        self.by_gpu = {device.gpu: device for device, _ in rows}
        self.by_words = {_words(name): device for device, names in rows for name in (device.gpu, *names)}

    def find(self, name: str) -> Device | None:
        """Return the device of that name, else the only one whose name has all its words (`4090`), else None."""
        words = _words(name)
        without_memory = frozenset(word for word in words if not MEMORY.fullmatch(word))
        exact = self.by_words.get(words) or self.by_words.get(without_memory)
        if exact is not None or not words:
            return exact
        matches = {device.gpu: device for full_name, device in self.by_words.items() if words <= full_name}
        return next(iter(matches.values())) if len(matches) == 1 else None

    def is_same_name(self, name: str, device: Device) -> bool:
        """Tell whether a name has the words of the device's name: `RTX4090` of RTX 4090, but `H100` not of H100 SXM."""
        return _words(name) == _words(device.gpu)

    def get(self, name: str) -> Device:
        """Return the device of a name, as `find`. Raises UserError for a processor and for an unknown device."""
        device = self.find(name)
        if device is not None:
            return device
        if PROCESSOR.search(name):
            raise UserError(
                f"{name!r} is a processor: nothing is learnt of how processors relate to GPUs; expected a GPU"
            )
        raise UserError(f"{name!r}: no device of that name is specified; expected one of {self.path} (add it there)")


@cache
def read_devices(path: Path) -> Devices:
    """Read the table of device specifications. Raises UserError for a faulty row."""
    table = read_rows(path, DeviceRow)
    rows = []
    for row in table.to_dict("records"):
        values = {name: row[name] for name in Device._fields if name in row}
        peaks = {name: float(row[f"{name}_tflops"]) for name in PEAKS}
        rows.append((Device(**values, peaks=peaks), _listed(row["names"])))
    return Devices(path, rows)


def precision_name(text: str) -> str:
    """Return a precision in the project's word: `fp16 AMP` and `mixed` are `fp16`."""
    name = text.strip().lower()
    return PRECISIONS.get(name, name)


def with_features(figures: pd.DataFrame, devices: Devices) -> pd.DataFrame:
    """Add the architecture and the logs of what each device can do (FEATURES).

    Parameters
    ----------
    figures
        Columns device (a name of devices.csv) and precision.
    devices
        The table of devices.

    Returns
    -------
    DataFrame
        A peak is NaN where a device cannot run the precision.
    """
    rows = [devices.by_gpu[name] for name in figures["device"]]
    peaks = [device.peak(precision) for device, precision in zip(rows, figures["precision"], strict=True)]
    # The peak outside of the matrix units, which activations and normalisations run at; of TPUs none is published.
    vector_peaks = [device.peaks["fp32"] for device in rows]
    return figures.assign(
        peak=[math.log(peak) for peak in peaks],
        bandwidth=[math.log(device.memory_bandwidth_gb_s) for device in rows],
        memory=[math.log(device.memory_gb) for device in rows],
        vector=[math.log(USUAL_VECTOR if math.isnan(peak) else peak) for peak in vector_peaks],
        architecture=[device.architecture for device in rows],
    )


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(";") if name.strip()]


def _words(name: str) -> frozenset[str]:
    spaced = SERIES.sub(lambda match: f"{match[0].strip(' -')} ", name.lower())
    spaced = RUN_TOGETHER.sub(r"\1 \2", BOARD.sub("sxm", spaced))
    return frozenset(re.findall(r"[a-z0-9]+", spaced)) - COMMON
