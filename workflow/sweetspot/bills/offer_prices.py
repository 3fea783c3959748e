"""What one offer of a price list costs in USD: a month whatever the use, an hour of use, their ends and price path."""

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

from sweetspot.bills.columns import Triple, alike, plus, spread, times, triple
from sweetspot.bills.owning import (
    HOURS_A_DAY,
    crossing_days,
    fixed_per_month,
    kept_at,
    running_per_hour,
    usd_per_hour_of_use,
)
from sweetspot.bills.renting import HOUR_S, losing_rate, overhead
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import DEVICES
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Commitment, Own, Rate, Sale, Vat
from sweetspot.study.trends import Drift, Jumps, RandomWalk, Resale, named, preset_of


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
    rate = rate_used(offer, prices)
    if rate is None and currency != "USD":
        raise UserError(f"offer '{offer.instance}' is priced in {currency}; expected a dated rate for it in 'rates'")
    exchange = alike(1.0) if rate is None else triple(rate.usd)
    return times(exchange, alike(factor))


def rate_used(offer: Offer, prices: PriceList) -> Rate | None:
    """The exchange rate that `to_usd` applies, for the source of the figure."""
    currency = offer.currency or prices.currency
    return next((entry for entry in prices.rates if entry.currency == currency), None)


def listed_hour(offer: Offer, prices: PriceList, month_days: float) -> Triple:
    """USD an hour of an offer with a rate or a composition (neither a commitment nor owned)."""
    money = to_usd(offer, prices)
    if offer.compose is not None:
        machine, gpus = offer.compose.machine.per_hour, offer.compose.gpu.per_hour
        return times(plus(triple(machine), times(triple(gpus), alike(float(offer.compose.count)))), money)
    unit = next(unit for unit in RATE_HOURS if getattr(offer, unit) is not None)
    amount, per_hour = getattr(offer, unit), 1.0 / (RATE_HOURS[unit] or month_days * 24.0)
    return times(times(triple(amount), money), alike(per_hour))


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


def age_days(offer: Offer, prices: PriceList, study_date: date) -> int:
    """Days between the price and the study's date."""
    return (study_date - (offer.as_of or prices.as_of)).days


def has_ended(offer: Offer, study_date: date) -> bool:
    """True if the last day of the offer is before the study's date."""
    return offer.until is not None and offer.until < study_date


Row = dict[str, Any]
NOTHING = alike(0.0)


def _each_end(value: Callable[[int], Any]) -> Triple:
    return (float(value(0)), float(value(1)), float(value(2)))


def price(offer: Offer, prices: PriceList, month_days: float) -> Row:
    """The price columns of an offer: `usd_per_hour` at the planned use, what it is made of, what a month costs."""
    if offer.own is not None:
        return _owned(offer.own, to_usd(offer, prices))
    if offer.commitment is not None:
        return _committed(offer.commitment, offer, prices, month_days)
    return _rented(offer, prices, month_days) | _interrupted(offer, prices, month_days)


def _hours(fixed: Triple, variable: Triple, energy: Triple, days: Triple, downtime_share: float = 0.0) -> Row:
    """The hour of use and its parts; few days of use stand at the dear end."""
    days = _turned(days)
    hours = _each_end(lambda end: usd_per_hour_of_use(fixed[end], variable[end], days[end], downtime_share))
    return {
        **spread("usd_per_hour", hours),
        **spread("fixed_usd_per_month", fixed),
        **spread("variable_usd_per_hour", variable),
        **spread("energy_usd_per_hour", energy),
    }


def _rented(offer: Offer, prices: PriceList, month_days: float) -> Row:
    hourly, taken_away = listed_hour(offer, prices, month_days), offer.purchase in INTERRUPTIBLE
    row: Row = _hours(NOTHING, hourly, NOTHING, alike(month_days))
    row["on_demand_usd_per_hour"] = on_demand_hour(offer, prices, month_days) if taken_away else None
    return row


def _turned(ends: Triple) -> Triple:
    """More months, residual value or days of use make an hour cheaper: their high stands at the cheap end."""
    return (ends[0], ends[2], ends[1])


def _owned(own: Own, money: Triple) -> Row:
    (sold, points), today = residual(own), _sold_today(own)
    capex, months, days = times(triple(own.capex), money), triple(own.months), triple(own.days_per_month)
    care = times(triple(own.maintenance_per_month), money)
    staff = times(triple(own.staff_hours_per_month), times(triple(own.staff_per_hour), money))
    kw, per_kwh = times(triple(own.kw), triple(own.load_share)), times(triple(own.per_kwh), money)
    month = {"capex": capex, "months": _turned(months), "residual": times(_turned(sold), money), "maintenance": care,
             "staff": staff}  # fmt: skip
    hour = {"kw": kw, "pue": triple(own.pue), "per_kwh": per_kwh}
    fixed = _each_end(lambda end: fixed_per_month({name: ends[end] for name, ends in month.items()}, own.discount_rate))
    energy = _each_end(lambda end: running_per_hour({name: ends[end] for name, ends in hour.items()}))
    return {
        **_hours(fixed, energy, energy, days, own.downtime_share),
        **spread("capex_usd", capex),
        **spread("months", months),
        **spread("kw", kw),
        **spread("usd_per_kwh", per_kwh),
        **spread("days_per_month", days),
        **spread("residual_usd", times(sold, money)),
        "residual_points": points,
        **({} if today is None else spread("sell_for_usd", times(today, money))),
        "maintenance_usd_per_month": care[0],
        "staff_usd_per_month": staff[0],
        "pue": own.pue.value,
        "discount_rate": own.discount_rate,
        "downtime_share": own.downtime_share,
        "boxes": own.boxes,
    }


def _committed(deal: Commitment, offer: Offer, prices: PriceList, month_days: float) -> Row:
    money = to_usd(offer, prices)
    planned = offer.days_per_month or prices.days_per_month
    days = alike(month_days) if planned is None else triple(planned)
    term, upfront = triple(deal.term_months), times(triple(deal.upfront), money)
    monthly, hourly = times(triple(deal.per_month), money), times(triple(deal.per_hour), money)
    fixed = _each_end(lambda end: upfront[end] / _turned(term)[end] + monthly[end])
    variable = hourly
    if deal.charged == "always":  # due for every hour of the month: it belongs to the month
        fixed = plus(fixed, times(times(hourly, alike(HOURS_A_DAY)), alike(month_days)))
        variable = NOTHING
    rival = on_demand_hour(offer, prices, month_days)
    earned = np.inf if rival is None else float(crossing_days(fixed[0], variable[0], rival))
    return {
        **_hours(fixed, variable, NOTHING, _each_end(lambda end: min(days[end], month_days))),
        **spread("days_per_month", days),
        "upfront_usd": upfront[0],
        "term_months": term[0],
        "commitment_usd_per_month": monthly[0],
        "commitment_usd_per_hour": hourly[0],
        "charged": deal.charged,
        "on_demand_usd_per_hour": rival,
        "earning_days_per_month": earned if earned <= month_days else None,
    }


def _interrupted(offer: Offer, prices: PriceList, month_days: float) -> Row:
    """What interruptions of a machine that can be taken away add (Daly 2006); nothing for a persistent one."""
    terms = offer.interruptions or prices.interruptions
    if offer.purchase not in INTERRUPTIBLE or terms is None:
        return {}
    dump, restore = terms.checkpoint_s.value / HOUR_S, terms.restore_s.value / HOUR_S
    every = np.nan if terms.every_s is None else terms.every_s.value / HOUR_S
    factor = float(overhead(terms.per_hour.value, dump, restore, every))
    row = {
        **spread("interruptions_per_hour", triple(terms.per_hour)),
        "checkpoint_s": terms.checkpoint_s.value,
        "restore_s": terms.restore_s.value,
        "wait_s": terms.wait_s.value,
        "every_s": None if terms.every_s is None else terms.every_s.value,
        "spot_overhead": factor if np.isfinite(factor) else None,
    }
    rival, hourly = on_demand_hour(offer, prices, month_days), listed_hour(offer, prices, month_days)
    if rival is None:
        return row
    return row | {
        "spot_beats_on_demand": bool(hourly[0] * factor < rival),
        "losing_interruptions_per_hour": losing_rate(hourly[0], rival, dump, restore, every),
    }


def trend_terms(offer: Offer, machine: Instance, price_paths: bool | None) -> Row:
    """How the price of an offer may move: its own trend, else with `price_paths` the preset; nothing where it stays.

    `trend` names it for people; `trend_change`, `_low`, `_high`: a year's change of a drift, a jump's of list prices;
    `trend_per_year`: jumps a year; `trend_sd_log`: of a random walk, over 12 months; `trend_market_share`.
    """
    if price_paths is False or (offer.trend is None and not price_paths):
        return {}
    stated = offer.trend or preset_of(machine.provider, offer.purchase, machine.gpu)
    name, path = named(stated)
    terms: Row = {"trend": name, "trend_kind": path.kind}
    if isinstance(path, Drift):
        value = path.change_per_year
        ends = (value if path.low is None else path.low, value if path.high is None else path.high)
        return terms | spread("trend_change", (value, *ends)) | {"trend_market_share": path.market_share}
    if isinstance(path, Jumps):
        change = (path.change, path.change_low, path.change_high)
        return terms | spread("trend_change", change) | {"trend_per_year": path.per_year}
    if isinstance(path, RandomWalk):
        return terms | {"trend_sd_log": path.sd_log_year, "trend_market_share": path.market_share}
    return {} if offer.purchase == "own" else terms


def _sold_today(own: Own) -> Triple | None:
    """What one machine that is there would sell for today (value, low, high; in the offer's money).

    By a curve it is what was paid x the share kept at its age, as a residual is, each at its own end.
    """
    if not isinstance(own.sell_for, Sale):
        return None if own.sell_for is None else triple(own.sell_for)
    (_, *kept), (paid, low, high) = own.sell_for.by_years()[0], triple(own.sell_for.paid)
    return paid * kept[0], low * kept[1], high * kept[2]


def of_its_age(offer: Offer, machine: Instance, day: date) -> Offer:
    """The offer with the age of a machine that is sold by a curve (`sell_for`), by when its device came out.

    Raises UserError where that is not known.
    """
    own = offer.own
    if own is None or not isinstance(own.sell_for, Sale) or own.sell_for.age_years is not None:
        return offer
    from sweetspot.transfer.specifications import read_devices  # pandas: only who asks for it waits for it

    device = read_devices(DEVICES).find(machine.gpu)
    if device is None or not device.released:
        words = f"expected age_years: when '{machine.gpu}' came out is not known"
        raise UserError(f"offer '{offer.instance}': own.sell_for has a curve and no age; {words}")
    aged = own.sell_for.model_copy(update={"age_years": device.age(day)})
    return offer.model_copy(update={"own": own.model_copy(update={"sell_for": aged})})


def residual(own: Own) -> tuple[Triple, list[dict[str, float]] | None]:
    """What one machine sells for at the end (value, low, high; in the offer's money), and its curve by age, if any.

    A curve is a share of the purchase at its central value, at the central months of the project; its high end is at
    most the low end of the purchase.
    """
    if not isinstance(own.residual, Resale):
        return triple(own.residual), None
    points = own.residual.by_years()
    capex, months = own.capex.value, own.months.value
    most = own.capex.ends[0]
    value, low, high = (min(capex * float(kept_at(points, months, end)), most) for end in range(3))
    return (value, low, high), [{"years": point[0], "kept": point[1]} for point in points]
