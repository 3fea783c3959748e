"""Buying later in sentences."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sweetspot.decision.certainty import TIE, chance, confidence
from sweetspot.decision.counted import begun, money, the

Row = Mapping[str, Any]


def later_in_words(table: pd.DataFrame, code: str = "USD") -> list[str]:
    """Of each plan: the machine that is cheapest at once, bought later; then which of all these ways is the cheapest.

    `table`: comparison/later.parquet; `code`: its currency. Empty where no plan asks.
    """
    said = []
    for name, rows in table.groupby("workload", sort=False) if len(table) else ():
        known = rows[rows["status"] == "ok"].to_dict("records")
        bought = [row for row in known if pd.notna(row["box"])]
        if not bought:
            said.append(f"Buying later in {name}: no machine that may be bought is reckoned.")
            continue
        first, *later = [row for row in bought if row["box"] == bought[0]["box"]]
        over = f"{money(first['usd'])} {code} over {first['months']:g} months"
        said.append(f"{begun(the(first['title']))}, bought at once: {over}.")
        said += [_later(row, code) for row in later]
        said += _least(known, code)
    return said


def _later(row: Row, code: str) -> str:
    saved, low, high = (row[f"saved_usd{end}"] for end in ("", "_low", "_high"))
    less = saved >= 0
    ends = sorted((low, high) if less else (-high, -low))
    span = " to ".join(f"{'−' if end < 0 else ''}{money(abs(end))}" for end in ends)
    likely = row["p_saves"] if less else 1 - row["p_saves"]
    told = TIE if confidence(max(likely, 1 - likely)) == TIE else chance(likely)
    return (
        f"Bought in {row['after_months']:g} months, renting {the(row['until_title'])} until then: "
        f"{money(row['usd'])} {code}, {money(abs(saved))} {'less' if less else 'more'} ({span}), {told}."
    )


def _least(known: list[Row], code: str) -> list[str]:
    """The cheapest of the ways, and what never to buy costs where that is another."""
    best = min(known, key=lambda row: row["usd"])
    sure = chance(best["p_cheapest"])
    if pd.isna(best["box"]):
        return [
            f"Cheapest of these is never to buy: {the(best['title'])} for all {best['months']:g} months, "
            f"{money(best['usd'])} {code}, {sure}."
        ]
    when = "at once" if best["after_months"] == 0 else f"in {best['after_months']:g} months"
    never = [f"Never to buy costs {money(row['usd'])} {code}." for row in known if pd.isna(row["box"])]
    return [f"Cheapest of these is {the(best['box_title'])}, bought {when}, {sure}.", *never]
