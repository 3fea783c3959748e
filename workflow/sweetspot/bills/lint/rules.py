"""All findings of a price list, by offer, family and market; and figures that cannot be, which are refused."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from sweetspot.bills.columns import triple
from sweetspot.bills.lint.families import (
    CENT,
    LEAST_SHARE,
    LEAST_SHARE_OF_PROCESSORS,
    Finding,
    Machines,
    is_processor,
    machine_per_vcpu,
    rented_offers,
    within_families,
)
from sweetspot.bills.lint.known import Level, device_key, power_of, purchase_of
from sweetspot.bills.lint.market import against_market
from sweetspot.bills.offer_prices import Row, age_days, has_ended, on_demand_hour, rate_used, source_of, to_usd
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Amount, Own
from sweetspot.warnings import joined, warning


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
    money, devices, own = to_usd(offer, prices)[0], machine.gpus, offer.own
    told: list[tuple[str, Amount, Bounds, float]] = []
    if own is not None:
        told += [("own.kw", own.kw, BOUNDS["kw"], 1 / devices),
                 ("own.capex", own.capex, BOUNDS["price"], money / devices),
                 ("own.per_kwh", own.per_kwh, BOUNDS["per_kwh"], money)]  # fmt: skip
    if not is_processor(machine) and machine.gpu != "none":  # a processor's hour may cost next to nothing
        told += [
            (unit, rate, BOUNDS["per_month" if hours is None else "per_hour"], money / devices / (hours or 1.0))
            for unit, hours in RATE_HOURS.items()
            if (rate := getattr(offer, unit)) is not None
        ]
    for key, amount, bounds, scale in told:
        for figure in dict.fromkeys((amount.value, *amount.ends)):
            yield key, figure, bounds, scale


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
LINT_COLUMNS = Finding._fields


class Seen(NamedTuple):
    """An offer as a reader sees it: in its list, with its row of the offers, on the days that count."""

    offer: Offer
    row: Row
    prices: PriceList
    machine: Instance
    month_days: float
    study_date: date
    today: date


Told = Iterator[tuple[str, str]]  # rule and words; a rule that begins with `note:` is a note, else a warning


def lint(
    prices: PriceList,
    offers: Sequence[Row],
    instances: Machines,
    study_date: date,
    month_days: float,
    today: date | None = None,
) -> list[Finding]:
    """All findings of a price list, in the order of the rules; deterministic unless the list says `age_at: today`.

    `offers`: `offer_rows` of the list with months of `month_days`. What shows only when an offer is priced stands in
    `offer_findings`.
    """
    rows, day = list(zip(prices.offers, offers, strict=True)), today or date.today()
    rent = {number: row for number, (offer, row) in enumerate(rows) if offer.own is None and offer.commitment is None}
    cheap = {
        row["instance"]
        for row in rent.values()
        if row["on_demand_usd_per_hour"] and row["usd_per_hour"] / row["on_demand_usd_per_hour"] < LEAST_SHARE
    }
    rented = rented_offers(prices, instances, {number: row["usd_per_hour"] for number, row in rent.items()})
    found = [*machine_per_vcpu(prices), *within_families(rented, cheap), *against_market(rented, prices.source)]
    seen = [Seen(offer, row, prices, instances[offer.instance], month_days, study_date, day) for offer, row in rows]
    return [*found, *_of_each(seen, (_owned,)), *_of_each(seen, (_spot, _reserved, _printed, _age, _source))]


def offer_findings(row: Row) -> list[Finding]:
    """What shows only when an offer is priced: findings of one row of the offers, which touch no other offer."""
    name, found = row["instance"], []
    if row["purchase"] in ("reserved", "committed") and row.get("on_demand_usd_per_hour") is not None:
        earned, use = row.get("earning_days_per_month"), row["days_per_month"]
        if earned is None or use < earned:
            needed = "no use within a month" if earned is None else f"{earned:.1f} days a month"
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


def _of_each(seen: Iterable[Seen], rules: Sequence[Callable[[Seen], Told]]) -> Iterator[Finding]:
    for one in seen:
        for told, words in (pair for rule in rules for pair in rule(one)):
            severity, name = ("note", told.removeprefix("note:")) if told.startswith("note:") else ("warning", told)
            message, source = f"{one.offer.instance}: {words}", source_of(one.offer, one.prices)
            yield Finding(severity, name, one.offer.instance, message, source)


def _owned(seen: Seen) -> Told:
    for rule, found, (low, high), words in _questions(seen, seen.offer.own) if seen.offer.own else ():
        if not low <= found <= high:
            yield rule, words


def _questions(seen: Seen, own: Own) -> Iterator[tuple[str, float, tuple[float, float], str]]:
    """Of a machine owned: rule, a figure, the bounds that it lies between, and what to say where it does not."""
    money, gpu, gpus = to_usd(seen.offer, seen.prices)[0], seen.machine.gpu, seen.machine.gpus
    kw, kwh, usd = own.kw.value, own.per_kwh.value * money, own.capex.value * money
    if kw:  # power that the source does not tell is written as 0: its electricity is left out, not guessed
        bounds = _bounds(power_of(device_key(gpu)), LEAST_POWER / 1000, MOST_POWER / 1000, HOST_KW / gpus)
        low, high = bounds or (0.0, MOST_KW_OF_ANY)
        words = f"{kw:g} kW is {kw / gpus:.3g} a {gpu}, host included; expected {low:.2g} to {high:.2g}"
        yield ("own_power", kw / gpus, (low, high), words)
    if kwh:
        words = f"{kwh:g} USD a kWh; electricity costs {USD_PER_KWH[0]:g} to {USD_PER_KWH[1]:g}"
        yield ("own_electricity", kwh, USD_PER_KWH, words)
    _, least, most = triple(own.months)
    months = least if least < MONTHS[0] else most
    words = f"written off over {months:g} months; machines are used {MONTHS[0]:g} to {MONTHS[1]:g}"
    yield ("own_months", months, MONTHS, words)
    days = own.days_per_month.ends[0]
    words = f"{days:g} days of use a month, less than a day of 24 hours (a share of the month?)"
    yield ("own_days", days, (LEAST_DAYS, math.inf), words)
    if usd:  # 0: it is there already
        bounds = _bounds(purchase_of(device_key(gpu)), LEAST_PURCHASE, MOST_PURCHASE, HOST_USD / gpus)
        low, high = bounds or PURCHASE_OF_ANY
        words = f"a purchase of {usd:g} USD is {usd / gpus:.4g} a {gpu}; expected {low:.3g} to {high:.3g}"
        yield ("own_purchase", usd / gpus, (low, high), words)


def _bounds(known: Level | None, least: float, most: float, host: float) -> tuple[float, float] | None:
    return None if known is None else (least * known.low, most * known.high + host)


def _spot(seen: Seen) -> Told:
    offer = seen.offer
    if offer.purchase not in INTERRUPTIBLE:
        return
    hour, rival = seen.row["usd_per_hour"], seen.row["on_demand_usd_per_hour"]
    if offer.interruptions is None and seen.prices.interruptions is None:
        yield "note:spot_terms", "no interruption rate; its cost assumes none"
    if rival is None:
        return
    paid = hour / rival
    if paid > 1:
        yield "spot_above_on_demand", f"spot at {hour:g} an hour is above on demand at {rival:g}"
    if paid < (LEAST_SHARE_OF_PROCESSORS if is_processor(seen.machine) else LEAST_SHARE):
        yield "spot_far_below", f"spot at {hour:g} an hour is {paid:.1%} of on demand at {rival:g}"
    # The discount that the source prints against what its own prices make.
    said = None if offer.printed is None else offer.printed.discount
    if said is None or abs(said - (1 - paid)) <= DISCOUNT_ROUNDING:
        return
    if abs(said - paid) <= DISCOUNT_ROUNDING:
        words = f"is the fraction paid ({hour:g}/{rival:g}); the discount is {1 - paid:.0%}"
        yield "discount_is_fraction_paid", f"the printed discount of {said:.0%} {words}"
    else:
        yield "text_against_table", f"the printed discount of {said:.0%} does not recompute; it is {1 - paid:.0%}"


def _reserved(seen: Seen) -> Told:
    """A reserved price above the on-demand one; commitments are judged by their use (`not_earned`)."""
    if seen.offer.purchase not in ("reserved", "committed") or seen.offer.commitment is not None:
        return
    hour, rival = seen.row["usd_per_hour"], on_demand_hour(seen.offer, seen.prices, seen.month_days)
    if rival is not None and hour > rival:
        words = f"{seen.offer.purchase} at {hour:g} an hour is above on demand at {rival:g}"
        yield "reserved_above_on_demand", words


def _printed(seen: Seen) -> Told:
    """Text against table: what the source prints against what its own numbers make, in its own currency."""
    offer = seen.offer
    if offer.printed is None or offer.commitment is not None:
        return
    hour, month = seen.row["usd_per_hour"] / to_usd(offer, seen.prices)[0], 24 * seen.month_days
    hours = {"per_hour": 1.0, "per_day": 24.0, "per_week": 168.0, "per_month": month}
    if offer.own is not None:
        hours = {"per_hour": 1.0, "per_month": HOURS_A_DAY * seen.row["days_per_month"]}
    for unit, count in hours.items():
        said, value = getattr(offer.printed, unit), hour * count
        if said is not None and abs(said - value) > max(CENT * 1.01, 0.001 * value):
            words = f"the text says {said:g} {unit.replace('_', ' ')}, its table makes {value:.4f}"
            yield "text_against_table", words


def _age(seen: Seen) -> Told:
    offer, prices = seen.offer, seen.prices
    age, priced = age_days(offer, prices, seen.study_date, seen.today), offer.as_of or prices.as_of
    judged = "today" if prices.age_at == "today" else f"the study's date {seen.study_date}"
    if prices.max_age_days is not None and age > prices.max_age_days:
        yield "stale", f"price of {priced} is {age} days old at {judged}; the limit is {prices.max_age_days}"
    if age < -AHEAD_DAYS:
        yield "future_date", f"price of {priced} is dated {-age} days after {judged}"
    if has_ended(offer, prices, seen.study_date, seen.today):
        yield "expired", f"the offer ended on {offer.until}, before {judged}; ask for it again"
    rate = rate_used(offer, prices)
    if rate is not None and abs((rate.as_of - priced).days) > RATE_AGE_DAYS:
        yield "stale_rate", f"price of {priced} converted with a {rate.currency} rate of {rate.as_of}"


def _source(seen: Seen) -> Told:
    source = source_of(seen.offer, seen.prices)
    if PLACEHOLDERS.match(source):
        yield "missing_source", f"the source is '{source}', which names none"
