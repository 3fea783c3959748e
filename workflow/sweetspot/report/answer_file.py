"""The answer of a study as one frozen record: the page, the summary and answer.json say nothing else."""

from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from sweetspot.choice_kinds import MAY_STOP
from sweetspot.decision.texts import no_answer
from sweetspot.report.buying_pays import BuyingPays, buying_pays
from sweetspot.report.evidence_text import decisive, lead, plan_worth_in_words, worth_knowing
from sweetspot.report.how_sure import DecidingSpeed, bases_of_choice, deciding_speeds, notes
from sweetspot.report.notation import Row, missing, records, text
from sweetspot.report.outcome import AnswerPart, Outcome, ValueRange, choices_of, finite, other_work, outcome_of
from sweetspot.report.tables import (
    Tables,
    asked_model,
    judged_option,
    money_of,
    shown_in,
    table_of,
    unit_of,
    works,
)
from sweetspot.report.tornado import Tornado, tornado_of
from sweetspot.study.study import Study
from sweetspot.study.workloads import load_monthly
from sweetspot.throughput.speed_errors import SOFTWARE_FACTOR

SCHEMA_VERSION = 3
OWNERSHIP = ("days_per_month", "months", "usd_per_kwh", "capex_usd")
LONG_WAIT = 0.25  # of a job's hours: a wait that is worth a line
MAX_SCENARIOS = 8
HOURS_DIFFER = 1.001  # times as fast as the next cheaper choice


class DecisiveWarning(AnswerPart):
    """A warning that could change the answer."""

    rule: str = Field(description="Its name")
    message: str = Field(description="What it says")
    instances: list[str] = Field(description="Machines that it concerns")


class SourceFacts(AnswerPart):
    """A source of the study."""

    title: str = Field(description="Its title")
    date: str = Field(description="Its date")


class StudyFacts(AnswerPart):
    """The question."""

    name: str = Field(description="Folder below config/studies/")
    title: str = Field(description="Name for people")
    question: str = Field(description="What is asked")
    as_of: str = Field(description="Date of the figures")
    currency: str = Field(description="Code of the currency that people are shown; every amount here is in USD")
    usd_per_unit: float = Field(description="USD for one unit of it")
    sources: list[SourceFacts] = Field(description="What the study rests on")


class ChoiceRow(AnswerPart):
    """One choice for the work of the answer."""

    choice: str = Field(description="Its key")
    title: str = Field(description="Name for people")
    kind: str = Field(description="keep, rent, contract, buy, mix")
    also_rents: bool = Field(description="Whether what is kept leaves something to rent")
    usd: ValueRange = Field(description="USD of the work")
    usd_per_month: float | None = Field(description="The same a month; null: the work has no months")
    hours: float | None = Field(description="Hours of the work there; null: the months of the plan")
    ratio: ValueRange = Field(description="USD / USD of the best")
    p_cheaper: float | None = Field(description="Share of the draws in which it costs less than the best; null: it is")
    speed_bases: list[str] = Field(
        description="How the speeds that it rests on came to be; empty: it needs none, or none is known"
    )
    in_hand: bool = Field(description="Whether it is an offer that the decision is about")
    why_not: str | None = Field(description="Why it is not the answer though it may cost less; null: it could be")
    may_stop: bool = Field(description="Whether it is not the answer only because it can be interrupted")


class FasterChoice(AnswerPart):
    """A choice than which none is both faster and cheaper."""

    title: str = Field(description="Name for people")
    hours: float = Field(description="Hours of the work there")
    usd: float = Field(description="USD of the work")


class BusyMachine(AnswerPart):
    """How busy the work keeps the machine that is kept or bought."""

    title: str = Field(description="The machine")
    share: float = Field(description="Share of the hours that are planned for it; above 1: the work does not fit")


class JobWait(AnswerPart):
    """How long a job waits for the machine that is held, where that is long."""

    job: str = Field(description="Its class")
    machines: str = Field(description="What it waits for")
    hours: float = Field(description="Hours that it then takes")
    wait_hours: float | None = Field(description="Mean wait; null: the queue grows without end")


class MeasuredUse(AnswerPart):
    """What the team's record says of its use."""

    months: float = Field(description="Months of the record")
    busy_share: float | None = Field(description="Share of the time in which its devices were busy; null: not known")
    jobs_per_month: ValueRange = Field(description="Jobs a month")


class ScenarioRow(AnswerPart):
    """What the answer would be in a scenario."""

    name: str = Field(description="Its name; empty: as the study plans it")
    title: str = Field(description="Name for people")
    sentence: str = Field(description="The verdict there")
    kind: str = Field(description="Kind of its best choice")
    best_title: str = Field(description="Its best choice")
    usd: ValueRange = Field(description="USD of that")
    usd_per_month: float | None = Field(description="The same a month; null: the work has no months")
    same_answer: bool = Field(description="Whether it is the choice of the study")


class Step(AnswerPart):
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


class ByDeadline(AnswerPart):
    """One class of jobs."""

    workload: str = Field(description="The work of months")
    job: str = Field(description="The class")
    steps: list[Step] = Field(description="By deadline, the shortest first; before the first nobody is in time")


class Answer(AnswerPart):
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
    busy: BusyMachine | None = Field(description="How busy the machine is that is kept or bought; null: not known")
    measured_use: MeasuredUse | None = Field(description="The team's own record; null: there is none")
    waits: list[JobWait] = Field(description="Long waits for the machines of the best choice")
    faster: list[FasterChoice] = Field(description="What finishing earlier costs, the cheapest choice first")
    buying_pays: BuyingPays | None = Field(description="Costs by the amount of work; null: not both bought and rented")
    tornado: Tornado | None = Field(description="What moves the answer most")
    scenarios: list[ScenarioRow] = Field(description="The answer in scenarios, as planned first; empty: there are none")
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
    arithmetic_factor: float | None = Field(
        description="Times that all hours may be off together, where all speeds are by arithmetic; null: they are not"
    )
    warnings: list[DecisiveWarning] = Field(description="Those that could change the answer")
    rests_on: list[str] = Field(description="The bases of the speeds and the gravest warnings, in sentences")

    @property
    def has_hours(self) -> bool:
        """Whether time tells the choices apart."""
        hours = [row.hours for row in self.choices if row.hours is not None]
        return len(hours) == len(self.choices) > 0 and max(hours) > HOURS_DIFFER * min(hours)


def answer_of(tables: Tables, study: Study, workloads: str | Path | None = None) -> Answer:
    """Collect the answer of a study.

    Parameters
    ----------
    tables
        Tables of the study by name (`tables.read_tables`), in USD.
    study
        Its study.yaml.
    workloads
        Its workloads.yaml, for what the team's own record says; None leaves `measured_use` null.

    Returns
    -------
    Answer
        With `outcome` `none` where no option has both a price and a figure.

    Raises
    ------
    UserError
        If workloads.yaml is broken.
    """
    money, verdict, model = money_of(study), outcome_of(tables), asked_model(tables)
    in_currency, reference, claims = (
        shown_in(tables, money),
        judged_option(tables, model),
        lead(table_of(tables, "claims")),
    )
    return Answer(
        schema_version=SCHEMA_VERSION,
        study=StudyFacts(
            name=study.name,
            title=study.title,
            question=study.question,
            as_of=str(study.as_of),
            currency=money.code,
            usd_per_unit=money.usd_per_unit,
            sources=[SourceFacts(title=source.title, date=str(source.date)) for source in study.sources],
        ),
        outcome=_outcome(tables, verdict, reference),
        verdict=verdict,
        other_work=other_work(tables),
        sentences=[*claims, *(verdict.sentences() if verdict else [no_answer_text(tables)])],
        claims=claims,
        deadlines=by_deadline(tables),
        counts=study.counts,
        unit=unit_of(tables),
        model=model or None,
        reference=reference or None,
        inputs=_inputs(tables, reference),
        worth_knowing=plan_worth_in_words(in_currency, money.code) or worth_knowing(in_currency),
        scenarios=_scenarios(table_of(tables, "scenarios")),
        arithmetic_factor=SOFTWARE_FACTOR if _all_arithmetic(table_of(tables, "options")) else None,
        warnings=_warnings(decisive(table_of(tables, "warnings"))),
        rests_on=notes(tables),
        **_of_verdict(tables, verdict, workloads),
    )


def _of_verdict(tables: Tables, verdict: Outcome | None, workloads: str | Path | None) -> dict[str, Any]:
    """Return the fields of the answer that there are only with a verdict."""
    if verdict is None:
        empty: dict[str, Any] = {name: [] for name in ("choices", "waits", "faster", "speeds")}
        return empty | dict.fromkeys(("confidence", "busy", "measured_use", "buying_pays", "tornado"))
    return {
        "confidence": verdict.confidence,
        "choices": [_choice(row, tables) for row in choices_of(tables)],
        "speeds": deciding_speeds(tables),
        "busy": _busy(tables, verdict),
        "waits": _waits(tables, verdict),
        "faster": _faster(tables, verdict),
        "measured_use": _measured_use(workloads, verdict.workload),
        "buying_pays": buying_pays(tables, verdict),
        "tornado": tornado_of(tables, verdict),
    }


def no_answer_text(tables: Tables) -> str:
    """Return what is said where there is no verdict."""
    return no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput")))


def answer_json(tables: Tables, study: Study, workloads: str | Path | None = None) -> str:
    """Return `answer_of` as JSON text, indented, with a line break at its end."""
    return answer_of(tables, study, workloads).model_dump_json(indent=1) + "\n"


def _outcome(
    tables: Tables, verdict: Outcome | None, reference: str
) -> Literal["reference", "rival", "too_close", "only_one", "none"]:
    """Return the verdict in a word; `reference` is the option that the study judges."""
    if verdict is None:
        return "none"
    if verdict.rival is None:
        return "only_one"
    if verdict.close:
        return "too_close"
    sources, machines = table_of(tables, "sources"), {verdict.best.choice}
    if len(sources):
        of_best = (sources["workload"] == verdict.workload) & (sources["mix"] == verdict.best.choice)
        machines |= set(sources.loc[of_best, "option"])
    return "reference" if reference in machines else "rival"


def _choice(row: Row, tables: Tables) -> ChoiceRow:
    return ChoiceRow(
        **{name: text(row[name]) for name in ("choice", "title", "kind")},
        **{name: finite(row, name) for name in ("usd_per_month", "hours", "p_cheaper")},
        also_rents=row["kind"] == "keep" and not missing(row["main_rented"]),
        usd=ValueRange.of(row, "usd"),
        ratio=ValueRange.of(row, "ratio"),
        speed_bases=bases_of_choice(tables, text(row["workload"]), text(row["choice"])),
        in_hand=bool(row["in_hand"]),
        why_not=text(row["why_not"]) or None,
        may_stop=row["why_not_rule"] == MAY_STOP,
    )


def _busy(tables: Tables, verdict: Outcome) -> BusyMachine | None:
    """Return how busy the machine of the best choice is, else of the runner-up: what would stand there unused."""
    choices, sources = table_of(tables, "choices"), table_of(tables, "sources")
    for choice in (verdict.best, verdict.rival):
        if choice is None:
            continue
        if len(sources):
            rows = sources[(sources["workload"] == verdict.workload) & (sources["mix"] == choice.choice)]
            owned = rows[rows["capacity_device_hours"] > 0]
            if len(owned):
                share = owned["device_hours"].sum() / owned["capacity_device_hours"].sum()
                return BusyMachine(title=" and ".join(owned["title"]), share=float(share))
        of_choice = (choices["workload"] == verdict.workload) & (choices["choice"] == choice.choice)
        for row in records(choices[of_choice].head(1)):
            hours, planned = finite(row, "hours"), finite(row, "planned_hours")
            if hours and planned:
                return BusyMachine(title=choice.title, share=hours / planned)
    return None


def _waits(tables: Tables, verdict: Outcome) -> list[JobWait]:
    queue, titles = table_of(tables, "queue"), works(tables)
    if queue.empty:
        return []
    best = {verdict.best.choice, f"{verdict.workload}: {verdict.best.choice}"}
    rows = queue[queue["held"].astype(bool) & queue["option"].isin(best)]
    rows = rows[rows["workload"].astype(str).str.split(".").str[0].eq(verdict.workload)]
    is_long = rows["overloaded"].astype(bool) | (rows["wait_hours"] > LONG_WAIT * rows["hours"])
    return [
        JobWait(
            job=titles.get(str(row["workload"]), str(row["workload"]).rpartition(".")[2]),
            machines=str(row["machines"]),
            hours=float(row["hours"]),
            wait_hours=None if row["overloaded"] else float(row["wait_hours"]),
        )
        for row in records(rows[is_long])
    ]


def _faster(tables: Tables, verdict: Outcome) -> list[FasterChoice]:
    """Return the choices that may be the answer and than which none is both faster and cheaper."""
    table = table_of(tables, "choices")
    rows = table[(table["workload"] == verdict.workload) & table["why_not"].isna()].dropna(subset=["hours", "usd"])
    front: list[FasterChoice] = []
    for row in records(rows.sort_values(["usd", "hours"])):
        if not front or row["hours"] * HOURS_DIFFER < front[-1].hours:
            front.append(FasterChoice(title=text(row["title"]), hours=float(row["hours"]), usd=float(row["usd"])))
    return front


def _measured_use(workloads: str | Path | None, workload: str) -> MeasuredUse | None:
    work = load_monthly(workloads).get(workload) if workloads is not None else None
    if work is None or work.measured is None:
        return None
    jobs = work.measured.jobs_per_month
    low, high = jobs.ends
    return MeasuredUse(
        months=work.measured.months,
        busy_share=work.measured.busy_share,
        jobs_per_month=ValueRange(value=jobs.value, low=low, high=high),
    )


def _scenarios(table: pd.DataFrame) -> list[ScenarioRow]:
    """Return the plan and at most MAX_SCENARIOS - 1 others, those with another answer before those without."""
    priced = table[table["usd"].notna()].reset_index(drop=True) if len(table) else table
    if len(priced) < 2:
        return []
    changed = priced[~priced["same_answer"].astype(bool)].index
    by_rank = list(dict.fromkeys([0, *changed, *priced.index]))
    return [
        ScenarioRow(
            name=text(row["scenario"]),
            **{name: text(row[name]) for name in ("title", "sentence", "kind", "best_title")},
            usd=ValueRange.of(row, "usd"),
            usd_per_month=finite(row, "usd_per_month"),
            same_answer=bool(row["same_answer"]),
        )
        for row in records(priced.loc[sorted(by_rank[:MAX_SCENARIOS])])
    ]


def _all_arithmetic(options: pd.DataFrame) -> bool:
    if not {"in_answer", "throughput_basis"} <= set(options.columns):
        return False
    eligible = options[options["in_answer"].astype(bool)]
    return len(eligible) > 0 and bool(eligible["throughput_basis"].eq("arithmetic").all())


def _inputs(tables: Tables, reference: str) -> dict[str, float]:
    """Return what the price list says of the reference where it is owned."""
    options = table_of(tables, "options")
    if not reference:
        return {}
    rows = records(options[(options["option"] == reference) & (options["purchase"] == "own")].head(1))
    values = {name: finite(row, name) for row in rows for name in OWNERSHIP}
    return {name: value for name, value in values.items() if value is not None}


def _warnings(table: pd.DataFrame) -> list[DecisiveWarning]:
    return [
        DecisiveWarning(
            rule=text(rule), message=text(message), instances=sorted({*map(str, rows["instance"].dropna())})
        )
        for (rule, message), rows in (table.groupby(["rule", "message"], dropna=False) if len(table) else ())
    ]


def by_deadline(tables: Tables) -> list[ByDeadline]:
    """Return each class of each workload of months, from comparison/deadlines.parquet."""
    table = table_of(tables, "deadlines")
    steps = table.reindex(columns=[*Step.model_fields]).astype(object)
    steps = steps.where(steps.notna(), None)
    groups = table.groupby(["workload", "class"], sort=False) if len(table) else ()
    return [
        ByDeadline(workload=text(name), job=text(job), steps=[Step(**row) for row in records(steps.loc[rows.index])])
        for (name, job), rows in groups
    ]
