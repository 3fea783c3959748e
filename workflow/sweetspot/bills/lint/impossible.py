"""Figures of an offer that cannot be: so far beyond any machine's that a unit was mixed up, with the factor."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sweetspot.bills.lint.rented import is_processor
from sweetspot.bills.money import to_usd
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Amount


class Bounds(NamedTuple):
    """Least, usual and most that a machine has, the unit, and the factors of usual slips."""

    low: float
    usual: float
    high: float
    unit: str
    slips: tuple[int, ...]

    def holds(self, figure: float) -> bool:
        """Whether a figure of one device, in USD where it is money, can be."""
        return self.low <= figure <= self.high

    def meant(self, figure: float, scale: float) -> str:
        """What was meant by a figure that cannot be; `scale`: of one device and in USD for one of its units."""
        less = figure * scale > self.high
        changes = {factor: 1 / factor if less else factor for factor in self.slips}
        likely = [factor for factor, change in changes.items() if self.holds(figure * scale * change)]
        if not likely:
            return f"expected {self.low / scale:,.3g} to {self.high / scale:,.3g}"
        factor = min(likely, key=lambda one: abs(math.log(figure * scale * changes[one] / self.usual)))
        meant = f"{figure * changes[factor]:,.3f}".rstrip("0").rstrip(".")
        return f"did you mean {meant}? ({factor} times {'less' if less else 'more'})"


BOUNDS = {
    "kw": Bounds(0.02, 0.5, 4.0, "kW", (1000,)),
    "price": Bounds(10.0, 3000.0, 400_000.0, "", (1000, 100)),
    "per_hour": Bounds(0.01, 1.0, 100.0, "an hour", (732, 100)),
    "per_month": Bounds(7.0, 730.0, 73_000.0, "a month", (732, 1000, 100)),
    "per_kwh": Bounds(0.005, 0.2, 3.0, "a kWh", (100, 1000)),
    "months": Bounds(1.0, 36.0, 120.0, "months", (12,)),
    "weeks": Bounds(0.0, 4.0, 104.0, "weeks", (7,)),
}
"""By what a figure says, of one device and in USD: W for kW, cents, the hours of a month, years for months."""


def check_possible(prices: PriceList, instances: Mapping[str, Instance], path: str, places: Iterable[int]) -> None:
    """Refuse purchases, powers and rents that no machine has. Raises UserError of all.

    `places`: where each offer of `prices` stands in the file. An offer in a currency without a rate says nothing here.
    """
    known = {"USD", *(rate.currency for rate in prices.rates)}
    refuse(
        f"{path}: offers[{number}].{key} is {figure:,.10g} for {machine.gpus} x {machine.gpu}, which cannot be; "
        f"{bounds.meant(figure, scale)}"
        for number, offer in zip(places, prices.offers, strict=True)
        if (offer.currency or prices.currency) in known
        for machine in [instances[offer.instance]]
        for key, figure, bounds, scale in _figures(offer, prices, machine)
        if figure and not bounds.holds(figure * scale)  # 0: told nowhere, or there already
    )


def _figures(offer: Offer, prices: PriceList, machine: Instance) -> Iterator[tuple[str, float, Bounds, float]]:
    """Each figure of an offer by its key, what it can be, and what makes it USD of one device."""
    money, devices = to_usd(offer, prices)[0], machine.gpus
    if offer.own is not None:
        yield from _each("own.kw", offer.own.kw, BOUNDS["kw"], 1 / devices)
        yield from _each("own.capex", offer.own.capex, BOUNDS["price"], money / devices)
        yield from _each("own.per_kwh", offer.own.per_kwh, BOUNDS["per_kwh"], money)
    if is_processor(machine) or machine.gpu == "none":
        return  # a processor's hour may cost next to nothing
    for unit, hours in RATE_HOURS.items():
        rate = getattr(offer, unit)
        if rate is not None:
            yield from _each(
                unit,
                rate,
                BOUNDS["per_month"] if hours is None else BOUNDS["per_hour"],
                money / devices / (hours or 1.0),
            )


def _each(key: str, amount: Amount, bounds: Bounds, scale: float) -> Iterator[tuple[str, float, Bounds, float]]:
    for figure in dict.fromkeys((amount.value, *amount.ends)):
        yield key, figure, bounds, scale
