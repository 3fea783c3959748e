"""The cost of a plan of phases: jobs dealt out in rounds to whole machines, as many as the plan's months need."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rounds import more_boxes, rounds
from sweetspot.decision.assumption import ALL_JOBS, Array, Assumption, Moved, Offered, all_work, assumptions_of
from sweetspot.decision.options import CELL, OFFER, Row, records
from sweetspot.decision.pays import Apart, Held
from sweetspot.decision.question import FURTHEST, Choice, Costs, Question
from sweetspot.decision.rates import Number, possession, rates
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.speed_errors import Error, speed_errors
from sweetspot.decision.standing import standing

POSSESSION, TOTAL = "possession", "total"  # rows of results/<study>/plans that are no phase
# Of a plan's total, by option: machines bought (null: rented), hours that one of them is planned to be used, hours to
# the end in 90 % of the draws.
TOTALS = ("purchase", "price_list", "machines", "boxes", "planned_hours", "hours_low", "hours_high", "basis")
STEPS = 4097  # factors looked at, from a fifth to five times, for where a machine pays
COARSE = 16  # in the draws every so many of them, and those between which machines are bought
DRAWN = 1000  # draws of the interval
NOBODY = -1  # label of no row: a speed that nothing moves


class PricedPlan(NamedTuple):
    """A plan of phases: `table` has a row an option that does all of it and that the answer may take (option, title,
    persistent, alternative, hours, usd, of that `usd_running` by use and `usd_possession` by the month, TOTALS),
    cheapest first; `usd` its draws. `months` that it states (NaN: none); `model` that its hours are of.
    """

    name: str
    months: float
    model: str
    table: pd.DataFrame
    usd: np.ndarray


def priced_plans(options: pd.DataFrame, draws: Draws, plans: pd.DataFrame) -> list[PricedPlan]:
    """The plans of phases. `plans` are the rows of results/<study>/plans."""
    options = options[options["in_answer"].astype(bool)]
    rows = planned_rows(options, plans)
    parts = rows.groupby("plan", sort=False) if len(rows) else ()
    return [_plan(str(name), part, options, draws) for name, part in parts]


def _sorted(plan: PricedPlan) -> PricedPlan:
    order = plan.table.sort_values(["usd", "option"], kind="stable").index.to_numpy()
    return plan._replace(table=plan.table.loc[order].reset_index(drop=True), usd=plan.usd[order])


def with_later(plan: PricedPlan, later: Mapping[str, tuple[pd.DataFrame, np.ndarray]]) -> PricedPlan:
    """A plan with buying later (`buying_later`) among its options."""
    if plan.name not in later:
        return plan
    table, usd = later[plan.name]
    both = pd.concat([plan.table, table], ignore_index=True)
    return _sorted(plan._replace(table=both, usd=np.concatenate([plan.usd, usd])))


def planned_rows(options: pd.DataFrame, plans: pd.DataFrame) -> pd.DataFrame:
    """The rows of plans that are done, each with its option; `index`: the option's label, by which it was drawn."""
    if plans.empty or options.empty:
        return plans.iloc[:0]
    # The plan's row of an option is that of the cell the option was priced on.
    known = options.reset_index().drop_duplicates([*OFFER, "model"])
    key = [*OFFER, *CELL[1:]]
    rows = plans.merge(known[["index", "option", "title", "persistent", "alternative", *key]], on=key, how="inner")
    return rows[(rows["status"] == "ok")].drop_duplicates(["plan", "phase", "option"])


def by_use(rows: pd.DataFrame, draws: Draws, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the draws put on the USD of using options: by their speed, and by the price of their hour."""
    slower = rows["images_per_s"].to_numpy(float)[:, None] / draws.images_per_s[where]
    variable = rows["variable_usd_per_hour"].to_numpy(float)[:, None]
    return slower, np.divide(draws.variable[where], variable, out=np.ones_like(slower), where=variable > 0)


def drawn_costs(
    rows: pd.DataFrame, running: np.ndarray, held: np.ndarray, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """USD by use and by the month of options in each draw, of what they are at central figures."""
    where = rows.index.to_numpy()
    slower, dearer = by_use(rows, draws, where)
    fixed = rows["fixed_usd_per_month"].to_numpy(float)[:, None]
    kept = np.divide(draws.fixed[where], fixed, out=dearer.copy(), where=fixed > 0)
    return running[:, None] * slower * dearer, held[:, None] * kept


def _plan(plan: str, part: pd.DataFrame, options: pd.DataFrame, draws: Draws) -> PricedPlan:
    own = part[part["phase"] == TOTAL].set_index("option")
    possession = part[part["phase"] == POSSESSION].set_index("option")["usd"].reindex(own.index).fillna(0.0)
    running = own["usd"] - possession
    where = own["index"].to_numpy()
    usd = np.add(*drawn_costs(options.loc[where], running.to_numpy(float), possession.to_numpy(float), draws))
    table = own.reset_index()[["option", "instance", "title", "persistent", "alternative", "hours"]].assign(
        usd=own["usd"].to_numpy(), usd_running=running.to_numpy(), usd_possession=possession.to_numpy()
    )
    table = _total(table, options.loc[where], part, draws.hours[where])
    months = part["plan_months"].iloc[0] if "plan_months" in part.columns else np.nan
    return _sorted(PricedPlan(plan, float(months), str(own["model"].iloc[0]), table, usd))


def _total(table: pd.DataFrame, rows: pd.DataFrame, part: pd.DataFrame, hours: np.ndarray) -> pd.DataFrame:
    """A plan's total with TOTALS but its USD; `rows`: of the options, `hours`: drawn, of one job of each."""
    own = (rows["purchase"] == "own").to_numpy()
    planned = (HOURS_A_DAY * rows["days_per_month"] * rows["months"]).where(own)
    held = part[part["phase"] == POSSESSION].set_index("option").reindex(index=table["option"], columns=["machines"])
    boxes = held["machines"].fillna(1.0).to_numpy(float)
    named = zip(boxes, table["title"], strict=True)
    titles = [f"{count:g} × {title}" if count > 1 else title for count, title in named]
    with np.errstate(invalid="ignore"):
        low, high = interval(table["hours"].to_numpy()[:, None] * hours / rows["hours"].to_numpy(float)[:, None])
    return table.assign(
        purchase=rows["purchase"].to_numpy(), price_list=rows["price_list"].to_numpy(),
        planned_hours=planned.to_numpy(float), boxes=boxes, title=titles, machines=np.where(own, boxes, np.nan),
        hours_low=low, hours_high=high, basis=rows["basis"].to_numpy(),
    )  # fmt: skip


class Part(NamedTuple):
    """One phase by option: USD by use; hours of a job, by the speed of the row `speed_of`; jobs a machine works on."""

    jobs: int
    usd: Array
    job_hours: Array
    slots: Array
    speed_of: list[int]


class Plan(NamedTuple):
    """A plan of phases by option, cheapest first.

    `held`: USD by the month of all its machines; `boxes`: machines, `least` of which are held however little there is
    to do; `room`: hours in which one works (infinite: nobody counts them); `renewed`: the plan says no months, those of
    its machines are its own; `work_hours`: of all jobs, as the plan states them.
    """

    rows: list[Row]
    parts: list[Part]
    held: Array
    boxes: Array
    least: Array
    room: Array
    own_months: bool
    work_hours: float

    @property
    def running(self) -> Array:
        """USD by use of each option."""
        return sum((part.usd for part in self.parts), np.zeros(len(self.rows)))


class Planned(NamedTuple):
    """A plan as a question, and what it is made of."""

    question: Question
    plan: Plan


def rounds_question(priced: PricedPlan, options: pd.DataFrame, plans: pd.DataFrame, month_days: float) -> Planned:
    """The question of a plan; buying later is no choice here: `later` has it."""
    at_once = priced.table["after_months"].isna() if "after_months" in priced.table.columns else slice(None)
    table = priced.table[at_once]
    drawn = priced.usd[table.index.to_numpy()]
    table = table.reset_index(drop=True)
    asked = options[options["in_answer"].astype(bool)]
    rows = planned_rows(asked, plans[plans["plan"] == priced.name]).set_index("option")
    total = rows[rows["phase"] == TOTAL].reindex(table["option"])
    names = [name for name in rows["phase"].unique() if name not in (POSSESSION, TOTAL)]
    room, months = total["room_hours"].to_numpy(float), float(total["plan_months"].iloc[0])
    own, errors = records(options.loc[total["index"].to_numpy()]), speed_errors(records(options))
    plan = Plan(
        rows=own,
        parts=[_part(rows[rows["phase"] == name].reindex(table["option"]), own, errors) for name in names],
        held=table["usd_possession"].to_numpy(float),
        boxes=table["boxes"].to_numpy(float),
        least=total["boxes"].fillna(1.0).clip(lower=1.0).to_numpy(float),
        room=np.where(np.isnan(room), np.inf, room),
        own_months=bool(np.isnan(months)),
        work_hours=float(total["work_hours"].iloc[0]),
    )
    return Planned(_question(priced, table, drawn, plan, months, month_days), plan)


def _question(
    priced: PricedPlan, table: pd.DataFrame, drawn: Array, plan: Plan, months: float, month_days: float
) -> Question:
    stays = table["persistent"].to_numpy(bool)
    taken = stays if stays.any() else ~stays
    names = table["alternative"].fillna(table["option"]).astype(str).tolist()
    choices = tuple(
        Choice(row["option"], str(row["title"]), row, name, bool(take), frozenset([row["row"]]))
        for row, name, take in zip(plan.rows, names, taken, strict=True)
    )
    offers = [Offered(one.row, (one.row["row"],), one.alternative) for one in choices if one.taken]
    found = standing(table, drawn)
    return Question(
        workload=priced.name,
        months=months,
        choices=choices,
        assumptions=(
            *assumptions_of(offers, [one.row for one in choices if one.taken], month_days),
            all_work("work of the plan"),
        ),
        cost=rounds_cost(plan),
        drawn=drawn,
        best=found.best,
        rival=found.rival,
        told="the plan" if np.isnan(months) else f"{months:g} months",
        # Days of use say how many machines are held, as planned: no draw has another number of them.
        held_still=("days_per_month",),
    )


def _part(rows: pd.DataFrame, own: Sequence[Row], errors: dict[int, Error]) -> Part:
    usd, hours, slots = (rows[name].to_numpy(float) for name in ("usd", "job_hours", "slots"))
    speeds = [_speed_of(row, instance, own) for row, instance in zip(own, rows["speed_of"], strict=True)]
    return Part(int(rows["jobs"].iloc[0]), usd, hours, slots, speeds)


def _speed_of(row: Row, instance: str, rows: Sequence[Row]) -> int:
    """The row whose speed a phase's jobs have on an option: its own; of another instance that one's, or that of one
    declared as fast. Jobs on one device go by the figure of the machine with one, which is off by an error of its own.
    """
    if instance == row["instance"]:
        return int(row["row"])
    own = [one["row"] for one in rows if one["instance"] == instance]
    alike = [one["row"] for one in rows if one["gpus"] == 1 and one.get("gpu") == row.get("gpu")]
    return int([*own, *alike, NOBODY][0])


def rounds_cost(plan: Plan) -> Callable[[Moved], Costs]:
    """The cost of a plan.

    A price is paid for the same hours; a speed, the days of use and the amount of work change the hours, and with them
    the machines that are enough. Every further machine is held for all months.
    """

    def cost(moved: Moved) -> Costs:
        usd = np.repeat((plan.running + plan.held)[:, None], moved.cases, axis=1)
        counts = np.repeat(plan.boxes[:, None], moved.cases, axis=1)
        work = moved.work(ALL_JOBS)
        for place, row in enumerate(plan.rows):
            speeds = [part.speed_of[place] for part in plan.parts]
            if not isinstance(work, float) or any(moved.touches(label) for label in (row["row"], *speeds)):
                usd[place], counts[place] = _of_option(plan, place, moved, work)
        return Costs(usd, counts)

    return cost


def _of_option(plan: Plan, place: int, moved: Moved, work: Number) -> tuple[Array, Array]:
    """USD and machines of one option in each case; infinite USD where no number of machines is enough."""
    row, one = plan.rows[place], np.ones(moved.cases)
    factor = moved.of(row["row"])
    longer = [one * work / moved.of(part.speed_of[place])("images_per_s") for part in plan.parts]
    months = factor("months") if plan.own_months and row["purchase"] == "own" else 1.0
    room = plan.room[place] * factor("days_per_month") * months * one
    boxes, done, short = _machines(plan, place, longer, room)
    # A plan's rents are those of its own months, or today's: how long its machines are used moves none.
    now, planned = rates(row, factor, 1.0), rates(row, lambda _: 1.0)
    dearer = now.variable / planned.variable if planned.variable else 1.0
    held = plan.held[place] / plan.boxes[place] * boxes * months
    if row["purchase"] == "own":
        month = possession(row, lambda _: 1.0)
        held = held * (possession(row, factor) / month if month else 1.0)
    else:
        held = held * dearer
    usd = held
    for part, by, every in zip(plan.parts, longer, done, strict=True):
        planned_rounds = rounds(part.jobs, part.slots[place], plan.boxes[place])[1]
        usd = usd + part.usd[place] * by * dearer * every / planned_rounds
    return np.where(short, np.inf, usd), boxes


def _machines(plan: Plan, place: int, longer: Sequence[Array], room: Array) -> tuple[Array, list[Array], Array]:
    """Machines that the work takes, rounds that all of them do of each phase, and where no number is enough."""
    parts = list(zip(plan.parts, longer, strict=True))
    most, boxes = float(max(part.jobs for part in plan.parts)), np.full(room.shape, plan.least[place])
    if not np.isfinite(plan.room[place]):
        boxes = np.full(room.shape, plan.boxes[place])
        done = [rounds(part.jobs, part.slots[place], boxes)[1] for part in plan.parts]
        return boxes, done, np.zeros(room.shape, bool)
    while True:
        found = [rounds(part.jobs, part.slots[place], boxes) for part in plan.parts]
        taken = [longest * part.job_hours[place] * by for (part, by), (longest, _) in zip(parts, found, strict=True)]
        more, short = more_boxes(boxes, sum(taken, np.zeros(room.shape)), room, most)
        if (more == boxes).all():
            return boxes, [every for _, every in found], short
        boxes = more


def pays_of_rounds(one: Planned, options: pd.DataFrame, draws: Draws) -> Iterator[Held]:
    """Each machine that is owned with the work of the plan, and with the days of use where its number follows them."""
    question, plan = one
    rented = [int(place) for place in np.flatnonzero(question.taken) if plan.rows[place]["purchase"] != "own"]
    if not rented:
        return
    rows = options.loc[[row["row"] for row in plan.rows]]
    running, held = (part[:, :DRAWN] for part in drawn_costs(rows, plan.running, plan.held, draws))
    for place in np.flatnonzero(question.taken):
        if plan.rows[place]["purchase"] != "own":
            continue
        pays = float(np.mean(running[place] + held[place] <= (running[rented] + held[rented]).min(axis=0)))
        for assumption in question.assumptions:
            work = assumption.quantity == ALL_JOBS
            if work or (assumption.quantity == "days_per_month" and np.isfinite(plan.room[place])):
                apart = _apart(one, int(place), rented, assumption, (running, held))
                jobs = len(plan.parts) == 1
                told = ("the work of the plan", plan.parts[0].jobs if jobs else plan.work_hours,
                        "jobs" if jobs else "hours of work") if work else (
                            assumption.name, assumption.value, assumption.unit)  # fmt: skip
                title = question.choices[place].title
                yield Held(
                    question.choices[place].option, title, assumption, told[0], assumption.quantity, float(told[1]),
                    told[2], apart, pays,
                )  # fmt: skip


def _apart(one: Planned, place: int, rented: list[int], assumption: Assumption, drawn: tuple[Array, Array]) -> Apart:
    """What an owned machine costs more than what is cheapest to rent; machines are as many as planned figures need."""
    question, plan = one
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
    return Apart(factors, central, few, factors[kept], jump, short)
