"""What an edit of prices did: the differences between two states of a study, as a table and as Markdown."""

from collections.abc import Sequence

import pandas as pd

from sweetspot.declared_tables import columns_of
from sweetspot.report.notation import records
from sweetspot.report.sentences import filled

RANKED = ["model", "workload", "instance", "purchase"]
COLUMNS = columns_of("price_changes")
NUMBERS = ("before", "after", "change", "rank_before", "rank_after")
TOLERANCE = 1e-9  # of a relative change
PRICES = ("price", "new", "gone")


def difference(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """List what differs between two tables of ranks.

    Parameters
    ----------
    before, after
        Tables like comparison/ranks.parquet; of several offers of one instance and purchase the cheapest counts.

    Returns
    -------
    pandas.DataFrame
        Changes of prices, then those of costs (`change_table`).
    """
    return change_table([price_changes(before, after), cost_changes(before, after)])


def change_table(changes: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put changes together in one table.

    Parameters
    ----------
    changes
        Rows of `side_by_side` with `what`: answer, price (USD an hour of an offer), new, gone (offers), rank, or cost
        (USD of a workload).

    Returns
    -------
    pandas.DataFrame
        One row a change, with COLUMNS.
    """
    table = pd.concat([rows.reindex(columns=COLUMNS).astype(object) for rows in changes], ignore_index=True)
    return table.where(table.notna(), None).astype(dict.fromkeys(NUMBERS, float))


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
        Columns that are kept of both, with the suffixes `_before` and `_after`.

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


def price_changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """List the prices of an hour that differ, and the offers that are new or gone.

    Parameters
    ----------
    before, after
        Offers or ranks; where both have a column `price_list`, offers of different lists are different offers.

    Returns
    -------
    pandas.DataFrame
        Rows of `side_by_side` with `what`.
    """
    key = [name for name in ("price_list", "instance", "purchase") if name in before and name in after]
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
    """Write the changes as Markdown: answers, prices and ranks; costs that kept their rank are counted.

    Parameters
    ----------
    table
        Rows of `change_table`.
    before, after
        Names of the two states.
    answers
        The verdict in each of them; None leaves it out.
    """
    context = {
        "before": before,
        "after": after,
        "answers": answers,
        "prices": records(table[table["what"].isin(PRICES)]),
        "ranks": records(table[table["what"].eq("rank")]),
        "same_rank": int(table["what"].eq("cost").sum()),
    }
    return filled("changes.md.j2", context).rstrip("\n") + "\n"
