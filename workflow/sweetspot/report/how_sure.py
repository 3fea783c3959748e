"""What the answer rests on: the basis of each speed that decides, and the warnings that could change the answer."""

from collections.abc import Iterable

import pandas as pd

from sweetspot.cells import READ
from sweetspot.decision.compare import CHOICES, decisive_rows
from sweetspot.report.evidence_text import RULES, decisive
from sweetspot.report.notation import BASIS_FACTS, Row, finite, rows_where, text
from sweetspot.report.outcome import AnswerPart, ValueRange
from sweetspot.report.sentences import sentence
from sweetspot.report.tables import Tables, table_of, works
from sweetspot.wording import listed, the

MAX_WARNINGS, MAX_MACHINES = 3, 2  # that the first page names
MAX_CHARACTERS = 160  # of one warning
# Warnings that say nothing without the name of their kind.
RULES_WITH_HEADING = {"no_interval", "note", "text_against_table", "stand_in_batch", "stand_in_precision"}
MINOR_RULES = ("no_interval", "note")  # what the bases say already, or what a source says of its figure
TIMED = (*READ, "equivalent")  # bases of speeds that somebody timed


class DecidingSpeed(AnswerPart):
    """A speed that the answer rests on."""

    option: str
    title: str
    model: str
    job: str
    basis: str
    hours: float | None
    images_per_s: ValueRange
    source: str


def deciding_speeds(tables: Tables) -> list[DecidingSpeed]:
    """Return the speeds (images/s) that the answer rests on, with basis (measured, published ...) and source, for the
    page. They are those of all choices that the verdict names, from the table `options`.
    """
    jobs = works(tables)
    return [
        DecidingSpeed.of(
            row,
            job=jobs.get(row["workload"], row["model"]),
            basis=row["throughput_basis"],
            source=text(row["throughput_source"]),
        )
        for row in _rows_with_speed(tables, table_of(tables, "verdict"))
    ]


def bases_of_choice(tables: Tables, workload: str, choice: str) -> list[str]:
    """Return the distinct bases (such as `measured`) of the speeds of a choice; [] if its cost depends on no speed.
    `workload`, `choice`: keys of a row of `choices`. Its bar on the page is marked with them (`mark_of`).
    """
    verdict = {"is_answer": True, "workload": workload} | dict.fromkeys(CHOICES) | {"best": choice}
    rows = _rows_with_speed(tables, pd.DataFrame([verdict]))
    return list(dict.fromkeys(row["throughput_basis"] for row in rows))


def mark_of(bases: Iterable[str]) -> str:
    """Return a mark for a choice with speeds that nobody timed, e.g. ' (speed predicted)', from its bases; else ''."""
    weak = [BASIS_FACTS[basis].word for basis in bases if basis not in TIMED]
    return f" (speed {listed(weak)})" if weak else ""


def speeds_in_words(tables: Tables) -> str:
    """Return a sentence on how the speeds behind the verdict are known (`measured`, ...), for "How sure"; or ''."""
    speeds = deciding_speeds(tables)
    bases = {BASIS_FACTS[basis]: basis for basis in BASIS_FACTS if basis in {speed.basis for speed in speeds}}
    return sentence("deciding_speeds", speeds, bases, MAX_MACHINES) if speeds else ""


def warnings_in_words(tables: Tables) -> list[str]:
    """Return the warnings that could change the answer as sentences for "How sure", gravest first, and a count of the
    rest. At most MAX_WARNINGS of the table `warnings`; [] without any.
    """
    rows = decisive(table_of(tables, "warnings"))
    if rows.empty:
        return []
    rows = rows.drop_duplicates(["rule", "message"])
    rows = rows.assign(is_minor=rows["rule"].isin(MINOR_RULES)).sort_values("is_minor", kind="stable")
    rows = rows.assign(is_repeat=rows.duplicated("rule")).sort_values("is_repeat", kind="stable")
    titles = {row["instance"]: row["title"] for row in rows_where(tables, "options")}
    lines = []
    for rule, message in rows[["rule", "message"]].head(MAX_WARNINGS).itertuples(index=False):
        machine, colon, rest = text(message).partition(": ")
        content = f"{the(titles[machine])}: {rest}" if colon and machine in titles else text(message)
        heading = RULES.get(rule, rule.replace("_", " ")) if rule in RULES_WITH_HEADING else ""
        lines.append(sentence("decisive_warning", content.rstrip("."), heading, MAX_CHARACTERS))
    hidden = len(rows) - len(lines)
    return [*lines, sentence("more_warnings", hidden)] if hidden > 0 else lines


def notes(tables: Tables) -> list[str]:
    """Return what page and `ask` say the verdict rests on: bases of the deciding speeds, then decisive warnings."""
    return [line for line in (speeds_in_words(tables), *warnings_in_words(tables)) if line]


def _rows_with_speed(tables: Tables, verdict: pd.DataFrame) -> list[Row]:
    """Return the rows of `options` whose speeds the answer rests on: of choices that the table `verdict` names."""
    choices, options = table_of(tables, "choices"), table_of(tables, "options")
    if choices.empty or verdict.empty or "throughput_basis" not in options.columns:
        return []
    rows = decisive_rows(verdict, choices, table_of(tables, "sources"), options)
    return [row for row in rows if row["throughput_basis"] in BASIS_FACTS and finite(row, "images_per_s") is not None]
