"""The figures that a plan of phases rests on, each as something that can be moved: prices, days, speeds, work."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sweetspot.decision import lever_names, plan_rows
from sweetspot.decision.lever_names import ALL_JOBS, ALL_RENT, TARIFF, month_at, share_of_today
from sweetspot.decision.options import Row
from sweetspot.decision.phase_costs import Flags, PlanCosts, stretched
from sweetspot.decision.simulate import or_zero
from sweetspot.mixes.problem import Array

PRICES = ("capex_usd", "residual_usd", "maintenance_usd_per_month")  # of a machine owned, in which a month is linear


class Line(NamedTuple):
    """A price: the USD of each option that go with it; who works how long, and how many are bought, stays."""

    part: Array


class Curve(NamedTuple):
    """What changes hours, too: USD and machines of the options at `places`, one row each, by factors."""

    places: list[int]
    at: Callable[[int, Array], tuple[Array, Array]]


Lever = plan_rows.Lever[Line | Curve]


class Sums(NamedTuple):
    """What prices move: the options' rows, USD by use and by the month, and who may be the best."""

    rows: Sequence[Row]
    running: Array
    held: Array
    taken: Flags
    alternatives: np.ndarray


def moved(plan: PlanCosts, lever: Lever, factors: Array) -> tuple[Array, Array]:
    """USD and machines of every option (rows) with the figure at factors of its value (columns)."""
    if isinstance(lever.changed, Line):
        usd = plan.usd[:, None] + lever.changed.part[:, None] * (factors - 1.0)
        return usd, np.repeat(plan.boxes[:, None], factors.size, axis=1)
    usd, boxes = (np.repeat(column[:, None], factors.size, axis=1) for column in (plan.usd, plan.boxes))
    for place in lever.changed.places:
        usd[place], boxes[place] = lever.changed.at(place, factors)
    return usd, boxes


def levers(plan: PlanCosts, month_days: float) -> list[Lever]:
    """Every figure that may turn the plan: rents, what a machine for sale costs, power, tariffs, days, speeds, work."""
    found = list(prices(Sums(plan.rows, plan.running, plan.held, plan.taken, plan.alternatives), month_days))
    return [*found, *_spread(plan, month_days), *_days(plan, month_days), *_speeds(plan), _work(plan)]


def prices(sums: Sums, month_days: float) -> Iterator[Lever]:
    """The figures in which every cost is a straight line. A rent is that of a machine in whichever number of nodes."""
    rented = [place for place, row in enumerate(sums.rows) if row["purchase"] != "own" and sums.taken[place]]
    for name in dict.fromkeys(sums.alternatives[rented]):
        alike = [place for place in rented if sums.alternatives[place] == name]
        row = sums.rows[min(alike, key=lambda place: sums.rows[place]["gpus"])]
        yield lever_names.rent(row, str(row["title"]), _line(sums, alike, sums.running + sums.held))
    if len(rented) > 1:
        yield share_of_today(ALL_RENT, "all rented prices", _line(sums, rented, sums.running + sums.held))
    tariffs: dict[str, list[int]] = {}
    for place, row in enumerate(sums.rows):
        if row["purchase"] == "own" and sums.taken[place]:
            for name in PRICES:
                yield from _owned(sums, place, name, _share(row, name) * sums.held, month_days)
            yield from _owned(sums, place, "kw", sums.running, month_days)
            if or_zero(row[TARIFF]) > 0:
                tariffs.setdefault(row["price_list"], []).append(place)
    for places in tariffs.values():
        yield lever_names.tariff(sums.rows[places[0]], len(tariffs) > 1, _line(sums, places, sums.running))


def _line(sums: Sums, places: Sequence[int], usd: Array) -> Line:
    return Line(np.where(np.isin(np.arange(len(sums.rows)), places), usd, 0.0))


def _owned(sums: Sums, place: int, name: str, usd: Array, month_days: float) -> Iterator[Lever]:
    row = sums.rows[place]
    changed: Line | Curve = _line(sums, [place], usd)
    found = lever_names.owned(row, name, str(row["title"]), month_days, changed)
    if found is not None and np.any(_line(sums, [place], usd).part):
        yield found


def _share(row: Row, name: str) -> float:
    """The part of a month of possession that goes with a figure."""
    month = float(month_at(row, {}))
    return 1.0 - float(month_at(row, {name: 0.0})) / month if month else 0.0


def _spread(plan: PlanCosts, month_days: float) -> Iterator[Lever]:
    """The months over which a machine is bought; where the plan names none, they are the plan's, too."""
    for place, row in enumerate(plan.rows):
        if row["purchase"] != "own" or not plan.taken[place] or not plan.held[place]:
            continue

        def at(place: int, factors: Array, row: Row = row) -> tuple[Array, Array]:
            month = np.array([float(month_at(row, {"months": factor})) for factor in factors])
            dearer = month / float(month_at(row, {}))
            longer = factors if np.isnan(plan.months) else np.ones(factors.size)
            usd, boxes = stretched(plan, place, [np.ones(factors.size)] * len(plan.parts), longer)
            return usd + plan.held[place] / plan.boxes[place] * boxes * (dearer * longer - 1.0), boxes

        changed: Line | Curve = Curve([place], at)
        found = lever_names.owned(row, "months", str(row["title"]), month_days, changed)
        if found is not None:
            yield found


def _days(plan: PlanCosts, month_days: float) -> Iterator[Lever]:
    """Days of use a month of each machine: they say how many are needed, and nothing else."""
    for place, row in enumerate(plan.rows):
        if np.isfinite(plan.room[place]) and plan.taken[place]:

            def at(place: int, factors: Array) -> tuple[Array, Array]:
                return stretched(plan, place, [np.ones(factors.size)] * len(plan.parts), factors)

            changed: Line | Curve = Curve([place], at)
            found = lever_names.owned(row, "days_per_month", str(row["title"]), month_days, changed)
            if found is not None:
                yield found


def _speeds(plan: PlanCosts) -> Iterator[Lever]:
    """Speeds, each error once. The work stays what it is: hours are those of today's speed of the plan's machine.

    Jobs on one device go by the figure of the machine with one, which is off by an error of its own.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for place, row in enumerate(plan.rows):
        if plan.taken[place]:
            groups.setdefault(plan.errors[place], []).append(row)
    errors = [[_error(plan, place, part.speed_of[place]) for place in range(len(plan.rows))] for part in plan.parts]
    for error, rows in groups.items():
        places = [place for place in range(len(plan.rows)) if any(whose[place] == error for whose in errors)]

        def at(place: int, factors: Array, error: tuple[object, ...] = error) -> tuple[Array, Array]:
            same = np.ones(factors.size)
            return stretched(plan, place, [1.0 / factors if whose[place] == error else same for whose in errors])

        changed: Line | Curve = Curve(places, at)
        found = lever_names.speed(error, rows, changed)
        if found is not None:
            yield found


def _error(plan: PlanCosts, place: int, instance: str) -> tuple[object, ...]:
    """What the speed of a phase's jobs on an option is off together with; that of another instance by its own row, or
    by one declared as fast.
    """
    row = plan.rows[place]
    if instance == row["instance"]:
        return plan.errors[place]
    own = [number for number, one in enumerate(plan.rows) if one["instance"] == instance]
    alike = [number for number, one in enumerate(plan.rows) if one["gpus"] == 1 and one.get("gpu") == row.get("gpu")]
    return plan.errors[[*own, *alike][0]] if own or alike else ("nobody's", instance)


def _work(plan: PlanCosts) -> Lever:
    """As many jobs, each so many times longer."""

    def at(place: int, factors: Array) -> tuple[Array, Array]:
        return stretched(plan, place, [factors] * len(plan.parts))

    places = [place for place in range(len(plan.rows)) if plan.taken[place]]
    changed: Line | Curve = Curve(places, at)
    return share_of_today(ALL_JOBS, "work of the plan", changed)
