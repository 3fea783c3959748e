"""What the evidence says of single jobs: the claims that lead, and the verdict on each."""

import pandas as pd

from sweetspot.decision_words import in_unit
from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.wording import SHARE, amount

STEP = "comparison: verdict, by simulation"


def verdict_part(made: Sections) -> Part:
    """The verdict on each single job: the best, what it is held against, by how much and how sure."""
    choices = made.table("choices")
    jobs = set(choices.loc[choices["cost"] == SHARE, "workload"]) if len(choices) else set()
    rows = [
        [
            text(row["workload_title"]),
            text(row["best_title"]),
            text(row["rival_title"]),
            made.made(row, "ratio", STEP, unit="×"),
            "" if missing(row["p_cheaper"]) else made.probability(row, "p_cheaper", STEP),
            text(row["sentence"]),
        ]
        for row in records(made.table("verdict"))
        if row["workload"] in jobs
    ][:ROWS]
    head = "job|best|held against|times as much|P(best is cheaper)|the answer"
    return Part(tuple(head.split("|")) if rows else (), rows, [""] * len(rows))


def lead(claims: pd.DataFrame) -> list[str]:
    """The claims that lead, each as printed beside what is recomputed."""
    rows = claims[claims["lead"].fillna(False).astype(bool)] if "lead" in claims.columns else claims.head(0)
    return [_printed_beside_recomputed(row) for row in records(rows)]


def _printed_beside_recomputed(row: Row) -> str:
    told = None if missing(row["printed"]) else in_unit(float(str(row["printed"])), text(row["unit"])).strip()
    printed = "not printed" if told is None else f"{told} printed"
    if missing(row["computed"]):
        return f"{text(row['text'])}: {printed}, {text(row['verdict'])}."
    found = "" if text(row["verdict"]) in ("holds", "not printed") else f" ({text(row['verdict'])})"
    return f"{text(row['text'])}: {printed}, {amount(float(str(row['computed'])))} recomputed{found}."
