"""The tables of a single job's questions: what they rest on, by model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sweetspot.decision.counted import DOLLARS, Money
from sweetspot.decision.simulate import Draws
from sweetspot.decision.tornado import TORNADO, Turned, tornado_rows
from sweetspot.decision.worth_knowing import WORTH, timings_of, worth_rows

BY_MODEL = ("model", "model_title", "reference")


def tornado_table(asked: Sequence[Turned], money: Money = DOLLARS) -> pd.DataFrame:
    """Rows of TORNADO by `model`, with its name for people, where the reference is owned; `reference`: the best."""
    rows = [
        row | {"model": one.question.workload, "model_title": _title(one), "reference": row["best"]}
        for one in asked
        if np.isfinite(one.question.months)
        for row in tornado_rows(one, money)
    ]
    return pd.DataFrame(rows, columns=[*BY_MODEL, *TORNADO])


def worth_table(asked: Sequence[Turned], options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Rows of WORTH by `model`."""
    timings = timings_of(options)
    rows = [row | {"model": row["workload"]} for one in asked for row in worth_rows(one, draws, timings)]
    return pd.DataFrame(rows, columns=["model", *WORTH])


def _title(one: Turned) -> str:
    row = one.question.choices[0].row
    return str(row.get("model_title") or row["model"])
