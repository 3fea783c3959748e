"""The stand-in: the nearest published figure of the same device and model, and what is different about it."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.throughput.software_dates import software_years, year_of
from sweetspot.warnings import warning

if TYPE_CHECKING:
    from sweetspot.study.study import Question

# How far one step of each kind moves a throughput, as a factor either way (90 % of pairs; docs/decision.md, figures
# without an interval). DOUBLING: of the batch. YEAR: of software. FORM: another form of the device, such as its memory.
DOUBLING, YEAR, FORM = 1.44, 1.38, 1.05
# A figure that does not say its batch counts as two doublings away, one that cannot be dated as one year.
UNKNOWN_DOUBLINGS, UNKNOWN_YEARS = 2.0, 1.0
TOLD_YEARS = 1.0  # a stand-in of software at least so many years older or newer says so


class Figure(NamedTuple):
    """A throughput figure with its evidence.

    images_per_s_low, images_per_s_high: as the source bounds it; NaN where it does not.
    stand_in_*: the cell whose figure stands in, for this figure or for the one it is made from; else None.
    stand_in_batch_size is None too where its source does not say it; stand_in_years: by how many years its software is
    newer than the study (below 0: older; NaN: not known, or no stand-in).
    """

    images_per_s: float
    variant: str
    basis: str
    source: str
    warnings: list[dict[str, str]]
    xla: bool
    stand_in_gpu: str | None = None
    stand_in_framework: str | None = None
    stand_in_batch_size: int | None = None
    stand_in_precision: str | None = None
    stand_in_years: float = math.nan
    images_per_s_low: float = math.nan
    images_per_s_high: float = math.nan


def same_device(gpu: pd.Series, name: str) -> pd.Series:
    """Which devices are `name` or one of its forms (`Tesla V100` and `Tesla V100-SXM3-32GB`)."""
    return (gpu == name) | gpu.str.startswith(f"{name}-")


def stand_in(
    pool: pd.DataFrame, gpu: str, model: str, batch_size: int, question: "Question", as_of: str
) -> Figure | None:
    """The nearest published figure of the same device and model, or None.

    pool: published rows of the device count asked for (throughput.csv's columns, `xla` as bool). Order of nearness: the
    framework asked for, then the precision, then the smallest product of what batch, years of software (against
    `as_of`, the study's date) and form of the device can move (DOUBLING, YEAR, FORM); of equals the
    exact device, then the smaller batch. Of several equally near figures the median is taken.
    """
    same = pool[(pool["model"] == model) & same_device(pool["gpu"], gpu)]
    if same.empty:
        return None
    batch = same["batch_size"].astype(float)
    years = software_years(same) - year_of(as_of)
    form = same["gpu"] != gpu
    moved = (
        np.log2(batch / batch_size).abs().fillna(UNKNOWN_DOUBLINGS) * math.log(DOUBLING)
        + years.abs().fillna(UNKNOWN_YEARS) * math.log(YEAR)
        + form * math.log(FORM)
    )
    distance = pd.DataFrame(
        {
            "framework": same["framework"] != question.framework,
            "precision": same["precision"] != question.precision,
            "moved": moved.round(9),
            "form": form,
            "smaller": batch.fillna(math.inf),
        }
    )
    order = distance.sort_values(list(distance.columns), kind="stable")
    nearest = same.loc[order.index[(order == order.iloc[0]).all(axis=1)]]
    apart = float(years[nearest.index[0]])
    return _figure(nearest, _differences(nearest.iloc[0], gpu, batch_size, question, apart, as_of), apart)


def _figure(nearest: pd.DataFrame, told: list[dict[str, str]], years: float) -> Figure:
    first = nearest.iloc[0]
    batch = None if pd.isna(first["batch_size"]) else int(first["batch_size"])
    count = f"median of {len(nearest)} rows: " if len(nearest) > 1 else ""
    words = f"{first['gpu']}, {first['framework']}, {_batch_words(batch)}, {first['precision']}"
    return Figure(
        images_per_s=float(nearest["images_per_s"].median()),
        variant="default",
        basis="stand_in",
        source=f"{count}{' ; '.join(nearest['source'].unique())} ({words})",
        warnings=told,
        xla=bool(nearest["xla"].all()),
        stand_in_gpu=str(first["gpu"]),
        stand_in_framework=str(first["framework"]),
        stand_in_batch_size=batch,
        stand_in_precision=str(first["precision"]),
        stand_in_years=years,
    )


def _differences(
    row: pd.Series, gpu: str, batch_size: int, question: "Question", years: float, as_of: str
) -> list[dict[str, str]]:
    batch = None if pd.isna(row["batch_size"]) else int(row["batch_size"])
    pairs = {
        "device": (gpu, str(row["gpu"])),
        "framework": (question.framework, str(row["framework"])),
        "batch": (str(batch_size), "not stated" if batch is None else str(batch)),
        "precision": (question.precision, str(row["precision"])),
    }
    told = [
        warning(f"stand_in_{name}", f"asked {name} {asked}; that of the nearest published figure is {found}")
        for name, (asked, found) in pairs.items()
        if asked != found
    ]
    if abs(years) >= TOLD_YEARS:
        when = f"{abs(years):.1f} years {'older' if years < 0 else 'newer'} than {as_of}"
        moves = f"pairs of figures such years apart differ by up to a factor {YEAR ** abs(years):.2g}"
        told.append(warning("stand_in_years", f"the software of the nearest published figure is {when}; {moves}"))
    return told


def _batch_words(batch: int | None) -> str:
    return "batch not stated" if batch is None else f"batch {batch}"
