"""The tables of the decision in words: the verdict, why a choice is not the answer, deadlines, break-even."""

from typing import Any

from sweetspot.report.notation import Row, missing, records
from sweetspot.report.sentences import sentence, sentences
from sweetspot.report.tables import Tables, counted_in, table_of
from sweetspot.wording import Money

SENTENCE_WORDS, DO_THIS_WORDS = 15, 20  # at most; a toss-up has 20 too


def verdict_rows(tables: Tables) -> list[dict[str, Any]]:
    """Return the rows of the table `verdict` ({column: value}), with the sentences that page and `ask` print added.
    These are `sentence` (the answer), `do_this`, `thresholds` (a list).
    """
    words, rows = counted_in(tables), records(table_of(tables, "verdict"))
    for row in rows:
        row["sentence"] = _shortened(sentences("verdict", row, words.money), SENTENCE_WORDS)
        row["do_this"] = _shortened(sentences("do_this", row, words), DO_THIS_WORDS)
        row["thresholds"] = sentences("thresholds", row, words.money, rows)
    return rows


def _shortened(texts: list[str], maximum: int) -> str:
    """Return the first of `texts` with at most `maximum` words, else the last of them."""
    return next((text for text in texts if len(text.split()) <= maximum), texts[-1])


def why_not(row: Row, money: Money) -> str | None:
    """Return a sentence on why a row of `choices` cannot be the answer, amounts in `money`; None if it could be."""
    return None if missing(row["why_not"]) else sentence("why_not", row, money)


def with_text(tables: Tables) -> Tables:
    """Return `tables` (by name, in USD) with sentences as columns added to verdict, choices, deadlines and break_even.
    The evidence page shows them beside the figures.
    """
    money = counted_in(tables).money
    due = table_of(tables, "deadlines", "confidence", "fastest_title", "up_front_usd", "due_usd_per_month")
    days = table_of(tables, "break_even", "planned")
    verdict, choices = table_of(tables, "verdict"), table_of(tables, "choices")
    texts = {
        "verdict": verdict.assign(sentence=[row["sentence"] for row in verdict_rows(tables)]),
        "choices": choices.assign(why_not=[why_not(row, money) for row in records(choices)]),
        "deadlines": due.assign(cheapest=[sentence("in_time", row, money) for row in records(due)]),
        "break_even": days.assign(verdict=[sentence("break_even", row) for row in records(days)]),
    }
    return tables | {name: table for name, table in texts.items() if len(table)}
