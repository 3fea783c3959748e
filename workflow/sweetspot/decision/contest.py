"""One machine to buy against its rivals, as arithmetic of its assumptions: the parameters of surface and tornado."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.owning import running_per_hour, usd_per_hour_of_use
from sweetspot.bills.resale import relative
from sweetspot.decision.breakeven import references
from sweetspot.decision.counted import the
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.decision.rent_ahead import rent_over

Number = float | np.ndarray
ASSUMPTIONS = (
    "images_per_s", "capex_usd", "months", "residual_usd", "maintenance_usd_per_month", "kw", "pue", "usd_per_kwh",
    "days_per_month",
)  # fmt: skip


@dataclass(frozen=True)
class Rival:
    """A persistent alternative: `usd_per_million` images at its own use, `images_per_s`, `usd_per_hour` asked."""

    option: str
    usd_per_million: float
    images_per_s: float
    usd_per_hour: float
    rented: bool
    name: str  # the option within a sentence
    row: Row = field(default_factory=dict, compare=False)

    def rent_over(self, months: Number) -> Number:
        """Mean rent of a project of `months` over that of the study's; 1 where its price stays."""
        return rent_over(self.row, months)


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

    def fixed(self) -> Number:
        """USD a month whatever the use: (capex - residual) / months + maintenance + rest."""
        sold = self.residual_usd * relative(self.resale, self.months, self.project)
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

    def margin_if(self, rival: Mapping[str, float]) -> tuple[float, str]:
        """Margin and best rival where the cost an image of some rivals is multiplied by a factor (by option name)."""
        costs = {other.option: other.usd_per_million * rival.get(other.option, 1.0) for other in self.rivals}
        best = min(costs, key=lambda name: (costs[name], name))
        return costs[best] / float(self.box.usd_per_million()), best


def contests(options: pd.DataFrame) -> list[Contest]:
    """One contest a model in which the reference is owned and has a persistent rival; else none."""
    found = []
    fields = trained(options)
    for model, box in references(options).items():
        rows = fields[model]
        rows = rows[rows["persistent"].astype(bool)].sort_values("images_per_usd", ascending=False, kind="stable")
        rivals = [row for row in records(rows) if not same_machine(row, box)]
        if box["purchase"] == "own" and rivals:
            found.append(Contest(_box(box), tuple(map(_rival, rivals))))
    return found


def _rival(row: Row) -> Rival:
    price = 1e6 / row["images_per_usd"]
    own = row["purchase"] == "own"
    return Rival(row["option"], price, row["images_per_s"], row["usd_per_hour"], not own, the(row["title"]), row)


def _box(row: Row) -> Box:
    figures = {name: float(row[name]) for name in ASSUMPTIONS}
    box = Box(option=row["option"], model=row["model"], rest=0.0, name=the(row["title"]), **figures)
    box = replace(box, resale=row.get("residual_points"), project=figures["months"])
    return replace(box, rest=float(row["fixed_usd_per_month"] - box.fixed()))
