"""What the plans are made of at central figures: what the page's program calculates with."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Plan
from sweetspot.decision.options import Row
from sweetspot.decision.question import Question
from sweetspot.wording import ROUNDS

COLUMNS = (
    "workload", "cost", "part", "option", "alternative", "title", "purchase", "taken", "jobs", "slots", "job_hours",
    "usd", "ownership_usd", "machines", "least", "room_hours", "renewed",
)  # fmt: skip


def case_figures(plans: Iterable[tuple[Question, Plan]]) -> pd.DataFrame:
    """List what each phase of a plan takes on each option, at central figures.

    Parameters
    ----------
    plans
        Plans of phases, each with its question, whose choices are the rows of the plan.

    Returns
    -------
    pandas.DataFrame
        One row a plan, phase and option (COLUMNS): `jobs` of the phase, of which a machine works on `slots` at once,
        each for `job_hours`; `usd` by use of the phase. The same in each phase of an option: `ownership_usd` by the
        month of all `machines`; `least` of them are needed however little there is to do; `room_hours` of one machine's
        planned use (null: nobody counts them); `taken`: the answer may take it; `renewed`: a contract is signed again
        until the project ends.

    """
    rows = [row for question, plan in plans for row in _rounds(question, plan)]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"room_hours": float})


def _rounds(question: Question, plan: Plan) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(plan.parts):
        for place, (row, choice) in enumerate(zip(plan.rows, question.choices, strict=True)):
            room = float(plan.room[place])
            yield _named(row, choice.title) | {
                "workload": question.workload, "cost": ROUNDS, "part": str(number), "alternative": choice.alternative,
                "taken": choice.taken, "jobs": float(part.jobs), "slots": float(part.slots[place]),
                "job_hours": float(part.job_hours[place]), "usd": float(part.usd[place]),
                "ownership_usd": float(plan.held[place]), "machines": float(plan.boxes[place]),
                "least": float(plan.least[place]), "room_hours": room if np.isfinite(room) else np.nan,
                "renewed": bool(np.isfinite(plan.renewed[place])),
            }  # fmt: skip


def _named(row: Row, title: str) -> dict[str, Any]:
    return {"option": row["option"], "title": title, "purchase": row["purchase"]}
