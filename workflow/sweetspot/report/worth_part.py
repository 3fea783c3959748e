"""The page's table of what knowing each figure is worth."""

from sweetspot.report.cited import records, text
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import asked_model, of_jobs

STEP = "comparison: EVPPI by regression on the draws"
LEAST = 0.001  # of what the project costs: what is worth less is worth nothing to a buyer


def worth_part(made: Sections) -> Part:
    """The figures that are worth anything: more than their Monte Carlo error, and LEAST of what the project costs.

    Those of the answer's model first; the files hold the rest.
    """
    table, asked = of_jobs(made.tables, "worth_knowing"), asked_model(made.tables)
    if table.empty:
        return Part((), [], [])
    told = table[(table["evppi_usd_low"] > 0) & (table["evppi_usd"] >= LEAST * table["project_usd"])]
    told = told.sort_values("model", key=lambda model: model != asked, kind="stable")
    rows = [
        [
            made.model(row),
            text(row["figure"]),
            made.made(row, "value", STEP),
            text(row["unit"]),
            made.made(row, "evppi_usd", STEP),
            made.made(row, "cost_to_learn_usd", "minutes of timing at the cheapest offer by the hour"),
            text(row["learn_on_title"]),
            made.made(row, "turning_point", "tornado"),
        ]
        for row in records(told.head(ROWS))
    ]
    head = "model|figure|value|unit|worth, USD|timing it costs, USD|timed on|the winner changes at"
    return Part(tuple(head.split("|")), rows, [""] * len(rows), len(table) - len(rows))
