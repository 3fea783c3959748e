"""The verdict of a study as one frozen record, read from the tables of the comparison."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from sweetspot.facts.shipped_tables import table
from sweetspot.report.decision_text import verdict_rows
from sweetspot.report.notation import Row, finite, missing, rows_where, text
from sweetspot.report.sentences import sentences
from sweetspot.report.tables import Tables
from sweetspot.wording import TIE

CHOICES_LISTED = 5


def _describe_keys(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Add to the JSON schema of a part of answer.json what facts/answer.csv says of its keys, so that it explains
    itself. `model`: the class of the part.
    """
    for row in table("answer"):
        if row["part"] == model.__name__:
            schema["properties"][row["key"]]["description"] = row["description"]


class AnswerPart(BaseModel):
    """A part of answer.json: closed, never changed. facts/answer.csv says what each of its keys means."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_describe_keys)

    @classmethod
    def of(cls, row: Row, **fields: Any) -> Self:
        """Build a part of answer.json from a row of a result table ({column: value}), so that columns are not copied
        one by one. A field takes the column of its name (a ValueRange also `_low` and `_high`), unless `fields` has its
        value. A missing or infinite number becomes None, a missing required text ''.
        """
        for name, field in cls.model_fields.items():
            value = row.get(name)
            if name in fields:
                continue
            if field.annotation is ValueRange:
                columns = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
                fields[name] = ValueRange(**{end: finite(row, column) for end, column in columns.items()})
            elif field.annotation is str:
                fields[name] = text(value)
            else:
                fields[name] = finite(row, name) if isinstance(value, float) or missing(value) else value
        return cls(**fields)


class ValueRange(AnswerPart):
    """A figure with its 90 % interval; an end is None where none is known or where it is never reached."""

    value: float | None
    low: float | None
    high: float | None


class ChoiceName(AnswerPart):
    """One choice."""

    choice: str
    title: str


class TimeFirst(AnswerPart):
    """Machines to time before the work is given to them."""

    machines: list[str]
    trial_usd: float
    saving_usd: float


class Outcome(AnswerPart):
    """The verdict on one work."""

    workload: str
    title: str
    level: str
    sentence: str
    do_this: str
    confidence: str
    best: ChoiceName
    rival: ChoiceName | None
    kind: str
    rival_kind: str | None
    usd: float
    rival_usd: float | None
    usd_per_month: float | None
    months: float | None
    ratio: ValueRange
    p_cheaper: float | None
    start_with: ChoiceName
    time_first: TimeFirst | None
    having: list[str]
    machine_title: str | None
    p_stock: ValueRange
    thresholds: list[str]
    buy_below_usd: float | None
    work_factor: float | None
    busy_days_per_month: float | None
    find_out_first: str

    @property
    def close(self) -> bool:
        """Whether best choice and runner-up are too close to call."""
        return self.confidence == TIE

    def sentences(self) -> list[str]:
        """Return the verdict in sentences: result, advice, how to get the machine, thresholds, what to find out."""
        learn = f"Find out first: {self.find_out_first}." if self.find_out_first else ""
        return [line for line in (self.sentence, self.do_this, *self.having, *self.thresholds, learn) if line]


def outcome_of(tables: Tables) -> Outcome | None:
    """Return the verdict on the study's main work, from the tables of the comparison; None where nothing is priced."""
    return next((_outcome(row) for row in verdict_rows(tables)[:1] if row["is_answer"]), None)


def other_work(tables: Tables) -> list[Outcome]:
    """List the verdicts on all work of the study but the main work: the page has a row for each."""
    return [_outcome(row) for row in verdict_rows(tables) if not row["is_answer"]]


def choices_of(tables: Tables) -> list[Row]:
    """Return the rows of `choices` that the page lists for the main work, in the table's order; [] without a verdict.
    CHOICES_LISTED of them, or more if needed for the best, the runner-up, the one to start with and offers in hand;
    then the cheapest of each kind, one that costs less but cannot be the answer, and the cheapest others.
    """
    verdict = outcome_of(tables)
    if verdict is None:
        return []
    rows = [row for row in rows_where(tables, "choices", workload=verdict.workload) if not missing(row["usd"])]
    eligible = [row for row in rows if missing(row["why_not"])]
    in_verdict = {choice.choice for choice in (verdict.best, verdict.start_with, verdict.rival) if choice}
    all_in_hand = all(row["in_hand"] for row in rows)
    first = [row for row in rows if row["choice"] in in_verdict or (row["in_hand"] and not all_in_hand)]
    cheapest_by_kind = {row["kind"]: row for row in reversed(eligible)}
    best = {row["alternative"] for row in rows if row["is_best"]}
    excluded = [row for row in rows if not missing(row["why_not"]) and row["alternative"] not in best][:1]
    cheaper = [row for row in excluded if row["ratio"] < 1]
    by_rank = dict.fromkeys(row["choice"] for row in (*first, *cheapest_by_kind.values(), *cheaper, *eligible))
    selected = list(by_rank)[: max(CHOICES_LISTED, len(first))]
    return [row for row in rows if row["choice"] in selected]


def _outcome(row: Row) -> Outcome:
    """Return a verdict as the record that page and answer.json show. `row`: of `verdict_rows`, {column: value}:
    recommended choice, runner-up, costs, sentences.
    """
    names = {"best": "best", "rival": "rival", "start_with": "take"}
    has_start = row["kind"] != "keep" and "p_stock" in row
    timed = [] if missing(row["trial_usd"]) else list(row["timed"])
    return Outcome.of(
        row,
        **{field: _choice_name(row, column) for field, column in names.items()},
        title=row["workload_title"],
        time_first=TimeFirst.of(row, machines=timed) if timed else None,
        having=sentences("start_times", row) if has_start else [],
    )


def _choice_name(row: Row, column: str) -> ChoiceName | None:
    return None if missing(row[column]) else ChoiceName(choice=row[column], title=text(row[f"{column}_title"]))
