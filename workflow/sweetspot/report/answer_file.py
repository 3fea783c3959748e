"""The answer for other programs, `answer.json`: a closed, versioned model, filled from the tables of the comparison."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from sweetspot.decision.counted import TIE
from sweetspot.decision.verdict import no_answer
from sweetspot.report.answer import for_the_winner, lead, ranked, roles_of
from sweetspot.report.answer_deadlines import ByDeadline, by_deadline
from sweetspot.report.cited import Row, records, text
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.later_part import later_in_words
from sweetspot.report.notation import missing
from sweetspot.report.outcome import Figure, Outcome, Part, choices_of, other_work, outcome_of
from sweetspot.report.phrases import decisive, worth_knowing
from sweetspot.report.plan_turning import plan_worth_in_words
from sweetspot.report.tables import Tables, table_of
from sweetspot.report.words import unit_of
from sweetspot.study.study import Study

SCHEMA_VERSION = 2
LEVEL = 0.9  # of every interval here
USE = ("days_per_month", "months", "usd_per_kwh", "capex_usd")


class Multiple(Part):
    """How many times cheaper one option is than the other."""

    cheaper: str = Field(description="Option that costs less")
    dearer: str = Field(description="Option that it is held against")
    times: Figure = Field(description="USD of the dearer / USD of the cheaper")
    p_cheaper: float = Field(description="Share of the draws in which the cheaper one is cheaper")


class Option(Part):
    """One option that the answer names."""

    option: str = Field(description="Its key: instance, purchase, price list, nodes")
    title: str = Field(description="Name for people")
    roles: list[str] = Field(description="What it is here")
    model: str = Field(description="What is trained")
    workload: str = Field(description="The job that usd and hours are of")
    usd: Figure = Field(description="USD of the job")
    hours: Figure = Field(description="Hours of the job")
    per_s: Figure = Field(description="Units a second, all devices together; the unit is the answer's")
    usd_per_hour: float | None = Field(description="Price of an hour")
    persistent: bool = Field(description="false: it can be taken away while it works")
    basis: str = Field(description="How the speed came to be")
    source: str = Field(description="Where the speed is from")
    price_source: str = Field(description="Where the price is from")
    as_of: str = Field(description="Date of the price")


class ByModel(Part):
    """The answer on one model of the study."""

    model: str = Field(description="What is trained")
    outcome: str = Field(description="As the answer's outcome")
    multiple: Multiple | None = Field(description="The cheaper of the reference and its rival; null: no rival")


class Warned(Part):
    """A warning that could change the answer."""

    rule: str = Field(description="Its name")
    message: str = Field(description="What it says")
    instances: list[str] = Field(description="Machines that it concerns")


class StudyFacts(Part):
    """The question."""

    name: str = Field(description="Folder below config/studies/")
    title: str = Field(description="Name for people")
    question: str = Field(description="What is asked")
    as_of: str = Field(description="Date of the figures")


class ChoiceRow(Part):
    """One choice for the work of the answer."""

    choice: str = Field(description="Its key")
    title: str = Field(description="Name for people")
    kind: str = Field(description="keep, rent, contract, buy, mix")
    usd: Figure = Field(description="USD of the work")
    usd_per_month: float | None = Field(description="The same a month; null: the work has no months")
    hours: float | None = Field(description="Hours of the work there; null: the months of the plan")
    ratio: Figure = Field(description="USD / USD of the best")
    p_cheaper: float | None = Field(description="Share of the draws in which it costs less than the best; null: it is")
    in_hand: bool = Field(description="Whether it is an offer that the decision is about")
    why_not: str | None = Field(description="Why it is not the answer though it may cost less; null: it could be")


class Answer(Part):
    """One study's answer. Money is in USD, time in hours, intervals are 90 %."""

    schema_version: int = Field(SCHEMA_VERSION, description="Raised when a key is removed or changes its meaning")
    study: StudyFacts = Field(description="The question")
    outcome: Literal["reference", "rival", "too_close", "only_one", "none"] = Field(
        description="The verdict in a word: the reference is the best, another is, too close to call, only one choice, "
        "none at all"
    )
    confidence: str | None = Field(description="How sure that outcome is, in words")
    verdict: Outcome | None = Field(description="The answer; null: nothing is priced")
    other_work: list[Outcome] = Field(description="The verdict for the other work of the study")
    choices: list[ChoiceRow] = Field(description="What one could do, the cheapest first: those that the answer names")
    sentences: list[str] = Field(description="The answer in sentences, the most important first")
    claims: list[str] = Field(
        description="Claims of the study's text that it leads with, printed beside recomputed: the first of sentences"
    )
    deadlines: list[ByDeadline] = Field(description="Of a plan: what being done within any number of hours costs")
    counts: str = Field(description="What a bill pays for: train, run, task, month")
    unit: str = Field(description="What a throughput counts")
    model: str | None = Field(description="What the answer speaks of: the model least favourable to the reference")
    reference: str | None = Field(description="Option that the study judges")
    multiple: Multiple | None = Field(description="The cheaper of the reference and its rival; null: no rival")
    break_even_days_per_month: Figure | None = Field(
        description="Days of use a month from which owning the reference pays; null: it is not owned"
    )
    inputs: dict[str, float] = Field(description="What the cost of an owned reference rests on: days, months, ...")
    options: list[Option] = Field(description="Options that the answer names")
    by_model: list[ByModel] = Field(description="The answer on each model")
    buying_later: list[str] = Field(
        description="Where a plan asks for it: what buying in some months costs, renting until then, in sentences"
    )
    worth_knowing: list[str] = Field(description="What to find out first, in sentences; of a plan of months, for it")
    warnings: list[Warned] = Field(description="Those that could change the answer")


def answer_of(tables: Tables, study: Study) -> Answer:
    """The answer of a study from its tables; `outcome` is `none` where no option has both a price and a figure."""
    headline, money, verdict = table_of(tables, "headline"), money_of(study), outcome_of(tables)
    shown = shown_in(tables, money)
    judged = None if headline.empty else text(headline["reference"].iloc[0])
    facts: dict[str, Any] = {
        "study": StudyFacts(name=study.name, title=study.title, question=study.question, as_of=str(study.as_of)),
        "unit": unit_of(tables),
        "verdict": verdict,
        "other_work": other_work(tables),
        "choices": [_choice(row) for row in choices_of(tables)],
        "claims": lead(table_of(tables, "claims")),
        "deadlines": by_deadline(tables),
        "worth_knowing": plan_worth_in_words(shown, money.code) or worth_knowing(shown),
        "buying_later": later_in_words(table_of(shown, "later"), money.code),
        "warnings": _warnings(decisive(table_of(tables, "warnings"))),
    }
    said = [*facts["claims"], *(verdict.sentences() if verdict else [nothing_said(tables)])]
    told: dict[str, Any] = {
        "outcome": _outcome(tables, verdict, judged),
        "confidence": None if verdict is None else verdict.confidence,
        "sentences": said,
    }
    if headline.empty:
        nothing = dict.fromkeys(("model", "reference", "multiple", "break_even_days_per_month"))
        lists: dict[str, Any] = {"options": [], "by_model": [], "inputs": {}}
        return Answer(counts="train", **nothing, **lists, **told, **facts)
    first = records(headline.head(1))[0]
    box = ranked(table_of(tables, "ranks"), first, first["reference"])
    return Answer(
        **told,
        counts=text(first["counts"]),
        model=text(first["model"]),
        reference=text(first["reference"]),
        multiple=_multiple(first),
        break_even_days_per_month=None if missing(first["planned_days"]) else _figure(first, "days"),
        inputs=_inputs(tables, box),
        options=_options(tables, first),
        by_model=[_by_model(row) for row in records(headline[headline["scope"] == "model"])],
        **facts,
    )


def nothing_said(tables: Tables) -> str:
    """What is said where there is no verdict."""
    return no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput")))


def answer_json(tables: Tables, study: Study) -> str:
    """The answer as JSON text, indented, with a line break at its end."""
    return answer_of(tables, study).model_dump_json(indent=1) + "\n"


def _outcome(tables: Tables, verdict: Outcome | None, judged: str | None) -> str:
    """The verdict in a word; `judged`: the study's reference."""
    if verdict is None:
        return "none"
    if verdict.rival is None:
        return "only_one"
    if verdict.close:
        return "too_close"
    sources = table_of(tables, "sources")
    held = (
        sources[(sources["workload"] == verdict.workload) & (sources["mix"] == verdict.best.choice)]
        if len(sources)
        else sources
    )
    return "reference" if judged in {verdict.best.choice, *(held["option"] if len(held) else ())} else "rival"


def _of_model(row: Row) -> str:
    """Who is cheaper on one model."""
    if missing(row["alternative"]):
        return "only_one"
    if row["confidence"] == TIE:
        return "too_close"
    return "reference" if float(row["gain"]) >= 1 else "rival"  # type: ignore[arg-type]


def _choice(row: Row) -> ChoiceRow:
    words = {name: text(row[name]) for name in ("choice", "title", "kind")}
    numbers = {name: _number(row[name]) for name in ("usd_per_month", "hours", "p_cheaper")}
    usd, ratio = _figure(row, "usd"), _figure(row, "ratio")
    why = None if missing(row["why_not"]) else text(row["why_not"])
    return ChoiceRow(**words, **numbers, usd=usd, ratio=ratio, in_hand=bool(row["in_hand"]), why_not=why)


def _multiple(row: Row) -> Multiple | None:
    """The headline's gain, said of whichever of the two is the cheaper."""
    if missing(row["gain"]):
        return None
    told = for_the_winner(row)
    two = [text(row["reference"]), text(row["alternative"])]
    cheaper, dearer = two if float(row["gain"]) > 1 else reversed(two)  # type: ignore[arg-type]
    return Multiple(
        cheaper=cheaper, dearer=dearer, times=_figure(told, "gain"), p_cheaper=float(told["p_cheaper"])  # type: ignore[arg-type]
    )  # fmt: skip


def _figure(row: Row, name: str) -> Figure:
    value, low, high = (_number(row.get(key)) for key in (name, f"{name}_low", f"{name}_high"))
    return Figure(value=value, low=low, high=high)


def _number(value: object) -> float | None:
    """A finite number, else nothing: JSON has no other."""
    found = None if missing(value) else float(value)  # type: ignore[arg-type]
    return found if found is not None and abs(found) < float("inf") else None


def _inputs(tables: Tables, box: Mapping[str, Any]) -> dict[str, float]:
    """What the price list says of the reference where it is owned."""
    offers = table_of(tables, "offers")
    if box["purchase"] != "own" or offers.empty:
        return {}
    same = [offers[name] == box[name] for name in ("price_list", "instance", "purchase")]
    found = records(offers[same[0] & same[1] & same[2]].head(1))
    values = {name: _number(row[name]) for row in found for name in USE if name in row}
    return {name: value for name, value in values.items() if value is not None}


def _options(tables: Tables, first: Row) -> list[Option]:
    told: dict[str, list[str]] = {}
    for column, role in roles_of(first).items():
        if not missing(first.get(column)):
            told.setdefault(text(first[column]), []).append(role)
    ranks = table_of(tables, "ranks")
    return [_option(ranked(ranks, first, name), roles) for name, roles in told.items()]


def _option(row: Mapping[str, Any], roles: list[str]) -> Option:
    names = ("option", "title", "model", "workload", "basis", "source", "price_source", "as_of")
    return Option(
        **{name: text(row[name]) for name in names},
        roles=roles,
        usd=_figure(row, "usd"),
        hours=_figure(row, "hours"),
        per_s=_figure(row, "images_per_s"),
        usd_per_hour=_number(row["usd_per_hour"]),
        persistent=bool(row["persistent"]),
    )


def _by_model(row: Row) -> ByModel:
    return ByModel(
        model=text(row["model"]), outcome=_of_model(row), multiple=_multiple(row)
    )  # fmt: skip


def _warnings(table: pd.DataFrame) -> list[Warned]:
    groups = table.groupby(["rule", "message"], dropna=False, sort=True) if len(table) else ()
    return [
        Warned(
            rule=text(rule),
            message=text(message),
            instances=sorted({text(name) for name in rows["instance"] if not missing(name)}),
        )
        for (rule, message), rows in groups
    ]
