"""What each phase of a plan costs on each option, at central figures: the lines of cost by amount of work."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Plan
from sweetspot.decision.question import Question

COLUMNS = ("workload", "option", "purchase", "usd", "ownership_usd", "machines", "room_hours")


def case_figures(plans: Iterable[tuple[Question, Plan]]) -> pd.DataFrame:
    """List what each phase of each plan costs on each option (COLUMNS), a row per plan, phase and option.

    `usd` by use of the phase; the same in each phase of an option: `ownership_usd` by the month of all `machines`, and
    `room_hours` of one machine's planned use (null: nobody counts them).
    """
    rows = [
        {
            "workload": question.workload,
            "option": row["option"],
            "purchase": row["purchase"],
            "usd": float(part.usd[index]),
            "ownership_usd": float(plan.held[index]),
            "machines": float(plan.boxes[index]),
            "room_hours": float(plan.room[index]),
        }
        for question, plan in plans
        for part in plan.parts
        for index, row in enumerate(plan.rows)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"room_hours": float}).replace(np.inf, np.nan)
