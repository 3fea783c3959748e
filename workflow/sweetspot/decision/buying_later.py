"""Buying later: rent for some months of a plan, then buy. Every machine and month beside buying at once and never."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import confidence
from sweetspot.decision.later_costs import Plan, Side, Way, at_once, never, rent_then_buy, sides
from sweetspot.decision.simulate import Draws, interval
from sweetspot.study.yamlfile import load_yaml

TABLE = (
    "workload", "after_months", "option", "title", "box", "box_title", "machines", "until", "until_title", "months",
    "box_usd", "box_usd_low", "box_usd_high", "rent_usd", "usd", "usd_low", "usd_high", "saved_usd", "saved_usd_low",
    "saved_usd_high", "p_saves", "probability", "confidence", "status",
)  # fmt: skip


class Later(NamedTuple):
    """`table`: a row a plan, machine and month (TABLE); `options`: by plan, what competes beside its own options."""

    table: pd.DataFrame
    options: dict[str, tuple[pd.DataFrame, np.ndarray]]


def load_plans(path: str | Path) -> dict[str, Plan]:
    """The plans of workloads.yaml that ask for `buy_after_months`.

    Only these keys are read: `price_workloads` has checked the file against its models.
    """
    file = Path(path)
    works = load_yaml(file) if file.is_file() else {}
    return {
        name: Plan(name, float(work["months"]), tuple(map(float, work["buy_after_months"])))
        for name, work in works.items()
        if work["kind"] == "plan" and work.get("buy_after_months")
    }


def buying_later(
    plans: Mapping[str, Plan],
    priced: pd.DataFrame,
    options: pd.DataFrame,
    draws: Draws,
    offers: pd.DataFrame,
    seed: int,
) -> Later:
    """The ways to buy later of every plan that asks for it (docs/decision.md).

    `priced`: rows of results/<study>/plans of what fits; `options`, `draws`: of the comparison; `offers`: all offers.
    In the table `box_usd`: price of the machines on the day of purchase; `rent_usd`: what is rented costs; `usd`: the
    whole project, at central figures with 90 % of the draws; `saved_usd`: less than buying the same machine at once;
    `p_saves` that it is less, `confidence` how sure the order of the two is; `probability` to be the cheapest of the
    plan's rows here; `status`: ok, or why a machine is not reckoned.
    """
    rows, others = [], {}
    for name, plan in plans.items():
        found = sides(plan, priced, options, draws, offers)
        ways = list(_ways(plan, found, draws, seed))
        told = [way for way in ways if not way.status]
        rows += [_row(plan, way, ways, told) for way in ways]
        later = [way for way in told if way.box is not None and way.after > 0]
        if later:
            table = pd.DataFrame([_option(way) for way in later])
            others[name] = (table, np.stack([way.drawn for way in later]))
    return Later(pd.DataFrame(rows, columns=list(TABLE)), others)


def _ways(plan: Plan, found: Sequence[Side], draws: Draws, seed: int) -> Iterator[Way]:
    """Each machine at once and later, those cheapest at once first; then never buying."""
    boxes = [at_once(plan, side, draws, seed) for side in found if side.row["purchase"] == "own"]
    rented = [side for side in found if side.row["purchase"] != "own"]
    for first in sorted(boxes, key=lambda way: (np.nan_to_num(way.usd, nan=np.inf), way.option)):
        yield first
        if not first.status and first.box is not None:
            for months in plan.after:
                yield from rent_then_buy(plan, first.box, rented, months, draws, seed)
    yield from never(plan, rented)


def _row(plan: Plan, way: Way, ways: Sequence[Way], told: Sequence[Way]) -> dict[str, Any]:
    box, until = way.box, way.until
    row: dict[str, Any] = {
        "workload": plan.name,
        "after_months": way.after,
        "option": way.option,
        "title": way.title,
        "box": None if box is None else box.row["option"],
        "box_title": None if box is None else box.title,
        "machines": None if box is None else box.machines,
        "until": None if until is None else until.row["option"],
        "until_title": None if until is None else until.title,
        "months": plan.months,
        "status": way.status or "ok",
    }
    if way.status:
        return row
    if box is not None:
        row |= _figure("box_usd", way.box_usd, way.box_drawn)
        first = next(one for one in ways if one.box is box and one.after == 0)
        row |= _figure("saved_usd", first.usd - way.usd, first.drawn - way.drawn) if way is not first else {}
        saves = float(np.mean(way.drawn < first.drawn))
        row |= {"p_saves": saves, "confidence": confidence(max(saves, 1 - saves))} if way is not first else {}
    least = np.argmin(np.stack([one.drawn for one in told]), axis=0)
    chance = float(np.mean(least == next(place for place, one in enumerate(told) if one is way)))
    row |= _figure("usd", way.usd, way.drawn) | {"rent_usd": way.rent_usd}
    return row | {"probability": chance}


def _figure(name: str, value: float, drawn: np.ndarray) -> dict[str, float]:
    low, high = interval(drawn)
    return {name: value, f"{name}_low": float(low), f"{name}_high": float(high)}


def _option(way: Way) -> dict[str, Any]:
    """A row of a plan's total (`PricedPhase`)."""
    assert way.box is not None
    return {
        "option": way.option,
        "instance": way.box.row["instance"],
        "title": way.title,
        "persistent": True,
        "hours": way.hours,
        "usd": way.usd,
        "planned_hours": np.nan,
        "boxes": 1.0,
    }
