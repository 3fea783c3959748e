"""The page's table of buying later: each machine of a plan bought at once, later and never."""

from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections

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
        chance = "" if missing(row["p_saves"]) else made.probability(row, "p_saves", STEP)
        status = "" if row["status"] == "ok" else text(row["status"])
        rows.append([made.work(row), _bought(row), text(row["until_title"]) or status, *figures, chance])
        classes.append("good" if row["usd"] == cheapest else "failed" if status else "")
    return Part(tuple(HEAD.split("|")), rows, classes, max(0, len(table) - ROWS))


def _bought(row: Row) -> str:
    if missing(row["box"]):
        return "never"
    when = "at once" if row["after_months"] == 0 else f"in {row['after_months']:g} months"
    return f"{text(row['box_title'])}, {when}"
