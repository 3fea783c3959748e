"""The answer of a study as one frozen record: the page, the summary and answer.json say nothing else."""

from sweetspot.choice_kinds import MAY_STOP
from sweetspot.report.decision_text import why_not
from sweetspot.report.evidence_text import decisive, lead
from sweetspot.report.how_sure import DecidingSpeed, bases_of_choice, deciding_speeds, notes
from sweetspot.report.notation import Row, finite, missing, records, rows_where, text
from sweetspot.report.outcome import AnswerPart, Outcome, ValueRange, choices_of, other_work, outcome_of
from sweetspot.report.sentences import sentence
from sweetspot.report.tables import Tables, counted_in, money_of, table_of, unit_of, works
from sweetspot.report.tornado import Tornado, tornado_of
from sweetspot.report.what_if import Sweep, sweeps_of
from sweetspot.study.study import Study
from sweetspot.throughput.speed_errors import SOFTWARE_FACTOR

SCHEMA_VERSION = 3
OFFER = ("price_list", "instance", "purchase")
COMMITTED = ("bought", "buy", "contract")  # kinds of machines and of choices that are paid for before they are used
LONG_WAIT = 0.25  # of a job's hours: a wait that is worth a line
MAX_SCENARIOS = 8
HOURS_DIFFER = 1.001  # the longest over the shortest hours from which time tells choices apart


class DecisiveWarning(AnswerPart):
    """A warning that could change the answer."""

    rule: str
    message: str
    instance: str | None


class SourceFacts(AnswerPart):
    """A source of the study."""

    title: str
    date: str


class StudyFacts(AnswerPart):
    """The question."""

    name: str
    title: str
    question: str
    as_of: str
    currency: str
    usd_per_unit: float
    exchange_rate: str
    sources: list[SourceFacts]


class ChoiceRow(AnswerPart):
    """One choice for the work of the answer."""

    choice: str
    title: str
    kind: str
    also_rents: bool
    usd: ValueRange
    usd_per_month: float | None
    first_month_usd: float | None
    hours: float | None
    ratio: ValueRange
    p_cheaper: float | None
    speed_bases: list[str]
    in_hand: bool
    why_not: str | None
    may_stop: bool


class BusyMachine(AnswerPart):
    """How busy the work keeps the machine that is kept or bought."""

    title: str
    share: float


class JobWait(AnswerPart):
    """How long a job waits for the machine that is held, where that is long."""

    job: str
    machines: str
    hours: float
    wait_hours: float | None


class ScenarioRow(AnswerPart):
    """What the answer would be in a scenario."""

    name: str
    title: str
    sentence: str
    kind: str
    best_title: str
    usd: ValueRange
    usd_per_month: ValueRange
    same_answer: bool


class Answer(AnswerPart):
    """One study's answer. Money is in USD, time in hours, intervals are 90 %."""

    schema_version: int = SCHEMA_VERSION
    study: StudyFacts
    verdict: Outcome | None
    other_work: list[Outcome]
    choices: list[ChoiceRow]
    busy: BusyMachine | None
    waits: list[JobWait]
    sweeps: list[Sweep]
    tornado: Tornado | None
    scenarios: list[ScenarioRow]
    sentences: list[str]
    claims: list[str]
    unit: str
    speeds: list[DecidingSpeed]
    arithmetic_factor: float | None
    warnings: list[DecisiveWarning]
    rests_on: list[str]

    @property
    def has_hours(self) -> bool:
        """Whether all choices have hours, and these differ (by more than HOURS_DIFFER), so that the page lists them."""
        hours = [row.hours for row in self.choices if row.hours is not None]
        return len(hours) == len(self.choices) > 0 and max(hours) > HOURS_DIFFER * min(hours)


def answer_of(tables: Tables, study: Study) -> Answer:
    """Return all that a study's page says, as the record behind index.html, summary.md and answer.json. `tables`:
    result tables (DataFrames) by name, in USD; `study`: the settings of study.yaml. The verdict is None where no option
    (a machine at a price) has both a price and a speed.
    """
    verdict, claims, speeds = outcome_of(tables), lead(table_of(tables, "claims")), deciding_speeds(tables)
    counts = (len(table_of(tables, name)) for name in ("offers", "throughput"))
    warnings = decisive(table_of(tables, "warnings"))
    return Answer(
        study=study_facts(study),
        verdict=verdict,
        other_work=other_work(tables),
        choices=[choice_row(row, tables) for row in choices_of(tables)],
        busy=verdict and busy_machine(tables, verdict),
        waits=long_waits(tables, verdict) if verdict else [],
        sweeps=sweeps_of(tables, verdict) if verdict else [],
        tornado=verdict and tornado_of(tables, verdict),
        scenarios=scenario_rows(tables),
        sentences=[*claims, *(verdict.sentences() if verdict else [sentence("no_answer", *counts)])],
        claims=claims,
        unit=unit_of(tables),
        speeds=speeds,
        arithmetic_factor=SOFTWARE_FACTOR if {speed.basis for speed in speeds} == {"arithmetic"} else None,
        warnings=[DecisiveWarning.of(row) for row in records(warnings.drop_duplicates(("rule", "message")))],
        rests_on=notes(tables),
    )


def to_json(answer: Answer) -> str:
    """Return the text of answer.json, which programs read: indented, with a line break at its end."""
    return answer.model_dump_json(indent=1) + "\n"


def study_facts(study: Study) -> StudyFacts:
    """Return the heading of the answer: name, title, question, date, currency and sources of a study (study.yaml)."""
    money = money_of(study)
    return StudyFacts(
        **{name: getattr(study, name) for name in ("name", "title", "question")},
        as_of=str(study.as_of),
        currency=money.code,
        usd_per_unit=money.usd_per_unit,
        exchange_rate=study.currency.in_words() if study.currency else "",
        sources=[SourceFacts(title=source.title, date=str(source.date)) for source in study.sources],
    )


def choice_row(row: Row, tables: Tables) -> ChoiceRow:
    """Return a choice (buy, sign, rent) for answer.json and the page: `row` of the table `choices`, with the USD of its
    first month, the bases of its speeds and why it is not the answer, from `tables`.
    """
    return ChoiceRow.of(
        row,
        also_rents=row["kind"] == "keep" and not missing(row["main_rented"]),
        first_month_usd=first_month_usd(row, tables),
        speed_bases=bases_of_choice(tables, row["workload"], row["choice"]),
        why_not=why_not(row, counted_in(tables).money),
        may_stop=row["why_not"] == MAY_STOP,
    )


def first_month_usd(row: Row, tables: Tables) -> float | None:
    """Return the USD due in the first month of a choice (`row` of the table `choices`), what a buyer must have; None:
    unknown. It is the cost a month, and the rest of the price (`offers`) of each machine (`sources` of a mix) bought or
    signed for. Of a single job it is the price of a machine bought, else that of a month where a machine is let by the
    month, else the cost of the job.
    """
    is_single = missing(row["usd_per_month"])
    machines = rows_where(tables, "sources", workload=row["workload"], mix=row["choice"])
    machines = machines or [{"option": row["choice"], "machines": row["counts"], "kind": row["kind"]}]
    total = 0.0 if is_single else row["usd_per_month"]
    for machine in machines:
        is_committed = machine["kind"] in COMMITTED
        if not is_committed and not is_single:
            continue
        options = rows_where(tables, "options", option=machine["option"])[:1]
        offers = [
            offer
            for option in options
            for offer in rows_where(tables, "offers", **{name: option[name] for name in OFFER})
        ]
        if not offers:
            return None
        if is_committed:
            monthly_usd = offers[0]["fixed_usd_per_month"] if is_single else 0.0
            total += machine["machines"] * (_due_at_once(offers[0]) + monthly_usd)
        else:
            total += finite(offers[0], "month_usd") or row["usd"]
    return total


def _due_at_once(offer: Row) -> float:
    """Return the USD that an offer (row of `offers`) asks in the first month beyond its monthly cost, for
    `first_month_usd`. The rest of the purchase price if owned, of the up-front sum if a contract, else 0.
    """
    if offer["purchase"] == "own":
        cared_for = sum(offer[name] for name in ("maintenance_usd_per_month", "staff_usd_per_month") if offer[name] > 0)
        return offer["capex_usd"] + cared_for - offer["fixed_usd_per_month"]
    upfront = offer["upfront_usd"]
    return upfront * (1 - 1 / offer["term_months"]) if upfront > 0 else 0.0


def busy_machine(tables: Tables, verdict: Outcome) -> BusyMachine | None:
    """Return title and busy share of the machine that the best choice, else the runner-up, keeps or buys; None without
    one. The page says with it why buying pays or not. Share: hours of work / hours planned (over 1: does not fit), from
    table `sources` or, for one job, from `choices`.
    """
    for choice in filter(None, (verdict.best, verdict.rival)):
        sources = rows_where(tables, "sources", workload=verdict.workload, mix=choice.choice)
        owned = [row for row in sources if row["capacity_device_hours"] > 0]
        if owned:
            used, capacity = (sum(row[name] for row in owned) for name in ("device_hours", "capacity_device_hours"))
            return BusyMachine(title=" and ".join(row["title"] for row in owned), share=used / capacity)
        for row in rows_where(tables, "choices", workload=verdict.workload, choice=choice.choice):
            hours, planned_hours = finite(row, "hours"), finite(row, "planned_hours")
            if hours and planned_hours:
                return BusyMachine(title=choice.title, share=hours / planned_hours)
    return None


def long_waits(tables: Tables, verdict: Outcome) -> list[JobWait]:
    """Return the jobs of which the page says how long they wait for the best choice's machines (hours), where that is
    long. Long is over LONG_WAIT, a share of their own hours, or an overloaded machine. The table `queue` has a row per
    class of jobs.
    """
    titles, waits = works(tables), []
    for row in rows_where(tables, "queue"):
        work, _, job = str(row["workload"]).partition(".")
        is_of_answer = work == verdict.workload and str(row["option"]).removeprefix(f"{work}: ") == verdict.best.choice
        if is_of_answer and (row["overloaded"] or row["wait_hours"] > LONG_WAIT * row["hours"]):
            wait_hours = None if row["overloaded"] else row["wait_hours"]
            waits.append(JobWait.of(row, job=titles.get(row["workload"], job or work), wait_hours=wait_hours))
    return waits


def scenario_rows(tables: Tables) -> list[ScenarioRow]:
    """Return what the answer would be in each scenario (table `scenarios`), for the page's chart; [] where none has
    USD. At most MAX_SCENARIOS, the study as planned first, by preference those with another answer than planned.
    """
    rows = [row for row in rows_where(tables, "scenarios") if not missing(row["usd"])]
    if len(rows) < 2:
        return []
    changed = [index for index, row in enumerate(rows) if not row["same_answer"]]
    by_rank = list(dict.fromkeys([0, *changed, *range(len(rows))]))
    selected = [rows[index] for index in sorted(by_rank[:MAX_SCENARIOS])]
    return [ScenarioRow.of(row, name=text(row["scenario"])) for row in selected]
