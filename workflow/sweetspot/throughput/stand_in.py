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
MONTH = re.compile(r"\b(20\d\d-(?:0[1-9]|1[0-2]))\b")  # `nightly 2018-02`
CONTAINER = re.compile(r"NGC (\d\d)\.(0[1-9]|1[0-2])")  # NVIDIA's containers are named for their month
# How far one step of each kind moves a throughput, as a factor either way (90 % of pairs; docs/decision.md, figures
# without an interval). DOUBLING: of the batch. YEAR: of software. FORM: another form of the device, such as its memory.
DOUBLING, YEAR, FORM = 1.44, 1.38, 1.05
# A figure that does not say its batch counts as two doublings away, one that cannot be dated as one year.
UNKNOWN_DOUBLINGS, UNKNOWN_YEARS = 2.0, 1.0
WARNING_YEARS = 1.0  # a stand-in of software at least so many years older or newer has a warning


class ThroughputEstimate(NamedTuple):
    """A throughput with its evidence.

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
    """Flag the devices that are `name` or one of its forms (`Tesla V100` and `Tesla V100-SXM3-32GB`)."""
    return (gpu == name) | gpu.str.startswith(f"{name}-")


def stand_in(
    pool: pd.DataFrame, gpu: str, model: str, batch_size: int, question: "Question", as_of: str
) -> ThroughputEstimate | None:
    """Find the nearest published figure of the same device and model.

    Parameters
    ----------
    pool
        Published rows of the requested device count (throughput.csv's columns, `xla` as bool).
    gpu, model, batch_size
        The cell.
    question
        Its framework and precision.
    as_of
        The study's date, for the age of the software.

    Returns
    -------
    ThroughputEstimate or None
        In order of nearness: the framework, then the precision, then the smallest product of what batch, years of
        software and form of the device can change (DOUBLING, YEAR, FORM); of equals the exact device, then the smaller
        batch. Of several equally near figures the median.

    """
    candidates = pool[(pool["model"] == model) & same_device(pool["gpu"], gpu)]
    if candidates.empty:
        return None
    batch = candidates["batch_size"].astype(float)
    years = software_years(candidates) - year_of(as_of)
    is_other_form = candidates["gpu"] != gpu
    log_factor = (
        np.log2(batch / batch_size).abs().fillna(UNKNOWN_DOUBLINGS) * math.log(DOUBLING)
        + years.abs().fillna(UNKNOWN_YEARS) * math.log(YEAR)
        + is_other_form * math.log(FORM)
    )
    distance = pd.DataFrame(
        {
            "framework": candidates["framework"] != question.framework,
            "precision": candidates["precision"] != question.precision,
            "log_factor": log_factor.round(9),
            "form": is_other_form,
            "batch": batch.fillna(math.inf),
        }
    )
    order = distance.sort_values(list(distance.columns), kind="stable")
    nearest = candidates.loc[order.index[(order == order.iloc[0]).all(axis=1)]]
    request = {
        "device": gpu,
        "framework": question.framework,
        "batch": str(batch_size),
        "precision": question.precision,
    }
    return _estimate(nearest, request, float(years[nearest.index[0]]), as_of)


def _estimate(nearest: pd.DataFrame, request: dict[str, str], years: float, as_of: str) -> ThroughputEstimate:
    row = nearest.iloc[0]
    batch = None if pd.isna(row["batch_size"]) else int(row["batch_size"])
    facts = {
        "device": str(row["gpu"]),
        "framework": str(row["framework"]),
        "batch": "not stated" if batch is None else str(batch),
        "precision": str(row["precision"]),
    }
    warnings = [
        warning(f"stand_in_{name}", f"asked {name} {request[name]}; that of the nearest published figure is {value}")
        for name, value in facts.items()
        if request[name] != value
    ]
    if abs(years) >= WARNING_YEARS:
        age = f"{abs(years):.1f} years {'older' if years < 0 else 'newer'} than {as_of}"
        effect = f"pairs of figures such years apart differ by up to a factor {YEAR ** abs(years):.2g}"
        warnings.append(warning("stand_in_years", f"the software of the nearest published figure is {age}; {effect}"))
    count = f"median of {len(nearest)} rows: " if len(nearest) > 1 else ""
    text = ", ".join(f"batch {value}" if name == "batch" else value for name, value in facts.items())
    return ThroughputEstimate(
        images_per_s=float(nearest["images_per_s"].median()),
        variant="default",
        basis="stand_in",
        source=f"{count}{' ; '.join(nearest['source'].unique())} ({text})",
        warnings=warnings,
        xla=bool(nearest["xla"].all()),
        stand_in_gpu=facts["device"],
        stand_in_framework=facts["framework"],
        stand_in_batch_size=batch,
        stand_in_precision=facts["precision"],
        stand_in_years=years,
    )


def year_of(text: str) -> float:
    """Parse a date of AS_OF's form as a decimal year: the middle of the year, month or day; NaN for other text."""
    match = AS_OF.fullmatch(text)
    if match is None:
        return math.nan
    year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    if not day:
        return year + ((month - 0.5) / 12 if month else 0.5)
    return year + (date(year, month, min(day, 28)) - date(year, 1, 1)).days / 365


def software_years(published: pd.DataFrame) -> pd.Series:
    """Return the decimal year of the software behind each row; NaN where neither `as_of` nor the version tells it.

    published: framework, framework_version, and where known as_of (YYYY, YYYY-MM or YYYY-MM-DD, which counts first).
    """
    columns = published.reindex(columns=["as_of", "framework", "framework_version"]).astype(object)
    rows = columns.where(columns.notna(), "").itertuples(index=False)
    return pd.Series([_software_year(*row) for row in rows], published.index, dtype=float)


def _software_year(as_of: str, framework: str, version: str) -> float:
    month, container = MONTH.search(version), CONTAINER.search(version)
    if as_of or month:
        return year_of(as_of or month[1])  # type: ignore[index]
    if container:
        return year_of(f"20{container[1]}-{container[2]}")
    released = RELEASED.get(framework.lower(), {})
    entries = [entry for entry in released if re.match(rf"{re.escape(entry)}(?!\d)", version)]
    return year_of(released[max(entries, key=len)]) if entries else math.nan
