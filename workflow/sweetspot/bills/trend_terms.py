"""What an offer says of the months to come: the columns of its price path, and its resale value by age."""

from datetime import date
from typing import Any

from sweetspot.bills.money import Triple, triple
from sweetspot.bills.resale import kept_at
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import DEVICES
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer
from sweetspot.study.resale_terms import Resale
from sweetspot.study.terms import Own, Sale
from sweetspot.study.trends import Drift, Jumps, RandomWalk, named, preset_of


def trend_terms(offer: Offer, machine: Instance, price_paths: bool | None) -> dict[str, Any]:
    """How the price of an offer may move: its own trend, else with `price_paths` the preset; nothing where it stays.

    `trend` names it for people; `trend_change`, `_low`, `_high`: a year's change of a drift, a jump's of list prices;
    `trend_per_year`: jumps a year; `trend_sd_log`: of a random walk, over 12 months; `trend_market_share`.
    """
    if price_paths is False or (offer.trend is None and not price_paths):
        return {}
    stated = offer.trend or preset_of(machine.provider, offer.purchase, machine.gpu)
    name, path = named(stated)
    terms: dict[str, Any] = {"trend": name, "trend_kind": path.kind}
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
