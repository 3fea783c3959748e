"""What one offer of a price list costs: USD a month whatever the use, USD an hour of use, their ends and price path."""

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

from sweetspot.bills.money import Triple, listed_hour, on_demand_hour, spread, times, to_usd, triple
from sweetspot.bills.owning import (
    committed_month,
    crossing_days,
    fixed_per_month,
    running_per_hour,
    usd_per_hour_of_use,
)
from sweetspot.bills.renting import HOUR_S
from sweetspot.bills.resale import kept_at
from sweetspot.bills.spot import losing_rate, overhead
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import DEVICES
from sweetspot.study.base import INTERRUPTIBLE
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.terms import Commitment, Own, Sale
from sweetspot.study.trends import Drift, Jumps, RandomWalk, Resale, named, preset_of

Row = dict[str, Any]
NOTHING: Triple = (0.0, 0.0, 0.0)
# More months, residual value or days of use make an hour cheaper: their high stands at the cheap end.
TURNED = (0, 2, 1)


def _each_end(value: Callable[[int], float]) -> Triple:
    return (value(0), value(1), value(2))


def price(offer: Offer, prices: PriceList, month_days: float) -> Row:
    """The price columns of an offer: `usd_per_hour` at the planned use, what it is made of, what a month costs."""
    if offer.own is not None:
        return _owned(offer.own, to_usd(offer, prices))
    if offer.commitment is not None:
        return _committed(offer.commitment, offer, prices, month_days)
    return _rented(offer, prices, month_days) | _interrupted(offer, prices, month_days)


def _hours(fixed: Triple, variable: Triple, energy: Triple, days: Triple, downtime_share: float = 0.0) -> Row:
    """The hour of use and its parts; few days of use stand at the dear end."""
    hours = _each_end(lambda end: usd_per_hour_of_use(fixed[end], variable[end], days[TURNED[end]], downtime_share))
    return {
        **spread("usd_per_hour", hours),
        **spread("fixed_usd_per_month", fixed),
        **spread("variable_usd_per_hour", variable),
        **spread("energy_usd_per_hour", energy),
    }


def _rented(offer: Offer, prices: PriceList, month_days: float) -> Row:
    hourly = listed_hour(offer, prices, month_days)
    taken_away = offer.purchase in INTERRUPTIBLE
    row = {
        **spread("usd_per_hour", hourly),
        **spread("fixed_usd_per_month", NOTHING),
        **spread("variable_usd_per_hour", hourly),
        **spread("energy_usd_per_hour", NOTHING),
        "on_demand_usd_per_hour": on_demand_hour(offer, prices, month_days) if taken_away else None,
    }
    if offer.sustained is None:
        return row
    machine = 1.0
    if offer.sustained.applies_to == "machine" and offer.compose is not None:
        machine = offer.compose.machine.per_hour.value * to_usd(offer, prices)[0] / hourly[0]
    tiers = [{"up_to": share, "fraction": fraction} for share, fraction in offer.sustained.tiers]
    return row | {"sustained_machine_share": machine, "sustained_tiers": tiers}


def _owned(own: Own, money: Triple) -> Row:
    sold, points = residual(own)
    today = sold_today(own)
    ends = [_own_at(own, sold, end, usd) for end, usd in enumerate(money)]
    fixed = _each_end(lambda end: float(fixed_per_month(ends[end], own.discount_rate)))
    energy = _each_end(lambda end: running_per_hour(ends[end]))
    days = triple(own.days_per_month)
    return {
        **_hours(fixed, energy, energy, days, own.downtime_share),
        **spread("capex_usd", times(triple(own.capex), money)),
        **spread("months", triple(own.months)),
        **spread("kw", times(triple(own.kw), triple(own.load_share))),
        **spread("usd_per_kwh", times(triple(own.per_kwh), money)),
        **spread("days_per_month", days),
        **spread("residual_usd", times(sold, money)),
        "residual_points": points,
        **_later(own),
        **({} if today is None else spread("sell_for_usd", times(today, money))),
        "maintenance_usd_per_month": ends[0]["maintenance"],
        "staff_usd_per_month": ends[0]["staff"],
        "pue": own.pue.value,
        "discount_rate": own.discount_rate,
        "downtime_share": own.downtime_share,
        "boxes": own.boxes,
    }


def _later(own: Own) -> Row:
    """How the price of a new machine changes a year; nothing where it stays."""
    change = own.capex_change_per_year
    return {} if change is None else spread("capex_change", (change.value, *change.ends))


def _own_at(own: Own, sold: Triple, end: int, usd: float) -> dict[str, float]:
    """The amounts of `own` at `usd` a unit of its money: central (0), where owning is cheapest (1) or dearest (2)."""
    turned = TURNED[end]
    return {
        "capex": triple(own.capex)[end] * usd,
        "months": triple(own.months)[turned],
        "residual": sold[turned] * usd,
        "maintenance": triple(own.maintenance_per_month)[end] * usd,
        "staff": triple(own.staff_hours_per_month)[end] * (triple(own.staff_per_hour)[end] * usd),
        "kw": triple(own.kw)[end] * triple(own.load_share)[end],
        "pue": triple(own.pue)[end],
        "per_kwh": triple(own.per_kwh)[end] * usd,
    }


def _committed(deal: Commitment, offer: Offer, prices: PriceList, month_days: float) -> Row:
    money = to_usd(offer, prices)
    planned = offer.days_per_month or prices.days_per_month
    days = (month_days, month_days, month_days) if planned is None else triple(planned)
    term, upfront = triple(deal.term_months), times(triple(deal.upfront), money)
    monthly, hourly = times(triple(deal.per_month), money), times(triple(deal.per_hour), money)
    always = deal.charged == "always"
    months = [
        committed_month(term[TURNED[end]], upfront[end], monthly[end], hourly[end], always, month_days)
        for end in range(3)
    ]
    fixed, variable = _each_end(lambda end: months[end][0]), _each_end(lambda end: months[end][1])
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
        return terms | _changes(value, *ends) | {"trend_market_share": path.market_share}
    if isinstance(path, Jumps):
        return terms | _changes(path.change, path.change_low, path.change_high) | {"trend_per_year": path.per_year}
    if isinstance(path, RandomWalk):
        return terms | {"trend_sd_log": path.sd_log_year, "trend_market_share": path.market_share}
    return {} if offer.purchase == "own" else terms


def _changes(value: float, low: float, high: float) -> dict[str, float]:
    return {"trend_change": value, "trend_change_low": low, "trend_change_high": high}


def sold_today(own: Own) -> Triple | None:
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
