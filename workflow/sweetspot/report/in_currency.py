"""The tables of a study in the currency in which it shows money; what is written to files stays in USD."""

import re
from typing import Any

from sweetspot.report.heavy import pd
from sweetspot.report.tables import Tables
from sweetspot.study.study import Study
from sweetspot.wording import Money

DOLLAR = re.compile(r"\bUSD\b")
PER_USD = "images_per_usd"
# Tables whose `unit` says in what the columns named here are counted, row by row.
BY_UNIT = {
    "tornado": ("value", "low", "high", "flip_value"),
    "worth_knowing": ("value", "turning_point"),
    "turning_points": ("value", "turning_value"),
}
# In the currency of the text that is checked, or of the price lists of two days.
AS_PRINTED = ("claims", "price_changes")


def money_of(study: Study) -> Money:
    """What the study shows money in."""
    return Money() if study.currency is None else Money(study.currency.code, study.currency.usd_per_unit)


def shown_in(tables: "Tables", money: Money) -> "Tables":
    """`tables` for people: every column of USD divided by the rate, images per USD times it; units say the currency.

    A column of USD has `usd` among the words of its name. Sentences were made in the currency when they were made.
    """
    if money == Money():
        return tables
    return {
        name: table if name in AS_PRINTED else _by_unit(name, _converted(table, money), money)
        for name, table in tables.items()
    }


def in_words(text: str, money: Money) -> str:
    """A label with the currency's code where it says USD."""
    return DOLLAR.sub(money.code, text)


def everywhere(value: Any, money: Money) -> Any:
    """The strings of a specification (dicts, lists, texts) with the currency's code; keys stay."""
    if money == Money():
        return value
    if isinstance(value, dict):
        return {key: everywhere(entry, money) for key, entry in value.items()}
    if isinstance(value, list):
        return [everywhere(entry, money) for entry in value]
    return in_words(value, money) if isinstance(value, str) else value


def _converted(table: "pd.DataFrame", money: Money) -> "pd.DataFrame":
    changed = {}
    for name in table.columns:
        words = str(name).split("_")
        if "usd" in words and name != "usd_per_unit" and table[name].dtype.kind in "fiu":
            rate = 1 / money.usd_per_unit if str(name).startswith(PER_USD) else money.usd_per_unit
            changed[name] = table[name] / rate
    return table.assign(**changed)


def _by_unit(name: str, table: "pd.DataFrame", money: Money) -> "pd.DataFrame":
    columns = [column for column in BY_UNIT.get(name, ()) if column in table.columns]
    if not columns or "unit" not in table.columns:
        return table
    paid = table["unit"].astype(str).str.contains(DOLLAR)
    rate = paid.map({True: money.usd_per_unit, False: 1.0})
    changed: dict[str, Any] = {column: table[column] / rate for column in columns}
    return table.assign(**changed, unit=table["unit"].map(lambda unit: in_words(str(unit), money)))
