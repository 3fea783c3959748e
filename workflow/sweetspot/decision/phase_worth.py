"""What knowing each uncertain figure is worth for a plan of phases (EVPPI), on the plan's own draws."""

from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.mix_worth import figure_about
from sweetspot.decision.phase_turning import TurnedPlan, nearest_of
from sweetspot.decision.project import Project, finite
from sweetspot.decision.simulate import Draws
from sweetspot.decision.worth_knowing import figures_of, timings, value_of, worths_of


def worth_rows(one: TurnedPlan, options: pd.DataFrame, draws: Draws) -> list[dict[str, Any]]:
    """A row (COLUMNS of `mix_worth`) for each uncertain figure that moves the USD of an option, worth most first.

    The choice is among the options that may be the best, bought at once; costs are the plan's in each draw, over its
    months.
    """
    plan = one.plan
    places = np.flatnonzero(plan.taken)
    usd = plan.drawn[places]
    told = "the plan" if np.isnan(plan.months) else f"{plan.months:g} months"
    project = finite(
        Project(plan.name, told, [plan.rows[place] for place in places], usd, usd.mean(axis=1), plan.usd[places], None)
    )
    if len(project.rows) < 2:
        return []
    # Days of use say how many machines are bought, at central figures: no draw has another number of them.
    asked = [(figure, rest) for figure, rest in figures_of(project, draws) if figure.name != "days_per_month"]
    known = timings(options)
    rows = [
        figure_about(figure, project.rows[rest[0]], len(rest), known, one.levers, lambda lever: nearest_of(one, lever))
        for figure, rest in asked
    ]
    worth = worths_of([value_of(project, figure, rest) for figure, rest in asked])
    about = {
        "workload": plan.name,
        "options": len(project.rows),
        "project": told,
        "project_usd": float(project.mean.min()),
        "draws": usd.shape[1],
    }
    found = [about | row | value for row, value in zip(rows, worth, strict=True)]
    return sorted(found, key=lambda row: (-row["evppi_usd"], -row["evppi_alone_usd"], row["figure"]))
