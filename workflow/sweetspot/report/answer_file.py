"""The answer for other programs, `answer.json`: a closed, versioned model, filled from the tables of the comparison."""

from typing import Literal

import pandas as pd
from pydantic import Field

from sweetspot.decision_words import no_answer
from sweetspot.report.evidence_text import decisive, lead, plan_worth_in_words, worth_knowing
from sweetspot.report.how_sure import DecidingSpeed, bases_of_choice, deciding_speeds
from sweetspot.report.notation import Row, records, text
from sweetspot.report.outcome import Figure, Outcome, Part, choices_of, finite, other_work, outcome_of
from sweetspot.report.tables import Tables, asked_model, judged_option, money_of, shown_in, table_of, unit_of
from sweetspot.study.study import Study

SCHEMA_VERSION = 3
USE = ("days_per_month", "months", "usd_per_kwh", "capex_usd")


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
    speed_bases: list[str] = Field(
        description="How the speeds that it rests on came to be; empty: it needs none, or none is known"
    )
    in_hand: bool = Field(description="Whether it is an offer that the decision is about")
    why_not: str | None = Field(description="Why it is not the answer though it may cost less; null: it could be")


class Step(Part):
    """What holds from so many hours on, until those of the next step."""

    within_hours: float = Field(description="The deadline")
    option: str | None = Field(description="The cheapest option in time; null: none is")
    title: str | None = Field(description="Its name for people")
    hours: float | None = Field(description="Hours of one urgent job there")
    wait_hours: float | None = Field(description="Hours that it waits on average, where the machine is held; else 0")
    usd: float | None = Field(description="USD of it")
    usd_extra: float | None = Field(description="USD beyond what a job of the class costs that may take its time")
    p_in_time: float | None = Field(description="Probability that it makes it")
    p_result_in_time: float | None = Field(
        description="Probability that it does, the search for a rented machine and failures counted; null: not known"
    )
    share_in_time: float | None = Field(description="Of the jobs that are not asked to hurry, the share that makes it")


class ByDeadline(Part):
    """One class of jobs."""

    workload: str = Field(description="The work of months")
    job: str = Field(description="The class")
    steps: list[Step] = Field(description="By deadline, the shortest first; before the first nobody is in time")


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
    model: str | None = Field(description="The model that the answer is about; of several the first")
    reference: str | None = Field(description="Option that the study judges")
    inputs: dict[str, float] = Field(description="What the cost of an owned reference rests on: days, months, ...")
    worth_knowing: list[str] = Field(description="What to find out first, in sentences; of a plan of months, for it")
    speeds: list[DecidingSpeed] = Field(description="The speeds that the answer rests on, each with its basis")
    warnings: list[Warned] = Field(description="Those that could change the answer")


def answer_of(tables: Tables, study: Study) -> Answer:
    """The answer of a study from its tables; `outcome` is `none` where no option has both a price and a figure."""
    money, verdict, model = money_of(study), outcome_of(tables), asked_model(tables)
    shown, judged, claims = shown_in(tables, money), judged_option(tables, model), lead(table_of(tables, "claims"))
    return Answer(
        schema_version=SCHEMA_VERSION,
        study=StudyFacts(name=study.name, title=study.title, question=study.question, as_of=str(study.as_of)),
        outcome=_outcome(tables, verdict, judged),
        confidence=None if verdict is None else verdict.confidence,
        verdict=verdict,
        other_work=other_work(tables),
        choices=[_choice(row, tables) for row in choices_of(tables)],
        sentences=[*claims, *(verdict.sentences() if verdict else [nothing_said(tables)])],
        claims=claims,
        deadlines=by_deadline(tables),
        counts=study.counts,
        unit=unit_of(tables),
        model=model or None,
        reference=judged or None,
        inputs=_inputs(tables, judged),
        worth_knowing=plan_worth_in_words(shown, money.code) or worth_knowing(shown),
        speeds=deciding_speeds(tables),
        warnings=_warnings(decisive(table_of(tables, "warnings"))),
    )


def nothing_said(tables: Tables) -> str:
    """What is said where there is no verdict."""
    return no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput")))


def answer_json(tables: Tables, study: Study) -> str:
    """The answer as JSON text, indented, with a line break at its end."""
    return answer_of(tables, study).model_dump_json(indent=1) + "\n"


def _outcome(
    tables: Tables, verdict: Outcome | None, judged: str
) -> Literal["reference", "rival", "too_close", "only_one", "none"]:
    """The verdict in a word; `judged`: the study's reference."""
    if verdict is None:
        return "none"
    if verdict.rival is None:
        return "only_one"
    if verdict.close:
        return "too_close"
    sources, held = table_of(tables, "sources"), {verdict.best.choice}
    if len(sources):
        mine = (sources["workload"] == verdict.workload) & (sources["mix"] == verdict.best.choice)
        held |= set(sources.loc[mine, "option"])
    return "reference" if judged in held else "rival"


def _choice(row: Row, tables: Tables) -> ChoiceRow:
    return ChoiceRow(
        speed_bases=bases_of_choice(tables, text(row["workload"]), text(row["choice"])),
        **{name: text(row[name]) for name in ("choice", "title", "kind")},
        **{name: finite(row, name) for name in ("usd_per_month", "hours", "p_cheaper")},
        usd=Figure.of(row, "usd"),
        ratio=Figure.of(row, "ratio"),
        in_hand=bool(row["in_hand"]),
        why_not=text(row["why_not"]) or None,
    )


def _inputs(tables: Tables, judged: str) -> dict[str, float]:
    """What the price list says of the reference where it is owned."""
    options = table_of(tables, "options")
    found = records(options[(options["option"] == judged) & (options["purchase"] == "own")].head(1)) if judged else []
    values = {name: finite(row, name) for row in found for name in USE}
    return {name: value for name, value in values.items() if value is not None}


def _warnings(table: pd.DataFrame) -> list[Warned]:
    return [
        Warned(rule=text(rule), message=text(message), instances=sorted({*map(str, rows["instance"].dropna())}))
        for (rule, message), rows in (table.groupby(["rule", "message"], dropna=False) if len(table) else ())
    ]


def by_deadline(tables: Tables) -> list[ByDeadline]:
    """Each class of each workload of months, from comparison/deadlines.parquet."""
    table = table_of(tables, "deadlines")
    steps = table.reindex(columns=[*Step.model_fields]).astype(object)
    steps = steps.where(steps.notna(), None)
    groups = table.groupby(["workload", "class"], sort=False) if len(table) else ()
    return [
        ByDeadline(workload=text(name), job=text(job), steps=[Step(**row) for row in records(steps.loc[rows.index])])
        for (name, job), rows in groups
    ]
