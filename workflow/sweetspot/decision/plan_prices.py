"""Where the prices of a plan of phases turn it: every cost is a straight line in each of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sweetspot.decision.counted import the
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import or_zero, possession
from sweetspot.decision.tornado import OWNED_PARAMETERS
from sweetspot.mixes.problem import Array

NOWHERE = 1000.0  # factor beyond which no turning point is named
COUNTED = ("capex_usd", "maintenance_usd_per_month", "residual_usd")


class PriceTurn(NamedTuple):
    """A price at which another option becomes the cheapest, and which; `factor` of what it is."""

    name: str
    value: float
    unit: str
    factor: float
    to: int


class Moved(NamedTuple):
    """A price: what it is called, its value, and the part of each option's USD that goes with it."""

    name: str
    unit: str
    value: float
    part: Array


def price_turns(rows: Sequence[Row], running: Array, held: Array, taken: Array) -> list[PriceTurn]:
    """Where each price turns the cheapest of the options that count (`taken`), the nearest first.

    `rows`: of the options; `running`: their USD for hours of use, `held`: for the months of possession. With a price
    at a factor f an option costs a + b f; the cheapest as planned is left where another line crosses its own first, on
    either side of 1. Prices only: who works how long, and how many machines are bought, stays as planned.
    """
    usd = running + held
    best = int(np.where(taken, usd, np.inf).argmin())
    found = [turn for one in _prices(rows, running, held) for turn in _crossings(one, usd, best, taken)]
    return sorted(found, key=lambda turn: abs(np.log(turn.factor)))


def _crossings(one: Moved, usd: Array, best: int, taken: Array) -> Iterator[PriceTurn]:
    """The nearest crossing of the best option's line with another's below what is planned, and above it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # usd + part (f - 1) is the same for both.
        at = 1.0 - (usd - usd[best]) / (one.part - one.part[best])
    at = np.where(taken & np.isfinite(at) & (at > 1 / NOWHERE) & (at < NOWHERE), at, np.nan)
    for side in (at < 1, at > 1):
        if side.any():
            to = int(np.where(side, np.abs(np.log(at)), np.inf).argmin())
            yield PriceTurn(one.name, one.value * float(at[to]), one.unit, float(at[to]), to)


def _prices(rows: Sequence[Row], running: Array, held: Array) -> Iterator[Moved]:
    tariffs: dict[str, Array] = {}
    for place, row in enumerate(rows):
        only, title = np.arange(len(rows)) == place, the(str(row["title"]))
        if row["purchase"] != "own":
            part = np.where(only, running + held, 0.0)
            yield Moved(f"price of {title}", "USD/hour", float(row["usd_per_hour"]), part)
            continue
        month = possession(row, row["capex_usd"], row["months"])
        for name in COUNTED:
            if or_zero(row[name]) > 0 and month:
                share = (
                    1.0
                    - possession(row | {name: 0.0}, 0.0 if name == "capex_usd" else row["capex_usd"], row["months"])
                    / month
                )
                said, unit = OWNED_PARAMETERS[name]
                yield Moved(said.format(box=title), unit, float(row[name]), np.where(only, share * held, 0.0))
        if or_zero(row["kw"]) > 0:
            power = np.where(only, running, 0.0)
            yield Moved(OWNED_PARAMETERS["kw"][0].format(box=title), "kW", float(row["kw"]), power)
            tariffs[row["price_list"]] = tariffs.get(row["price_list"], np.zeros(len(rows))) + power
    for price_list, part in tariffs.items():
        value = next(
            float(row["usd_per_kwh"]) for row in rows if row["purchase"] == "own" and row["price_list"] == price_list
        )
        if value > 0:
            yield Moved(*OWNED_PARAMETERS["usd_per_kwh"], value, part)
