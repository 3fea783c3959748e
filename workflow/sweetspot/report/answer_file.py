"""The answer for other programs, `answer.json`: a closed, versioned model, filled from the tables of the comparison."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from sweetspot.decision.certainty import TIE
from sweetspot.decision.later_words import later_in_words
from sweetspot.decision.sentences import no_answer
from sweetspot.report.answer import for_the_winner, lead, ranked, roles_of
from sweetspot.report.answer_deadlines import ByDeadline, by_deadline
from sweetspot.report.cited import Row, records, text
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.job_beside_plan import job_beside_plan
from sweetspot.report.notation import missing
from sweetspot.report.phrases import decisive, worth_knowing
from sweetspot.report.plan_part import PHASES, leading, plan_in_words, plan_outcome, plan_pair
from sweetspot.report.plan_turning import plan_worth_in_words
from sweetspot.report.tables import Tables, table_of
from sweetspot.report.words import unit_of
from sweetspot.study.study import Study

SCHEMA_VERSION = 1
LEVEL = 0.9  # of every interval here
USE = ("days_per_month", "months", "usd_per_kwh", "capex_usd")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(_Part):
    """A figure with its 90 % interval; an end is null where none is known or where it is never reached."""

    value: float | None = Field(description="The figure; null: none exists, such as days of use that never pay")
    low: float | None = Field(description="5th percentile")
    high: float | None = Field(description="95th percentile")


class Multiple(_Part):
    """How many times cheaper one option is than the other."""

    cheaper: str = Field(description="Option that costs less")
    dearer: str = Field(description="Option that it is held against")
    times: Figure = Field(description="USD of the dearer / USD of the cheaper")
    probability: float = Field(description="Share of the draws in which the cheaper one is cheaper")


class PlanMultiple(Multiple):
    """How many times cheaper the best for a plan is than the next: two mixes, or two options for all phases."""

    cheaper: str = Field(description="Mix or option that costs less, by its key")
    dearer: str = Field(description="Mix or option that it is held against")
    cheaper_title: str = Field(description="Name for people of the cheaper")
    dearer_title: str = Field(description="Name for people of the dearer")
    workload: str = Field(description="The plan")


class Option(_Part):
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


class ByModel(_Part):
    """The answer on one model of the study."""

    model: str = Field(description="What is trained")
    outcome: str = Field(description="As the answer's outcome")
    multiple: Multiple | None = Field(description="The cheaper of the reference and its rival; null: no rival")
    first: str = Field(description="The answer's first sentence")


class Warned(_Part):
    """A warning that could change the answer."""

    rule: str = Field(description="Its name")
    message: str = Field(description="What it says")
    instances: list[str] = Field(description="Machines that it concerns")


class StudyFacts(_Part):
    """The question."""

    name: str = Field(description="Folder below config/studies/")
    title: str = Field(description="Name for people")
    question: str = Field(description="What is asked")
    as_of: str = Field(description="Date of the figures")


class Answer(_Part):
    """One study's answer. Money is in USD, time in hours, intervals are 90 %."""

    schema_version: int = Field(SCHEMA_VERSION, description="Raised when a key is removed or changes its meaning")
    study: StudyFacts = Field(description="The question")
    outcome: Literal["reference", "rival", "too_close", "only_one", "none"] = Field(
        description="Who is cheaper: the reference, its rival, too close to call, only one option, no option at all. "
        "Where the study has a plan, of that: reference where its best mix holds it or it is best for all phases"
    )
    confidence: str | None = Field(description="How sure that outcome is, in words")
    sentences: list[str] = Field(description="The answer in sentences, the most important first; of a plan, its own")
    claims: list[str] = Field(
        description="Claims of the study's text that it leads with, printed beside recomputed: the first of sentences"
    )
    plan: list[str] = Field(
        description="Where the study has the work of months: what to have and what to rent for it, in sentences; where "
        "it has a project of phases: what to take for it. The answer is then theirs, and so is the outcome; multiple, "
        "break-even and options speak of one job alone, plan_multiple of the plan"
    )
    plan_multiple: PlanMultiple | None = Field(
        description="The plan's best against the next; null: no plan, or nothing else does its work"
    )
    one_job: list[str] = Field(
        description="Where the study has a plan: how the answer for one job alone differs from it, in sentences"
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
    headline, money = table_of(tables, "headline"), money_of(study)
    shown = shown_in(tables, money)
    judged = None if headline.empty else text(headline["reference"].iloc[0])
    facts: dict[str, Any] = {
        "study": StudyFacts(name=study.name, title=study.title, question=study.question, as_of=str(study.as_of)),
        "unit": unit_of(tables),
        "claims": lead(table_of(tables, "claims")),
        "deadlines": by_deadline(tables),
        "worth_knowing": plan_worth_in_words(shown, money.code) or worth_knowing(tables),
        "buying_later": later_in_words(table_of(shown, "when_to_buy"), money.code),
        "plan": plan_in_words(shown, money.code, judged),
        "plan_multiple": _plan_multiple(tables),
        "one_job": job_beside_plan(tables),
        "warnings": _warnings(decisive(table_of(tables, "warnings"))),
    }
    if headline.empty:
        sentence = no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput")))
        nothing = dict.fromkeys(("confidence", "model", "reference", "multiple", "break_even_days_per_month"))
        lists: dict[str, Any] = {"options": [], "by_model": [], "inputs": {}}
        return Answer(outcome="none", sentences=[sentence], counts="train", **nothing, **lists, **facts)
    first = records(headline.head(1))[0]
    box = ranked(table_of(tables, "ranks"), first, first["reference"])
    one_job = (first["first"], first["second"], first["more"])
    outcome, confidence = plan_outcome(tables, first["reference"]) or (_outcome(first), text(first["confidence"]))
    said = (*facts["claims"], *(facts["plan"] or one_job))
    return Answer(
        outcome=outcome,
        confidence=confidence,
        sentences=[sentence for sentence in said if sentence],
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


def answer_json(tables: Tables, study: Study) -> str:
    """The answer as JSON text, indented, with a line break at its end."""
    return answer_of(tables, study).model_dump_json(indent=1) + "\n"


def _outcome(row: Row) -> str:
    if missing(row["alternative"]):
        return "only_one"
    if row["confidence"] == TIE:
        return "too_close"
    return "reference" if float(row["gain"]) >= 1 else "rival"  # type: ignore[arg-type]


def _multiple(row: Row) -> Multiple | None:
    """The headline's gain, said of whichever of the two is the cheaper."""
    if missing(row["gain"]):
        return None
    told = for_the_winner(row)
    two = [text(row["reference"]), text(row["alternative"])]
    cheaper, dearer = two if float(row["gain"]) > 1 else reversed(two)  # type: ignore[arg-type]
    return Multiple(
        cheaper=cheaper, dearer=dearer, times=_figure(told, "gain"), probability=float(told["p_cheaper"])  # type: ignore[arg-type]
    )  # fmt: skip


def _plan_multiple(tables: Tables) -> PlanMultiple | None:
    """The best of the plan that leads against the next."""
    two = plan_pair(tables)
    if two is None:
        return None
    best, rival = two
    key = "option" if leading(tables) == PHASES else "mix"
    return PlanMultiple(
        workload=text(best["workload"]),
        cheaper=text(best[key]),
        dearer=text(rival[key]),
        cheaper_title=text(best["title"]),
        dearer_title=text(rival["title"]),
        times=_figure(rival, "times_best"),
        probability=float(best["probability"]),
    )


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
        model=text(row["model"]), outcome=_outcome(row), multiple=_multiple(row), first=text(row["first"])
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
