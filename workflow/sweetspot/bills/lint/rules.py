"""The price lint: bounds that refuse a price list, and one table of rules that warn about it (rules.csv)."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
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
from sweetspot.bills.offers import exchange_rate, has_ended, usd_per_unit
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import CONTRACTS, RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Amount, MachinePart
from sweetspot.warnings import joined, warning


class Finding(NamedTuple):
    """One remark about an instance, or about the whole list if that is ''."""

    severity: str  # warning or note
    rule: str
    instance: str
    message: str
    source: str


LINT_COLUMNS = Finding._fields
HOURS_A_MONTH = 730.0
UNIT_MISTAKES = {24: "the price of a day", 100: "cents", 168: "the price of a week", 730: "the price of a month"}
# What can be of one device, in USD where it is money, and the factors of usual mistakes (1000: W for kW).
POSSIBLE = {
    "kw": (PriceRange(0.02, 4.0), (1000,)),
    "capex": (PriceRange(10.0, 400_000.0), (1000, 100)),
    "rent": (PriceRange(0.01, 100.0), (100, 730)),
    "per_kwh": (PriceRange(0.005, 3.0), (100, 1000)),
}
PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
# Share of a list's prices that must be far off on one side for a remark about the list instead of each offer.
SHARE_FAR_OFF = 0.8
ANY_KW, ANY_PURCHASE_USD, HOST_KW, HOST_USD = (0.0, 5.0), (50.0, 300_000.0), 0.6, 5000.0
EQUAL_PRICES = 0.06


def suggestion(value: float, ranges: Iterable[PriceRange], factors: Iterable[int]) -> str:
    """Name the mistake of the unit that explains a value, e.g. '; did you mean 29? (100 times less: cents)'.

    Parameters
    ----------
    value
        The value as it was written, outside of all ranges.
    ranges
        Where values of its kind lie; the first that a factor leads into counts.
    factors
        Factors of mistakes, the most usual first.
    """
    for usual in ranges:
        is_high = value > usual.high
        for factor in factors:
            meant = value / factor if is_high else value * factor
            if usual.low <= meant <= usual.high:
                times = f"{factor} times {'less' if is_high else 'more'}: {UNIT_MISTAKES.get(factor, 'another unit')}"
                return f"; did you mean {meant:,.4g}? ({times})"
    return ""


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
        machine = instances[offer.instance]
        is_convertible = (offer.currency or prices.currency) in currencies
        for key, amount, kind, scale, market in _bounded_amounts(offer, prices, machine) if is_convertible else ():
            possible, factors = POSSIBLE[kind]
            ranges = [PriceRange(level.low / scale, level.high / scale) for level in (market, possible) if level]
            low, high = ranges[-1].low, ranges[-1].high
            for value in dict.fromkeys(amount.three):
                if value and not low <= value <= high:  # 0 means unknown, or already owned.
                    expected = suggestion(value, ranges, factors) or f"; expected {low:,.3g} to {high:,.3g}"
                    text = f"{value:,.10g} for {machine.gpus} x {machine.gpu}, which cannot be{expected}"
                    sentences.append(f"{path}: offers[{number}].{key} is {text}")
    refuse(sentences)


def _bounded_amounts(
    offer: Offer, prices: PriceList, machine: Instance
) -> Iterator[tuple[str, Amount, str, float, PriceRange | None]]:
    """Yield key, amount, key of POSSIBLE, the factor to USD of one device, and the known range of a device."""
    money, device, own = usd_per_unit(offer, prices)[0], device_key(machine.gpu), offer.own
    if own is not None:
        yield "own.kw", own.kw, "kw", 1 / machine.gpus, None
        yield "own.capex", own.capex, "capex", money / machine.gpus, purchase_of(device)
        yield "own.per_kwh", own.per_kwh, "per_kwh", money, None
    if is_processor(machine) or machine.gpu == "none":  # An hour of a processor may cost next to nothing.
        return
    rent = rent_of(device, (offer.as_of or prices.as_of).year)
    for unit, hours in RATE_HOURS.items():
        if (amount := getattr(offer, unit)) is not None:
            yield unit, amount, "rent", money / machine.gpus / (hours or HOURS_A_MONTH), rent


def is_processor(machine: Instance) -> bool:
    """True if the machine has no devices but its processor, and is priced by the vCPU."""
    return machine.gpu.upper().startswith("CPU")


def _market(machine: Instance, year: int, is_interruptible: bool) -> PriceRange:
    """Return the known USD per hour of a device or vCPU; up to the most expensive device if it is unknown."""
    if is_processor(machine):
        vcpu = vcpu_rent()  # Spot prices of processors go down to a tenth.
        return PriceRange(vcpu.low / 10, vcpu.high) if is_interruptible else vcpu
    device = device_key(machine.gpu)
    on_demand = rent_of(device, year) or PriceRange(0.0, highest_rent())
    spot = rent_of(device, year, spot=True) if is_interruptible else None
    return PriceRange(min(on_demand.low, spot.low), on_demand.high) if spot else on_demand


# What the expressions of rules.csv name beside the columns of `_offer_values` and of the offers table.
DERIVED = {
    "hour_usd": "usd_per_hour.where(is_owned, fixed_usd_per_month / (24 * month_days) + variable_usd_per_hour)",
    "unit_usd": "hour_usd / units",
    "all_usd": "hour_usd * units",
    "eighth_usd": "hour_usd / 8",
    "named_unit_usd": "hour_usd / named_units",
    "share_paid": "hour_usd / on_demand_usd_per_hour",
    "discount": "1 - share_paid",
    "made_per_hour": "hour_usd / money",
    "made_per_month": "made_per_hour * 24 * days_per_month.where(is_owned, month_days)",
    "tolerance": "4 + 8 * (market_high < 2 * market_low)",
    "market_ratio": "unit_usd / (market_high * market_low.clip(lower=0.01 * market_high)) ** 0.5",
    "is_far": "is_rental & ((unit_usd < market_low / tolerance) | (unit_usd > market_high * tolerance))",
    "host_vcpu_usd": "host_usd / host_vcpus",
    "composed_usd": "host_usd + accelerators_usd",
}
# Prices of a family at one number of devices agree (else there are several shapes); they do not grow with the number.
DERIVED_OF_FAMILIES = {
    "is_unambiguous": "(family_units_count > 1) & (family_spread_max <= 1.06)",
    "is_flat": "(family_units_nunique > 1) & (family_hour_usd_max <= 1.005 * family_hour_usd_min)",
}
PRINTED = ("per_hour", "per_day", "per_week", "per_month", "discount")
FAMILY = ["provider", "unit", "purchase", "vcpus_per_device", "gib_per_device"]


def _offer_values(offer: Offer, prices: PriceList, machine: Instance, study_date: date) -> dict[str, Any]:
    """Return what the offer, its list and the facts say beside the offers table."""
    day, rate, own = offer.as_of or prices.as_of, exchange_rate(offer, prices), offer.own
    money, is_spot, is_cpu = usd_per_unit(offer, prices)[0], offer.purchase in INTERRUPTIBLE, is_processor(machine)
    market, device = _market(machine, day.year, is_spot), device_key(machine.gpu)
    units, source = (machine.vcpus or math.nan) if is_cpu else machine.gpus, offer.source or prices.source
    host, family, vcpus, accelerators = _host(offer)
    power, price = power_of(device), purchase_of(device)
    kw = (0.0002 * power.low, 0.002 * power.high + HOST_KW / machine.gpus) if power else ANY_KW
    usd = (0.4 * price.low, 4 * price.high + HOST_USD / machine.gpus) if price else ANY_PURCHASE_USD
    printed = {} if offer.printed is None else offer.printed.model_dump(exclude_none=True)
    return {
        "unit": "vCPU" if is_cpu else machine.gpu,
        "units": float(units),
        "vcpus_per_device": round((machine.vcpus or 0) / units, 1),
        "gib_per_device": round((machine.memory_gib or 0) / units, 1),
        "named_units": device_count(offer.instance) or math.nan,
        "is_owned": own is not None,
        "is_contract": offer.commitment is not None,
        "is_rental": own is None and offer.commitment is None,
        "is_interruptible": is_spot,
        "is_processor": is_cpu,
        "is_device": not is_cpu,
        "has_interruptions": (offer.interruptions or prices.interruptions) is not None,
        "has_ended": has_ended(offer, study_date),
        "has_source": PLACEHOLDERS.match(source) is None,
        "source": source,
        "money": money,
        "market_low": market.low,
        "market_high": market.high,
        "list_prices": list_prices(machine.provider, offer.instance),
        "age_days": (study_date - day).days,
        "max_age_days": prices.max_age_days or math.inf,
        "rate_age_days": math.nan if rate is None else (day - rate.as_of).days,
        "own_kw": math.nan if own is None else own.kw.value,
        "staff_usd_per_hour": math.nan if own is None else own.staff_per_hour.value * money,
        "power_low": kw[0],
        "power_high": kw[1],
        "buy_low": usd[0],
        "buy_high": usd[1],
        "host": host and host.name,
        "host_family": family,
        "host_usd": math.nan if host is None else host.per_hour.value,
        "host_vcpus": vcpus,
        "accelerators_usd": accelerators,
        **{f"printed_{name}": printed.get(name, math.nan) for name in PRINTED},
    }


def _host(offer: Offer) -> tuple[MachinePart | None, str | None, float, float]:
    """Return the host of a composed machine, its family, its vCPUs and the price of its accelerators."""
    if offer.compose is None:
        return None, None, math.nan, 0.0
    host = offer.compose.machine
    family, _, number = host.name.rpartition("-")
    vcpus = host.vcpus or (int(number) if number.isdecimal() else math.nan)
    return host, family, vcpus, offer.compose.count * offer.compose.gpu.per_hour.value


def _lint_table(offers: pd.DataFrame, values: Sequence[Mapping[str, Any]], month_days: float) -> pd.DataFrame:
    """Return the offers with all values that the expressions of rules.csv name."""
    table = pd.concat([offers.drop(columns="source").assign(month_days=month_days), pd.DataFrame(values)], axis=1)
    table = _with_derived(table, DERIVED)
    nearest = (
        min(listed, key=lambda usd: abs(math.log(usd / hour)), default=math.nan)
        for listed, hour in zip(table["list_prices"], table["hour_usd"], strict=True)
    )
    table["list_usd"] = pd.Series(nearest, table.index, dtype=float)
    hosts = table.groupby("host_family")
    table["host_median_usd"] = hosts["host_vcpu_usd"].transform("median")
    table["host_outlier"] = table["host"].where((table["host_vcpu_usd"] / table["host_median_usd"] - 1).abs() > 0.06)
    for column in ("host", "host_outlier"):
        table[f"{column}_count"] = table.groupby("host_family")[column].transform("nunique")
    is_plain_rental = table["is_rental"] & table["is_device"] & (table["hour_usd"] > 0) & table["host"].isna()
    table = _with_derived(table.join(_families(table[is_plain_rental])), DERIVED_OF_FAMILIES)
    compared = table[table["is_rental"] & (table["units"] > 0)]
    spot = table[table["is_interruptible"] & (table["share_paid"] > 0)]
    far = compared[compared["is_far"]]
    is_one_sided = far["market_ratio"].gt(1).nunique() == 1
    return table.assign(
        compared_rows=len(compared),
        far_rows=len(far),
        list_is_off=1 < len(far) >= SHARE_FAR_OFF * len(compared) and is_one_sided,
        list_ratio=far["market_ratio"].median(),
        spot_rows=len(spot),
        spot_rows_at_on_demand=spot["share_paid"].between(1 - 1e-6, 1 + 1e-6).sum(),
    )


def _evaluate(expression: str, table: pd.DataFrame) -> Any:
    """Return the value of an expression of the library's own tables, whose names are columns."""
    return eval(expression, {}, table)


def _with_derived(table: pd.DataFrame, expressions: Mapping[str, str]) -> pd.DataFrame:
    for name, expression in expressions.items():
        table[name] = _evaluate(expression, table)
    return table


def _families(members: pd.DataFrame) -> pd.DataFrame:
    """Return prices of rentals of one provider, device, purchase and size per device.

    Where a machine does not state its size, two prices at one number of devices mean several shapes, of which nobody
    can say which is which (`family_spread_max`).
    """
    by_count = members.groupby([*FAMILY, "units"])["hour_usd"]
    families = members.assign(spread=by_count.transform("max") / by_count.transform("min")).groupby(FAMILY)
    statistics = {"hour_usd": ("min", "max"), "unit_usd": ("min", "max"), "units": ("nunique", "count", "min"),
                  "spread": ("max",)}  # fmt: skip
    columns = {f"family_{name}_{how}": families[name].transform(how) for name in statistics for how in statistics[name]}
    text = {index: _price_groups(family) for _, family in families for index in family.index}
    return pd.DataFrame(columns | {"family_text": pd.Series(text, dtype=object)})


def _price_groups(family: pd.DataFrame) -> str:
    """Name prices per device and their machines, e.g. '1.9 (n12), 2.47 (n24, n48)'."""
    family = family.sort_values("unit_usd", kind="stable")
    steps = (family["unit_usd"].pct_change() > EQUAL_PRICES).cumsum()
    groups = family.groupby(steps)
    return ", ".join(f"{group['unit_usd'].iloc[0]:.4g} ({', '.join(group['instance'])})" for _, group in groups)


@cache
def _rules() -> tuple[dict[str, str], ...]:
    with Path(__file__).with_name("rules.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def lint(
    prices: PriceList,
    offers: pd.DataFrame,
    instances: Mapping[str, Instance],
    study_date: date,
    month_days: float,
) -> list[Finding]:
    """Return all findings of a price list by the rules of rules.csv.

    A rule finds rows where its expression `where` holds and `value` is not from `low` to `high`.

    Parameters
    ----------
    prices
        The price list.
    offers
        As `offers_in_usd` returns them for the list.
    instances
        Machines by name.
    study_date
        Date at which the age of a price is judged.
    month_days
        Days of a month.
    """
    values = [_offer_values(offer, prices, instances[offer.instance], study_date) for offer in prices.offers]
    table = _lint_table(offers, values, month_days)
    findings: list[Finding] = []
    for rule in _rules():
        matches = table[_evaluate(rule["where"], table)] if rule["where"] else table
        if rule["value"]:
            limits = {"low": rule["low"] or "-1e999", "value": rule["value"], "high": rule["high"] or "1e999"}
            limits = {name: pd.Series(_evaluate(text, matches), matches.index) for name, text in limits.items()}
            matches = matches.assign(**limits)
            matches = matches[(matches["value"] < matches["low"]) | (matches["value"] > matches["high"])]
        rows = matches.iloc[:1] if rule["about"] == "list" else matches
        findings += [_finding(rule, row) for _, row in rows.iterrows()]
    return list(dict.fromkeys(findings))


def _finding(rule: Mapping[str, str], row: Mapping[str, Any]) -> Finding:
    message, instance = rule["message"].format_map(row), "" if rule["about"] == "list" else row["instance"]
    if rule["factors"]:
        factors = [int(factor) for factor in rule["factors"].split()]
        usual = suggestion(row["value"], [PriceRange(row["low"], row["high"])], factors)
        message += usual or f"; expected {row['low']:.3g} to {row['high']:.3g}"
    message = f"{instance}: {message}" if rule["about"] == "offer" else message
    return Finding(rule["severity"], rule["rule"], instance, message, row["source"])


def offer_findings(row: Mapping[str, Any]) -> list[Finding]:
    """Return what shows only when an offer is priced: findings of one row of the offers table."""
    name, purchase, on_demand = row["instance"], row["purchase"], row.get("on_demand_usd_per_hour")
    if pd.isna(on_demand):
        return []
    hour, days = row["usd_per_hour"], row["days_per_month"]
    if purchase in CONTRACTS and days > 0 and hour > on_demand:
        message = f"{purchase} used {days:.4g} days a month costs {hour:.4g} an hour, on demand {on_demand:.4g}"
        rule = "not_earned"
    elif row["interruptions_per_hour"] >= 0 and not hour * row["spot_overhead"] < on_demand:
        rule, message = "spot_loses", f"interruptions make {purchase} dearer than on demand for a long job"
    else:
        return []
    return [Finding("warning", rule, name, f"{name}: {message}", row["source"])]


def warnings_of(row: Mapping[str, Any], findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return the warnings of one offer: findings about its instance or the whole list, and its own."""
    relevant = [finding for finding in findings if finding.instance in ("", row["instance"])]
    severe = [finding for finding in [*relevant, *offer_findings(row)] if finding.severity == "warning"]
    return joined([warning(finding.rule, finding.message) for finding in severe])
