"""The three figures that the answer hangs on most, a short sentence each."""

from sweetspot.decision.certainty import amount
from sweetspot.report.cited import Row, records
from sweetspot.report.notation import missing
from sweetspot.report.tables import Tables, table_of

TOLD = 3


def causes(tables: Tables) -> list[str]:
    """The assumptions of the answer's model that move it most, the widest first; none where nothing is owned."""
    headline, rows = table_of(tables, "headline"), table_of(tables, "tornado")
    if headline.empty or rows.empty:
        return []
    rows = rows[rows["model"] == headline["model"].iloc[0]].drop_duplicates("assumption")
    return [_cause(row) for row in records(rows.head(TOLD))]


def _cause(row: Row) -> str:
    """What is counted, in which range it lies, and where the cheapest changes."""
    value, low, high = (_told(row, name) for name in ("value", "low", "high"))
    name = str(row["assumption"])
    unit = "" if row["unit"] == "x" else f" {row['unit']}"
    turn = "no value of it changes the cheapest"
    if not missing(row["flip_value"]):
        turn = f"the cheapest changes at {_told(row, 'flip_value')}{unit}"
    return f"{name[:1].upper()}{name[1:]} ({value}{unit}, from {low} to {high}): {turn}."


def _told(row: Row, name: str) -> str:
    return amount(float(row[name]))  # type: ignore[arg-type]
