"""Throughput that cannot be: beyond the peak of the devices, or more than n times what one device does."""

import math
import re
from collections.abc import Iterator
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
SMALL_IMAGES = re.compile(r"cifar|mnist|svhn|tiny|\d+ ?(?:x|px)", re.IGNORECASE)
SAME_CELL = ["gpu", "framework", "model", "batch_size", "precision"]
USUAL = {"basis": READ[0], "status": USABLE[0], "logical": False, "dataset": "", "source": ""}


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
    table = figures.reset_index(drop=True)
    table = table.assign(**{name: value for name, value in USUAL.items() if name not in table})
    judged = table["basis"].isin(READ) & table["status"].isin(USABLE) & ~table["logical"].astype(bool)
    table = table[judged & (table["images_per_s"] > 0)]
    table = table.assign(factor=[_peak_factor(row) for row in table.itertuples()])
    beyond, others = table[table["factor"] > 1], table[~(table["factor"] > 1) & table["batch_size"].notna()]
    singles = others[others["gpus"] == 1].sort_values("images_per_s", ascending=False, kind="stable")
    several = others[others["gpus"] > 1].rename_axis("row").reset_index()
    pairs = several.merge(singles.drop_duplicates(SAME_CELL), on=SAME_CELL, suffixes=("", "_one"))
    pairs = pairs.assign(most=pairs["gpus"] * pairs["images_per_s_one"])
    pairs = pairs[pairs["images_per_s"] > MOST_EFFICIENCY * pairs["most"]]
    found = [
        ImpossibleFigure(
            row.Index,
            BEYOND_PEAK,
            f"{row.images_per_s:,.6g} {row.unit or 'samples'}/s is {row.factor:.3g} times what {row.gpus} x {row.gpu} "
            "can do at their dense peak; it is left out",
            math.nan,
            "",
        )
        for row in beyond.itertuples()
    ]
    found += [
        ImpossibleFigure(
            row.row,
            MORE_THAN_LINEAR,
            f"{row.images_per_s:,.6g} {row.unit or 'samples'}/s is {row.images_per_s / row.images_per_s_one:.1f} times "
            f"what one {row.gpu} does ({row.images_per_s_one:,.6g}); {row.gpus} can be {row.gpus} times as fast at "
            f"most, which is used: {row.most:,.6g}",
            float(row.most),
            f"at most {row.gpus} x {row.images_per_s_one:g} ({row.source_one})",
        )
        for row in pairs.itertuples()
    ]
    return sorted(found, key=lambda figure: figure.row)


def beyond_peak_factor(gpu: str, gpus: int, precision: str, model: str, unit: str, rate: float) -> float:
    """Return `rate` (samples per second) over what the devices can do at their dense peak; NaN where it is unknown."""
    device, name = shipped_devices().find(str(gpu)), precision_name(str(precision))
    if device is None:
        return math.nan
    peak = device.peak(name) * 1e12 * (WINOGRAD if device.unit(name) == "fp32" else 1.0)
    return rate * flop_per_sample(str(model), str(unit)) / (gpus * peak)


def flop_per_sample(model: str, unit: str = "") -> float:
    """Return the operations of training on one sample; NaN where the model, or what its unit counts, is unknown."""
    work = cell_work(model)
    if work is not None:
        return flop_per_token(*work)
    row = _networks().get(_plain(model))
    if row is None or unit not in ("", row["unit"]):
        return math.nan
    return PASSES * FLOP_PER_MAC * float(row["forward_gmac"]) * 1e9


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


def _peak_factor(row: Any) -> float:
    if SMALL_IMAGES.search(str(row.dataset)):
        return math.nan
    return beyond_peak_factor(row.gpu, row.gpus, row.precision, row.model, row.unit, row.images_per_s)


def warned_lines(figures: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
    """Line of the CSV file, rule and message of each impossible row of a throughput.csv (`read_published`)."""
    for found in impossible_figures(figures):
        yield int(np.asarray(figures.index)[found.row]) + 2, found.rule, found.message
