"""The offers table: every offer of a price list in USD and hours, one row each, and the fees beside it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

from sweetspot.bills.columns import Columns, alike, from_rows, ranged, spread, times, triple
from sweetspot.bills.energy import Metered, energy_terms, with_metered
from sweetspot.bills.offer_prices import Row, of_its_age, price, rate_used, source_of, to_usd, trend_terms
from sweetspot.bills.price_paths import TREND_COLUMNS
from sweetspot.bills.renting import HOUR_S
from sweetspot.errors import refuse
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.spelling import hint
from sweetspot.study.terms import Billing

GRANULARITY_S = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0}
OFFER_COLUMNS = (
    "price_list", "instance", "purchase", "provider",
    *ranged("usd_per_hour", "fixed_usd_per_month", "variable_usd_per_hour", "energy_usd_per_hour"),
    *ranged("capex_usd", "months", "residual_usd"),
    "maintenance_usd_per_month", *ranged("kw"), "pue", *ranged("usd_per_kwh", "days_per_month"), "discount_rate",
    "boxes", *ranged("interruptions_per_hour"), "checkpoint_s", "restore_s", "wait_s", "granularity_s", "minimum_s",
    "setup_usd", "monthly_usd", "upfront_usd", "term_months", "commitment_usd_per_month", "commitment_usd_per_hour",
    "charged", "month_days", "as_of", "source", "basis", "warnings", "every_s", "monthly_minimum_usd", "prorated",
    "storage_usd_per_month", "egress_usd", "per_start_usd", "fees_usd_per_hour", "fees_usd_per_month", "downtime_share",
    "staff_usd_per_month", "on_demand_usd_per_hour", "spot_overhead", "spot_beats_on_demand",
    "losing_interruptions_per_hour", "earning_days_per_month", "gpu",
    "gpus", "price_list_title", "month_usd", *ranged("kwh_per_hour", "kg_co2e_per_hour"), "power_basis",
    "power_source", "grid_source", "energy_lacks", *TREND_COLUMNS, "residual_points",
    *ranged("delivery_months"), "offer_until", *ranged("sell_for_usd"), "offer_ended",
)  # fmt: skip
FEE_COLUMNS = ("price_list", "instance", "purchase", "name", "unit", "usd")
FEE_SUMS = {"per_start": "per_start_usd", "per_hour": "fees_usd_per_hour", "per_month": "fees_usd_per_month"}


def offer_rows(
    name: str,
    prices: PriceList,
    instances: Mapping[str, Instance],
    month_days: float,
    energy: Energy | None = None,
    price_paths: bool | None = None,
    metered: Mapping[str, Metered] | None = None,
) -> tuple[list[Row], list[Row]]:
    """The offers of `prices`, in their order, and their fees: rows of the two tables, still without warnings.

    Of a fee, `usd` is the price of all of it (`count`) per `unit`: per_start, per_hour (billed) or per_month.

    `month_days` is the length of a month, `energy` what the study declares of power and grids, `price_paths`
    whether its prices move,
    `metered` the power that runs measured, which replaces a stated kW of machines owned.
    Raises UserError for a currency without a rate.
    """
    rows, fees = [], []
    for stated in prices.offers:
        measured = (metered or {}).get(stated.instance)
        machine, day = instances[stated.instance], stated.as_of or prices.as_of
        aged = of_its_age(stated, machine, day)
        offer = with_metered(aged, measured)
        money = to_usd(offer, prices)[0]
        here = _identity(name, offer, prices, machine, month_days, money)
        due = [] if offer.own is not None else _fees(here, offer.billing or prices.billing, money)
        terms = energy_terms(offer, machine, energy) | _standing(offer, day, month_days)
        if offer.own is None:
            terms |= _terms(offer.billing or prices.billing, money, month_days, due)
        elif measured is not None and offer is not aged:
            terms["power_source"] = f"{measured.source}; x PUE {offer.own.pue.value:g}"
        rows.append(here | terms | price(offer, prices, month_days) | trend_terms(offer, machine, price_paths))
        fees += due
    return rows, fees


def offers_table(rows: Sequence[Row]) -> Columns:
    """OFFER_COLUMNS of rows of offers: USD, hours, days, months; null where a column does not apply.

    An hour of use at d planned days a month costs fixed_usd_per_month / (24 d (1 - downtime_share)) +
    variable_usd_per_hour (owning.usd_per_hour_of_use); `usd_per_hour` is that at `days_per_month` (at most the
    month). `fixed_usd_per_month` is due for one machine whatever the use (`boxes` are bought): (capex - residual) /
    months + maintenance + staff where owned, the term's sum a month where committed, 0 where rented.
    `variable_usd_per_hour` is what an hour of use adds: `energy_usd_per_hour` (kW x PUE x USD/kWh) where owned, the
    hourly price where rented or charged by use; interruptions come on top (`spot_overhead`). The `_low` of each
    takes the cheap end of all that it is made of, the `_high` the dear end; use of few days is the dear end.
    `month_usd`: the price of a month where the offer is priced by the month. Energy of an hour of use: `energy_terms`.
    """
    return from_rows(rows, OFFER_COLUMNS)


def check_instances(offered: Iterable[str | None], instances: Collection[str], path: str) -> None:
    """Refuse offers of machines that nobody declared. Raises UserError.

    `offered`: the instance of each offer; None of one that cannot be read.
    """
    check_named(((f"offers[{number}].instance", name) for number, name in enumerate(offered)), instances, path)


def check_named(named: Iterable[tuple[str, str | None]], instances: Collection[str], path: str | Path) -> None:
    """Refuse machines, each with its key, that nobody declared. Raises UserError."""
    refuse(
        f"{path}: {key} is '{name}'; expected an instance of instances.yaml{hint(name, instances)}"
        for key, name in named
        if name is not None and name not in instances
    )


def _identity(name: str, offer: Offer, prices: PriceList, machine: Instance, month_days: float, money: float) -> Row:
    source, rate = source_of(offer, prices), rate_used(offer, prices)
    if rate is not None:
        source = f"{source} ; 1 {rate.currency} = {rate.usd.value:g} USD on {rate.as_of}: {rate.source}"
    return {
        "price_list": name,
        "price_list_title": prices.title or name,
        # A machine priced by the month is kept, used or not.
        "month_usd": None if offer.per_month is None else offer.per_month.value * money,
        "instance": offer.instance,
        "purchase": offer.purchase,
        "provider": machine.provider,
        "gpu": machine.gpu,
        "gpus": machine.gpus,
        "month_days": month_days,
        "as_of": (offer.as_of or prices.as_of).isoformat(),
        "source": source,
        "basis": offer.basis,
    }


def _standing(offer: Offer, day: date, month_days: float) -> Row:
    """Months until what is offered is there, from the day of its price on, and the last day of the offer."""
    weeks = triple(offer.available_from_weeks)
    if offer.available_from is not None:
        weeks = alike((offer.available_from - day).days / 7.0)
    months = times(weeks, alike(7.0 / month_days))
    return spread("delivery_months", months) | {"offer_until": offer.until and offer.until.isoformat()}


def _terms(billing: Billing, money: float, month_days: float, fees: Sequence[Row]) -> Row:
    """Billing terms of a machine rented in seconds and USD; fees summed by what they are due for."""
    storage, egress = billing.storage, billing.egress
    names = GRANULARITY_S | {"month": month_days * 24.0 * HOUR_S}
    return {
        "granularity_s": names[billing.granularity] if billing.granularity else 0.0,
        "minimum_s": billing.minimum_s,
        "setup_usd": billing.setup.value * money,
        "monthly_usd": billing.monthly.value * money,
        "monthly_minimum_usd": billing.monthly_minimum.value * money,
        "prorated": billing.prorated,
        "storage_usd_per_month": 0.0 if storage is None else storage.gb.value * storage.per_gb_month.value * money,
        "egress_usd": 0.0 if egress is None else egress.gb.value * egress.per_gb.value * money,
        **{column: sum(fee["usd"] for fee in fees if fee["unit"] == unit) for unit, column in FEE_SUMS.items()},
    }


def _fees(here: Row, billing: Billing, money: float) -> list[Row]:
    identity = {column: here[column] for column in FEE_COLUMNS[:3]}
    return [
        identity | {"name": fee.name, "unit": unit, "usd": amount.value * fee.count.value * money}
        for fee in billing.fees
        for unit in FEE_SUMS
        if (amount := getattr(fee, unit)) is not None
    ]
