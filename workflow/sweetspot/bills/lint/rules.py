"""The price lint: a table of rules about single offers, a table of rules about whole lists, and what is refused."""

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.bills.lint.known import (
    PriceRange,
    asked,
    dearest_rent,
    device_count,
    device_key,
    nearest,
    power_of,
    purchase_of,
    rent_of,
    vcpu_rent,
)
from sweetspot.bills.offers import exchange_rate, has_ended, on_demand_price, usd_per_unit
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Amount
from sweetspot.warnings import joined, warning


class Finding(NamedTuple):
    """One remark: `severity` warning or note, the rule's name, the instance (or '' for the list), message, source."""

    severity: str
    rule: str
    instance: str
    message: str
    source: str


LINT_COLUMNS = Finding._fields
Row = dict[str, Any]


def source_of(offer: Offer, prices: PriceList) -> str:
    """Return the source of the offer, or that of its list."""
    return offer.source or prices.source


# ------------------------------------------------------------------------------------------ figures that are refused


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
    money, device, own = usd_per_unit(offer, prices)[0], device_key(machine.gpu), offer.own
    amounts: list[tuple[str, Amount, Bounds, float, PriceRange | None]] = []
    if own is not None:
        amounts += [
            ("own.kw", own.kw, BOUNDS["kw"], 1 / machine.gpus, None),
            ("own.capex", own.capex, BOUNDS["price"], money / machine.gpus, purchase_of(device)),
            ("own.per_kwh", own.per_kwh, BOUNDS["per_kwh"], money, None),
        ]
    if not is_processor(machine) and machine.gpu != "none":  # an hour of a processor may cost next to nothing
        rent = rent_of(device, _year(offer, prices))
        monthly = None if rent is None else PriceRange(rent.low * 730, rent.high * 730)
        for unit, hours in RATE_HOURS.items():
            amount, scale = getattr(offer, unit), money / machine.gpus / (hours or 1.0)
            if amount is not None:
                bounds = BOUNDS["per_month" if hours is None else "per_hour"]
                amounts.append((unit, amount, bounds, scale, monthly if hours is None else rent))
    for key, amount, bounds, scale, known in amounts:
        for value in dict.fromkeys((amount.value, *amount.ends)):
            yield CheckedFigure(key, value, bounds, scale, known)


# --------------------------------------------------------------------------------------------------- what is looked at


@dataclass(frozen=True)
class LintedOffer:
    """An offer with its row of the offers table, its list, its machine and the days that count."""

    offer: Offer
    row: Row
    prices: PriceList
    machine: Instance
    month_days: float
    study_date: date

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.offer.instance

    @property
    def usd(self) -> float:
        """USD an hour of the machine."""
        return float(self.row["usd_per_hour"])

    @property
    def unit(self) -> str:
        """What the price goes by: vCPU, or the device as the machine names it."""
        return "vCPU" if is_processor(self.machine) else self.machine.gpu

    @property
    def units(self) -> float:
        """How many of these the machine has; 0 where its vCPUs are unknown."""
        return float((self.machine.vcpus or 0) if is_processor(self.machine) else self.machine.gpus)

    @property
    def usd_per_unit(self) -> float:
        """USD an hour of one device or vCPU."""
        return self.usd / self.units if self.units else self.usd

    @property
    def is_rental(self) -> bool:
        """Whether it is rented without a commitment."""
        return self.offer.own is None and self.offer.commitment is None

    @property
    def is_interruptible(self) -> bool:
        """Whether it is a spot or preemptible machine."""
        return self.offer.purchase in INTERRUPTIBLE

    @property
    def market(self) -> PriceRange:
        """Known USD an hour of one unit; of an unknown device anything up to the dearest of all."""
        if is_processor(self.machine):
            known = vcpu_rent()  # spot prices of processors go down to a tenth
            return PriceRange(known.low / 10, known.high) if self.is_interruptible else known
        device, year = device_key(self.machine.gpu), _year(self.offer, self.prices)
        on_demand = rent_of(device, year)
        if on_demand is None:
            return PriceRange(0.0, dearest_rent())
        spot = rent_of(device, year, spot=True) if self.is_interruptible else None
        return PriceRange(min(on_demand.low, spot.low), on_demand.high) if spot else on_demand


def is_processor(machine: Instance) -> bool:
    """Whether the machine has no devices but its processor, and is priced by the vCPU."""
    return machine.gpu.upper().startswith("CPU")


def _year(offer: Offer, prices: PriceList) -> int:
    return (offer.as_of or prices.as_of).year


# ------------------------------------------------------------------------------------------------ rules about an offer

# Markets differ by region, form and provider; only what is beyond four times the known range is worth a word. Where the
# known prices are all alike, they are of one or two providers, and others may ask a tenth.
FAR, FAR_OF_FEW = 4.0, 12.0
# What a factor may come from, within half to twice of it.
FACTORS = {100: "cents", 24: "the price of a day", 168: "the price of a week", 730: "the price of a month"}
NEAR_FACTOR = 2.0
# A price a device below half of all that is known, where the price of the machine is that of one device.
PRICE_OF_ONE = 0.5
# Regions of one provider ask 0.95 to 2.1 times the usual place; contracts and sales half. Beyond is another machine.
KNOWN_MACHINE = (0.4, 2.5)
# Below this share of the on-demand price a spot price is doubtful: AWS and Google give at most 90 and 91 % of discount,
# Azure 95 % on some machines without devices.
LEAST_SHARE, LEAST_SHARE_OF_PROCESSORS = 0.08, 0.04
CENT = 0.005
PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
RATE_AGE_DAYS = 31
# A study may take a price of the days after it; of later weeks nobody of its date could know.
AHEAD_DAYS = 7
# Discounts are printed in whole per cents; the price behind one is rounded too.
DISCOUNT_ROUNDING = 0.0101
# Of machines owned. One draws its devices' power and its host's; a shared or throttled one less. No single device in
# sight draws more than the last, its share of host and supply included.
LEAST_POWER, MOST_POWER, HOST_KW, MOST_KW_OF_ANY = 0.2, 2.0, 0.6, 5.0
USD_PER_KWH, MONTHS, LEAST_DAYS = (0.02, 1.0), (6.0, 120.0), 1.0
# Second hand a device costs half and less; host, chassis and warranty are some of the dearest devices more.
LEAST_PURCHASE, MOST_PURCHASE, HOST_USD, PURCHASE_OF_ANY = 0.4, 4.0, 5000.0, (50.0, 300_000.0)


def _far_factor(linted: LintedOffer) -> float | None:
    """How many times the known level a rent is, if that is far off; None otherwise."""
    if not linted.is_rental or not linted.units:
        return None
    known = linted.market
    far = FAR if known.high >= 2 * known.low else FAR_OF_FEW
    if known.low / far <= linted.usd_per_unit <= known.high * far:
        return None
    return linted.usd_per_unit / math.sqrt(max(known.low, 0.01 * known.high) * known.high)


def _factor_hint(factor: float) -> str:
    near = (what for known, what in FACTORS.items() if known / NEAR_FACTOR < factor < known * NEAR_FACTOR)
    return next((f" ({what}?)" for what in near), "")


def market_level(linted: LintedOffer) -> Iterator[str]:
    """A rent far beyond the known range."""
    factor = _far_factor(linted)
    if factor is not None:
        yield (
            f"{linted.name} at {linted.usd:.4g} an hour is {linted.usd_per_unit:.4g} a {linted.unit}; known prices are "
            f"{linted.market.low:.3g} to {linted.market.high:.3g}{_factor_hint(factor)}"
        )


def price_of_one_device(linted: LintedOffer) -> Iterator[str]:
    """The price of one device at a machine of several, or the price of a whole machine at one device."""
    known, count = linted.market, linted.units
    if not linted.is_rental or linted.is_interruptible or is_processor(linted.machine) or known.low <= 0:
        return
    words = f"{linted.name} at {linted.usd:.4g} an hour is {linted.usd_per_unit:.4g} a {linted.unit}; known prices are "
    words += f"{known.low:.3g} to {known.high:.3g}"
    if count > 1 and linted.usd_per_unit < PRICE_OF_ONE * known.low and linted.usd <= known.high:
        yield f"{words}: the price of one of its {count:g} devices? ({linted.usd * count:.4g} for all)"
    if count == 1 and linted.usd > known.high and known.low <= linted.usd / 8 <= known.high:
        yield f"{words}: the price of a machine of eight? ({linted.usd / 8:.4g} for one)"


def known_machine(linted: LintedOffer) -> Iterator[str]:
    """A price on demand far from what the provider asked for the very machine."""
    known = asked(linted.machine.provider, linted.name)
    if not known or linted.usd <= 0 or linted.offer.purchase != "on_demand" or not linted.is_rental:
        return
    usual = nearest(linted.usd, known)
    low, high = KNOWN_MACHINE
    if not low <= linted.usd / usual <= high:
        words = f"{linted.name} at {linted.usd:.4g} an hour is known at {usual:.4g}"
        if linted.units > 1 and abs(linted.usd * linted.units / usual - 1) < 0.25:
            words += f" ({usual / linted.units:.4g} a {linted.unit}): the price of one of its {linted.units:g} devices?"
        yield words


def device_count_differs(linted: LintedOffer) -> Iterator[str]:
    """Another number of devices than the machine's name has."""
    count, machine = device_count(linted.name), linted.machine
    if count is not None and count != machine.gpus and not is_processor(machine) and linted.is_rental:
        words = f"{linted.name} has {count} x {machine.gpu} by its name, here {machine.gpus}"
        yield f"{words}; at {linted.usd:.4g} an hour that makes {linted.usd / count:.4g} each"


def own_power(linted: LintedOffer) -> Iterator[str]:
    """Power of an owned machine against its devices' and a host's."""
    own, gpu, gpus = linted.offer.own, linted.machine.gpu, linted.machine.gpus
    if own is None or not own.kw.value:  # 0 means unknown power: its electricity is left out, not guessed
        return
    known, kw = power_of(device_key(gpu)), own.kw.value
    low, high = 0.0, MOST_KW_OF_ANY
    if known is not None:
        low, high = LEAST_POWER / 1000 * known.low, MOST_POWER / 1000 * known.high + HOST_KW / gpus
    if not low <= kw / gpus <= high:
        yield f"{kw:g} kW is {kw / gpus:.3g} a {gpu}, host included; expected {low:.2g} to {high:.2g}"


def own_electricity(linted: LintedOffer) -> Iterator[str]:
    """Price of a kWh."""
    own = linted.offer.own
    usd = 0.0 if own is None else own.per_kwh.value * usd_per_unit(linted.offer, linted.prices)[0]
    low, high = USD_PER_KWH
    if usd and not low <= usd <= high:
        yield f"{usd:g} USD a kWh; electricity costs {low:g} to {high:g}"


def own_months(linted: LintedOffer) -> Iterator[str]:
    """Service life of an owned machine."""
    if linted.offer.own is not None:
        low, high = linted.offer.own.months.ends
        months = low if low < MONTHS[0] else high
        if not MONTHS[0] <= months <= MONTHS[1]:
            yield f"written off over {months:g} months; machines are used {MONTHS[0]:g} to {MONTHS[1]:g}"


def own_days(linted: LintedOffer) -> Iterator[str]:
    """Days of use a month of an owned machine."""
    days = math.inf if linted.offer.own is None else linted.offer.own.days_per_month.ends[0]
    if days < LEAST_DAYS:
        yield f"{days:g} days of use a month, less than a day of 24 hours (a share of the month?)"


def own_purchase(linted: LintedOffer) -> Iterator[str]:
    """Purchase price against what its devices are known to cost."""
    own, gpu, gpus = linted.offer.own, linted.machine.gpu, linted.machine.gpus
    usd = 0.0 if own is None else own.capex.value * usd_per_unit(linted.offer, linted.prices)[0]
    known = purchase_of(device_key(gpu))
    low, high = PURCHASE_OF_ANY
    if known is not None:
        low, high = LEAST_PURCHASE * known.low, MOST_PURCHASE * known.high + HOST_USD / gpus
    if usd and not low <= usd / gpus <= high:  # 0 means that it is owned already
        yield f"a purchase of {usd:g} USD is {usd / gpus:.4g} a {gpu}; expected {low:.3g} to {high:.3g}"


def spot_terms(linted: LintedOffer) -> Iterator[str]:
    """A spot price without a rate of interruption."""
    if linted.is_interruptible and linted.offer.interruptions is None and linted.prices.interruptions is None:
        yield "no interruption rate; its cost assumes none"


def _paid_share(linted: LintedOffer) -> float | None:
    """A spot price as a share of the on-demand price; None where either is missing."""
    on_demand = linted.row.get("on_demand_usd_per_hour")
    if not linted.is_interruptible or on_demand is None or pd.isna(on_demand):
        return None
    return float(linted.usd / on_demand)


def spot_above_on_demand(linted: LintedOffer) -> Iterator[str]:
    """A spot price above the on-demand price."""
    paid = _paid_share(linted)
    if paid is not None and paid > 1:
        yield f"spot at {linted.usd:g} an hour is above on demand at {linted.row['on_demand_usd_per_hour']:g}"


def spot_far_below(linted: LintedOffer) -> Iterator[str]:
    """A spot price at a doubtful share of the on-demand price, such as a lowest bid."""
    paid = _paid_share(linted)
    if paid is not None and paid < (LEAST_SHARE_OF_PROCESSORS if is_processor(linted.machine) else LEAST_SHARE):
        on_demand = linted.row["on_demand_usd_per_hour"]
        yield f"spot at {linted.usd:g} an hour is {paid:.1%} of on demand at {on_demand:g} (the lowest bid?)"


def discount_is_fraction_paid(linted: LintedOffer) -> Iterator[str]:
    """A printed discount that is the share which is paid."""
    paid, printed = _paid_share(linted), None if linted.offer.printed is None else linted.offer.printed.discount
    if paid is None or printed is None or abs(printed - (1 - paid)) <= DISCOUNT_ROUNDING:
        return
    if abs(printed - paid) <= DISCOUNT_ROUNDING:
        share = f"{linted.usd:g}/{linted.row['on_demand_usd_per_hour']:g}"
        yield f"the printed discount of {printed:.0%} is the fraction paid ({share}); the discount is {1 - paid:.0%}"


def text_against_table(linted: LintedOffer) -> Iterator[str]:
    """What the source prints against what its own numbers make, in its own currency."""
    offer, printed = linted.offer, linted.offer.printed
    if printed is None:
        return
    paid = _paid_share(linted)
    if paid is not None and printed.discount is not None:
        off = min(abs(printed.discount - (1 - paid)), abs(printed.discount - paid))
        if off > DISCOUNT_ROUNDING:
            yield f"the printed discount of {printed.discount:.0%} does not recompute; it is {1 - paid:.0%}"
    if offer.commitment is not None:
        return
    hour, month = linted.usd / usd_per_unit(offer, linted.prices)[0], 24 * linted.month_days
    hours = {"per_hour": 1.0, "per_day": 24.0, "per_week": 168.0, "per_month": month}
    if offer.own is not None:
        hours = {"per_hour": 1.0, "per_month": HOURS_A_DAY * linted.row["days_per_month"]}
    for unit, count in hours.items():
        text, value = getattr(printed, unit), hour * count
        if text is not None and abs(text - value) > max(CENT * 1.01, 0.001 * value):
            yield f"the text says {text:g} {unit.replace('_', ' ')}, its table makes {value:.4f}"


def reserved_above_on_demand(linted: LintedOffer) -> Iterator[str]:
    """A reserved price above the on-demand one; commitments are judged by their use (`not_earned`)."""
    if linted.offer.purchase in ("reserved", "committed") and linted.offer.commitment is None:
        on_demand = on_demand_price(linted.offer, linted.prices, linted.month_days)
        if linted.usd > on_demand:
            yield f"{linted.offer.purchase} at {linted.usd:g} an hour is above on demand at {on_demand:g}"


def _priced_on(linted: LintedOffer) -> tuple[date, str, int]:
    """Day of the price, the day it is judged at in words, and days between them."""
    judged, age = (
        f"the study's date {linted.study_date}",
        (linted.study_date - (linted.offer.as_of or linted.prices.as_of)).days,
    )
    return linted.offer.as_of or linted.prices.as_of, judged, age


def stale(linted: LintedOffer) -> Iterator[str]:
    """A price older than its list allows."""
    day, judged, age = _priced_on(linted)
    limit = linted.prices.max_age_days
    if limit is not None and age > limit:
        yield f"price of {day} is {age} days old at {judged}; the limit is {limit}"


def future_date(linted: LintedOffer) -> Iterator[str]:
    """A price of a day to come."""
    day, judged, age = _priced_on(linted)
    if age < -AHEAD_DAYS:
        yield f"price of {day} is dated {-age} days after {judged}"


def expired(linted: LintedOffer) -> Iterator[str]:
    """An offer whose last day is past."""
    if has_ended(linted.offer, linted.study_date):
        yield f"the offer ended on {linted.offer.until}, before {_priced_on(linted)[1]}; ask for it again"


def stale_rate(linted: LintedOffer) -> Iterator[str]:
    """An exchange rate of another month than the price."""
    rate, (day, _, _) = exchange_rate(linted.offer, linted.prices), _priced_on(linted)
    if rate is not None and abs((rate.as_of - day).days) > RATE_AGE_DAYS:
        yield f"price of {day} converted with a {rate.currency} rate of {rate.as_of}"


def missing_source(linted: LintedOffer) -> Iterator[str]:
    """A source that names none."""
    source = source_of(linted.offer, linted.prices)
    if PLACEHOLDERS.match(source):
        yield f"the source is '{source}', which names none"


# ------------------------------------------------------------------------------------------------- rules about a list

# Prices a device of one family may differ by this: large machines are cheaper (Lambda, 8 devices: 10 %). Of two
# machines more is usual. Spot prices are made by the market machine by machine, so that their families say nothing.
FAMILY, FAMILY_OF_TWO = 0.12, 0.25
SAME = 0.005  # prices that are equal but for rounding
AGREES = 0.06  # prices a device that count as one price
PER_VCPU = 0.06
MOST = 0.8  # of a list

Remark = tuple[str, str, str]
"""The instance (or '' for the list), the message and the source of a finding of a list."""


def all_far_off(rows: Sequence[LintedOffer]) -> Iterator[Remark]:
    """A whole list in another unit: all prices far off on one side."""
    compared = [row for row in rows if row.is_rental and row.units]
    factors = [factor for row in compared if (factor := _far_factor(row)) is not None]
    if len(factors) > 1 and len(factors) >= MOST * len(compared) and len({factor > 1 for factor in factors}) == 1:
        count = f"all {len(factors)}" if len(factors) == len(compared) else f"{len(factors)} of {len(compared)}"
        low, high = (f"{end:.3g}" if end >= 1 else f"1/{1 / end:.3g} of" for end in (min(factors), max(factors)))
        words = f"{count} prices are far off: {low} to {high} the known level{_factor_hint(statistics.median(factors))}"
        yield "", words, source_of(compared[0].offer, compared[0].prices)


def flat_prices(rows: Sequence[LintedOffer]) -> Iterator[Remark]:
    """A price that does not grow with the devices."""
    for family in _families(rows):
        if _is_flat(family):
            counts = sorted({int(row.units) for row in family})
            words = f"{', '.join(map(str, counts[:-1]))} and {counts[-1]} x {family[0].unit} all cost "
            words += f"{family[0].usd:.4g} an hour: the price of one device?"
            for row in family:
                yield row.name, words, source_of(row.offer, row.prices)


def on_demand_equals_spot(rows: Sequence[LintedOffer]) -> Iterator[Remark]:
    """A list in which on demand costs what spot does, machine by machine."""
    both = [row for row in rows if _paid_share(row) is not None]
    if len(both) > 1 and all(abs((_paid_share(row) or 0) - 1) < 1e-6 for row in both):
        words = f"on demand costs what spot does on all {len(both)} machines: a lowest bid, or a column copied?"
        yield "", words, source_of(both[0].offer, both[0].prices)


def family_disagrees(rows: Sequence[LintedOffer]) -> Iterator[Remark]:
    """Machines of one provider, device and shape whose prices a device differ; nobody can say which is wrong."""
    for family in _families(rows):
        prices = sorted(row.usd_per_unit for row in family)
        limit, cents = FAMILY if len(family) > 2 else FAMILY_OF_TWO, max(CENT / row.units for row in family)
        off = prices[-1] > prices[0] * (1 + limit) + cents
        if off and not family[0].is_interruptible and not _is_flat(family):
            words = f"prices a {family[0].unit} disagree: {_price_groups(family)}"
            for row in family:
                yield row.name, words, source_of(row.offer, row.prices)


def machine_per_vcpu(rows: Sequence[LintedOffer]) -> Iterator[Remark]:
    """The machine of a composition, per vCPU, against the others of its family (`n1-standard-*`)."""
    families: dict[str, dict[str, tuple[float, float, LintedOffer]]] = {}
    for row in rows:
        if row.offer.compose is not None:
            machine = row.offer.compose.machine
            ending = re.search(r"^(.*\D)(\d+)$", machine.name)
            vcpus = machine.vcpus or (int(ending[2]) if ending else 0)
            if vcpus:
                family = families.setdefault(ending[1] if ending else machine.name, {})
                family[machine.name] = (machine.per_hour.value, float(vcpus), row)
    for family in families.values():
        for name, (price, size, row) in family.items():
            others = [usd / count for other, (usd, count, _) in family.items() if other != name]
            usual = statistics.median(others) if len(others) > 1 else price / size
            if max(others, default=usual) > (1 + PER_VCPU) * min(others, default=usual):
                continue
            if abs(price / size / usual - 1) > PER_VCPU and abs(price - usual * size) > CENT:
                compose = row.offer.compose
                gpus = compose.count * compose.gpu.per_hour.value if compose is not None else 0.0
                words = (
                    f"{name} at {price:g} an hour is {price / size:.4g} a vCPU; the others of its family are "
                    f"{usual:.4g}, which makes {usual * size:.4g} (with its accelerators {usual * size + gpus:.4g}, "
                    f"not {price + gpus:.4g})"
                )
                yield row.name, words, source_of(row.offer, row.prices)


def _families(rows: Sequence[LintedOffer]) -> list[list[LintedOffer]]:
    """Rentals with devices by provider, device, purchase and vCPUs a device; at least two of them.

    Where a machine does not say its vCPUs, two prices at one number of devices show that there are several shapes, of
    which nobody can say which is which: such a family is left out.
    """
    groups: dict[tuple[object, ...], list[LintedOffer]] = {}
    for row in rows:
        if row.is_rental and not is_processor(row.machine) and row.usd > 0 and row.offer.compose is None:
            shape = tuple(
                None if size is None else round(size / row.units, 1)
                for size in (row.machine.vcpus, row.machine.memory_gib)
            )
            group = (row.machine.provider, row.unit, row.offer.purchase, *shape)
            groups.setdefault(group, []).append(row)
    return [group for group in groups.values() if len(group) > 1 and not _is_mixed(group)]


def _is_mixed(family: Sequence[LintedOffer]) -> bool:
    by_count: dict[float, list[float]] = {}
    for row in family:
        by_count.setdefault(row.units, []).append(row.usd)
    return any(max(prices) > min(prices) * (1 + AGREES) for prices in by_count.values())


def _is_flat(family: Sequence[LintedOffer]) -> bool:
    prices = [row.usd for row in family]
    return len({row.units for row in family}) > 1 and max(prices) <= min(prices) * (1 + SAME)


def _price_groups(family: Sequence[LintedOffer]) -> str:
    """The prices a device with how often and where: `1.9 once (n12), 2.47 twice (n24, n48)`."""
    groups: list[list[LintedOffer]] = []
    for row in sorted(family, key=lambda row: row.usd_per_unit):
        if not groups or row.usd_per_unit > groups[-1][0].usd_per_unit * (1 + AGREES):
            groups.append([])
        groups[-1].append(row)
    often = {1: "once", 2: "twice"}
    return ", ".join(
        f"{group[0].usd_per_unit:.4g} {often.get(len(group), f'{len(group)} times')} "
        f"({', '.join(row.name for row in group)})"
        for group in groups
    )


# -------------------------------------------------------------------------------------------------------- the tables

ListRule = Callable[[Sequence[LintedOffer]], Iterator[Remark]]
OfferRule = Callable[[LintedOffer], Iterator[str]]
LIST_RULES: tuple[tuple[str, ListRule], ...] = (
    ("per_vcpu", machine_per_vcpu),
    ("market_level", all_far_off),
    ("flat_prices", flat_prices),
    ("on_demand_equals_spot", on_demand_equals_spot),
    ("family_disagrees", family_disagrees),
)
# Rules whose message names the machine; before the others it is put.
NAMED_RULES: tuple[OfferRule, ...] = (market_level, price_of_one_device, known_machine, device_count_differs)
OFFER_RULES: tuple[OfferRule, ...] = (
    own_power, own_electricity, own_months, own_days, own_purchase, spot_terms, spot_above_on_demand, spot_far_below,
    discount_is_fraction_paid, text_against_table, reserved_above_on_demand, stale, future_date, expired, stale_rate,
    missing_source,
)  # fmt: skip
NOTES = frozenset({"spot_terms"})


def lint(
    prices: PriceList,
    offers: pd.DataFrame,
    instances: Mapping[str, Instance],
    study_date: date,
    month_days: float,
) -> list[Finding]:
    """All findings of a price list.

    Parameters
    ----------
    prices : PriceList
        The list.
    offers : DataFrame
        `offers_in_usd` of the list, with months of `month_days`.
    instances : mapping of str to Instance
        The machines by name.
    study_date : date
        The day at which the age of a price is judged.
    month_days : float
        Days of a month.

    Returns
    -------
    list of Finding
        Findings of the list first. What shows only when an offer is priced stands in `offer_findings`.
    """
    rows = [
        LintedOffer(offer, row, prices, instances[offer.instance], month_days, study_date)
        for offer, row in zip(prices.offers, offers.to_dict("records"), strict=True)
    ]
    found = [Finding("warning", name, *remark) for name, rule in LIST_RULES for remark in rule(rows)]
    whole_list = any(finding.rule == "market_level" for finding in found)  # that all prices are off says it all
    for row in rows:
        source = source_of(row.offer, prices)
        for rule in () if whole_list else NAMED_RULES:
            found += [Finding("warning", rule.__name__, row.name, message, source) for message in rule(row)]
        for rule in OFFER_RULES:
            severity = "note" if rule.__name__ in NOTES else "warning"
            found += [
                Finding(severity, rule.__name__, row.name, f"{row.name}: {message}", source) for message in rule(row)
            ]
    return found


def offer_findings(row: Row) -> list[Finding]:
    """What shows only when an offer is priced: findings of one row of the offers, which touch no other offer."""
    name, found = row["instance"], []
    if row["purchase"] in ("reserved", "committed") and pd.notna(row.get("on_demand_usd_per_hour")):
        earned, use = row.get("earning_days_per_month"), row["days_per_month"]
        if pd.isna(earned) or use < earned:
            needed = "no use within a month" if pd.isna(earned) else f"{earned:.1f} days a month"
            words = f"{name}: {row['purchase']} at {use:.4g} days a month is not earned; it takes {needed}"
            found.append(Finding("warning", "not_earned", name, words, row["source"]))
    if row.get("spot_beats_on_demand") is False:
        words = f"{name}: interruptions make {row['purchase']} dearer than on demand for a long job"
        found.append(Finding("warning", "spot_loses", name, words, row["source"]))
    return found


def warnings_of(row: Row, listed: Iterable[Finding]) -> list[dict[str, str]]:
    """The warnings of one offer: findings of the list about its instance or the whole list, and its own."""
    touching = [finding for finding in listed if finding.instance in ("", row["instance"])]
    severe = [finding for finding in [*touching, *offer_findings(row)] if finding.severity == "warning"]
    return joined([warning(finding.rule, finding.message) for finding in severe])
