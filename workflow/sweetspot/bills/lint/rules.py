"""The price lint: bounds that refuse a price list, and one table of rules that warn about it."""

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
    device_count,
    device_key,
    highest_rent,
    list_prices,
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
    """One remark about an instance, or about the whole list if that is ''."""

    severity: str  # warning or note
    rule: str
    instance: str
    message: str
    source: str


LINT_COLUMNS = Finding._fields


class Bounds(NamedTuple):
    """Lowest, usual and highest value of one device, and the factors of usual slips of the unit."""

    low: float
    usual: float
    high: float
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
    "kw": Bounds(0.02, 0.5, 4.0, (1000,)),
    "price": Bounds(10.0, 3000.0, 400_000.0, (1000, 100)),
    "per_hour": Bounds(0.01, 1.0, 100.0, (732, 100)),
    "per_month": Bounds(7.0, 730.0, 73_000.0, (732, 1000, 100)),
    "per_kwh": Bounds(0.005, 0.2, 3.0, (100, 1000)),
}
"""By what a figure says, of one device and in USD: W for kW, cents, the hours of a month."""


def check_possible(prices: PriceList, instances: Mapping[str, Instance], path: str, numbers: Iterable[int]) -> None:
    """Refuse purchases, powers and rents that no machine has.

    Parameters
    ----------
    prices
        The price list; an offer in a currency without a rate is not checked.
    instances
        Machines by name.
    path
        The file that the sentences name.
    numbers
        Position of each offer in the file.

    Raises
    ------
    UserError
        With one sentence for each value.
    """
    currencies = {"USD", *(rate.currency for rate in prices.rates)}
    sentences = []
    for number, offer in zip(numbers, prices.offers, strict=True):
        if (offer.currency or prices.currency) not in currencies:
            continue
        machine = instances[offer.instance]
        for key, amount, limits, scale, known in _bounded_amounts(offer, prices, machine):
            for value in dict.fromkeys((amount.value, *amount.ends)):
                if value and not limits.holds(value * scale):  # 0 means unknown, or already owned.
                    sentences.append(
                        f"{path}: offers[{number}].{key} is {value:,.10g} for {machine.gpus} x {machine.gpu}, which "
                        f"cannot be; {limits.meant(value, scale, known)}"
                    )
    refuse(sentences)


def _bounded_amounts(
    offer: Offer, prices: PriceList, machine: Instance
) -> Iterator[tuple[str, Amount, Bounds, float, PriceRange | None]]:
    """Yield key, amount, bounds, the factor to USD of one device, and the known price of a device."""
    money, device, own = usd_per_unit(offer, prices)[0], device_key(machine.gpu), offer.own
    if own is not None:
        yield "own.kw", own.kw, BOUNDS["kw"], 1 / machine.gpus, None
        yield "own.capex", own.capex, BOUNDS["price"], money / machine.gpus, purchase_of(device)
        yield "own.per_kwh", own.per_kwh, BOUNDS["per_kwh"], money, None
    if is_processor(machine) or machine.gpu == "none":  # An hour of a processor may cost next to nothing.
        return
    rent = rent_of(device, (offer.as_of or prices.as_of).year)
    monthly = None if rent is None else PriceRange(rent.low * 730, rent.high * 730)
    for unit, hours in RATE_HOURS.items():
        amount = getattr(offer, unit)
        if amount is None:
            continue
        if hours is None:
            yield unit, amount, BOUNDS["per_month"], money / machine.gpus, monthly
        else:
            yield unit, amount, BOUNDS["per_hour"], money / machine.gpus / hours, rent


def is_processor(machine: Instance) -> bool:
    """True if the machine has no devices but its processor, and is priced by the vCPU."""
    return machine.gpu.upper().startswith("CPU")


@dataclass(frozen=True)
class LintedOffer:
    """An offer with its row of the offers table, its list, its machine and the dates that count."""

    offer: Offer
    row: Mapping[str, Any]
    prices: PriceList
    machine: Instance
    month_days: float
    study_date: date

    @property
    def name(self) -> str:
        """Name of the machine."""
        return self.offer.instance

    @property
    def source(self) -> str:
        """Source of the offer, or that of its list."""
        return self.offer.source or self.prices.source

    @property
    def day(self) -> date:
        """Day of the price."""
        return self.offer.as_of or self.prices.as_of

    @property
    def age_days(self) -> int:
        """Days from the price to the study's date."""
        return (self.study_date - self.day).days

    @property
    def usd(self) -> float:
        """USD per hour of the machine."""
        return float(self.row["usd_per_hour"])

    @property
    def unit(self) -> str:
        """What the price is compared by: a vCPU, or a device."""
        return "vCPU" if is_processor(self.machine) else self.machine.gpu

    @property
    def units(self) -> float:
        """Number of vCPUs (0 if unknown) or devices."""
        return float((self.machine.vcpus or 0) if is_processor(self.machine) else self.machine.gpus)

    @property
    def usd_per_unit(self) -> float:
        """USD per hour of one device or vCPU."""
        return self.usd / self.units if self.units else self.usd

    @property
    def is_rental(self) -> bool:
        """True if it is rented without a commitment."""
        return self.offer.own is None and self.offer.commitment is None

    @property
    def is_interruptible(self) -> bool:
        """True for spot and preemptible machines."""
        return self.offer.purchase in INTERRUPTIBLE

    @property
    def share_paid(self) -> float:
        """Spot price over the on-demand price; NaN if either is missing."""
        on_demand = self.row.get("on_demand_usd_per_hour")
        return self.usd / on_demand if self.is_interruptible and on_demand else math.nan

    @property
    def market(self) -> PriceRange:
        """Known USD per hour of one unit; up to the most expensive device if the device is unknown."""
        if is_processor(self.machine):
            vcpu = vcpu_rent()
            # Spot prices of processors go down to a tenth.
            return PriceRange(vcpu.low / 10, vcpu.high) if self.is_interruptible else vcpu
        device = device_key(self.machine.gpu)
        on_demand = rent_of(device, self.day.year)
        if on_demand is None:
            return PriceRange(0.0, highest_rent())
        spot = rent_of(device, self.day.year, spot=True) if self.is_interruptible else None
        return PriceRange(min(on_demand.low, spot.low), on_demand.high) if spot else on_demand

    @property
    def price_and_market(self) -> str:
        """The price of the machine and of one unit beside the known range."""
        known = f"known prices are {self.market.low:.3g} to {self.market.high:.3g}"
        return f"{self.usd:.4g} an hour is {self.usd_per_unit:.4g} a {self.unit}; {known}"

    @property
    def market_factor(self) -> float | None:
        """Price over the known level if it is far beyond it, otherwise None."""
        if not self.is_rental or not self.units:
            return None
        known = self.market
        tolerance = MARKET_TOLERANCE if known.high >= 2 * known.low else MARKET_TOLERANCE_OF_FEW
        if known.low / tolerance <= self.usd_per_unit <= known.high * tolerance:
            return None
        return self.usd_per_unit / math.sqrt(max(known.low, 0.01 * known.high) * known.high)


# Markets differ by region, form and provider; only prices beyond four times the known range are remarkable. Where
# known prices are all equal they come from one or two providers, and others may ask a twelfth.
MARKET_TOLERANCE, MARKET_TOLERANCE_OF_FEW = 4.0, 12.0
# Unit mistakes by their factor; one explains a price that is half to twice as far off.
UNIT_FACTORS = {100: "cents", 24: "the price of a day", 168: "the price of a week", 730: "the price of a month"}
FACTOR_TOLERANCE = 2.0
# Share of a list's prices that must be far off on one side for a remark about the list instead of each offer.
WHOLE_LIST_SHARE = 0.8
# Regions of one provider ask 0.95 to 2.1 times the usual place; contracts and sales half.
LIST_PRICE_RANGE = (0.4, 2.5)
# AWS and Google give discounts of at most 90 % and 91 % on spot machines, Azure 95 % on some without devices.
LEAST_SPOT_SHARE, LEAST_SPOT_SHARE_OF_PROCESSORS = 0.08, 0.04
CENT = 0.005
PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
RATE_AGE_DAYS = 31
# A study may take a price of the week after it; later ones were not known at its date.
FUTURE_DAYS = 7
# Discounts are printed in whole percent, and the price behind one is rounded too.
DISCOUNT_ROUNDING = 0.0101
# Owned machines: shares of the known power of a device, plus its share of the host; kW of any device.
POWER_SHARES, HOST_KW, MOST_KW = (0.2, 2.0), 0.6, 5.0
USD_PER_KWH, SERVICE_MONTHS, LEAST_DAYS = (0.02, 1.0), (6.0, 120.0), 1.0
# Second hand a device costs half and less; host, chassis and warranty of some of the best devices cost more.
PURCHASE_SHARES, HOST_USD, PURCHASE_USD = (0.4, 4.0), 5000.0, (50.0, 300_000.0)
VCPU_TOLERANCE = 0.06
# Share of the lowest known price per device below which the price of the machine may be that of one device.
PRICE_OF_ONE_SHARE = 0.5
DEVICES_OF_LARGE_MACHINE = 8
# Prices per device of one family differ by this at most: large machines cost less (Lambda, 8 devices: 10 %). Of two
# machines more is usual. Spot prices are made machine by machine, so their families say nothing.
FAMILY_TOLERANCE, FAMILY_TOLERANCE_OF_TWO = 0.12, 0.25
ROUNDING, EQUAL_PRICES = 0.005, 0.06


def _unit_hint(factor: float) -> str:
    for known, mistake in UNIT_FACTORS.items():
        if known / FACTOR_TOLERANCE < factor < known * FACTOR_TOLERANCE:
            return f" ({mistake}?)"
    return ""


def _market_level(linted: LintedOffer) -> Iterator[str]:
    factor = linted.market_factor
    if factor is not None:
        yield linted.price_and_market + _unit_hint(factor)


def _known_machine(linted: LintedOffer) -> Iterator[str]:
    known = list_prices(linted.machine.provider, linted.name)
    if not known or linted.usd <= 0 or linted.offer.purchase != "on_demand" or not linted.is_rental:
        return
    usual = min(known, key=lambda price: abs(math.log(linted.usd / price)))
    if not LIST_PRICE_RANGE[0] <= linted.usd / usual <= LIST_PRICE_RANGE[1]:
        message = f"{linted.usd:.4g} an hour is known at {usual:.4g}"
        if linted.units > 1 and abs(linted.usd * linted.units / usual - 1) < 0.25:
            message += (
                f" ({usual / linted.units:.4g} a {linted.unit}): the price of one of its {linted.units:g} devices?"
            )
        yield message


def _price_of_one_device(linted: LintedOffer) -> Iterator[str]:
    """Find the price of one device at a machine of several, or of a large machine at one device."""
    market, count = linted.market, linted.units
    if not linted.is_rental or linted.is_interruptible or is_processor(linted.machine) or market.low <= 0:
        return
    is_low = linted.usd_per_unit < PRICE_OF_ONE_SHARE * market.low and linted.usd <= market.high
    if count > 1 and is_low:
        total = f"{linted.usd * count:.4g} for all"
        yield f"{linted.price_and_market}: the price of one of its {count:g} devices? ({total})"
    per_device = linted.usd / DEVICES_OF_LARGE_MACHINE
    if count == 1 and linted.usd > market.high and market.low <= per_device <= market.high:
        yield f"{linted.price_and_market}: the price of a machine of eight? ({per_device:.4g} for one)"


def _device_count_differs(linted: LintedOffer) -> Iterator[str]:
    """Find another number of devices than the machine's name states."""
    count, machine = device_count(linted.name), linted.machine
    if count is not None and count != machine.gpus and not is_processor(machine) and linted.is_rental:
        yield (
            f"its name means {count} x {machine.gpu}, here are {machine.gpus}; at {linted.usd:.4g} an hour that makes "
            f"{linted.usd / count:.4g} each"
        )


def _own_power(linted: LintedOffer) -> Iterator[str]:
    own, gpus = linted.offer.own, linted.machine.gpus
    if own is None or not own.kw.value:  # 0 means unknown power.
        return
    known, low, high = power_of(device_key(linted.machine.gpu)), 0.0, MOST_KW
    if known is not None:
        low = POWER_SHARES[0] / 1000 * known.low
        high = POWER_SHARES[1] / 1000 * known.high + HOST_KW / gpus
    kw = own.kw.value
    if not low <= kw / gpus <= high:
        yield (f"{kw:g} kW is {kw / gpus:.3g} a {linted.machine.gpu}, host included; expected {low:.2g} to {high:.2g}")


def _own_electricity(linted: LintedOffer) -> Iterator[str]:
    usd, (low, high) = linted.row["usd_per_kwh"], USD_PER_KWH
    if usd > 0 and not low <= usd <= high:
        yield f"{usd:g} USD a kWh; electricity costs {low:g} to {high:g}"


def _own_months(linted: LintedOffer) -> Iterator[str]:
    if linted.offer.own is not None:
        low, high = linted.offer.own.months.ends
        months = low if low < SERVICE_MONTHS[0] else high
        if not SERVICE_MONTHS[0] <= months <= SERVICE_MONTHS[1]:
            usual = f"{SERVICE_MONTHS[0]:g} to {SERVICE_MONTHS[1]:g}"
            yield f"written off over {months:g} months; machines are used {usual}"


def _own_days(linted: LintedOffer) -> Iterator[str]:
    days = math.inf if linted.offer.own is None else linted.offer.own.days_per_month.ends[0]
    if days < LEAST_DAYS:
        yield f"{days:g} days of use a month, less than a day of 24 hours (a share of the month?)"


def _own_purchase(linted: LintedOffer) -> Iterator[str]:
    usd, gpu, gpus = linted.row["capex_usd"], linted.machine.gpu, linted.machine.gpus
    known, (low, high) = purchase_of(device_key(gpu)), PURCHASE_USD
    if known is not None:
        low, high = PURCHASE_SHARES[0] * known.low, PURCHASE_SHARES[1] * known.high + HOST_USD / gpus
    if usd > 0 and not low <= usd / gpus <= high:  # 0 means that it is owned already.
        yield f"a purchase of {usd:g} USD is {usd / gpus:.4g} a {gpu}; expected {low:.3g} to {high:.3g}"


def _spot_terms(linted: LintedOffer) -> Iterator[str]:
    if linted.is_interruptible and linted.offer.interruptions is None and linted.prices.interruptions is None:
        yield "no interruption rate; its cost assumes none"


def _spot_above_on_demand(linted: LintedOffer) -> Iterator[str]:
    if linted.share_paid > 1:
        yield f"spot at {linted.usd:g} an hour is above on demand at {linted.row['on_demand_usd_per_hour']:g}"


def _spot_far_below(linted: LintedOffer) -> Iterator[str]:
    share = linted.share_paid
    if share < (LEAST_SPOT_SHARE_OF_PROCESSORS if is_processor(linted.machine) else LEAST_SPOT_SHARE):
        on_demand = linted.row["on_demand_usd_per_hour"]
        yield f"spot at {linted.usd:g} an hour is {share:.1%} of on demand at {on_demand:g} (the lowest bid?)"


def _discount_is_fraction_paid(linted: LintedOffer) -> Iterator[str]:
    share = linted.share_paid
    printed = None if linted.offer.printed is None else linted.offer.printed.discount
    if math.isnan(share) or printed is None or abs(printed - (1 - share)) <= DISCOUNT_ROUNDING:
        return
    if abs(printed - share) <= DISCOUNT_ROUNDING:
        ratio = f"{linted.usd:g}/{linted.row['on_demand_usd_per_hour']:g}"
        yield f"the printed discount of {printed:.0%} is the fraction paid ({ratio}); the discount is {1 - share:.0%}"


def _text_against_table(linted: LintedOffer) -> Iterator[str]:
    """Compare what the source prints with what its own numbers make, in its own currency."""
    offer, printed, share = linted.offer, linted.offer.printed, linted.share_paid
    if printed is None:
        return
    if not math.isnan(share) and printed.discount is not None:
        difference = min(abs(printed.discount - (1 - share)), abs(printed.discount - share))
        if difference > DISCOUNT_ROUNDING:
            yield f"the printed discount of {printed.discount:.0%} does not recompute; it is {1 - share:.0%}"
    if offer.commitment is not None:
        return
    hour = linted.usd / usd_per_unit(offer, linted.prices)[0]
    hours = {"per_hour": 1.0, "per_day": 24.0, "per_week": 168.0, "per_month": 24 * linted.month_days}
    if offer.own is not None:
        hours = {"per_hour": 1.0, "per_month": HOURS_A_DAY * linted.row["days_per_month"]}
    for unit, count in hours.items():
        text, value = getattr(printed, unit), hour * count
        if text is not None and abs(text - value) > max(CENT * 1.01, 0.001 * value):
            yield f"the text says {text:g} {unit.replace('_', ' ')}, its table makes {value:.4f}"


def _reserved_above_on_demand(linted: LintedOffer) -> Iterator[str]:
    """Commitments are judged by their use instead (`not_earned`)."""
    offer = linted.offer
    if offer.purchase in ("reserved", "committed") and offer.commitment is None:
        on_demand = on_demand_price(offer, linted.prices, linted.month_days)
        if linted.usd > on_demand:
            yield f"{offer.purchase} at {linted.usd:g} an hour is above on demand at {on_demand:g}"


def _stale(linted: LintedOffer) -> Iterator[str]:
    limit = linted.prices.max_age_days
    if limit is not None and linted.age_days > limit:
        yield (
            f"price of {linted.day} is {linted.age_days} days old at the study's date {linted.study_date}; "
            f"the limit is {limit}"
        )


def _future_date(linted: LintedOffer) -> Iterator[str]:
    if linted.age_days < -FUTURE_DAYS:
        yield f"price of {linted.day} is dated {-linted.age_days} days after the study's date {linted.study_date}"


def _expired(linted: LintedOffer) -> Iterator[str]:
    if has_ended(linted.offer, linted.study_date):
        yield f"the offer ended on {linted.offer.until}, before the study's date {linted.study_date}; ask for it again"


def _stale_rate(linted: LintedOffer) -> Iterator[str]:
    rate = exchange_rate(linted.offer, linted.prices)
    if rate is not None and abs((rate.as_of - linted.day).days) > RATE_AGE_DAYS:
        yield f"price of {linted.day} converted with a {rate.currency} rate of {rate.as_of}"


def _missing_source(linted: LintedOffer) -> Iterator[str]:
    if PLACEHOLDERS.match(linted.source):
        yield f"the source is '{linted.source}', which names none"


OFFER_RULES: Mapping[str, Callable[[LintedOffer], Iterator[str]]] = {
    "market_level": _market_level,
    "known_machine": _known_machine,
    "price_of_one_device": _price_of_one_device,
    "device_count_differs": _device_count_differs,
    "own_power": _own_power,
    "own_electricity": _own_electricity,
    "own_months": _own_months,
    "own_days": _own_days,
    "own_purchase": _own_purchase,
    "spot_terms": _spot_terms,
    "spot_above_on_demand": _spot_above_on_demand,
    "spot_far_below": _spot_far_below,
    "discount_is_fraction_paid": _discount_is_fraction_paid,
    "text_against_table": _text_against_table,
    "reserved_above_on_demand": _reserved_above_on_demand,
    "stale": _stale,
    "future_date": _future_date,
    "expired": _expired,
    "stale_rate": _stale_rate,
    "missing_source": _missing_source,
}
# Skipped where the whole list is off.
MARKET_RULES = ("market_level", "known_machine", "price_of_one_device", "device_count_differs")
NOTES = ("spot_terms",)


def _list_in_another_unit(rows: Sequence[LintedOffer]) -> Iterator[Finding]:
    """Find a list whose prices are far off on one side."""
    compared = [row for row in rows if row.is_rental and row.units]
    factors = [factor for row in compared if (factor := row.market_factor) is not None]
    one_side = len({factor > 1 for factor in factors}) == 1
    if len(factors) > 1 and len(factors) >= WHOLE_LIST_SHARE * len(compared) and one_side:
        count = f"all {len(factors)}" if len(factors) == len(compared) else f"{len(factors)} of {len(compared)}"
        low, high = (f"{end:.3g}" if end >= 1 else f"1/{1 / end:.3g} of" for end in (min(factors), max(factors)))
        hint = _unit_hint(statistics.median(factors))
        message = f"{count} prices are far off: {low} to {high} the known level{hint}"
        yield Finding("warning", "market_level", "", message, compared[0].source)


def _host_price_per_vcpu(rows: Sequence[LintedOffer]) -> Iterator[Finding]:
    """Compare the hosts of composed machines with the others of their family (`n1-standard-*`), per vCPU."""
    families: dict[str, dict[str, tuple[float, float, LintedOffer]]] = {}
    for row in rows:
        if row.offer.compose is not None:
            host = row.offer.compose.machine
            match = re.search(r"^(.*\D)(\d+)$", host.name)
            host_vcpus = host.vcpus or (int(match[2]) if match else 0)
            if host_vcpus:
                family = families.setdefault(match[1] if match else host.name, {})
                family[host.name] = (host.per_hour.value, float(host_vcpus), row)
    for family in families.values():
        for name, (price, vcpus, row) in family.items():
            others = [usd / count for other_name, (usd, count, _) in family.items() if other_name != name]
            usual = statistics.median(others) if len(others) > 1 else price / vcpus
            if max(others, default=usual) > (1 + VCPU_TOLERANCE) * min(others, default=usual):
                continue
            compose = row.offer.compose
            if compose is not None and abs(price / vcpus / usual - 1) > VCPU_TOLERANCE:
                expected, accelerators = usual * vcpus, compose.count * compose.gpu.per_hour.value
                message = (
                    f"{name} at {price:g} an hour is {price / vcpus:.4g} a vCPU; the others of its family are "
                    f"{usual:.4g}, which makes {expected:.4g} (with its accelerators {expected + accelerators:.4g}, "
                    f"not {price + accelerators:.4g})"
                )
                if abs(price - expected) > CENT:
                    yield Finding("warning", "per_vcpu", row.name, message, row.source)


def _flat_prices(rows: Sequence[LintedOffer]) -> Iterator[Finding]:
    """Find prices that do not grow with the number of devices."""
    for family in _families(rows):
        if _is_flat(family):
            counts = sorted({int(row.units) for row in family})
            message = (
                f"{', '.join(map(str, counts[:-1]))} and {counts[-1]} x {family[0].unit} all cost "
                f"{family[0].usd:.4g} an hour: the price of one device?"
            )
            for row in family:
                yield Finding("warning", "flat_prices", row.name, message, row.source)


def _on_demand_equals_spot(rows: Sequence[LintedOffer]) -> Iterator[Finding]:
    """Find a list in which every machine costs on demand what it costs as spot."""
    compared = [row for row in rows if not math.isnan(row.share_paid)]
    if len(compared) > 1 and all(abs(row.share_paid - 1) < 1e-6 for row in compared):
        message = f"on demand costs what spot does on all {len(compared)} machines: a lowest bid, or a column copied?"
        yield Finding("warning", "on_demand_equals_spot", "", message, compared[0].source)


def _family_disagrees(rows: Sequence[LintedOffer]) -> Iterator[Finding]:
    """Find machines of one provider, device and shape with different prices per device; nobody says which is wrong."""
    for family in _families(rows):
        prices = sorted(row.usd_per_unit for row in family)
        tolerance = FAMILY_TOLERANCE if len(family) > 2 else FAMILY_TOLERANCE_OF_TWO
        limit = prices[0] * (1 + tolerance) + max(CENT / row.units for row in family)
        if prices[-1] > limit and not family[0].is_interruptible and not _is_flat(family):
            message = f"prices a {family[0].unit} disagree: {_price_groups(family)}"
            for row in family:
                yield Finding("warning", "family_disagrees", row.name, message, row.source)


def _families(rows: Sequence[LintedOffer]) -> list[list[LintedOffer]]:
    """Group rentals with devices by provider, device, purchase and size per device; families of at least two.

    Where a machine does not state its size, two prices at one number of devices mean several shapes, of which nobody
    can say which is which: such a family is left out.
    """
    families: dict[tuple[object, ...], list[LintedOffer]] = {}
    for row in rows:
        if row.is_rental and not is_processor(row.machine) and row.usd > 0 and row.offer.compose is None:
            sizes = (row.machine.vcpus, row.machine.memory_gib)
            per_device = tuple(None if size is None else round(size / row.units, 1) for size in sizes)
            key = (row.machine.provider, row.unit, row.offer.purchase, *per_device)
            families.setdefault(key, []).append(row)
    return [family for family in families.values() if len(family) > 1 and not _has_several_shapes(family)]


def _has_several_shapes(family: Sequence[LintedOffer]) -> bool:
    prices_by_count: dict[float, list[float]] = {}
    for row in family:
        prices_by_count.setdefault(row.units, []).append(row.usd)
    return any(max(prices) > min(prices) * (1 + EQUAL_PRICES) for prices in prices_by_count.values())


def _is_flat(family: Sequence[LintedOffer]) -> bool:
    prices = [row.usd for row in family]
    return len({row.units for row in family}) > 1 and max(prices) <= min(prices) * (1 + ROUNDING)


def _price_groups(family: Sequence[LintedOffer]) -> str:
    """Name the prices per device and their machines, e.g. '1.9 once (n12), 2.47 twice (n24, n48)'."""
    groups: list[list[LintedOffer]] = []
    for row in sorted(family, key=lambda row: row.usd_per_unit):
        if not groups or row.usd_per_unit > groups[-1][0].usd_per_unit * (1 + EQUAL_PRICES):
            groups.append([])
        groups[-1].append(row)
    times = {1: "once", 2: "twice"}
    return ", ".join(
        f"{group[0].usd_per_unit:.4g} {times.get(len(group), f'{len(group)} times')} "
        f"({', '.join(row.name for row in group)})"
        for group in groups
    )


LIST_RULES = (_host_price_per_vcpu, _flat_prices, _on_demand_equals_spot, _family_disagrees)


def lint(
    prices: PriceList,
    offers: pd.DataFrame,
    instances: Mapping[str, Instance],
    study_date: date,
    month_days: float,
) -> list[Finding]:
    """Return all findings of a price list, those about several offers first.

    Parameters
    ----------
    prices
        The price list.
    offers
        As `offers_in_usd` returns them for the list, with months of `month_days`.
    instances
        Machines by name.
    study_date
        Date at which the age of a price is judged.
    month_days
        Days of a month.
    """
    rows = [
        LintedOffer(offer, row, prices, instances[offer.instance], month_days, study_date)
        for offer, row in zip(prices.offers, offers.to_dict("records"), strict=True)
    ]
    whole_list = list(_list_in_another_unit(rows))
    findings = [finding for rule in LIST_RULES for finding in rule(rows)] + whole_list
    for row in rows:
        for name, rule in OFFER_RULES.items():
            if whole_list and name in MARKET_RULES:
                continue
            severity = "note" if name in NOTES else "warning"
            findings += [Finding(severity, name, row.name, f"{row.name}: {text}", row.source) for text in rule(row)]
    return findings


def offer_findings(row: Mapping[str, Any]) -> list[Finding]:
    """Return what shows only when an offer is priced: findings of one row of the offers table."""
    name, purchase, findings = row["instance"], row["purchase"], []
    if purchase in ("reserved", "committed") and pd.notna(row.get("on_demand_usd_per_hour")):
        earned, days = row.get("earning_days_per_month"), row["days_per_month"]
        if pd.isna(earned) or days < earned:
            needed = "no use within a month" if pd.isna(earned) else f"{earned:.1f} days a month"
            message = f"{name}: {purchase} at {days:.4g} days a month is not earned; it takes {needed}"
            findings.append(Finding("warning", "not_earned", name, message, row["source"]))
    if row.get("spot_beats_on_demand") is False:
        message = f"{name}: interruptions make {purchase} dearer than on demand for a long job"
        findings.append(Finding("warning", "spot_loses", name, message, row["source"]))
    return findings


def warnings_of(row: Mapping[str, Any], findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return the warnings of one offer: findings about its instance or the whole list, and its own."""
    relevant = [finding for finding in findings if finding.instance in ("", row["instance"])]
    severe = [finding for finding in [*relevant, *offer_findings(row)] if finding.severity == "warning"]
    return joined([warning(finding.rule, finding.message) for finding in severe])
