"""What a plan of phases costs on each option at central figures, and what it would with figures moved."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.bills.rounds import more_boxes, rounds
from sweetspot.decision.options import Row, records
from sweetspot.decision.phases import POSSESSION, TOTAL, PricedPhase, planned_rows
from sweetspot.decision.speed_errors import speed_errors
from sweetspot.decision.standing import standing
from sweetspot.mixes.problem import Array

Flags = npt.NDArray[np.bool_]


class Part(NamedTuple):
    """One phase by option: USD by use; hours of a job, by the speed of an instance; how many a machine works on."""

    jobs: int
    usd: Array
    job_hours: Array
    slots: Array
    speed_of: list[str]


class PlanCosts(NamedTuple):
    """A plan of phases by option, cheapest first.

    `taken`: what may be the best (persistent, all where nothing is); `held`: USD by the month of all its machines;
    `boxes`: machines, `least` of which are held however little there is to do; `room`: hours in which one works
    (infinite: nobody counts them); `drawn`: USD in each draw; `work_hours`: of all jobs, as the plan states them;
    `months` of the plan (NaN: not said). `errors`: what each option's speed is off together with (`speed_errors`).
    `best`, `rival`: places (`standing`).
    """

    name: str
    months: float
    rows: list[Row]
    alternatives: npt.NDArray[np.object_]
    taken: Flags
    parts: list[Part]
    held: Array
    boxes: Array
    least: Array
    room: Array
    drawn: Array
    work_hours: float
    errors: list[tuple[object, ...]]
    best: int
    rival: int | None

    @property
    def running(self) -> Array:
        """USD by use of each option."""
        return sum((part.usd for part in self.parts), np.zeros(len(self.rows)))

    @property
    def usd(self) -> Array:
        """USD of each option."""
        return self.running + self.held

    @property
    def ours(self) -> Flags:
        """What is the best's alternative."""
        return self.taken & (self.alternatives == self.alternatives[self.best])

    @property
    def others(self) -> Flags:
        """What the best is held against."""
        return self.taken & (self.alternatives != self.alternatives[self.best])

    def title(self, place: int, boxes: float) -> str:
        """An option in words, with the machines that it takes."""
        title = str(self.rows[place]["title"])
        return f"{boxes:g} × {title}" if boxes > 1 else title


def plan_costs(phase: PricedPhase, options: pd.DataFrame, plans: pd.DataFrame) -> PlanCosts:
    """The costs of all of a plan (`PricedPhase.whole`); buying later is no option here: `when_to_buy` has it."""
    at_once = phase.table["after_months"].isna() if "after_months" in phase.table.columns else slice(None)
    table = phase.table[at_once]
    drawn = phase.usd[table.index.to_numpy()]
    table = table.reset_index(drop=True)
    asked = options[options["in_answer"].astype(bool)]
    rows = planned_rows(asked, plans[plans["plan"] == phase.plan]).set_index("option")
    total = rows[rows["phase"] == TOTAL].reindex(table["option"])
    names = [name for name in rows["phase"].unique() if name not in (POSSESSION, TOTAL)]
    stays = table["persistent"].to_numpy(bool)
    found = standing(table, drawn)
    room, errors = total["room_hours"].to_numpy(float), speed_errors(records(options))
    return PlanCosts(
        name=str(phase.plan),
        months=float(total["plan_months"].iloc[0]),
        rows=records(options.loc[total["index"].to_numpy()]),
        alternatives=table["alternative"].to_numpy(object),
        taken=stays if stays.any() else ~stays,
        parts=[_part(rows[rows["phase"] == name].reindex(table["option"])) for name in names],
        held=table["usd_possession"].to_numpy(float),
        boxes=table["boxes"].to_numpy(float),
        least=total["boxes"].fillna(1.0).clip(lower=1.0).to_numpy(float),
        room=np.where(np.isnan(room), np.inf, room),
        drawn=drawn,
        work_hours=float(total["work_hours"].iloc[0]),
        errors=[errors[label] for label in total["index"]],
        best=found.best,
        rival=found.rival,
    )


def _part(rows: pd.DataFrame) -> Part:
    usd, hours, slots = (rows[name].to_numpy(float) for name in ("usd", "job_hours", "slots"))
    return Part(int(rows["jobs"].iloc[0]), usd, hours, slots, rows["speed_of"].tolist())


def stretched(
    plan: PlanCosts, place: int, longer: Sequence[Array], roomier: Array | float = 1.0
) -> tuple[Array, Array]:
    """USD of an option, and machines that it takes, where the jobs of each phase take `longer` and a machine works
    `roomier` times its hours; all are arrays over the same cases. Infinite USD where no number of machines is enough.
    """
    if not np.isfinite(plan.room[place]):
        usd = plan.held[place] + sum(part.usd[place] * by for part, by in zip(plan.parts, longer, strict=True))
        return np.asarray(usd), np.full(np.shape(usd), plan.boxes[place])
    parts = list(zip(plan.parts, longer, strict=True))
    room = plan.room[place] * roomier * np.ones(np.shape(longer[0]))
    most, boxes = float(max(part.jobs for part in plan.parts)), np.full(room.shape, plan.least[place])
    while True:
        done = [rounds(part.jobs, part.slots[place], boxes) for part in plan.parts]
        taken = [longest * part.job_hours[place] * by for (part, by), (longest, _) in zip(parts, done, strict=True)]
        more, short = more_boxes(boxes, sum(taken, np.zeros(room.shape)), room, most)
        if (more == boxes).all():
            break
        boxes = more
    usd = plan.held[place] / plan.boxes[place] * boxes
    for (part, by), (_, every) in zip(parts, done, strict=True):
        usd = usd + part.usd[place] * by * every / rounds(part.jobs, part.slots[place], plan.boxes[place])[1]
    return np.where(short, np.inf, usd), boxes
