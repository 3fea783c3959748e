"""What a plan of phases costs on each option: what the page's lines of cost by the amount of work are made of."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from sweetspot.decision.phases_problem import PhasesProblem

COLUMNS = ("workload", "option", "purchase", "ownership_usd", "running_usd", "machines", "room_hours")


def case_figures(plans: Iterable[PhasesProblem]) -> pd.DataFrame:
    """List the costs of each plan on each option, at central figures.

    Parameters
    ----------
    plans
        Plans of phases.

    Returns
    -------
    pandas.DataFrame
        One row a plan and option (COLUMNS): `ownership_usd` of all `machines` over the project, `running_usd` of all
        phases; `room_hours`: hours of use planned for one machine (null: nobody counts them).
    """
    rows = []
    for plan in plans:
        figures = (plan.ownership_usd, plan.running_usd, plan.machines, plan.available_hours)
        for choice, *values in zip(plan.choices, *figures, strict=True):
            rows.append((plan.workload, choice.option, choice.row["purchase"], *values))
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(COLUMNS[3:], float))
    return table.replace(np.inf, np.nan)
