"""Money: any currency, with or without tax, to USD as the buyer bears it; and how old a price is."""

from datetime import date

from sweetspot.errors import UserError
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Amount, Rate, Vat

Triple = tuple[float, float, float]  # value, low, high


def triple(amount: Amount | None) -> Triple:
    """An amount as (value, low, high); zeros where there is none."""
    return (0.0, 0.0, 0.0) if amount is None else (amount.value, *amount.ends)


def times(left: Triple, right: Triple) -> Triple:
    """Product end by end; both must not be negative."""
    return (left[0] * right[0], left[1] * right[1], left[2] * right[2])


def plus(*parts: Triple) -> Triple:
    """Sum end by end."""
    return (sum(p[0] for p in parts), sum(p[1] for p in parts), sum(p[2] for p in parts))


def spread(name: str, values: Triple) -> dict[str, float]:
    """A value with its ends as columns `name`, `name_low`, `name_high`."""
    return {name: values[0], f"{name}_low": values[1], f"{name}_high": values[2]}


def tax_factor(vat: Vat | None) -> float:
    """What turns a printed price into what the buyer bears: tax taken out if reclaimed, put in if not."""
    if vat is None:
        return 1.0
    net = 1.0 / (1.0 + vat.rate) if vat.included else 1.0
    return net if vat.reclaimed else net * (1.0 + vat.rate)


def to_usd(offer: Offer, prices: PriceList) -> Triple:
    """USD per printed unit of money of `offer`: exchange rate x tax. Raises UserError for a currency without rate."""
    currency = offer.currency or prices.currency
    factor = tax_factor(offer.vat or prices.vat)
    rate = next((entry for entry in prices.rates if entry.currency == currency), None)
    if rate is None and currency != "USD":
        raise UserError(f"offer '{offer.instance}' is priced in {currency}; expected a dated rate for it in 'rates'")
    exchange = (1.0, 1.0, 1.0) if rate is None else triple(rate.usd)
    return times(exchange, (factor, factor, factor))


def rate_used(offer: Offer, prices: PriceList) -> Rate | None:
    """The exchange rate that `to_usd` applies, for the source of the figure."""
    currency = offer.currency or prices.currency
    return next((entry for entry in prices.rates if entry.currency == currency), None)


def listed_hour(offer: Offer, prices: PriceList, month_days: float) -> Triple:
    """USD an hour of an offer with a rate, a composition or an equal price (neither a commitment nor owned)."""
    if offer.same_price_as is not None:
        same = next(o for o in prices.offers if o.instance == offer.same_price_as and o.purchase == "on_demand")
        return listed_hour(same, prices, month_days)
    money = to_usd(offer, prices)
    if offer.compose is not None:
        machine, gpus = offer.compose.machine.per_hour, offer.compose.gpu.per_hour
        return times(plus(triple(machine), times(triple(gpus), (float(offer.compose.count),) * 3)), money)
    hours, amount = next(
        (hours, rate) for unit, hours in RATE_HOURS.items() if (rate := getattr(offer, unit)) is not None
    )
    per_hour = 1.0 / (hours or month_days * 24.0)
    return times(times(triple(amount), money), (per_hour,) * 3)


def on_demand_hour(offer: Offer, prices: PriceList, month_days: float) -> float | None:
    """USD an hour on demand of the same machine: declared at the offer, or in the same list; else None."""
    if offer.on_demand_per_hour is not None:
        return offer.on_demand_per_hour.value * to_usd(offer, prices)[0]
    for other in prices.offers:
        if other.instance == offer.instance and other.purchase == "on_demand":
            return listed_hour(other, prices, month_days)[0]
    return None


def source_of(offer: Offer, prices: PriceList) -> str:
    """Source of an offer: its own, else the list's."""
    return offer.source or prices.source


def age_days(offer: Offer, prices: PriceList, study_date: date, today: date) -> int:
    """Days between the price and the date it is judged at (the study's, or today if the list says `age_at: today`)."""
    return ((today if prices.age_at == "today" else study_date) - (offer.as_of or prices.as_of)).days


def has_ended(offer: Offer, prices: PriceList, study_date: date, today: date) -> bool:
    """Whether its last day is before the date at which its price is judged (`age_days`)."""
    return offer.until is not None and offer.until < (today if prices.age_at == "today" else study_date)
