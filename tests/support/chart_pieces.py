"""Tables of a few rows by hand, and the marks of a chart's specification."""

import pandas as pd
from sweetspot.report.marks import Drawing


def frame(columns: str, *rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def marks_of(spec) -> list[dict]:
    """Every mark of a specification with what it is drawn by, a layer's own chart included."""
    inner = [one for name in ("layer", "vconcat") for one in spec.get(name, ())]
    inner += [spec["spec"]] if "spec" in spec else []
    return [spec] * ("mark" in spec) + [mark for one in inner for mark in marks_of(one)]


def spec_of(drawing: Drawing) -> dict:
    return drawing.chart.to_dict(validate=False)


def table(rows: pd.DataFrame, columns: str) -> list[list]:
    return rows[columns.split()].to_numpy().tolist()


def answered(option: str = "box", **tables: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables with an answer for the model m, of the work w1, about that option."""
    said = {"workload": "w1", "counts": "train", "currency": "USD", "usd_per_unit": 1.0}
    options = frame("workload model option is_reference usd", ("w1", "m", option, True, 150.0))
    return {
        "verdict": pd.DataFrame([said]),
        "choices": frame("workload model", ("w1", "m")),
        "options": options,
    } | tables
