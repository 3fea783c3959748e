"""Buying later on the page: a table of each machine bought at once, later and never; and the same in sentences."""

from typing import Any

import pandas as pd

from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.wording import TIE, begun, confidence, money, percent, the

STEP = "comparison: renting until the purchase, by price paths"
HEAD = "plan|bought|rented until then|USD of the machine then|USD of renting|USD in all|USD less than at once|P(less)"


def later_part(made: Sections) -> Part:
    """The ways of every plan that asks, the machine that is cheapest at once first; shaded: the cheapest of a plan."""
    table = made.table("later")
    if table.empty:
        return Part((), [], [])
    rows, classes = [], []
    least = table.groupby("workload")["usd"].transform("min")
    for row, cheapest in zip(records(table.head(ROWS)), least, strict=False):
        figures = [made.made(row, name, STEP) for name in ("box_usd", "rent_usd", "usd", "saved_usd")]
        saves = "" if missing(row["p_saves"]) else made.probability(row, "p_saves", STEP)
        status = "" if row["status"] == "ok" else text(row["status"])
        rows.append([made.work(row), _bought(row), text(row["until_title"]) or status, *figures, saves])
        classes.append("good" if row["usd"] == cheapest else "failed" if status else "")
    return Part(tuple(HEAD.split("|")), rows, classes, max(0, len(table) - ROWS))


def _bought(row: Row) -> str:
    if missing(row["box"]):
        return "never"
    when = "at once" if row["after_months"] == 0 else f"in {row['after_months']:g} months"
    return f"{text(row['box_title'])}, {when}"


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


def _later(row: dict[str, Any], code: str) -> str:
    saved, low, high = (row[f"saved_usd{end}"] for end in ("", "_low", "_high"))
    less = saved >= 0
    ends = sorted((low, high) if less else (-high, -low))
    span = " to ".join(f"{'−' if end < 0 else ''}{money(abs(end))}" for end in ends)
    likely = row["p_saves"] if less else 1 - row["p_saves"]
    told = TIE if confidence(max(likely, 1 - likely)) == TIE else f"{percent(likely)} likely"
    return (
        f"Bought in {row['after_months']:g} months, renting {the(row['until_title'])} until then: "
        f"{money(row['usd'])} {code}, {money(abs(saved))} {'less' if less else 'more'} ({span}), {told}."
    )


def _least(known: list[dict[str, Any]], code: str) -> list[str]:
    """The cheapest of the ways, and what never to buy costs where that is another."""
    best = min(known, key=lambda row: row["usd"])
    sure = f"{percent(best['p_cheapest'])} likely"
    if pd.isna(best["box"]):
        return [
            f"Never buying is the cheapest: {the(best['title'])} for all {best['months']:g} months, "
            f"{money(best['usd'])} {code}, {sure}."
        ]
    when = "at once" if best["after_months"] == 0 else f"in {best['after_months']:g} months"
    never = [f"Never buying costs {money(row['usd'])} {code}." for row in known if pd.isna(row["box"])]
    return [f"Buying {the(best['box_title'])} {when} is the cheapest, {sure}.", *never]
