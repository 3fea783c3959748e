"""The stand-in: the nearest published figure of the same device and model, and what is different about it. How old the
software behind a figure is: as its row dates it, else by the version that it names.
"""

import math
import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import table
from sweetspot.warnings import warning

if TYPE_CHECKING:
    from sweetspot.study.study import StudyCells  # Its models take longer to import than a comparison computes.

AS_OF = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?")
# A month in a version: `nightly 2018-02`, or that for which NVIDIA's containers are named (`NGC 20.06`).
MONTH = re.compile(r"(?:\b20|NGC )(\d\d)[-.](0[1-9]|1[0-2])\b")
# How far one step of each kind moves a throughput, as a factor either way (90 % of pairs; docs/decision.md, figures
# without an interval). DOUBLING: of the batch. YEAR: of software. FORM: another form of the device, such as its memory.
DOUBLING, YEAR, FORM = 1.44, 1.38, 1.05
# A figure that does not say its batch counts as two doublings away, one that cannot be dated as one year.
UNKNOWN_DOUBLINGS, UNKNOWN_YEARS = 2.0, 1.0
WARNING_YEARS = 1.0  # a stand-in of software at least so many years older or newer has a warning


class ThroughputEstimate(NamedTuple):
    """A throughput (`unit` per second on all devices) with its basis, source and warnings. images_per_s_low,
    images_per_s_high: bounds that the source states; NaN where it states none. stand_in_*: the cell of the published
    figure that is used instead of a figure of this cell; None if not needed. stand_in_batch_size is None too where its
    source does not state it; stand_in_years: by how many years its software is newer than the study (NaN: not known).
    """

    images_per_s: float
    unit: str
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
    """Return a bool per device: whether it is `name` or one of its forms (`Tesla V100-SXM3-32GB` of `Tesla V100`)."""
    return (gpu == name) | gpu.str.startswith(f"{name}-")


def stand_in(
    pool: pd.DataFrame, gpu: str, model: str, batch_size: int, question: "StudyCells", as_of: str
) -> ThroughputEstimate | None:
    """Estimate the speed of a setup that nobody published by the nearest published figure of the same device and
    model, with warnings that say what differs. None without any figure. Nearest: the same framework, then the same
    precision, then the smallest product of what batch, years of software and form of the device can change (DOUBLING,
    YEAR, FORM), then the exact device, then the smaller batch. Of several equally near figures the median is taken.

    Parameters
    ----------
    pool, gpu, model, batch_size
        Published rows with the requested number of devices (columns of throughput.csv, `xla` as bool); device, model
        and batch per device of the setup without a figure.
    question, as_of
        The study's settings (its framework and precision are wanted), and its date.
    """
    rows = pool[(pool["model"] == model) & same_device(pool["gpu"], gpu)]
    if rows.empty:
        return None
    batches = rows["batch_size"].astype(float)
    years = software_years(rows) - year_of(as_of)
    differs_in_form = rows["gpu"] != gpu
    log_factor = (
        np.log2(batches / batch_size).abs().fillna(UNKNOWN_DOUBLINGS) * math.log(DOUBLING)
        + years.abs().fillna(UNKNOWN_YEARS) * math.log(YEAR)
        + differs_in_form * math.log(FORM)
    )
    differs_in_kind = (rows[name] != getattr(question, name) for name in ("framework", "precision"))
    distances = list(zip(*differs_in_kind, log_factor.round(9), differs_in_form, batches.fillna(math.inf), strict=True))
    shortest = min(distances)
    nearest = rows[[distance == shortest for distance in distances]]

    first = nearest.iloc[0]
    batch = None if pd.isna(first["batch_size"]) else int(first["batch_size"])
    facts = {
        "device": (gpu, first["gpu"]),
        "framework": (question.framework, first["framework"]),
        "batch": (str(batch_size), "not stated" if batch is None else str(batch)),
        "precision": (question.precision, first["precision"]),
    }
    warnings = [
        warning(f"stand_in_{name}", f"asked {name} {requested}; that of the nearest published figure is {value}")
        for name, (requested, value) in facts.items()
        if requested != value
    ]
    age = float(years[nearest.index[0]])
    if abs(age) >= WARNING_YEARS:
        text = f"{abs(age):.1f} years {'older' if age < 0 else 'newer'} than {as_of}"
        effect = f"pairs of figures such years apart differ by up to a factor {YEAR ** abs(age):.2g}"
        warnings.append(warning("stand_in_years", f"the software of the nearest published figure is {text}; {effect}"))
    count = f"median of {len(nearest)} rows: " if len(nearest) > 1 else ""
    sources = " ; ".join(nearest["source"].unique())
    cell = f"{first['gpu']}, {first['framework']}, batch {facts['batch'][1]}, {first['precision']}"
    return ThroughputEstimate(
        images_per_s=float(nearest["images_per_s"].median()),
        unit=first["unit"],
        variant="default",
        basis="stand_in",
        source=f"{count}{sources} ({cell})",
        warnings=warnings,
        xla=bool(nearest["xla"].all()),
        stand_in_gpu=first["gpu"],
        stand_in_framework=first["framework"],
        stand_in_batch_size=batch,
        stand_in_precision=first["precision"],
        stand_in_years=age,
    )


def year_of(text: str) -> float:
    """Parse a date (2026, 2026-03 or 2026-03-01) as a decimal year, the middle of what it names, so that ages of
    software can be subtracted: 2026-03 is 2026.21. NaN for other text.
    """
    match = AS_OF.fullmatch(text)
    if match is None:
        return math.nan
    year, month, day = (int(part or 0) for part in match.groups())
    if not day:
        return year + ((month - 0.5) / 12 if month else 0.5)
    return year + (date(year, month, min(day, 28)) - date(year, 1, 1)).days / 365


def software_years(published: pd.DataFrame) -> pd.Series:
    """Return the decimal year of the software behind each published speed (2018.5; NaN: unknown), as older figures are
    less alike. Columns: framework, framework_version, as_of (YYYY, YYYY-MM or YYYY-MM-DD; if known, has priority).
    """
    columns = published.reindex(columns=["as_of", "framework", "framework_version"]).astype(object)
    rows = columns.where(columns.notna(), "").itertuples(index=False)
    return pd.Series([year_of(_software_date(*row)) for row in rows], published.index, dtype=float)


def _software_date(as_of: str, framework: str, version: str) -> str:
    """Return when a published figure's software is from, as a text for `year_of`: `as_of`, else the month (YYYY-MM) in
    the version, else the month of the framework's release with that version (facts/software_releases.csv), else ''.
    """
    if as_of:
        return as_of
    if match := MONTH.search(version):
        return f"20{match[1]}-{match[2]}"
    releases = [
        (len(row["version"]), row["month"])
        for row in table("software_releases")
        if row["framework"] == framework.lower() and re.match(rf"{re.escape(row['version'])}(?!\d)", version)
    ]
    return max(releases, default=(0, ""))[1]
