"""Figures that no machine has: the bounds of each, and what was probably meant."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sweetspot.bills.lint.known import PriceRange, device_key, purchase_of, rent_of
from sweetspot.bills.offer_prices import to_usd
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Amount

HOURS_A_MONTH = 730


class Bounds(NamedTuple):
    """Lowest, usual and highest value of one device, the unit, and the factors of usual slips of the unit."""

    low: float
    usual: float
    high: float
    unit: str
    slips: tuple[int, ...]

    def holds(self, figure: float) -> bool:
        """Whether a figure of one device, in USD where it is money, can be."""
        return self.low <= figure <= self.high

    def meant(self, figure: float, scale: float, known: PriceRange | None = None) -> str:
        """Say what was probably meant by a figure that cannot be.

        Parameters
        ----------
        figure : float
            The figure as it was written.
        scale : float
            Factor that makes it a figure of one device, in USD where it is money.
        known : PriceRange or None
            What such a device is known to cost; a slip that leads into this range comes first.
        """
        too_high = figure * scale > self.high
        changes = {factor: 1 / factor if too_high else factor for factor in self.slips}
        likely = [factor for factor, change in changes.items() if self.holds(figure * scale * change)]
        if not likely:
            return f"expected {self.low / scale:,.3g} to {self.high / scale:,.3g}"

        def distance(slip: int) -> tuple[bool, float]:
            value = figure * scale * changes[slip]
            is_known = known is not None and known.low <= value <= known.high
            return not is_known, abs(math.log(value / self.usual))

        factor = min(likely, key=distance)
        meant = f"{figure * changes[factor]:,.3f}".rstrip("0").rstrip(".")
        cents = ": cents" if factor == 100 else ""
        return f"did you mean {meant}? ({factor} times {'less' if too_high else 'more'}{cents})"


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


class CheckedFigure(NamedTuple):
    """A figure of an offer: its key, value, bounds, factor to USD of one device, and what a device is known to cost."""

    key: str
    value: float
    bounds: Bounds
    scale: float
    known: PriceRange | None = None


def check_possible(prices: PriceList, instances: Mapping[str, Instance], path: str, places: Iterable[int]) -> None:
    """Refuse purchases, powers and rents that no machine has.

    Parameters
    ----------
    prices : PriceList
        An offer in a currency without a rate is not checked.
    instances : mapping of str to Instance
        The machines by name.
    path : str
        The file that the sentences name.
    places : iterable of int
        Position of each offer of `prices` in the file.

    Raises
    ------
    UserError
        With one sentence for each figure.
    """
    currencies = {"USD", *(rate.currency for rate in prices.rates)}
    refuse(
        f"{path}: offers[{number}].{figure.key} is {figure.value:,.10g} for {machine.gpus} x {machine.gpu}, which "
        f"cannot be; {figure.bounds.meant(figure.value, figure.scale, figure.known)}"
        for number, offer in zip(places, prices.offers, strict=True)
        if (offer.currency or prices.currency) in currencies
        for machine in [instances[offer.instance]]
        for figure in _checked_figures(offer, prices, machine)
        if figure.value and not figure.bounds.holds(figure.value * figure.scale)  # 0 means unknown or already owned
    )


def _checked_figures(offer: Offer, prices: PriceList, machine: Instance) -> Iterator[CheckedFigure]:
    money, device, own = to_usd(offer, prices)[0], device_key(machine.gpu), offer.own
    amounts: list[tuple[str, Amount, Bounds, float, PriceRange | None]] = []
    if own is not None:
        amounts += [
            ("own.kw", own.kw, BOUNDS["kw"], 1 / machine.gpus, None),
            ("own.capex", own.capex, BOUNDS["price"], money / machine.gpus, purchase_of(device)),
            ("own.per_kwh", own.per_kwh, BOUNDS["per_kwh"], money, None),
        ]
    if not is_processor(machine) and machine.gpu != "none":  # an hour of a processor may cost next to nothing
        rent = rent_of(device, (offer.as_of or prices.as_of).year)
        monthly = None if rent is None else PriceRange(rent.low * HOURS_A_MONTH, rent.high * HOURS_A_MONTH)
        for unit, hours in RATE_HOURS.items():
            amount, scale = getattr(offer, unit), money / machine.gpus / (hours or 1.0)
            if amount is not None:
                bounds = BOUNDS["per_month" if hours is None else "per_hour"]
                amounts.append((unit, amount, bounds, scale, monthly if hours is None else rent))
    for key, amount, bounds, scale, known in amounts:
        for value in dict.fromkeys((amount.value, *amount.ends)):
            yield CheckedFigure(key, value, bounds, scale, known)


def is_processor(machine: Instance) -> bool:
    """Whether the machine has no devices but its processor, and is priced by the vCPU."""
    return machine.gpu.upper().startswith("CPU")
