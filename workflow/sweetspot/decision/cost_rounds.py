"""The cost of a plan of phases: jobs dealt out in rounds to whole machines, as many as the plan's months need."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.job_rounds import job_rounds, next_machine_count
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.price_paths import central_change, mean_factor
from sweetspot.bills.rates import Number, possession, rates
from sweetspot.bills.renting import contract_months
from sweetspot.decision.assumption import ALL_JOBS, FURTHEST, Array, Assumption, Choice, Moved, all_of, assumptions_of
from sweetspot.decision.options import CELL, OFFER, Row, records
from sweetspot.decision.question import Costs, Question
from sweetspot.decision.simulate import Draws
from sweetspot.decision.turning import BreakEvenCase, CostDifference
from sweetspot.draws import interval

POSSESSION, TOTAL = "possession", "total"  # rows of results/<study>/plans that are no phase
STEPS = 4097  # factors looked at, from a fifth to five times, for where a machine pays
COARSE = 16  # in the draws every so many of them, and those between which machines are bought
DRAWN = 1000  # draws of the interval


class Part(NamedTuple):
    """One phase by option: USD by use; hours of a job, by the speed of the row `speed_of`; jobs a machine works on."""

    jobs: int
    usd: Array
    job_hours: Array
    slots: Array
    speed_of: list[int | None]


class Plan(NamedTuple):
    """A plan of phases by option, cheapest first. `held`: USD by the month of all its machines; `boxes`: machines,
    `least` of which are held however little there is to do; `room`: hours in which one works (infinite: nobody counts
    them); `months` of the plan (NaN: it says none, those of its machines are its own); `renewed`: months of a term that
    is signed again until it ends (NaN: none is); `work_hours`: of all jobs, as the plan states them.
    """

    rows: list[Row]
    parts: list[Part]
    held: Array
    boxes: Array
    least: Array
    room: Array
    months: float
    renewed: Array
    work_hours: float

    @property
    def own_months(self) -> bool:
        """Whether the months are those of its machines."""
        return bool(np.isnan(self.months))

    @property
    def running(self) -> Array:
        """USD by use of each option."""
        return sum((part.usd for part in self.parts), np.zeros(len(self.rows)))

    @property
    def device_hours(self) -> Array:
        """Of the whole plan on each option."""
        hours = [part.jobs * part.job_hours / part.slots for part in self.parts]
        devices = [float(row["gpus"] or 1) for row in self.rows]
        return sum(hours, np.zeros(len(self.rows))) * devices


class PricedPlan(NamedTuple):
    """A plan of phases: `table` has a row an option that does all of it and that the answer may take (option, title,
    persistent, alternative, `boxes`: machines, hours with 90 % of the draws, usd, of that `usd_running` by use and
    `ownership_usd` by the month, `planned_hours` of use of one owned machine, `device_hours`), cheapest first; `usd`
    its draws. `months` that it states (NaN: none); `model` that its hours are of; `plan`: what the options that are
    there at once are priced from.
    """

    name: str
    months: float
    model: str
    table: pd.DataFrame
    usd: Array
    plan: Plan


def priced_plans(options: pd.DataFrame, draws: Draws, plans: pd.DataFrame) -> list[PricedPlan]:
    """The plans of phases. `plans` are the rows of results/<study>/plans."""
    asked = options[options["in_answer"].astype(bool)]
    if plans.empty or asked.empty:
        return []
    # The plan's row of an option is that of the cell the option was priced on.
    known = asked.reset_index().drop_duplicates([*OFFER, "model"])
    key = [*OFFER, *CELL[1:]]
    rows = plans.merge(known[["index", "option", "title", "persistent", "alternative", *key]], on=key, how="inner")
    rows = rows[rows["status"] == "ok"].drop_duplicates(["plan", "phase", "option"])
    return [_priced(str(name), part, asked, draws) for name, part in rows.groupby("plan", sort=False)]


def drawn_costs(rows: pd.DataFrame, running: Array, held: Array, draws: Draws) -> tuple[Array, Array]:
    """USD by use and by the month of options in each draw, of what they are at central figures."""
    where = rows.index.to_numpy()
    slower = rows["images_per_s"].to_numpy(float)[:, None] / draws.images_per_s[where]
    variable, fixed = (rows[name].to_numpy(float)[:, None] for name in ("variable_usd_per_hour", "fixed_usd_per_month"))
    dearer = np.divide(draws.variable[where], variable, out=np.ones_like(slower), where=variable > 0)
    kept = np.divide(draws.fixed[where], fixed, out=dearer.copy(), where=fixed > 0)
    return running[:, None] * slower * dearer, held[:, None] * kept


def _priced(name: str, part: pd.DataFrame, asked: pd.DataFrame, draws: Draws) -> PricedPlan:
    """A plan of its rows; `asked`: the options that the answer may take."""
    total = part[part["phase"] == TOTAL].sort_values(["usd", "option"], kind="stable").set_index("option")
    possession = part[part["phase"] == POSSESSION].set_index("option").reindex(total.index)
    held, boxes = (possession[of].astype(float).fillna(none) for of, none in (("usd", 0.0), ("machines", 1.0)))
    running, rows = total["usd"] - held, asked.loc[total["index"]]
    phases = [one for one in part["phase"].unique() if one not in (POSSESSION, TOTAL)]
    own, of_phase = records(rows), part.set_index("option")
    plan = Plan(
        rows=own,
        parts=[_part(of_phase[of_phase["phase"] == one].reindex(total.index), own) for one in phases],
        held=held.to_numpy(),
        boxes=boxes.to_numpy(),
        least=total["boxes"].to_numpy(float),
        room=total["room_hours"].fillna(np.inf).to_numpy(float),
        months=(months := float(total["plan_months"].iloc[0])),
        renewed=total.reindex(columns=["renewed_term_months"]).to_numpy(float)[:, 0],
        work_hours=float(total["work_hours"].iloc[0]),
    )  # fmt: skip
    longer = draws.hours[rows.index] / rows["hours"].to_numpy(float)[:, None]
    with np.errstate(invalid="ignore"):
        low, high = interval(total["hours"].to_numpy(float)[:, None] * longer)
    named = zip(boxes, total["title"], strict=True)
    titles = [f"{count:g} × {title}" if count > 1 else title for count, title in named]
    table = total.reset_index()[["option", "instance", "persistent", "alternative", "hours", "usd"]].assign(
        title=titles, boxes=plan.boxes, usd_running=running.to_numpy(), ownership_usd=plan.held, hours_low=low,
        hours_high=high, device_hours=plan.device_hours,
        planned_hours=(HOURS_A_DAY * rows["days_per_month"] * rows["months"]).where(rows["purchase"].eq("own")).array,
    )  # fmt: skip
    usd = np.add(*drawn_costs(rows, running.to_numpy(float), plan.held, draws))
    return PricedPlan(name, months, str(total["model"].iloc[0]), table, usd, plan)


def rounds_question(priced: PricedPlan, options: pd.DataFrame, draws: Draws, month_days: float) -> Question:
    """The question of a plan. `options`: those that `draws` are of."""
    plan = priced.plan
    stays = any(row["persistent"] for row in plan.rows)
    choices = tuple(Choice.of(row, bool(row["persistent"]) or not stays) for row in plan.rows)
    taken = [one for one in choices if one.taken]
    return Question(
        workload=priced.name,
        months=priced.months,
        choices=choices,
        assumptions=(*assumptions_of(taken, [one.row for one in taken], month_days), all_of("amount of work")),
        cost=rounds_cost(plan),
        drawn=priced.usd,
        told="the plan" if np.isnan(priced.months) else f"{priced.months:g} months",
        # Days of use say how many machines are held, as planned: no draw has another number of them.
        held_still=("days_per_month",),
        held=partial(_held, plan, options, draws),
    )


def _part(rows: pd.DataFrame, own: Sequence[Row]) -> Part:
    usd, hours, slots = (rows[name].to_numpy(float) for name in ("usd", "job_hours", "slots"))
    speeds = [_speed_of(row, instance, own) for row, instance in zip(own, rows["speed_of"], strict=True)]
    return Part(int(rows["jobs"].iloc[0]), usd, hours, slots, speeds)


def _speed_of(row: Row, instance: str, rows: Sequence[Row]) -> int | None:
    """The row whose speed a phase's jobs have on an option: its own; of another instance that one's, or that of one
    declared as fast. Jobs on one device go by the figure of the machine with one, which is off by an error of its own.
    None: nothing here moves it.
    """
    own = [one["row"] for one in (row, *rows) if one["instance"] == instance]
    alike = [one["row"] for one in rows if one["gpus"] == 1 and one.get("gpu") == row.get("gpu")]
    return next(iter([*own, *alike]), None)


def rounds_cost(plan: Plan) -> Callable[[Moved], Costs]:
    """The cost of a plan. A price is paid for the same hours; a speed, the days of use and the amount of work change
    the hours, and with them the machines that are enough. Every further machine is held for all months. In a project of
    more months there is more work, as much in each of them; machines are kept for all of it, and so are terms that are
    renewed.
    """
    planned = [_as_planned(plan, place) for place in range(len(plan.rows))]
    rests_on = [{row["row"], *(part.speed_of[place] for part in plan.parts)} for place, row in enumerate(plan.rows)]

    def cost(moved: Moved) -> Costs:
        usd = np.repeat((plan.running + plan.held)[:, None], moved.cases, axis=1)
        counts = np.repeat(plan.boxes[:, None], moved.cases, axis=1)
        work = moved.work(ALL_JOBS) * _lasting(plan, moved)
        for place, labels in enumerate(rests_on):
            if not isinstance(work, float) or not moved.rows.isdisjoint(labels):
                usd[place], counts[place] = _of_option(plan, place, moved, planned[place])
        return Costs(usd, counts)

    return cost


def _lasting(plan: Plan, moved: Moved) -> Number:
    """How many times as long the project is as planned; 1 where the plan says no months."""
    return 1.0 if plan.own_months else moved.work("months")


def _terms(plan: Plan, place: int, lasting: Number) -> Number:
    """How many times as many months are signed for: whole terms, where they are renewed until the project ends."""
    term = plan.renewed[place]
    if np.isnan(term):
        return 1.0
    return np.asarray(contract_months(plan.months * lasting, term) / contract_months(plan.months, term))


class _Planned(NamedTuple):
    """One option as planned: USD an hour of use, a month of having one of its machines, rounds of each phase."""

    hour: Number
    month: Number
    done: list[Array]


def _as_planned(plan: Plan, place: int) -> _Planned:
    row, boxes = plan.rows[place], np.array(plan.boxes[place])
    month = possession(row, lambda _: 1.0) if row["purchase"] == "own" else np.nan
    done = [job_rounds(part.jobs, part.slots[place], boxes)[1] for part in plan.parts]
    return _Planned(rates(row, lambda _: 1.0).variable, month, done)


def _of_option(plan: Plan, place: int, moved: Moved, planned: _Planned) -> tuple[Array, Array]:
    """USD and machines of one option in each case; infinite USD where no number of machines is enough."""
    row, one = plan.rows[place], np.ones(moved.cases)
    factor, own = moved.of(row["row"]), row["purchase"] == "own"
    lasting = _lasting(plan, moved)
    work = one * moved.work(ALL_JOBS) * lasting
    longer = [work / moved.of(part.speed_of[place])("images_per_s") for part in plan.parts]
    months = (factor("months") if plan.own_months else lasting) if own else _terms(plan, place, lasting)
    boxes, done, short = plan.boxes[place] * one, planned.done, np.zeros(moved.cases, bool)
    if np.isfinite(plan.room[place]):
        room = plan.room[place] * factor("days_per_month") * months * one
        boxes, done, short = _machines(plan, place, longer, room)
    dearer = kept = one
    if moved.touches(row["row"]):
        # A plan's rents are those of its own months, or today's where it says none.
        change = central_change(row)
        rent = 1.0 if plan.own_months else mean_factor(change, plan.months * lasting) / mean_factor(change, plan.months)
        dearer = rates(row, factor, rent).variable / planned.hour * one if planned.hour else one
        kept = (possession(row, factor) / planned.month * one if planned.month else one) if own else dearer
    usd = plan.held[place] / plan.boxes[place] * boxes * months * kept
    for part, by, every, before in zip(plan.parts, longer, done, planned.done, strict=True):
        usd = usd + part.usd[place] * by * dearer * every / before
    return np.where(short, np.inf, usd), boxes


def _machines(plan: Plan, place: int, longer: Sequence[Array], room: Array) -> tuple[Array, list[Array], Array]:
    """Machines that the work takes, rounds that all of them do of each phase, and where no number is enough."""
    parts = list(zip(plan.parts, longer, strict=True))
    most, boxes = float(max(part.jobs for part in plan.parts)), np.full(room.shape, plan.least[place])
    while True:
        found = [job_rounds(part.jobs, part.slots[place], boxes) for part in plan.parts]
        taken = [longest * part.job_hours[place] * by for (part, by), (longest, _) in zip(parts, found, strict=True)]
        more, short = next_machine_count(boxes, sum(taken, np.zeros(room.shape)), room, most)
        if (more == boxes).all():
            return boxes, [every for _, every in found], short
        boxes = more


def _held(plan: Plan, options: pd.DataFrame, draws: Draws, question: Question) -> Iterator[BreakEvenCase]:
    """Each machine that is owned with the work of the plan, and with the days of use where its number follows them."""
    rented = [int(place) for place in np.flatnonzero(question.taken) if plan.rows[place]["purchase"] != "own"]
    if not rented:
        return
    rows = options.loc[[row["row"] for row in plan.rows]]
    running, held = (part[:, :DRAWN] for part in drawn_costs(rows, plan.running, plan.held, draws))
    amount, unit = (plan.parts[0].jobs, "jobs") if len(plan.parts) == 1 else (plan.work_hours, "hours of work")
    for place in (place for place in np.flatnonzero(question.taken) if place not in rented):
        choice = question.choices[place]
        pays = float(np.mean(running[place] + held[place] <= (running[rented] + held[rented]).min(axis=0)))
        for one in question.assumptions:
            if one.quantity == ALL_JOBS:
                told = ("the work of the plan", ALL_JOBS, float(amount), unit)
            elif one.quantity == "days_per_month" and np.isfinite(plan.room[place]):
                told = (one.name, one.quantity, one.value, one.unit)
            else:
                continue
            apart = _apart(question, plan, int(place), rented, one, (running, held))
            yield BreakEvenCase(choice.option, choice.title, one, *told, apart, pays)


def _apart(
    question: Question, plan: Plan, place: int, rented: list[int], assumption: Assumption, drawn: tuple[Array, Array]
) -> CostDifference:
    """What an owned machine costs more than what is cheapest to rent; machines are as many as planned figures need."""
    most = min(FURTHEST, assumption.most / assumption.value)
    factors = np.exp(np.linspace(-np.log(FURTHEST), np.log(most), STEPS))
    costs = question.at(assumption, factors)
    boxes = costs.counts[[place, *rented]]
    jump = np.zeros(STEPS, bool)
    jump[1:] = boxes[0, 1:] != boxes[0, :-1]
    kept = np.arange(STEPS) % COARSE == 0
    kept[np.abs(np.log(factors)).argmin()] = True
    kept |= jump
    kept[:-1] |= jump[1:]
    # More machines than the jobs fill do none of them: then the electricity is that of the hours worked.
    work = factors if assumption.quantity == ALL_JOBS else np.ones(STEPS)
    never = ~np.isfinite(costs.usd[[place, *rented]])

    def paid(number: int, running: Array, held: Array, which: Array) -> Array:
        """One row a draw: contracts and machines are signed for as often as the work asks."""
        option = [place, *rented][number]
        signed = np.where(never[number], np.inf, boxes[number] / plan.boxes[option])[which]
        usd: Array = held[option][:, None] * signed + running[option][:, None] * work[which]
        return usd

    def apart(running: Array, held: Array, which: Array) -> Array:
        free = [option for number, option in enumerate(rented, 1) if not held[option].any() and not never[number].any()]
        # Of what is paid by use alone the least is the least at every amount of work.
        there = np.min(running[free], axis=0, initial=np.inf)[:, None] * work[which]
        for number, option in enumerate(rented, 1):
            if option not in free:
                there = np.minimum(there, paid(number, running, held, which))
        return paid(0, running, held, which) - there

    central = apart(plan.running[:, None], plan.held[:, None], np.ones(STEPS, bool))
    few = apart(*drawn, kept)
    short = np.concatenate([[False], np.diff(boxes[0][kept]) != 0])
    return CostDifference(factors, central, few, factors[kept], jump, short)
