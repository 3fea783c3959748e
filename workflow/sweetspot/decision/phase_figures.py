"""What a plan of phases is made of at central figures: what the page's controls calculate with."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Planned
from sweetspot.decision.options import Row
from sweetspot.decision.rates import possession

COLUMNS = (
    "workload", "phase", "option", "alternative", "title", "purchase", "jobs", "slots", "job_hours", "usd",
    "usd_possession", "usd_purchase", "machines", "least", "room_hours",
)  # fmt: skip


def phase_figures(plans: Iterable[Planned]) -> pd.DataFrame:
    """One row a plan, phase and option that may be the answer, in the order of `plan_options`.

    `jobs` of the phase; a machine works on `slots` of them at once, each takes `job_hours`; `usd` by use of the phase.
    Of all of the plan, the same in each of its phases: `usd_possession` by the month of all `machines`, of which
    `usd_purchase` goes with their price; `least` machines are held however little there is to do; `room_hours`: those
    of one machine's planned use (null: nobody counts them).
    """
    return pd.DataFrame([row for plan in plans for row in _rows(plan)], columns=list(COLUMNS))


def _rows(one: Planned) -> Iterator[dict[str, Any]]:
    question, plan = one
    for number, part in enumerate(plan.parts):
        for place in np.flatnonzero(question.taken):
            row = plan.rows[place]
            own, held = row["purchase"] == "own", float(plan.held[place])
            yield {
                "workload": question.workload,
                "phase": number,
                "option": row["option"],
                "alternative": question.choices[place].alternative,
                "title": row["title"],
                "purchase": row["purchase"],
                "jobs": part.jobs,
                "slots": float(part.slots[place]),
                "job_hours": float(part.job_hours[place]),
                "usd": float(part.usd[place]),
                "usd_possession": held,
                "usd_purchase": _share_of_price(row) * held if own else 0.0,
                "machines": float(plan.boxes[place]),
                "least": float(plan.least[place]),
                "room_hours": float(plan.room[place]) if np.isfinite(plan.room[place]) else np.nan,
            }


def _share_of_price(row: Row) -> float:
    """The part of a month of possession that goes with the price of a machine owned."""
    month = float(possession(row, lambda _: 1.0))
    free = possession(row, lambda name: 0.0 if name == "capex_usd" else 1.0)
    return 1.0 - float(free) / month if month else 0.0
