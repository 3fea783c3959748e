"""How old the software behind a published figure is: as its row dates it, else by the version that it names."""

import re
from datetime import date

import pandas as pd

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


def year_of(text: str) -> float:
    """A date of AS_OF's form as a decimal year: the middle of the year, month or day; NaN where it is none."""
    found = AS_OF.fullmatch(text)
    if found is None:
        return float("nan")
    year, month, day = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    if not month:
        return year + 0.5
    if not day:
        return year + (month - 0.5) / 12
    return year + (date(year, month, min(day, 28)) - date(year, 1, 1)).days / 365


def software_years(published: pd.DataFrame) -> pd.Series:
    """Decimal year of the software behind each row; NaN where neither `as_of` nor the version tells. Index kept.

    published: framework, framework_version, and where known as_of (YYYY, YYYY-MM or YYYY-MM-DD, which counts first).
    """
    stated = published["as_of"] if "as_of" in published.columns else [""] * len(published)
    rows = zip(stated, published["framework"], published["framework_version"], strict=True)
    return pd.Series([_year(*(_text(part) for part in row)) for row in rows], published.index, dtype=float)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _year(as_of: str, framework: str, version: str) -> float:
    if as_of:
        return year_of(as_of)
    said, container = SAID.search(version), CONTAINER.search(version)
    if said:
        return year_of(said[1])
    if container:
        return year_of(f"20{container[1]}-{container[2]}")
    known = RELEASED.get(framework.lower(), {})
    named = [entry for entry in known if re.match(rf"{re.escape(entry)}(?!\d)", version)]
    return year_of(known[max(named, key=len)]) if named else float("nan")
