"""Lint of owned machines: power, electricity, months, days and purchase against what is known of such machines."""

from collections.abc import Iterator

from sweetspot.bills.families import Machines
from sweetspot.bills.money import source_of, to_usd, triple
from sweetspot.bills.price_families import Finding
from sweetspot.bills.price_levels import device_key, power_of, purchase_of
from sweetspot.study.price_list import Offer, PriceList

# A machine draws its devices' power and its host's; a shared or throttled one less.
LEAST_POWER, MOST_POWER, HOST_KW = 0.2, 2.0, 0.6
# No single device in sight draws this much, its share of host and supply included.
MOST_KW_OF_ANY = 5.0
USD_PER_KWH = (0.02, 1.0)
MONTHS = (6.0, 120.0)
LEAST_DAYS = 1.0
# Second hand a device costs half and less; host, chassis and warranty are some of the dearest devices more.
LEAST_PURCHASE, MOST_PURCHASE, HOST_USD = 0.4, 4.0, 5000.0
PURCHASE_OF_ANY = (50.0, 300_000.0)


def of_owned(prices: PriceList, machines: Machines) -> list[Finding]:
    """What is worth a question in the owned machines of a list."""
    found = []
    for offer in prices.offers:
        if offer.own is not None:
            for rule, words in _questions(offer, prices, machines):
                source = source_of(offer, prices)
                found.append(Finding("warning", rule, offer.instance, f"{offer.instance}: {words}", source))
    return found


def _questions(offer: Offer, prices: PriceList, machines: Machines) -> Iterator[tuple[str, str]]:
    own, money, machine = offer.own, to_usd(offer, prices)[0], machines[offer.instance]
    if own is None:
        return
    yield from _power(own.kw.value, machine.gpu, machine.gpus)
    per_kwh = own.per_kwh.value * money
    if per_kwh and not USD_PER_KWH[0] <= per_kwh <= USD_PER_KWH[1]:
        yield "own_electricity", f"{per_kwh:g} USD a kWh; electricity costs {USD_PER_KWH[0]:g} to {USD_PER_KWH[1]:g}"
    months = triple(own.months)
    if months[1] < MONTHS[0] or months[2] > MONTHS[1]:
        off = months[1] if months[1] < MONTHS[0] else months[2]
        yield "own_months", f"written off over {off:g} months; machines are used {MONTHS[0]:g} to {MONTHS[1]:g}"
    if own.days_per_month.ends[0] < LEAST_DAYS:
        days = own.days_per_month.ends[0]
        yield "own_days", f"{days:g} days of use a month, less than a day of 24 hours (a share of the month?)"
    yield from _purchase(own.capex.value * money, machine.gpu, machine.gpus)


def _power(kw: float, gpu: str, gpus: int) -> Iterator[tuple[str, str]]:
    known, each = power_of(device_key(gpu)), kw / gpus
    if known is None:
        low, high = 0.0, MOST_KW_OF_ANY
    else:
        low, high = LEAST_POWER * known.low / 1000, MOST_POWER * known.high / 1000 + HOST_KW / gpus
    # Power that the source does not tell is written as 0: its electricity is left out, not guessed.
    if kw and not low <= each <= high:
        yield "own_power", f"{kw:g} kW is {each:.3g} a {gpu}, host included; expected {low:.2g} to {high:.2g}"


def _purchase(usd: float, gpu: str, gpus: int) -> Iterator[tuple[str, str]]:
    known, each = purchase_of(device_key(gpu)), usd / gpus
    if known is None:
        low, high = PURCHASE_OF_ANY
    else:
        low, high = LEAST_PURCHASE * known.low, MOST_PURCHASE * known.high + HOST_USD / gpus
    if usd and not low <= each <= high:  # 0: it is there already
        yield "own_purchase", f"a purchase of {usd:g} USD is {each:.4g} a {gpu}; expected {low:.3g} to {high:.3g}"
