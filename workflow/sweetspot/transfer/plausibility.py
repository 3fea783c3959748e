"""Throughput that cannot be: beyond the peak of the devices, or more than n times what one device does."""

import math
import re

import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.facts.shipped_tables import table as facts_table
from sweetspot.study.open_models import cell_work, flop_per_token
from sweetspot.throughput.plausible_rows import BEYOND_PEAK, MORE_THAN_LINEAR, ImpossibleFigure
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device, bare_name, precision_name

# Training takes three times the forward pass: that, and the gradients of weights and of inputs.
FLOP_PER_MAC, PASSES = 2.0, 3.0
# Winograd's convolutions of 3 x 3 need 2.25 times fewer multiplications (Lavin and Gray 2016, F(2 x 2, 3 x 3)). They
# are used where no tensor core multiplies: published figures reach 1.8 times the fp32 peak that way, 0.86 elsewhere.
WINOGRAD = 2.25
MIN_OF_PEAK = 1e-6  # A figure below this share of a peak has another unit.
# A ratio above it is more than noise: `super_linear` of scaling/evidence.py has the same limit.
MAX_EFFICIENCY = 1.05
# Data sets whose images are smaller than those of facts/network_operations.csv.
SMALL_IMAGES = re.compile(r"cifar|mnist|svhn|tiny|\d+ ?(?:x|px)", re.IGNORECASE)
CELL_KEY = ["gpu", "framework", "model", "batch_size", "precision"]
DEFAULTS = {"basis": READ[0], "status": USABLE[0], "logical": False, "dataset": ""}


def impossible_figures(figures: pd.DataFrame) -> list[ImpossibleFigure]:
    """Find speeds that cannot be right, so that no decision rests on them: above the dense peak of their devices, or
    above n times the speed of one device. Returned is one entry per such row; `row` is its position in `figures`;
    `limit`: NaN for a figure beyond the peak, n times the fastest figure of one device for a figure above that.

    Parameters
    ----------
    figures
        Columns gpu, gpus, framework, model, batch_size (NaN: not stated), precision, images_per_s (of all devices
        together), unit, source, and where known dataset, basis, status and logical. Only rows that were measured or
        published, with a usable status and separate devices, are judged.
    """
    table = figures.assign(**{name: value for name, value in DEFAULTS.items() if name not in figures})
    table = table.assign(row=range(len(table)), unit=table["unit"].fillna(""))
    table = table.query(f"basis in {READ} and status in {USABLE} and logical == False and images_per_s > 0")
    small = table["dataset"].astype(str).str.contains(SMALL_IMAGES)
    factors = [
        beyond_peak_factor(
            shipped_devices().find(str(row.gpu)), row.precision, row.model, row.images_per_s / row.gpus, row.unit
        )
        for row in table.itertuples()
    ]
    table = table.assign(factor=pd.Series(factors, table.index, dtype=float).mask(small))
    possible = table[~(table["factor"] > 1)].dropna(subset="batch_size")
    singles = possible[possible["gpus"] == 1].sort_values("images_per_s").drop_duplicates(CELL_KEY, keep="last")
    table = table.merge(singles[[*CELL_KEY, "images_per_s", "source"]], "left", CELL_KEY, suffixes=("", "_one"))
    impossible = []
    for row in table.itertuples():
        figure = f"{row.images_per_s:,.6g} {row.unit or 'samples'}/s is"
        rate, limit = row.images_per_s_one, row.gpus * row.images_per_s_one
        if row.factor > 1:
            message = f"{figure} {row.factor:.3g} times what {row.gpus} x {row.gpu} can do at their dense peak; it is "
            impossible.append(ImpossibleFigure(row.row, BEYOND_PEAK, f"{message}left out", math.nan, ""))
        elif row.images_per_s > MAX_EFFICIENCY * limit:
            message = f"{figure} more than {row.gpus} times what one {row.gpu} does ({rate:,.6g}); {limit:,.6g} is used"
            source = f"at most {row.gpus} x {rate:g} ({row.source_one})"
            impossible.append(ImpossibleFigure(row.row, MORE_THAN_LINEAR, message, limit, source))
    return impossible


def beyond_peak_factor(device: Device | None, precision: str, model: str, rate: float, unit: str = "") -> float:
    """Return the ratio of a claimed speed to the speed at the device's dense peak, to detect impossible figures and
    wrong units: over 1 is impossible. NaN if the device's peak or the model's operations are unknown.

    Parameters
    ----------
    device, precision, model, rate, unit
        Data sheet (None: unknown); precision and model in any usual spelling; samples per second of one device, and
        their kind, such as `images` ('': not stated).
    """
    if device is None:
        return math.nan
    name = precision_name(precision)
    peak = device.peak(name) * 1e12 * (WINOGRAD if device.unit(name) == "fp32" else 1.0)
    return rate * flop_per_sample(model, unit) / peak


def flop_per_sample(model: str, unit: str = "") -> float:
    """Return the floating-point operations of one training step on one sample (forward and backward), by which a speed
    in samples/s is compared with a device's peak; NaN for an unknown model or a `unit` in which it is not counted.
    """
    work = cell_work(model)
    if work is not None:
        return flop_per_token(*work)
    name = bare_name(model)
    for row in facts_table("network_operations"):
        if name in (row["network"], *row["names"].split(" ; ")) and unit in ("", row["unit"]):
            return PASSES * FLOP_PER_MAC * float(row["forward_gmac"]) * 1e9
    return math.nan
