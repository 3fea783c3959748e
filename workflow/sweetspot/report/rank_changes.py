"""What an edit of prices did: the differences between two tables of ranks, as a table and as Markdown."""

import pandas as pd

from sweetspot.report.notation import records
from sweetspot.report.sentences import filled

OFFER = ["instance", "purchase"]
RANKED = ["model", "workload", *OFFER]
COLUMNS = (
    "what", "instance", "purchase", "model", "workload", "before", "after", "change", "rank_before", "rank_after",
    "as_of_before", "as_of_after",
)  # fmt: skip
TOLERANCE = 1e-9  # of a relative change
ORDER = ("price", "new", "gone", "rank", "cost")


def difference(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """List what differs between two tables of ranks.

    Parameters
    ----------
    before, after
        Tables like comparison/ranks.parquet.

    Returns
    -------
    pandas.DataFrame
        One row a change, with COLUMNS. `what`: price (USD an hour of an offer), new, gone (offers), rank, or cost (USD
        of a workload). `change` is after / before - 1. Of several offers of one instance and purchase the cheapest
        counts.
    """
    changes = [price_changes(before, after, OFFER), cost_changes(before, after)]
    table = pd.concat([rows.reindex(columns=list(COLUMNS)) for rows in changes], ignore_index=True)
    return table.sort_values("what", key=lambda column: column.map(ORDER.index), kind="stable")


def side_by_side(before: pd.DataFrame, after: pd.DataFrame, key: list[str], value: str, *carried: str) -> pd.DataFrame:
    """Join two tables by `key`.

    Parameters
    ----------
    before, after
        The tables; of several rows with one key the least `value` counts.
    key
        Columns that name a row.
    value
        Column that becomes `before`, `after` and `change` (after / before - 1).
    carried
        Columns that are kept of merged, with the suffixes `_before` and `_after`.

    Returns
    -------
    pandas.DataFrame
        In the order of the key; what only one table has is missing on the other side.
    """
    columns = [*key, value, *carried]
    first, second = (table.sort_values(value, kind="stable").drop_duplicates(key)[columns] for table in (before, after))
    merged = first.merge(second, on=key, how="outer", suffixes=("_before", "_after"))
    merged = merged.rename(columns={f"{value}_before": "before", f"{value}_after": "after"})
    return merged.assign(change=merged["after"] / merged["before"] - 1)


def price_changes(before: pd.DataFrame, after: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """List the prices of an hour that differ, and the offers that are new or gone.

    Parameters
    ----------
    before, after
        Offers or ranks.
    key
        Columns that name an offer.

    Returns
    -------
    pandas.DataFrame
        Rows of `side_by_side` with `what`: price, new or gone.
    """
    merged = side_by_side(before, after, key, "usd_per_hour", "as_of")
    is_new, has_ended = merged["before"].isna(), merged["after"].isna()
    merged["what"] = pd.Series("price", merged.index).mask(is_new, "new").mask(has_ended, "gone")
    return merged[is_new | has_ended | (merged["change"].abs() > TOLERANCE)]


def cost_changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """List the costs of a workload that differ: those of another `rank` first, then those that kept theirs (`cost`)."""
    merged = side_by_side(before, after, RANKED, "usd", "rank", "as_of").dropna(subset=["before", "after"])
    rank_changed = merged["rank_before"] != merged["rank_after"]
    merged["what"] = rank_changed.map({True: "rank", False: "cost"})
    changed = merged[rank_changed | (merged["change"].abs() > TOLERANCE)]
    return changed.sort_values("what", ascending=False, kind="stable")


def to_markdown(
    table: pd.DataFrame, before: str, after: str, answers: tuple[str | None, str | None] = (None, None)
) -> str:
    """Write the changes as Markdown.

    Parameters
    ----------
    table
        Rows of `difference` or of `decided_anew.moved`.
    before, after
        Names of the two states.
    answers
        The verdict in each of them; None leaves it out.

    Returns
    -------
    str
        The answers, plans, prices and ranks that changed; costs that kept their rank are counted.
    """

    def rows(*kinds: str) -> list[dict[str, object]]:
        return records(table[table["what"].isin(kinds)])

    context = {
        "before": before,
        "after": after,
        "answers": answers,
        "plans": rows("plan"),
        "prices": rows("price", "new", "gone"),
        "ranks": rows("rank"),
        "same_rank": len(rows("cost")),
    }
    return filled("changes.md.j2", context).rstrip("\n") + "\n"
