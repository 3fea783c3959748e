"""The evidence's table of scenarios: what differs, and what the answer is then."""

from sweetspot.report.cited import records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import Sections
from sweetspot.wording import percent

STEP = "comparison: the study priced and decided anew with what the scenario changes"
HEAD = "scenario|verdict|best|USD a month|USD|sure|differs by"


def scenarios_part(made: Sections) -> Part:
    """One row a scenario, the study as it is first; none for a study without."""
    table = made.table("scenarios")
    rows = []
    for row in records(table):
        changes = "; ".join(map(text, row["changes"])) or "nothing"
        sure = "" if missing(row["p_cheaper"]) else percent(float(row["p_cheaper"]))
        paid = [made.made(row, name, STEP) for name in ("usd_per_month", "usd")]
        best = "" if missing(row["best_title"]) else text(row["best_title"])
        rows.append([text(row["title"]), text(row["sentence"]), best, *paid, sure, changes])
    turned = ["" if same else "good" for same in table["same_answer"]] if len(table) else []
    return Part(tuple(HEAD.split("|")), rows, turned)
