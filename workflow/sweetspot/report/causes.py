"""The three figures that the answer hangs on most, a short sentence each."""

from sweetspot.decision_words import FACTOR, in_unit
from sweetspot.report.cited import Row, records
from sweetspot.report.notation import missing
from sweetspot.report.tables import Tables, asked_model, of_jobs
from sweetspot.wording import amount

TOLD = 3
SPEED = "images_per_s"
UNMOVED = "no value changes the cheapest"


def causes(tables: Tables) -> list[str]:
    """The assumptions of the answer's model that move it most, the widest first; none where nothing is owned."""
    rows = of_jobs(tables, "tornado")
    if rows.empty:
        return []
    rows = rows[rows["model"] == asked_model(tables)].drop_duplicates("assumption")
    return [_cause(row) for row in records(rows.head(TOLD))]


def _cause(row: Row) -> str:
    """What is counted, in which range it lies, and where the cheapest changes."""
    name, turns = str(row["assumption"]), not missing(row["flip_value"])
    value, low, high, flip = (float(row[key]) for key in ("value", "low", "high", "flip_value"))  # type: ignore[arg-type]
    if row["quantity"] == SPEED or row["unit"] == FACTOR:  # a speed in its own unit tells a buyer nothing
        told = f"{_share(low / value)} to {_share(high / value)}"
        turn = f"the cheapest changes at {_share(flip / value)}" if turns else UNMOVED
    else:
        told = f"{in_unit(value, str(row['unit']), name)}, from {amount(low)} to {amount(high)}"
        turn = f"the cheapest changes at {amount(flip)}" if turns else UNMOVED
    return f"{name[:1].upper()}{name[1:]} ({told}): {turn}."


def _share(factor: float) -> str:
    """A change in per cent, with its sign: `-32 %`."""
    return f"{100 * (factor - 1):+.0f} %".replace("-", "−")
