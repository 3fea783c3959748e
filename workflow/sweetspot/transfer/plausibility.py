"""Throughput that cannot be: beyond the peak of the devices, or more than n times what one device does."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.facts.shipped_tables import table as facts_table
from sweetspot.study.open_models import cell_work, flop_per_token
from sweetspot.throughput.plausible_rows import BEYOND_PEAK, MORE_THAN_LINEAR, ImpossibleFigure
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import precision_name

# Training takes three times the forward pass: that, and the gradients of weights and of inputs.
FLOP_PER_MAC, PASSES = 2.0, 3.0
# Winograd's convolutions of 3 x 3 need 2.25 times fewer multiplications (Lavin and Gray 2016, F(2 x 2, 3 x 3)). They
# are used where no tensor core multiplies: published figures reach 1.8 times the fp32 peak that way, 0.86 elsewhere.
WINOGRAD = 2.25
# A ratio above it is more than noise: `super_linear` of scaling/evidence.py has the same limit.
MOST_EFFICIENCY = 1.05
# Data sets whose images are smaller than those of facts/network_operations.csv.
SMALL_IMAGES = re.compile(r"cifar|mnist|svhn|tiny|\d+ ?(x|px)", re.IGNORECASE)
SAME_CELL = ("gpu", "framework", "model", "batch_size", "precision")


@dataclass(frozen=True)
class Operations:
    """What training on one sample takes at least."""

    flop: float
    sample: str


def impossible_figures(figures: pd.DataFrame) -> list[ImpossibleFigure]:
    """Find the figures that the devices cannot have reached.

    Parameters
    ----------
    figures
        Columns gpu, gpus, framework, model, batch_size (NaN: not stated), precision, images_per_s (of all devices
        together), unit, and where known dataset, source, basis, status and logical. Only rows that were measured or
        published, with a usable status and separate devices, are judged.

    Returns
    -------
    list of ImpossibleFigure
        `row` is the position in `figures`. A figure beyond the dense peak of its devices has no limit that could
        replace it; one of more than n times one device has n times the fastest figure of one.

    """
    rows = [(position, row) for position, row in enumerate(figures.itertuples()) if _is_judged(row)]
    beyond = {position: found for position, row in rows if (found := _beyond_peak(position, row)) is not None}
    fastest: dict[tuple[Any, ...], Any] = {}
    for position, row in rows:
        if row.gpus == 1 and position not in beyond and not _lacks_batch(row):
            best = fastest.setdefault(_cell(row), row)
            if row.images_per_s > best.images_per_s:
                fastest[_cell(row)] = row
    beyond |= {
        position: found
        for position, row in rows
        if position not in beyond and (found := _beyond_linear(position, row, fastest.get(_cell(row)))) is not None
    }
    return [beyond[position] for position in sorted(beyond)]


def beyond_peak_factor(gpu: str, gpus: int, precision: str, model: str, unit: str, rate: float) -> float:
    """Return `rate` (samples per second) over what the devices can do at their dense peak; NaN where it is unknown."""
    device, operations = shipped_devices().find(gpu), operations_of(model, unit)
    if device is None or operations is None:
        return math.nan
    name = precision_name(precision)
    factor = WINOGRAD if device.unit(name) == "fp32" else 1.0
    return rate * operations.flop / (gpus * device.peak(name) * 1e12 * factor)


def operations_of(model: str, unit: str = "") -> Operations | None:
    """Operations of training on one sample of a model; None where the model, or what its unit counts, is unknown."""
    work = cell_work(model)
    if work is not None:
        return Operations(flop_per_token(*work), "1 token")
    row = _networks().get(_plain(model))
    if row is None or unit not in ("", row["unit"]):
        return None
    return Operations(PASSES * FLOP_PER_MAC * float(row["forward_gmac"]) * 1e9, row["sample"])


@cache
def _networks() -> dict[str, dict[str, str]]:
    """Rows of facts/network_operations.csv by each of their names."""
    return {
        name: row
        for row in facts_table("network_operations")
        for name in (row["network"], *filter(None, row["names"].split(" ; ")))
    }


def _plain(model: str) -> str:
    return re.sub(r"[^a-z0-9]", "", model.lower())


def _is_judged(row: Any) -> bool:
    read = getattr(row, "basis", READ[0]) in READ and getattr(row, "status", USABLE[0]) in USABLE
    return read and not getattr(row, "logical", False) and row.images_per_s > 0


def _lacks_batch(row: Any) -> bool:
    return bool(pd.isna(row.batch_size))


def _cell(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in SAME_CELL)


def _beyond_peak(position: int, row: Any) -> ImpossibleFigure | None:
    if SMALL_IMAGES.search(str(getattr(row, "dataset", ""))):
        return None
    unit = str(row.unit)
    factor = beyond_peak_factor(str(row.gpu), int(row.gpus), str(row.precision), str(row.model), unit, row.images_per_s)
    if not factor > 1.0:
        return None
    operations = operations_of(str(row.model), unit)
    device = shipped_devices().get(str(row.gpu))
    name = precision_name(str(row.precision))
    peak = device.peak(name) * (WINOGRAD if device.unit(name) == "fp32" else 1.0)
    assert operations is not None
    message = (
        f"{row.images_per_s:,.6g} {unit or 'samples'}/s is {factor:.3g} times what {int(row.gpus)} x {row.gpu} can do: "
        f"{operations.flop / 1e9:,.3g} GFLOP for {operations.sample} at {peak:,.4g} TFLOP/s each; it is left out"
    )
    return ImpossibleFigure(position, BEYOND_PEAK, message, math.nan, "")


def _beyond_linear(position: int, row: Any, one: Any) -> ImpossibleFigure | None:
    if row.gpus < 2 or one is None or _lacks_batch(row):
        return None
    times = row.images_per_s / one.images_per_s
    if times <= MOST_EFFICIENCY * row.gpus:
        return None
    most = float(row.gpus * one.images_per_s)
    message = (
        f"{row.images_per_s:,.6g} {row.unit or 'samples'}/s is {times:.1f} times what one {row.gpu} does "
        f"({one.images_per_s:,.6g}); {int(row.gpus)} can be {int(row.gpus)} times as fast at most, which is used: "
        f"{most:,.6g}"
    )
    told = f"at most {int(row.gpus)} x {one.images_per_s:g} ({getattr(one, 'source', '')})"
    return ImpossibleFigure(position, MORE_THAN_LINEAR, message, most, told)


def warned_lines(figures: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
    """Line of the CSV file, rule and message of each impossible row of a throughput.csv (`read_published`)."""
    for found in impossible_figures(figures):
        yield int(np.asarray(figures.index)[found.row]) + 2, found.rule, found.message
