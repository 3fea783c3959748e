"""What an edit of prices did: the differences between two tables of ranks, as a table and as Markdown."""

import pandas as pd

OFFER = ["instance", "purchase"]
PLACE = ["model", "workload", *OFFER]
COLUMNS = (
    "what", "instance", "purchase", "model", "workload", "before", "after", "change", "rank_before", "rank_after",
    "as_of_before", "as_of_after",
)  # fmt: skip
SAME = 1e-9


def difference(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """What differs between two tables of ranks (ranks.parquet), one row a change.

    Columns: `what` (price: USD an hour of an offer; cost: USD of a workload; rank; new; gone), instance, purchase,
    model, workload, `before`, `after`, `change` (after / before - 1), `rank_before`, `rank_after`, and the dates of
    the prices. Several offers of one instance and purchase (other price lists) count by their cheapest.
    """
    parts = [price_changes(before, after, OFFER), _costs(before, after)]
    table = pd.concat([part.reindex(columns=list(COLUMNS)) for part in parts], ignore_index=True)
    order = {"price": 0, "new": 1, "gone": 2, "rank": 3, "cost": 4}
    return table.sort_values(
        ["what", *PLACE], key=lambda column: column.map(order) if column.name == "what" else column
    )


def _joined(before: pd.DataFrame, after: pd.DataFrame, key: list[str], value: str) -> pd.DataFrame:
    keep = [*key, value, *(["rank"] if value == "usd" else []), "as_of"]
    sides = [table.sort_values(value, kind="stable").drop_duplicates(key)[keep] for table in (before, after)]
    joined = sides[0].merge(sides[1], on=key, how="outer", suffixes=("_before", "_after"))
    joined = joined.rename(columns={f"{value}_before": "before", f"{value}_after": "after"})
    return joined.assign(change=joined["after"] / joined["before"] - 1)


def price_changes(before: pd.DataFrame, after: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Prices of an hour that differ, by offer: the columns `key`; what is new or gone."""
    joined = _joined(before, after, key, "usd_per_hour")
    missing = joined[["before", "after"]].isna()
    what = pd.Series("price", index=joined.index).mask(missing["before"], "new").mask(missing["after"], "gone")
    joined = joined.assign(what=what)
    return joined[(joined["what"] != "price") | (joined["change"].abs() > SAME)]


def _costs(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    joined = _joined(before, after, PLACE, "usd").dropna(subset=["before", "after"])
    moved = joined["rank_before"] != joined["rank_after"]
    joined = joined.assign(what=moved.map({True: "rank", False: "cost"}))
    return joined[moved | (joined["change"].abs() > SAME)]


def to_markdown(
    table: pd.DataFrame, before: str, after: str, answers: tuple[str | None, str | None] = (None, None)
) -> str:
    """The changes as Markdown: the answers, prices, places, then costs that kept their place (counted)."""
    lines = [f"# From {_cell(before)} to {_cell(after)}", ""]
    for when, sentence in zip(("Before", "After"), answers, strict=True):
        lines += [f"{when}: {_cell(sentence)}", ""] if sentence else []
    if table.empty:
        return "\n".join([*lines, "No price, cost or rank differs.", ""])
    lines += _plan_lines(table[table["what"] == "plan"])
    lines += _price_lines(table[table["what"].isin(["price", "new", "gone"])])
    lines += _place_lines(table[table["what"] == "rank"])
    kept = int((table["what"] == "cost").sum())
    if kept:
        lines += [f"{kept} further costs changed without a change of rank.", ""]
    return "\n".join(lines)


def _plan_lines(table: pd.DataFrame) -> list[str]:
    lines = []
    for row in table.to_dict("records"):
        sides = [(row[f"said_{side}"], row[side]) for side in ("before", "after")]
        told = [f"{_cell(said)}, {_number(usd)} USD" if said else "nothing" for said, usd in sides]
        lines += [f"Plan {_cell(row['workload'])}, before: {told[0]}", "", f"After: {told[1]}", ""]
    return lines


def _price_lines(table: pd.DataFrame) -> list[str]:
    lines = []
    for row in table.to_dict("records"):
        dates = " -> ".join(str(day) for day in (row["as_of_before"], row["as_of_after"]) if pd.notna(day))
        change = f"{row['change']:+.1%}" if row["what"] == "price" else row["what"]
        before, after = _number(row["before"]), _number(row["after"])
        offer = f"{_cell(row['instance'])} ({_cell(row['purchase'])})"
        lines.append(f"| {offer} | {before} | {after} | {change} | {_cell(dates)} |")
    head = ["| offer | before, USD/h | after, USD/h | change | prices of |", "|---|---:|---:|---:|---|"]
    return [*head, *lines, ""] if lines else []


def _place_lines(table: pd.DataFrame) -> list[str]:
    lines = []
    for row in table.to_dict("records"):
        work = f"{_cell(row['model'])}, {_cell(row['workload'])}"
        offer = f"{_cell(row['instance'])} ({_cell(row['purchase'])})"
        places = f"{row['rank_before']:.0f} | {row['rank_after']:.0f}"
        lines.append(f"| {work} | {offer} | {places} | {_number(row['after'])} | {row['change']:+.1%} |")
    head = [
        "| model, workload | option | rank before | rank after | USD | change |",
        "|---|---|---:|---:|---:|---:|",
    ]
    return [*head, *lines, ""] if lines else []


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _cell(text: object) -> str:
    return str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
