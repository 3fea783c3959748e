"""What an edit of prices did: the differences between two tables of ranks, as a table and as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

OFFER = ["instance", "purchase"]
PLACE = ["model", "workload", *OFFER]
COLUMNS = (
    "what", "instance", "purchase", "model", "workload", "before", "after", "change", "rank_before", "rank_after",
    "as_of_before", "as_of_after",
)  # fmt: skip
SAME = 1e-9
ORDER = {what: place for place, what in enumerate(("price", "new", "gone", "rank", "cost"))}
PRICES = "| offer | before, USD/h | after, USD/h | change | prices of |\n|---|---:|---:|---:|---|"
PLACES = "| model, workload | option | rank before | rank after | USD | change |\n|---|---|---:|---:|---:|---:|"


def difference(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """What differs between two tables of ranks (ranks.parquet), one row a change.

    Columns: `what` (price: USD an hour of an offer; cost: USD of a workload; rank; new; gone), instance, purchase,
    model, workload, `before`, `after`, `change` (after / before - 1), `rank_before`, `rank_after`, and the dates of
    the prices. Several offers of one instance and purchase (other price lists) count by their cheapest.
    """
    parts = [price_changes(before, after, OFFER), cost_changes(before, after)]
    table = pd.concat([part.reindex(columns=list(COLUMNS)) for part in parts], ignore_index=True)
    return table.sort_values("what", key=lambda what: what.map(ORDER), kind="stable")


def side_by_side(before: pd.DataFrame, after: pd.DataFrame, key: list[str], value: str, *more: str) -> pd.DataFrame:
    """`before`, `after` and `change` of `value` by `key`, in its order, and `more` of both; of several the least."""
    keep = [*key, value, *more]
    sides = [table.sort_values(value, kind="stable").drop_duplicates(key)[keep] for table in (before, after)]
    joined = sides[0].merge(sides[1], on=key, how="outer", suffixes=("_before", "_after"))
    joined = joined.rename(columns={f"{value}_before": "before", f"{value}_after": "after"})
    return joined.assign(change=joined["after"] / joined["before"] - 1)


def price_changes(before: pd.DataFrame, after: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Prices of an hour that differ, by offer: the columns `key`; what is new or gone."""
    joined = side_by_side(before, after, key, "usd_per_hour", "as_of")
    new, gone = joined["before"].isna(), joined["after"].isna()
    joined["what"] = pd.Series("price", joined.index).mask(new, "new").mask(gone, "gone")
    return joined[new | gone | (joined["change"].abs() > SAME)]


def cost_changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Costs of a workload that differ: those of another `rank` first, then those that kept their place (`cost`)."""
    joined = side_by_side(before, after, PLACE, "usd", "rank", "as_of").dropna(subset=["before", "after"])
    moved = joined["rank_before"] != joined["rank_after"]
    joined["what"] = moved.map({True: "rank", False: "cost"})
    found = joined[moved | (joined["change"].abs() > SAME)]
    return found.sort_values("what", ascending=False, kind="stable")


def to_markdown(
    table: pd.DataFrame, before: str, after: str, answers: tuple[str | None, str | None] = (None, None)
) -> str:
    """The changes as Markdown: the answers, prices, places, then costs that kept their place (counted)."""
    lines = [f"# From {_cell(before)} to {_cell(after)}", ""]
    for when, sentence in zip(("Before", "After"), answers, strict=True):
        lines += [f"{when}: {_cell(sentence)}", ""] if sentence else []
    if table.empty:
        return "\n".join([*lines, "No price, cost or rank differs.", ""])
    plans, prices, places, kept = (
        table[table["what"].isin(kinds)].to_dict("records")
        for kinds in (["plan"], ["price", "new", "gone"], ["rank"], ["cost"])
    )
    for row in plans:
        told = [f"{_cell(said)}, {_number(row[side])} USD" if (said := row[f"said_{side}"]) else "nothing"
                for side in ("before", "after")]  # fmt: skip
        lines += [f"Plan {_cell(row['workload'])}, before: {told[0]}", "", f"After: {told[1]}", ""]
    lines += _lines(PRICES, map(_price, prices)) + _lines(PLACES, map(_place, places))
    if kept:
        lines += [f"{len(kept)} further costs changed without a change of rank.", ""]
    return "\n".join(lines)


def _price(row: dict[str, Any]) -> Sequence[str]:
    days = " -> ".join(str(day) for day in (row["as_of_before"], row["as_of_after"]) if pd.notna(day))
    change = f"{row['change']:+.1%}" if row["what"] == "price" else row["what"]
    return _offer(row), _number(row["before"]), _number(row["after"]), change, days


def _place(row: dict[str, Any]) -> Sequence[str]:
    places = (f"{row[f'rank_{side}']:.0f}" for side in ("before", "after"))
    return f"{row['model']}, {row['workload']}", _offer(row), *places, _number(row["after"]), f"{row['change']:+.1%}"


def _offer(row: dict[str, Any]) -> str:
    return f"{row['instance']} ({row['purchase']})"


def _lines(head: str, rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return [head, *lines, ""] if lines else []


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _cell(text: object) -> str:
    return str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
