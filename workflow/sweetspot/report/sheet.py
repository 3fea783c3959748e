"""The answer on one A4 page, for the person who signs: what to take, what it costs, on what that hangs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined, select_autoescape
from markupsafe import Markup

from sweetspot.decision.certainty import percent
from sweetspot.report.answer_file import Answer, answer_of
from sweetspot.report.cited import records, text
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.key_figures import key_figures
from sweetspot.report.notation import interval_text, missing, number
from sweetspot.report.plan_part import PHASES, leading, plan_rows
from sweetspot.report.plan_turning import paying_in_words, turning_in_words
from sweetspot.report.tables import Tables, hours_differ, table_of
from sweetspot.report.words import counted_in
from sweetspot.study.study import Study

ASSETS = Path(__file__).parent / "assets"
OPTIONS, WARNINGS, SOURCES = 5, 3, 6  # that stand on the sheet
# Characters of each text, so that one page holds them all: tests/report/test_sheet.py counts the pages.
TITLE, QUESTION, ANSWER, NAME, SENTENCE, SOURCE = 140, 240, 560, 90, 260, 90


class Listed(NamedTuple):
    """A table as it is printed, and a note on it; empty where there is nothing to list."""

    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""


def render_sheet(tables: Tables, study: Study) -> str:
    """The sheet as HTML, which prints on one page of A4. Text from the study is escaped by the template engine."""
    environment = Environment(autoescape=select_autoescape(default=True), undefined=StrictUndefined, trim_blocks=True)
    answer, money = answer_of(tables, study), money_of(study)
    tables = shown_in(tables, money)
    first, *rest = answer.sentences
    of_work = [sentence for sentence in (turning_in_words(tables), *paying_in_words(tables)) if sentence]
    warned = list({one.rule: one.message for one in answer.warnings}.values())
    context: dict[str, Any] = {
        "study": study,
        "title": short(study.title, TITLE),
        "question": short(study.question, QUESTION),
        "first": short(first, ANSWER),
        "rest": whole_sentences(" ".join(rest[:2]), ANSWER - len(first)),
        "figures": key_figures(answer, tables, money.code),
        "listed": listed if (listed := of_plan(tables)).rows else of_one_job(tables, answer),
        "hangs": [short(sentence, SENTENCE) for sentence in (of_work or answer.worth_knowing)[:2]],
        "warnings": [short(f"{message[:1].upper()}{message[1:]}", SENTENCE) for message in warned[:WARNINGS]],
        "more": max(0, len(answer.warnings) - WARNINGS),
        "sources": _sources(study),
        "style": Markup((ASSETS / "sheet.css").read_text(encoding="utf-8")),
    }
    return environment.from_string((ASSETS / "sheet.html.j2").read_text(encoding="utf-8")).render(context)


def of_one_job(tables: Tables, answer: Answer) -> Listed:
    """The cheapest options that the answer weighs, and those that it names."""
    ranks = table_of(tables, "ranks")
    if ranks.empty or answer.model is None:
        return Listed()
    rows = ranks[(ranks["model"] == answer.model) & ranks["in_answer"].astype(bool)].drop_duplicates("option")
    named = rows["option"].isin([one.option for one in answer.options])
    rows = rows[rows["persistent"].astype(bool) | named].sort_values("usd", kind="stable").head(OPTIONS)
    words, hours = counted_in(tables), hours_differ(tables)
    # Where other lists or what can be taken away are cheaper still, the share says nothing of these.
    sure = bool(rows["p_cheapest"].sum() > 0.5)
    made = [
        [
            short(row["title"], NAME),
            _with_interval(row, "usd"),
            *([_with_interval(row, "hours")] if hours else []),
            *([_chance(row["p_cheapest"])] if sure else []),
            text(row["basis"]).replace("_", "-"),
        ]
        for row in records(rows)
    ]
    title = ranks.loc[ranks["model"] == answer.model, "model_title"].iloc[0]
    head = ["option", words.usd.format(model=title), *(["hours"] if hours else [])]
    note = "In brackets 90 %."
    note += " “Is the cheapest”: in how many simulated outcomes, of all that cannot be taken away." if sure else ""
    return Listed([*head, *(["is the cheapest"] if sure else []), "basis"], made, note)


def of_plan(tables: Tables) -> Listed:
    """What the plan that leads may take: its mixes, or its options for the phases; nothing without a plan."""
    kind, mixes = leading(tables), table_of(tables, "mixes")
    if kind == PHASES:
        return _of_phases(tables)
    if kind is None:
        return Listed()
    rows = mixes[~mixes["same_as_best"].astype(bool) & (mixes["workload"] == mixes["workload"].iloc[0])]
    made = [
        [
            short(row["title"], NAME),
            _with_interval(row, "usd_per_month"),
            number(row["usd"]),
            _chance(row["probability"]),
        ]
        for row in records(rows.head(OPTIONS))
    ]
    code = counted_in(tables).money.code
    head = ["what to have and to rent", f"{code} a month", f"{code} in all", "probability"]
    note = (
        "In brackets 90 %. Probability: of the first, to cost less than the next; of the others, less than the first."
    )
    return Listed(head, made, note)


def _of_phases(tables: Tables) -> Listed:
    """The cheapest options for all phases that nobody takes away, and the cheapest that can be."""
    rows = plan_rows(tables)
    kept = rows["persistent"].astype(bool)
    shown = rows[kept].head(OPTIONS - 1) if kept.any() and not kept.all() else rows.head(OPTIONS)
    shown = rows[rows.index.isin([*shown.index, *rows[~kept].index[:1]])]
    made = [
        [short(row["title"], NAME), _with_interval(row, "usd"), _with_interval(row, "times_best"), number(row["hours"])]
        for row in records(shown)
    ]
    if not made:
        return Listed()
    note = "In brackets 90 %. All phases of the project on each option."
    note += "" if kept.all() or not kept.any() else " The cheapest that can be taken away is among them."
    return Listed(["what to take", f"{counted_in(tables).money.code} in all", "times the answer", "hours"], made, note)


def _chance(value: object) -> str:
    return "–" if missing(value) else percent(float(value))  # type: ignore[arg-type]


def _with_interval(row: dict[str, Any], name: str) -> str:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    span = interval_text(low, high) if number(low) != number(high) else ""
    return f"{number(row[name])} ({span})" if span else number(row[name])


def _sources(study: Study) -> str:
    told = "; ".join(f"{short(one.title, SOURCE)}, {one.date}" for one in study.sources[:SOURCES])
    more = len(study.sources) - SOURCES
    return f"{told}; and {more} more." if more > 0 else f"{told}."


def whole_sentences(words: str, most: int) -> str:
    """The first sentences of a text, as many as fit into `most` characters."""
    told = ""
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", words):
        longer = f"{told} {sentence}".strip()
        if len(longer) > most:
            break
        told = longer
    return told


def short(words: object, most: int) -> str:
    """A text in at most `most` characters, cut between words."""
    whole = " ".join(text(words).split())
    if len(whole) <= most:
        return whole
    return f"{whole[: most - 1].rpartition(' ')[0] or whole[: most - 2]} …"
