"""What the plans are made of at central figures: what the page's program calculates with."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Plan
from sweetspot.decision.options import Row
from sweetspot.decision.pose import A_MONTH, UP_FRONT, WAIT, price_of
from sweetspot.decision.posed import Posed
from sweetspot.decision.question import Question
from sweetspot.mixes.problem import NEVER, Problem
from sweetspot.wording import DISPATCH, ROUNDS

COLUMNS = (
    "workload", "cost", "part", "option", "alternative", "title", "purchase", "taken", "jobs", "slots", "job_hours",
    "usd", "usd_possession", "machines", "least", "room_hours", "devices", "elapsed_hours", "limit_hours", "urgent",
    "grown", "present", "fewest", "up_front_usd", "allowed_usd",
    "renewed",
)  # fmt: skip
FIGURE_TYPES = {"limit_hours": float, "room_hours": float, "devices": float, "elapsed_hours": float, "fewest": float,
                "up_front_usd": float, "allowed_usd": float}  # fmt: skip


def case_figures(plans: Iterable[tuple[Question, Plan]], months: Sequence[Posed]) -> pd.DataFrame:
    """One row a plan, part of its work (phase or class of jobs, urgent ones apart) and option (COLUMNS).

    `cost`: rounds (a plan of phases) or dispatch (of months); null where a figure says nothing there.

    Rounds: `jobs` of the phase, of which a machine works on `slots` at once, each for `job_hours`; `usd` by use of the
    phase. Of all of the plan, the same in each phase: `usd_possession` by the month of all `machines`; `least` of them
    are held however little there is to do; `room_hours`: those of one machine's planned use (null: nobody counts them);
    `taken`: the answer may take it; `renewed`: a contract is signed for again until the project ends.

    Dispatch: `jobs` a month, of which each takes `job_hours` of one machine (held) or of all its devices (by the hour),
    `elapsed_hours` by the clock, of at most `limit_hours` (null: none); null where it has no speed. `usd` of a job by
    use, or its rent; `usd_possession` of one machine a month, which works in `room_hours` of it (null: by the hour) on
    `devices`; `machines` in the best mix, of which `least` are there, `fewest` stay. Where months differ: `grown`, jobs
    of each month over `jobs`; `present`, the share of each in which a machine held is there. `up_front_usd` of one
    machine, of all those bought at most `allowed_usd`. A work with limits or fallbacks unknown here has no rows.
    """
    rows = [row for question, plan in plans for row in _rounds(question, plan)]
    told = [one for one in months if not {A_MONTH, WAIT} & set(one.stated) and one.drawn.taken is None]
    rows += [row for one in told for row in _dispatch(one)]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(FIGURE_TYPES)


def _rounds(question: Question, plan: Plan) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(plan.parts):
        for place, (row, choice) in enumerate(zip(plan.rows, question.choices, strict=True)):
            room = float(plan.room[place])
            yield _named(row, choice.title) | {
                "workload": question.workload, "cost": ROUNDS, "part": str(number), "alternative": choice.alternative,
                "taken": choice.taken, "jobs": float(part.jobs), "slots": float(part.slots[place]),
                "job_hours": float(part.job_hours[place]), "usd": float(part.usd[place]),
                "usd_possession": float(plan.held[place]), "machines": float(plan.boxes[place]),
                "least": float(plan.least[place]), "room_hours": room if np.isfinite(room) else np.nan,
                "renewed": bool(np.isfinite(plan.renewed[place])),
            }  # fmt: skip


def _dispatch(posed: Posed) -> Iterator[dict[str, Any]]:
    # Hours and money also of what is not in time: another deadline may allow it.
    free = replace(posed, classes=tuple(each._replace(limit=NEVER) for each in posed.classes)).central
    for number, each in enumerate(posed.classes):
        limit, grown = each.limit if np.isfinite(each.limit) else np.nan, posed.risen[number, 0].tolist()
        for name, figures in _of_class(free, number, posed.mixes[0].counts):
            row = posed.source(name).rows[number]
            yield _named(posed.source(name).offer, posed.title(name)) | {
                "workload": posed.name, "cost": DISPATCH, "part": each.name, "alternative": name, "taken": True,
                "jobs": float(free.jobs[number, 0, 0] / grown[0]),
                "elapsed_hours": float(row["hours"]) if row else np.nan,
                "allowed_usd": posed.stated.get(UP_FRONT, np.nan), "up_front_usd": price_of(posed.source(name).offer),
                "urgent": each.urgent, "limit_hours": limit, "grown": grown if posed.changes else None, **figures,
            }  # fmt: skip


def _named(row: Row, title: str) -> dict[str, Any]:
    return {"option": row["option"], "title": title, "purchase": row["purchase"]}


def _of_class(problem: Problem, number: int, best: Sequence[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each source with what it says of one class of jobs."""

    def job(hours: float, usd: float) -> dict[str, Any]:
        runs = bool(np.isfinite(hours) and np.isfinite(usd))
        return {"job_hours": float(hours) if runs else np.nan, "usd": float(usd) if runs else np.nan}

    for kind, count in zip(problem.held, best, strict=True):
        yield kind.name, job(kind.hours[number, 0], kind.running[number, 0]) | {
            "usd_possession": float(kind.fixed[0]), "room_hours": float(kind.capacity[0]),
            "devices": float(kind.devices), "machines": float(count), "least": float(kind.there),
            "fewest": float(kind.least), "present": np.broadcast_to(kind.present, problem.jobs.shape[1:])[0].tolist(),
        }  # fmt: skip
    for offer in problem.rented:
        yield offer.name, job(offer.device_hours[number, 0], offer.usd[number, 0])
