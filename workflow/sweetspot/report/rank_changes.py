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
    """Return a row per change of price, cost or rank between two tables `ranks`, prices first, for `sweetspot diff`.
    Columns are those of the table `price_changes`; of several offers of one instance and purchase the cheapest counts.
    """
    return change_table([price_changes(before, after), cost_changes(before, after)])


def change_table(changes: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return tables of changes as one with the columns of the table `price_changes`, a row per change, to print or
    save. `what` is answer, price (USD an hour of an offer), new, gone (offers), rank, or cost (USD of a workload).
    Missing texts are None, missing numbers NaN.
    """
    table = pd.concat([rows.reindex(columns=COLUMNS).astype(object) for rows in changes], ignore_index=True)
    return table.where(table.notna(), None).astype(dict.fromkeys(NUMBERS, float))


def _side_by_side(before: pd.DataFrame, after: pd.DataFrame, key: list[str], value: str, *carried: str) -> pd.DataFrame:
    """Join two tables (of `ranks` or `offers`) by the columns `key`; a row per key in either, with how `value` changed.
    Of several rows with the same key the one of lowest `value` counts. Columns: the key, `before`, `after`, `change`
    (after / before - 1; NaN if missing), and each column of `carried` with the suffixes `_before` and `_after`.
    """
    columns = [*key, value, *carried]
    first, second = (table.sort_values(value, kind="stable").drop_duplicates(key)[columns] for table in (before, after))
    merged = first.merge(second, on=key, how="outer", suffixes=("_before", "_after"))
    merged = merged.rename(columns={f"{value}_before": "before", f"{value}_after": "after"})
    return merged.assign(change=merged["after"] / merged["before"] - 1)


def price_changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Return the offers whose USD per hour differ between two tables of offers or ranks, or that are new or gone.
    Columns are `what` and those of `_side_by_side`. Where both have `price_list`, each list has its own offers.
    """
    key = [name for name in ("price_list", "instance", "purchase") if name in before and name in after]
    merged = _side_by_side(before, after, key, "usd_per_hour", "as_of")
    is_new, has_ended = merged["before"].isna(), merged["after"].isna()
    merged["what"] = pd.Series("price", merged.index).mask(is_new, "new").mask(has_ended, "gone")
    return merged[is_new | has_ended | (merged["change"].abs() > TOLERANCE)]


def cost_changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Return the options whose rank (`what`: rank), or only USD (`what`: cost), differ between two tables `ranks`. A
    row per model, workload, instance and purchase; columns are those of `_side_by_side`; ranks come first.
    """
    merged = _side_by_side(before, after, RANKED, "usd", "rank", "as_of").dropna(subset=["before", "after"])
    rank_changed = merged["rank_before"] != merged["rank_after"]
    merged["what"] = rank_changed.map({True: "rank", False: "cost"})
    changed = merged[rank_changed | (merged["change"].abs() > TOLERANCE)]
    return changed.sort_values("what", ascending=False, kind="stable")


def to_markdown(
    table: pd.DataFrame, before: str, after: str, answers: tuple[str | None, str | None] = (None, None)
) -> str:
    """Return the rows of `change_table` as Markdown, for `sweetspot diff`: answers, prices, ranks, a count of the rest.

    Parameters
    ----------
    table, before, after, answers
        The changes; names of the two states, for the text; the verdict in words before and after (None: not printed).
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
