"""The price lint: bounds that refuse a price list, and one table of rules that warn about it (rules.csv)."""

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
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
from sweetspot.bills.offers import exchange_rate, has_ended, listed_columns, offers_in_usd, usd_per_unit
from sweetspot.bills.schemas import TABLES, table_of
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import CONTRACTS, RATE_HOURS, PricedOffer, PriceList
from sweetspot.warnings import joined, warning


class Finding(NamedTuple):
    """One remark about an instance, or about the whole list if that is ''."""

    severity: str  # warning or note
    rule: str
    instance: str
    message: str
    source: str


LINT_COLUMNS = Finding._fields
UNIT_MISTAKES = {24: "the price of a day", 100: "cents", 168: "the price of a week", 730: "the price of a month"}
PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
# Share of a list's prices that must be far off on one side for a remark about the list instead of each offer.
SHARE_FAR_OFF = 0.8
ANY_KW, ANY_PURCHASE_USD, HOST_KW, HOST_USD = (0.0, 5.0), (50.0, 300_000.0), 0.6, 5000.0
EQUAL_PRICES = 0.06
DAYS_OF_A_MONTH = 30.5
FAMILY = ["provider", "unit", "purchase", "vcpus_per_device", "gib_per_device"]


def unit_mistake(value: float, ranges: Iterable[PriceRange], factors: Iterable[int]) -> str:
    """Name the mistake of the unit that explains a value, e.g. '; 100 times too much (cents)?'; '' if none does.

    Parameters
    ----------
    value
        A value outside of all ranges.
    ranges
        Where values of its kind lie; the first that a factor leads into counts.
    factors
        Factors of mistakes, the most usual first.
    """
    for usual in ranges:
        is_high = value > usual.high
        for factor in factors:
            if usual.low <= (value / factor if is_high else value * factor) <= usual.high:
                name = UNIT_MISTAKES.get(factor, "another unit")
                return f"; {factor} times too {'much' if is_high else 'little'} ({name})?"
    return ""


def check_possible(prices: PriceList, instances: Mapping[str, Instance], path: str, numbers: Sequence[int]) -> None:
    """Raise a UserError for purchases, powers and rents that no machine has (rules of severity `error`).

    Parameters
    ----------
    prices
        The price list.
    instances
        Machines by name.
    path
        The file that the sentences name.
    numbers
        Position of each offer in the file.
    """
    offers, _ = offers_in_usd("", prices, instances, DAYS_OF_A_MONTH)
    table = _lint_table(prices, offers, instances, prices.as_of, DAYS_OF_A_MONTH)
    refuse(
        dict.fromkeys(
            f"{path}: offers[{numbers[index]}].{_message(rule, row)}"
            for rule in _table("rules")
            if rule["severity"] == "error"
            for index, row in _matches(rule, table).iterrows()
        )
    )


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


def _offer_values(offer: PricedOffer, prices: PriceList, machine: Instance, study_date: date) -> dict[str, Any]:
    """Return what the offer, its list and the facts say beside the offers table."""
    day, rate = offer.as_of or prices.as_of, exchange_rate(offer, prices)
    money, is_spot, is_cpu = usd_per_unit(offer, prices)[0], offer.purchase in INTERRUPTIBLE, is_processor(machine)
    listed = list_prices(machine.provider, offer.instance)
    market, device = _market(machine, day.year, is_spot), device_key(machine.gpu)
    units, source = (machine.vcpus or math.nan) if is_cpu else machine.gpus, offer.source or prices.source
    power, price = power_of(device), purchase_of(device)
    kw = (0.0002 * power.low, 0.002 * power.high + HOST_KW / machine.gpus) if power else ANY_KW
    usd = (0.4 * price.low, 4 * price.high + HOST_USD / machine.gpus) if price else ANY_PURCHASE_USD
    return {
        "unit": "vCPU" if is_cpu else machine.gpu,
        "units": float(units),
        "vcpus_per_device": round((machine.vcpus or 0) / units, 1),
        "gib_per_device": round((machine.memory_gib or 0) / units, 1),
        "named_units": device_count(offer.instance) or math.nan,
        "is_processor": is_cpu,
        "offer_has_ended": has_ended(offer, study_date),
        "has_source": PLACEHOLDERS.match(source) is None,
        "source": source,
        "price_key": next((unit for unit in RATE_HOURS if getattr(offer, unit) is not None), ""),
        "money": money,
        "market_low": market.low,
        "market_high": market.high,
        "list_low": min(listed, default=math.nan),
        "list_high": max(listed, default=math.nan),
        "age_days": (study_date - day).days,
        "max_age_days": prices.max_age_days or math.inf,
        "rate_age_days": math.nan if rate is None else (day - rate.as_of).days,
        "power_low": kw[0],
        "power_high": kw[1],
        "buy_low": usd[0],
        "buy_high": usd[1],
    }


def _lint_table(
    prices: PriceList, offers: pd.DataFrame, instances: Mapping[str, Instance], study_date: date, month_days: float
) -> pd.DataFrame:
    """Return the offers with all values that the expressions of rules.csv name."""
    columns = [listed_columns(offer, "lint", usd_per_unit(offer, prices)) for offer in prices.offers]
    values = [_offer_values(offer, prices, instances[offer.instance], study_date) for offer in prices.offers]
    offers = offers.drop(columns="source").assign(month_days=month_days)
    table = _with_values(pd.concat([offers, table_of(columns, list(TABLES["lint"])), pd.DataFrame(values)], axis=1))
    hosts = table.groupby("host_family")
    table["host_median_usd"] = hosts["host_vcpu_usd"].transform("median")
    table["host_outlier"] = table["host"].where((table["host_vcpu_usd"] / table["host_median_usd"] - 1).abs() > 0.06)
    for column in ("host", "host_outlier"):
        table[f"{column}_count"] = table.groupby("host_family")[column].transform("nunique")
    is_simple_rental = table["is_rental"] & table["is_device"] & (table["hour_usd"] > 0) & table["host"].isna()
    table = _with_values(table.join(_families(table[is_simple_rental])))
    compared = table[table["is_rental"] & (table["units"] > 0)]
    spot = table[table["is_interruptible"] & (table["share_paid"] > 0)]
    far = compared[compared["is_far"]]
    is_unanimous = far["market_ratio"].gt(1).nunique() == 1
    return table.assign(
        compared_rows=len(compared),
        far_rows=len(far),
        list_is_off=1 < len(far) >= SHARE_FAR_OFF * len(compared) and is_unanimous,
        list_ratio=far["market_ratio"].median(),
        spot_rows=len(spot),
        spot_rows_at_on_demand=spot["share_paid"].between(1 - 1e-6, 1 + 1e-6).sum(),
    )


def _evaluate(expression: str, table: pd.DataFrame) -> Any:
    """Return the value of an expression of the library's own tables, whose names are columns."""
    return eval(expression, {}, table)


def _with_values(table: pd.DataFrame) -> pd.DataFrame:
    """Add the values of values.csv whose names are columns by now."""
    for row in _table("values"):
        try:
            table[row["name"]] = _evaluate(row["expression"], table)
        except NameError:
            return table
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
def _table(name: str) -> tuple[dict[str, str], ...]:
    with Path(__file__).with_name(f"{name}.csv").open(encoding="utf-8", newline="") as file:
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
    table = _lint_table(prices, offers, instances, study_date, month_days)
    findings = [
        Finding(
            rule["severity"],
            rule["rule"],
            "" if rule["about"] == "list" else row["instance"],
            (f"{row['instance']}: " if rule["about"] == "offer" else "") + _message(rule, row),
            row["source"],
        )
        for rule in _table("rules")
        if rule["severity"] != "error"
        for _, row in _matches(rule, table).iterrows()
    ]
    return list(dict.fromkeys(findings))


def _matches(rule: Mapping[str, str], table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a rule finds, the first for all if it is about the list."""
    matches = table[_evaluate(rule["where"], table)] if rule["where"] else table
    if rule["value"]:
        limits = {"low": rule["low"] or "-1e999", "value": rule["value"], "high": rule["high"] or "1e999"}
        values = {name: pd.Series(_evaluate(text, matches), matches.index) for name, text in limits.items()}
        matches = matches.assign(**values)[(values["value"] < values["low"]) | (values["value"] > values["high"])]
    return matches.iloc[:1] if rule["about"] == "list" else matches


def _message(rule: Mapping[str, str], row: pd.Series) -> str:
    message = rule["message"].format_map(row)
    if not rule["factors"]:
        return message
    ranges, factors = [PriceRange(row["low"], row["high"])], map(int, rule["factors"].split())
    if rule["usual"]:
        ranges.insert(0, PriceRange(row[f"{rule['usual']}_low"], row[f"{rule['usual']}_high"]))
    expected = f"; expected {row['low']:.3g} to {row['high']:.3g} of one" if rule["severity"] == "error" else ""
    return message + (unit_mistake(row["value"], ranges, list(factors)) or expected)


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
