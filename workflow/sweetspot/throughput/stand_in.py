"""The stand-in: the nearest published figure of the same device and model, and what is different about it.

How old the software behind a figure is: as its row dates it, else by the version that it names.
"""

import math
import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.warnings import warning

if TYPE_CHECKING:
    from sweetspot.study.study import Question

# Month of release. TensorFlow: upload dates of its files on PyPI (1.1.0 2017-04-21, 1.3.0 2017-08-16, 1.4.0 2017-11-01,
# 1.5.0 2018-01-26, 1.7.0 2018-03-29, 1.8.0 2018-04-28, 1.15.0 2019-10-16, 1.15.3 2020-05-18, 1.15.4 2020-09-24, 1.15.5
# 2021-01-06, 2.1.0 2020-01-08, 2.2.0 2020-05-07, 2.4.0 2020-12-14). PyTorch: tag v0.3.0 of github:pytorch/pytorch (PyPI
# begins with 1.0). cuDNN, by which Torch7's figures are told apart: NVIDIA's cuDNN archive page (v4 Feb 10, 2016; v5
# May 12 and 27, 2016; v5.1 August 10, 2016 and Jan 20, 2017; v7.0.4 Nov 13, 2017).
# A version takes the longest entry that it begins with: 1.15.3 is of 2020-05, 1.15 of 2019-10.
RELEASED = {
    "tensorflow": {
        "1.1": "2017-04", "1.3": "2017-08", "1.4": "2017-11", "1.5": "2018-01", "1.7": "2018-03", "1.8": "2018-04",
        "1.15": "2019-10", "1.15.3": "2020-05", "1.15.4": "2020-09", "1.15.5": "2021-01", "2.1": "2020-01",
        "2.2": "2020-05", "2.4": "2020-12",
    },
    "pytorch": {"0.3": "2017-12"},
    "torch7": {
        "cuDNN 4007": "2016-02", "cuDNN 5005": "2016-05", "cuDNN 5105": "2016-08", "cuDNN 5110": "2017-01",
        "cuDNN 7004": "2017-11",
    },
}  # fmt: skip
AS_OF = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?")
SAID = re.compile(r"\b(20\d\d-(?:0[1-9]|1[0-2]))\b")  # `nightly 2018-02`
CONTAINER = re.compile(r"NGC (\d\d)\.(0[1-9]|1[0-2])")  # NVIDIA's containers are named for their month
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
    asked = {"device": gpu, "framework": question.framework, "batch": str(batch_size), "precision": question.precision}
    return _figure(nearest, asked, float(years[nearest.index[0]]), as_of)


def _figure(nearest: pd.DataFrame, asked: dict[str, str], years: float, as_of: str) -> Figure:
    first = nearest.iloc[0]
    batch = None if pd.isna(first["batch_size"]) else int(first["batch_size"])
    found = {
        "device": str(first["gpu"]), "framework": str(first["framework"]),
        "batch": "not stated" if batch is None else str(batch), "precision": str(first["precision"]),
    }  # fmt: skip
    told = [
        warning(f"stand_in_{name}", f"asked {name} {asked[name]}; that of the nearest published figure is {value}")
        for name, value in found.items()
        if asked[name] != value
    ]
    if abs(years) >= TOLD_YEARS:
        when = f"{abs(years):.1f} years {'older' if years < 0 else 'newer'} than {as_of}"
        moves = f"pairs of figures such years apart differ by up to a factor {YEAR ** abs(years):.2g}"
        told.append(warning("stand_in_years", f"the software of the nearest published figure is {when}; {moves}"))
    count = f"median of {len(nearest)} rows: " if len(nearest) > 1 else ""
    words = ", ".join(f"batch {value}" if name == "batch" else value for name, value in found.items())
    return Figure(
        float(nearest["images_per_s"].median()), "default", "stand_in",
        f"{count}{' ; '.join(nearest['source'].unique())} ({words})", told, bool(nearest["xla"].all()),
        stand_in_gpu=found["device"], stand_in_framework=found["framework"], stand_in_batch_size=batch,
        stand_in_precision=found["precision"], stand_in_years=years,
    )  # fmt: skip


def year_of(text: str) -> float:
    """A date of AS_OF's form as a decimal year: the middle of the year, month or day; NaN where it is none."""
    found = AS_OF.fullmatch(text)
    if found is None:
        return math.nan
    year, month, day = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    if not day:
        return year + ((month - 0.5) / 12 if month else 0.5)
    return year + (date(year, month, min(day, 28)) - date(year, 1, 1)).days / 365


def software_years(published: pd.DataFrame) -> pd.Series:
    """Decimal year of the software behind each row; NaN where neither `as_of` nor the version tells. Index kept.

    published: framework, framework_version, and where known as_of (YYYY, YYYY-MM or YYYY-MM-DD, which counts first).
    """
    columns = published.reindex(columns=["as_of", "framework", "framework_version"]).astype(object)
    rows = columns.where(columns.notna(), "").itertuples(index=False)
    return pd.Series([_year(*row) for row in rows], published.index, dtype=float)


def _year(as_of: str, framework: str, version: str) -> float:
    said, container = SAID.search(version), CONTAINER.search(version)
    if as_of or said:
        return year_of(as_of or said[1])  # type: ignore[index]
    if container:
        return year_of(f"20{container[1]}-{container[2]}")
    known = RELEASED.get(framework.lower(), {})
    named = [entry for entry in known if re.match(rf"{re.escape(entry)}(?!\d)", version)]
    return year_of(known[max(named, key=len)]) if named else math.nan
