"""What a plan of phases costs on each option: what the page's lines of cost by the amount of work are made of."""

from collections.abc import Iterable

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
    rows = [
        (question.workload, row["option"], row["purchase"], plan.held[index], running[index], plan.boxes[index],
         plan.room[index])
        for question, plan in plans
        for running in [np.sum([part.usd for part in plan.parts], axis=0)]
        for index, row in enumerate(plan.rows)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(COLUMNS[3:], float))
    return table.replace(np.inf, np.nan)
