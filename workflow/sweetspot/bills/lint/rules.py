"""The price lint: what a careful reader would ask about a price list, as one table of rules (facts/price_rules.csv).

A rule finds the offers where its expression `where` holds and `value` is not from `low` to `high`. Expressions name
columns of the tables `offers` and `lint`, and values of facts/price_values.csv. Lists with an `error` are refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.lint.known import device_count, device_key, highest_rent, list_range, price_range
from sweetspot.bills.offers import FEE_UNITS, exchange_rate, listed_columns, usd_per_unit
from sweetspot.bills.schemas import table_of
from sweetspot.declared_tables import schema_of
from sweetspot.facts.shipped_tables import table
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, PriceList
from sweetspot.warnings import joined, warning

UNIT_MISTAKES = {24: "the price of a day", 100: "cents", 168: "the price of a week", 730: "the price of a month"}


class Finding(NamedTuple):
    """One remark about an offer by its position in the list, or about the whole list if `offer` is None."""

    severity: str  # error, warning or note
    rule: str
    instance: str
    message: str
    source: str
    offer: int | None = None


def unit_mistake(value: float, low: float, high: float, factors: Sequence[int]) -> str:
    """Return text that names the unit mistake behind a value, e.g. '; 100 times too much (cents)?'; '' if none does.

    Parameters
    ----------
    value, low, high, factors
        A value out of bounds; where values of its kind usually lie; factors of mistakes to try, the most usual first.
    """
    is_high = value > high
    for factor in factors:
        if low <= (value / factor if is_high else value * factor) <= high:
            name = UNIT_MISTAKES.get(factor, "another unit")
            return f"; {factor} times too {'much' if is_high else 'little'} ({name})?"
    return ""


def lint(prices: PriceList, offers: pd.DataFrame, instances: Mapping[str, Instance], study_date: date) -> list[Finding]:
    """Return all findings (doubtful or impossible prices) about a price list by the rules of facts/price_rules.csv.

    Parameters
    ----------
    prices, offers, instances, study_date
        The price list, its offers table (in USD), machines by name, and the day at which the age of a price is judged.
    """
    values = _lint_table(prices, offers, instances, study_date)
    return list(dict.fromkeys(finding for rule in table("price_rules") for finding in _findings(rule, values)))


def _lint_table(
    prices: PriceList, offers: pd.DataFrame, instances: Mapping[str, Instance], study_date: date
) -> pd.DataFrame:
    """Return a row per offer with all columns that rules may name: of `offers`, `lint` and facts/price_values.csv."""
    rows = []
    for offer in prices.offers:
        machine, day, rate = instances[offer.instance], offer.as_of or prices.as_of, exchange_rate(offer, prices)
        money, device = usd_per_unit(offer, prices), device_key(machine.gpu)
        ranges = {quantity: price_range(quantity, device, day.year) for quantity in ("rent", "spot", "buy", "power")}
        ranges |= {"vcpu": price_range("vcpu", ""), "list": list_range(machine.provider, offer.instance)}
        yardsticks = {
            f"{quantity}_{end}": value
            for quantity, bounds in ranges.items()
            for end, value in zip(("low", "high"), bounds or (np.nan, np.nan), strict=True)
        }
        sums = (
            amount.value * fee.count.value * money[0] * often
            for fee in (offer.billing or prices.billing).fees
            for unit, often in FEE_UNITS.items()
            if (amount := getattr(fee, unit))
        )
        beside = {
            "fee_usd": max(sums, default=0.0),
            "money": money[0],
            "vcpus": machine.vcpus,
            "memory_gib": machine.memory_gib,
            "named_units": device_count(offer.instance),
            "price_key": next((unit for unit in RATE_HOURS if getattr(offer, unit) is not None), ""),
            "rate_as_of": rate and rate.as_of.isoformat(),
        }
        rows.append(listed_columns(offer, "lint", money) | yardsticks | beside)
    values = pd.concat([offers, table_of(rows, schema_of("lint").names)], axis=1).assign(
        study_day=pd.Timestamp(study_date), max_age_days=prices.max_age_days or np.inf, highest_rent=highest_rent()
    )
    for value in table("price_values"):
        values[value["name"]] = _evaluate(value["expression"], values)
    return values.copy()  # in one piece: the rules take rows of it again and again


def _evaluate(expression: str, values: pd.DataFrame) -> Any:
    """Return the value, mostly one per row, of a Python expression of a rule; its names are columns of `values`."""
    return eval(expression, {}, values)


def _findings(rule: Mapping[str, str], values: pd.DataFrame) -> Iterator[Finding]:
    """Yield a Finding per offer to which a rule objects, or one if the rule (of price_rules.csv) is about the list."""
    matches = values[_evaluate(rule["where"], values)] if rule["where"] else values
    if rule["value"] and len(matches):
        limits = {"low": rule["low"] or "-1e999", "value": rule["value"], "high": rule["high"] or "1e999"}
        matches = matches.assign(**{name: _evaluate(text, matches) for name, text in limits.items()})
        matches = matches[(matches["value"] < matches["low"]) | (matches["value"] > matches["high"])]
    for index, row in matches.iterrows():
        message = rule["message"].format_map(row)
        if rule["factors"]:
            low, high = (row[f"{rule['usual']}{end}"] for end in ("low", "high"))
            mistake = unit_mistake(row["value"], low, high, [int(factor) for factor in rule["factors"].split()])
            expected = f"; expected {row['low']:.3g} to {row['high']:.3g} of one" if rule["severity"] == "error" else ""
            message += mistake or expected
        if rule["about"] == "list":
            yield Finding(rule["severity"], rule["rule"], "", message, row["source"])
            return
        prefix = {"offer": f"{row['instance']}: ", "entry": f"offers[{index}].", "family": ""}[rule["about"]]
        yield Finding(rule["severity"], rule["rule"], row["instance"], prefix + message, row["source"], int(str(index)))


def warnings_by_offer(findings: Sequence[Finding], offers: int) -> list[list[dict[str, str]]]:
    """Return for each of `offers` offers its warnings, and those of the whole list, as [{rule, message}]: a column."""
    severe = [finding for finding in findings if finding.severity == "warning"]
    return [
        joined([warning(finding.rule, finding.message) for finding in severe if finding.offer in (None, number)])
        for number in range(offers)
    ]
