"""What the answer rests on: the basis of each speed that decides, and the warnings that could change the answer."""

from collections.abc import Iterable

import pandas as pd
from pydantic import Field

from sweetspot.cells import READ
from sweetspot.decision.offers_left_out import NAMED, decisive_rows
from sweetspot.report.evidence_text import RULES, decisive
from sweetspot.report.notation import SHOWN, Row, text
from sweetspot.report.outcome import Figure, Part, finite, outcome_of
from sweetspot.report.tables import Tables, table_of
from sweetspot.wording import listed, the

MOST_WARNINGS, MOST_MACHINES = 3, 4  # that the first page names
LONGEST = 260  # characters of one warning
# Warnings that say nothing without the name of their kind.
HEADED = {"no_interval", "note", "text_against_table", "stand_in_batch", "stand_in_precision"}
LEAST_GRAVE = ("no_interval", "note")  # what the bases say already, or a source says of its figure: told last
FROM_A_CLOCK = (*READ, "equivalent")  # bases that carry no mark


class DecidingSpeed(Part):
    """A speed that the answer rests on."""

    option: str = Field(description="Key of the option")
    title: str = Field(description="Name for people of the option")
    model: str = Field(description="Model that is trained")
    basis: str = Field(
        description="How the speed came to be: measured, own, published, equivalent, scaled, stand_in, transferred, "
        "extrapolated, arithmetic"
    )
    images_per_s: Figure = Field(description="Speed of the whole machine, in the study's unit a second")
    source: str = Field(description="Where the speed comes from")


def deciding_speeds(tables: Tables) -> list[DecidingSpeed]:
    """The speeds of the options that the verdict names, and of those that do the work of a mix so named."""
    return [_speed(row) for row in _deciding_rows(tables) if _has_speed(row)]


def bases_of_choice(tables: Tables, workload: str, choice: str) -> list[str]:
    """The bases of the speeds that one choice of a workload rests on, each once; [] where it needs no speed."""
    asked = {"is_answer": True, "workload": workload} | dict.fromkeys(NAMED) | {"best": choice}
    rows = _rows_behind(tables, pd.DataFrame([asked]))
    return list(dict.fromkeys(text(row["throughput_basis"]) for row in rows if _has_speed(row)))


def mark_of(bases: Iterable[str]) -> str:
    """The words for behind a choice whose speed nobody timed: ` (speed predicted)`; nothing where all are timed."""
    weak = [SHOWN[basis].word for basis in bases if basis not in FROM_A_CLOCK]
    return f" (speed {listed(weak)})" if weak else ""


def speeds_in_words(tables: Tables) -> str:
    """One sentence on the basis of the speeds that decide; empty where the answer rests on none."""
    by_basis: dict[str, list[str]] = {}
    for speed in deciding_speeds(tables):
        titles = by_basis.setdefault(speed.basis, [])
        if speed.title not in titles:
            titles.append(speed.title)
    groups = [
        f"{SHOWN[basis].sign} {SHOWN[basis].word}: {_some(by_basis[basis])}" for basis in SHOWN if basis in by_basis
    ]
    return f"Speeds that decide: {'; '.join(groups)}." if groups else ""


def warnings_in_words(tables: Tables) -> list[str]:
    """The warnings that could change the answer, the gravest first; of more than MOST_WARNINGS how many there are."""
    rows = decisive(table_of(tables, "warnings"))
    if rows.empty:
        return []
    rows = rows.assign(late=rows["rule"].isin(LEAST_GRAVE)).sort_values("late", kind="stable")
    first = rows.drop_duplicates("rule")  # of each kind one before a second of the same
    ordered = pd.concat([first, rows.drop(index=first.index)]).drop_duplicates(["rule", "message"])
    titles = _titles(tables)
    sentences = [_warning(str(row.rule), str(row.message), titles) for row in ordered.head(MOST_WARNINGS).itertuples()]
    hidden = len(ordered) - len(sentences)
    return [*sentences, f"{hidden} more could change the answer: see the evidence."] if hidden > 0 else sentences


def notes(tables: Tables) -> list[str]:
    """What stands beside the verdict: the bases of the deciding speeds, then the warnings; lines for people."""
    return [line for line in (speeds_in_words(tables), *warnings_in_words(tables)) if line]


def _deciding_rows(tables: Tables) -> list[Row]:
    if outcome_of(tables) is None:
        return []
    return _rows_behind(tables, table_of(tables, "verdict"))


def _rows_behind(tables: Tables, verdict: pd.DataFrame) -> list[Row]:
    choices, options = table_of(tables, "choices"), table_of(tables, "options")
    if choices.empty or options.empty or verdict.empty or "throughput_basis" not in options.columns:
        return []
    return list(decisive_rows(verdict, choices, table_of(tables, "sources"), options))


def _has_speed(row: Row) -> bool:
    return text(row["throughput_basis"]) in SHOWN and finite(row, "images_per_s") is not None


def _speed(row: Row) -> DecidingSpeed:
    return DecidingSpeed(
        option=text(row["option"]),
        title=text(row["title"]),
        model=text(row["model"]),
        basis=text(row["throughput_basis"]),
        images_per_s=Figure.of(row, "images_per_s"),
        source=text(row["throughput_source"]),
    )


def _some(titles: list[str]) -> str:
    more = len(titles) - MOST_MACHINES
    return ", ".join(titles[:MOST_MACHINES]) + (f" and {more} more" if more > 0 else "")


def _titles(tables: Tables) -> dict[str, str]:
    options = table_of(tables, "options")
    return dict(zip(options["instance"], options["title"], strict=True)) if len(options) else {}


def _warning(rule: str, message: str, titles: dict[str, str]) -> str:
    """A warning as a sentence: its kind before what only names a figure, and machines by their titles."""
    name, apart, rest = message.partition(": ")
    if apart and name in titles:
        message = f"{the(titles[name])}: {rest}"
    if rule in HEADED:
        message = f"{RULES.get(rule, rule.replace('_', ' '))}: {message}"
    sentence = f"{message[:1].upper()}{message[1:]}".rstrip(".")
    if len(sentence) > LONGEST:
        sentence = f"{sentence[:LONGEST].rpartition(' ')[0]} …"
    return f"Warning: {sentence}."
