"""What a plan of phases costs on each option: what the page's lines of cost by the amount of work are made of."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Plan
from sweetspot.decision.question import Question

COLUMNS = ("workload", "option", "purchase", "ownership_usd", "running_usd", "machines", "room_hours")


def case_figures(plans: Iterable[tuple[Question, Plan]]) -> pd.DataFrame:
    """List the costs of each plan on each option, at central figures.

    Parameters
    ----------
    plans
        Plans of phases, each with its question, whose choices are the rows of the plan.

    Returns
    -------
    pandas.DataFrame
        One row a plan and option (COLUMNS): `ownership_usd` of all `machines` over the project, `running_usd` of all
        phases; `room_hours`: hours of use planned for one machine (null: nobody counts them).

    """
    rows = [row for question, plan in plans for row in _rows_of_plan(question, plan)]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"room_hours": float})


def _rows_of_plan(question: Question, plan: Plan) -> Iterator[dict[str, Any]]:
    for index, row in enumerate(plan.rows):
        hours = float(plan.room[index])
        yield {
            "workload": question.workload,
            "option": row["option"],
            "purchase": row["purchase"],
            "ownership_usd": float(plan.held[index]),
            "running_usd": sum(float(part.usd[index]) for part in plan.parts),
            "machines": float(plan.boxes[index]),
            "room_hours": hours if np.isfinite(hours) else np.nan,
        }
