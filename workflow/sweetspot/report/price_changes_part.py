"""The page's section on refreshed prices: which moved since the lists that were kept, and what it did to the answer."""

from collections.abc import Mapping

from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing, number
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables, table_of

STEP = "comparison: price lists of two days"
HEAD = "option|price list|then, USD/hour|now, USD/hour|change|prices of"


def price_changes_part(made: Sections, machines: Mapping[str, str]) -> Part:
    """The prices that moved, the largest change first; no rows for a study whose lists were never refreshed.

    `machines`: names for people by instance; one without has its key.
    """
    table = made.table("price_changes")
    if table.empty:
        return Part((), [], [])
    moved = table[table["what"].isin(["price", "new", "gone"])]
    moved = moved.sort_values("change", key=lambda change: -change.abs(), kind="stable")
    rows = [
        [
            f"{machines.get(row['instance'], row['instance'])}, {text(row['purchase']).replace('_', ' ')}",
            text(row["price_list"]),
            made.made(row, "before", STEP),
            made.made(row, "after", STEP),
            text(row["what"]) if missing(row["change"]) else f"{row['change']:+.1%}",
            _days(row),
        ]
        for row in records(moved.head(ROWS))
    ]
    return Part(tuple(HEAD.split("|")), rows, [""] * len(rows), len(moved) - len(rows))


def price_changes_words(tables: Tables) -> list[str]:
    """Sentences before the table: how many places changed, and both answers where they differ; none without history."""
    table = table_of(tables, "price_changes")
    if table.empty:
        return []
    (answer,) = records(table[table["what"] == "answer"])
    before, after = text(answer["said_before"]), text(answer["said_after"])
    ranked, moved = (int(table["what"].isin(kinds).sum()) for kinds in (["rank"], ["price", "new", "gone"]))
    counted = [f"{moved} price{'' if moved == 1 else 's'} moved"]
    counted += [f"{ranked or 'no'} option{'' if ranked == 1 else 's'} of a workload changed place in the ranks"]
    places = f"{', and '.join(counted)}."
    plans = [_plan(row) for row in records(table[table["what"] == "plan"])]
    if before == after:
        return [places, "The answer is the same, in every figure that it says.", *plans]
    told = " ".join(plans)
    both = [] if before in told and after in told else [f"Then: {before}", f"Now: {after}"]
    return [places, *both, *plans]


def _plan(row: Row) -> str:
    """The best for a plan on both days, and its USD."""
    usd = [f"{number(row[side], 3)} USD" for side in ("before", "after")]
    then, now = (text(row[f"said_{side}"]) or "nothing." for side in ("before", "after"))
    name = f"Plan {text(row['workload'])}"
    if then == now:
        moved = "" if missing(row["change"]) else f" ({row['change']:+.1%})"
        return f"{name}, {usd[0]} then and {usd[1]} now{moved}, as then: {now}"
    return f"{name}, then ({usd[0]}): {then} Now ({usd[1]}): {now}"


def _days(row: Row) -> str:
    """The days of both prices, one where they are the same."""
    days = [text(row[name])[:10] for name in ("as_of_before", "as_of_after") if not missing(row[name])]
    return " to ".join(dict.fromkeys(days))
