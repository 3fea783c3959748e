"""One machine to buy against its rivals, as arithmetic of its assumptions: the parameters of surface and tornado."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.owning import running_per_hour, usd_per_hour_of_use
from sweetspot.bills.price_paths import central_change
from sweetspot.bills.resale import relative
from sweetspot.decision.breakeven import references
from sweetspot.decision.counted import the
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.decision.project import by_contract
from sweetspot.decision.rent_ahead import moves_ahead, rent_over

Number = float | np.ndarray
ASSUMPTIONS = (
    "images_per_s", "capex_usd", "months", "residual_usd", "maintenance_usd_per_month", "kw", "pue", "usd_per_kwh",
    "days_per_month",
)  # fmt: skip


# The work and its months are the team's, whatever it buys; boxes of one price list have one electricity price.
SHARED = ("months", "days_per_month")
SHARED_IN_A_LIST = ("usd_per_kwh",)


@dataclass(frozen=True)
class Rival:
    """A persistent alternative: `usd_per_million` images at its own use, `images_per_s`, `usd_per_hour` asked.

    `box`: the assumptions of an owned one; what it shares with the reference (SHARED) moves for both.
    """

    option: str
    usd_per_million: float
    images_per_s: float
    usd_per_hour: float
    rented: bool
    name: str  # the option within a sentence
    row: Row = field(default_factory=dict, compare=False)
    box: "Box | None" = None

    def rent_over(self, months: Number) -> Number:
        """Mean rent of a project of `months` over that of the study's; 1 where its price stays."""
        return rent_over(self.row, months)

    def cost_if(self, reference: "Box", changes: Mapping[str, float]) -> float:
        """USD a million images where assumptions of the reference change: shared ones change for this machine too."""
        if self.box is None:
            rent = self.rent_over(changes["months"]) if "months" in changes else 1.0
            use = changes.get("days_per_month", reference.days_per_month) / reference.days_per_month
            return float(self.usd_per_million * rent / (use if by_contract(self.row) else 1.0))
        box, list_of = self.box, reference.price_list
        shared = {
            name: getattr(box, name) * (value / getattr(reference, name))
            for name, value in changes.items()
            if name in SHARED or (name in SHARED_IN_A_LIST and box.price_list == list_of)
        }
        varied: Box = replace(box, **shared)
        return float(self.usd_per_million * varied.usd_per_million() / box.usd_per_million())


@dataclass(frozen=True)
class Box:
    """The owned reference for one model; ASSUMPTIONS are the fields that one can vary."""

    option: str
    model: str
    images_per_s: Number
    capex_usd: Number
    months: Number
    residual_usd: Number
    maintenance_usd_per_month: Number
    kw: Number
    pue: Number
    usd_per_kwh: Number
    days_per_month: Number
    rest: float  # USD a month that the price list adds beyond these (discounting, staff)
    name: str  # the option within a sentence
    resale: Any = None  # curve of the resale value by age, of a project of `project` months
    project: float = 1.0
    price: float = 1.0  # USD that it costs in the price list
    price_list: str = ""
    model_title: str = ""

    def fixed(self) -> Number:
        """USD a month whatever the use: (capex - residual) / months + maintenance + rest."""
        sold = self.residual_usd * relative(self.resale, self.months, self.project, self.capex_usd / self.price)
        return (self.capex_usd - sold) / self.months + self.maintenance_usd_per_month + self.rest

    def variable(self) -> Number:
        """USD that an hour of use adds: electricity."""
        return running_per_hour({"kw": self.kw, "pue": self.pue, "per_kwh": self.usd_per_kwh})

    def usd_per_hour(self) -> Number:
        """USD an hour of use."""
        return usd_per_hour_of_use(self.fixed(), self.variable(), self.days_per_month)

    def usd_per_million(self) -> Number:
        """USD a million images."""
        return self.usd_per_hour() / (3600.0 * self.images_per_s) * 1e6


@dataclass(frozen=True)
class Contest:
    """The box and its persistent rivals for one model, cheapest rival first."""

    box: Box
    rivals: tuple[Rival, ...]

    def margin(self, **changes: Number) -> Number:
        """USD of the cheapest rival / USD of the box, with some of the box's assumptions changed; > 1: the box wins."""
        box: Box = replace(self.box, **changes)  # type: ignore[arg-type]  # only ASSUMPTIONS are changed
        return self.rivals[0].usd_per_million * self.rivals[0].rent_over(box.months) / box.usd_per_million()

    def rival_hour(self, months: Number | None = None) -> Number:
        """USD that the cheapest rival takes for the work of one box hour, in a project of `months` (the study's)."""
        hour = self.rivals[0].usd_per_million * 3600.0 * float(self.box.images_per_s) / 1e6
        return hour if months is None else hour * self.rivals[0].rent_over(months)

    def margin_at(self, **changes: float) -> tuple[float, str]:
        """Margin and best rival where some of the box's assumptions change, with what owned rivals share with it.

        The margin is infinite where the box costs nothing or earns: sold for more than it was bought for.
        """
        box: Box = replace(self.box, **changes)  # type: ignore[arg-type]  # only ASSUMPTIONS are changed
        costs = {other.option: other.cost_if(self.box, changes) for other in self._leaders}
        best, own = min(costs, key=lambda name: (costs[name], name)), float(box.usd_per_million())
        return (costs[best] / own if own > 0 else np.inf), best

    @cached_property
    def _leaders(self) -> list[Rival]:
        """Each owned rival, and the cheapest rented one of those whose cost a change moves by the same factor."""
        found: dict[object, Rival] = {}
        for rival in self.rivals:
            moving = central_change(rival.row) if moves_ahead(rival.row) else None
            found.setdefault(rival.option if rival.box is not None else (by_contract(rival.row), moving), rival)
        return list(found.values())

    def margin_if(self, rival: Mapping[str, float]) -> tuple[float, str]:
        """Margin and best rival where the cost an image of some rivals is multiplied by a factor (by option name)."""
        costs = {other.option: other.usd_per_million * rival.get(other.option, 1.0) for other in self.rivals}
        best = min(costs, key=lambda name: (costs[name], name))
        return costs[best] / float(self.box.usd_per_million()), best


def contests(options: pd.DataFrame) -> list[Contest]:
    """One contest a model in which the reference is owned and has a persistent rival that the answer may take."""
    found = []
    fields = trained(options)
    for model, box in references(options).items():
        rows = fields[model]
        rows = rows[rows["persistent"].astype(bool) & rows["in_answer"].astype(bool)].sort_values(
            "images_per_usd", ascending=False, kind="stable"
        )
        rivals = [row for row in records(rows) if not same_machine(row, box)]
        if box["purchase"] == "own" and rivals:
            found.append(Contest(_box(box), tuple(map(_rival, rivals))))
    return found


def _rival(row: Row) -> Rival:
    price = 1e6 / row["images_per_usd"]
    own = row["purchase"] == "own"
    box = _box(row) if own else None
    return Rival(row["option"], price, row["images_per_s"], row["usd_per_hour"], not own, the(row["title"]), row, box)


def _box(row: Row) -> Box:
    figures = {name: float(row[name]) for name in ASSUMPTIONS}
    on = str(row.get("model_title") or row["model"])
    box = Box(
        row["option"],
        row["model"],
        rest=0.0,
        name=the(row["title"]),
        price_list=row["price_list"],
        model_title=on,
        **figures,
    )
    price = figures["capex_usd"] or 1.0  # what is there already costs nothing, and is sold for an amount
    box = replace(box, resale=row.get("residual_points"), project=figures["months"], price=price)
    return replace(box, rest=float(row["fixed_usd_per_month"] - box.fixed()))
