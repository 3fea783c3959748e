"""The cost of a job, repeated as often as the planned use of what is held allows: a share of each machine."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, usd_per_hour_of_use
from sweetspot.bills.rates import Number, by_contract, or_zero, rates
from sweetspot.decision.analyses.days_of_use import references
from sweetspot.decision.assumption import OF_THE_TEAM, Array, Choice, Moved, assumptions_of
from sweetspot.decision.contenders import staying
from sweetspot.decision.options import Row, records, trained
from sweetspot.decision.question import Costs, Question
from sweetspot.decision.simulate import Draws

Priced = tuple[list[Row], Array, Array, str]  # rows of the options, USD as planned and in each draw, the work in words


def share_questions(options: pd.DataFrame, draws: Draws, month_days: float) -> list[Question]:
    """One question a model that has two options or more, of those that the answer may take and nobody takes away. Where
    the reference is owned, the work is what it does in its planned days over its months; else all workloads of the
    model, once each, by their bills. Options with a draw that never ends do not compete.
    """
    own, found = references(options), []
    for model, table in trained(options).items():
        pool, box = staying(table), own.get(model)
        if len(pool) < 2:
            continue
        if box is not None and box["purchase"] == "own":
            made = _question(model, _of_use(pool, box, draws, month_days), box, month_days)
        else:
            made = _question(model, _of_bills(model, pool, options, draws), None, month_days)
        if len(made.choices) > 1:
            found.append(made)
    return found


def _question(model: str, priced: Priced, box: Row | None, month_days: float) -> Question:
    rows, usd, drawn, told = priced
    whole = np.atleast_1d(np.isfinite(drawn).all(axis=1))
    order = [place for place in np.argsort(usd, kind="stable") if whole[place]]
    rows, usd, drawn = [rows[place] for place in order], usd[order], drawn[order]
    choices = tuple(Choice.of(row) for row in rows)
    return Question(
        workload=model,
        months=float("nan") if box is None else float(box["months"]),
        choices=choices,
        assumptions=tuple(assumptions_of(choices, rows, month_days)),
        cost=share(rows, usd),
        drawn=drawn,
        told=told,
        model=model,
        reference=None if box is None else int(box["row"]),
        of_the_team=() if box is None else tuple(OF_THE_TEAM),
    )


def share(rows: Sequence[Row], planned: Array) -> Callable[[Moved], Costs]:
    """The cost of work that costs `planned` USD on each of `rows`: what the days of use and the months hold, so that
    with more of either there is more of it. A speed says how many hours the same work takes.
    """

    def hour(row: Row, moved: Moved) -> Number:
        found = rates(row, moved.of(row["row"]))
        return _hour(row, found.fixed, found.variable, moved.work("days_per_month"))

    hours = [float(hour(row, Moved(1, {}))) for row in rows]

    def cost(moved: Moved) -> Costs:
        work = np.ones(moved.cases) * moved.work("days_per_month") * moved.work("months")
        usd = planned[:, None] * work
        for place, row in enumerate(rows):
            if moved.touches(row["row"]) or by_contract(row):
                with np.errstate(divide="ignore"):  # an interval of the speed may begin at 0
                    usd[place] *= hour(row, moved) / hours[place] / moved.of(row["row"])("images_per_s")
        return Costs(usd, np.ones(usd.shape))

    return cost


def _hour(row: Row, fixed: Number, variable: Number, use: Number) -> Number:
    """USD an hour of use, by the month and an hour, at `use` times the days that the option is planned to be used; a
    contract's hour goes as one over its days.
    """
    if row["purchase"] == "own":
        hour: Number = usd_per_hour_of_use(fixed, variable, float(row["days_per_month"]) * use)
        return hour
    return variable / use if by_contract(row) else variable


def _of_bills(model: str, pool: pd.DataFrame, options: pd.DataFrame, draws: Draws) -> Priced:
    """All workloads of the model that every option does, once each."""
    same = options[options["model"].eq(model) & options["option"].isin(pool["option"])]
    whole = same.groupby("workload")["option"].nunique()
    names = [str(name) for name in whole[whole == len(pool)].index]
    parts = same[same["workload"].isin(names)].groupby("option").groups
    rows = records(pool)
    places = [parts[row["option"]] if names else [row["row"]] for row in rows]
    bills = options["usd"].to_numpy(float)
    planned = np.array([bills[place].sum() for place in places])
    return rows, planned, np.stack([draws.usd[place].sum(axis=0) for place in places]), ", ".join(names)


def _of_use(pool: pd.DataFrame, box: Row, draws: Draws, month_days: float) -> Priced:
    """The work that the box does in its planned days over its months, those in which it is broken aside, by option.
    With `use` times the planned days there is `use` times the work, and what is paid by the month is used so much more.
    """
    here, days, months = box["row"], float(box["days_per_month"]), float(box["months"])
    use = np.minimum(draws.days[here], month_days) / days
    longer = next((one.values / months for one in draws.figures if one.name == "months" and here in one.rows), 1.0)
    works = 1.0 - or_zero(box["downtime_share"])
    images = 3600.0 * float(box["images_per_s"]) * HOURS_A_DAY * days * works * months
    rows, usd = records(pool), []
    for row in rows:
        place = row["row"]
        # What an hour of a contract is drawn at is the price list's days of use: here they are the team's.
        variable = float(row["variable_usd_per_hour"]) if by_contract(row) else draws.variable[place]
        hour = _hour(row, draws.fixed[place], variable, use)
        usd.append(images * use * longer * hour / (3600.0 * draws.images_per_s[place]))
    planned = np.array([images / float(row["images_per_usd"]) for row in rows])
    return rows, planned, np.stack(usd), f"{days:g} days of use a month for {months:g} months"
