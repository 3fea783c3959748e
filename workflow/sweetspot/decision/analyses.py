"""The analyses of all questions as tables: what moves them, what turns them, what to find out, from when it pays."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.counted import DOLLARS, Money
from sweetspot.decision.pays import PAYS, Held, pays_rows
from sweetspot.decision.simulate import Draws
from sweetspot.decision.tornado import TORNADO, TURNING, Turned, tornado_rows, turning_rows
from sweetspot.decision.worth_knowing import WORTH, timings_of, worth_rows

Paying = tuple[str, Iterable[Held]]  # a workload, and what could be held for it


def analysed(
    asked: Sequence[Turned],
    options: pd.DataFrame,
    draws: Draws,
    money: Money = DOLLARS,
    paying: Iterable[Paying] = (),
) -> dict[str, pd.DataFrame]:
    """The tables `tornado`, `turning_points`, `worth_knowing` and `break_even` of questions, whatever their cost.

    `options`: those that `draws` are of; `paying`: what could be held. A question of no length (one job, no machine of
    one's own) has no tornado and no turning points: nothing says how often it is done.
    """
    timings = timings_of(options)
    lasting = [one for one in asked if not one.question.model or np.isfinite(one.question.months)]
    return {
        "tornado": _table((tornado_rows(one, money) for one in lasting), TORNADO),
        "turning_points": _table((turning_rows(one, money) for one in lasting), TURNING),
        "worth_knowing": _table((worth_rows(one, draws, timings) for one in asked), WORTH),
        "break_even": _table((pays_rows(workload, held) for workload, held in paying), PAYS),
    }


def _table(rows: Iterable[Iterable[dict[str, Any]]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame([row for part in rows for row in part], columns=list(columns))
