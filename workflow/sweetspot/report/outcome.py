"""The verdict of a study as one frozen record, read from the tables of the comparison."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from sweetspot.report.decision_text import verdict_rows
from sweetspot.report.notation import Row, finite, missing, rows_where, text
from sweetspot.report.sentences import sentences
from sweetspot.report.tables import Tables
from sweetspot.wording import TIE

CHOICES_LISTED = 5


class AnswerPart(BaseModel):
    """A part of answer.json: closed, never changed. Columns become fields of the same name."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @classmethod
    def of(cls, row: Row, **fields: Any) -> Self:
        """Return an instance with its fields filled from the columns of the same name in a row.

        Parameters
        ----------
        row
            Row of a result table; a missing or infinite number becomes None, a missing required text ''.
        fields
            Values of fields that are not taken from the row.
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
    """A figure with its 90 % interval; an end is null where none is known or where it is never reached."""

    value: float | None
    """The figure; null: none exists, such as days of use that never pay"""
    low: float | None
    """5th percentile"""
    high: float | None
    """95th percentile"""


class ChoiceName(AnswerPart):
    """One choice."""

    choice: str
    """Its key: an option, or a mix"""
    title: str
    """Name for people"""


class TimeFirst(AnswerPart):
    """Machines to time before the work is given to them."""

    machines: list[str]
    """Offers on which one job is timed, by their names for people"""
    trial_usd: float
    """What these timings cost"""
    saving_usd: float
    """Expected saving over the project, the timings paid"""


class Outcome(AnswerPart):
    """The verdict on one work."""

    workload: str
    """What it is about, of workloads.yaml"""
    title: str
    """Name for people of that work"""
    level: str
    """commit: whether to bind oneself; machine: nothing binds, so which machine"""
    sentence: str
    """The verdict, at most 15 words"""
    do_this: str
    """What to do, at most 20 words"""
    confidence: str
    """clear (95 % or more), likely (80 %), too close to call, or not decided"""
    best: ChoiceName
    """The choice that is recommended: the cheapest, or in a tie what binds less"""
    rival: ChoiceName | None
    """What it is held against: of another kind of commitment where one binds"""
    kind: str
    """Its kind: keep, rent, contract, buy, mix"""
    rival_kind: str | None
    """Kind of the rival"""
    usd: float
    """USD of the best"""
    rival_usd: float | None
    """USD of the rival; null: there is none"""
    usd_per_month: float | None
    """The best's USD a month; null: the work has no months"""
    months: float | None
    """Months of the project; null: the work has no months"""
    ratio: ValueRange
    """USD of the rival / USD of the best"""
    p_cheaper: float | None
    """Share of the samples in which the best costs less than the rival"""
    start_with: ChoiceName
    """Machine and seller to begin with; of what binds nobody the cheapest today"""
    time_first: TimeFirst | None
    """What to time before that; null: nothing, each job goes at once"""
    having: list[str]
    """What it takes to have the machine to begin with, in sentences"""
    machine_title: str | None
    """The machine to begin with, by its name; null: what to take is none"""
    p_stock: ValueRange
    """Share of attempts in which it is free; null: not known, or bought"""
    thresholds: list[str]
    """From where on the answer is another, in sentences"""
    buy_below_usd: float | None
    """Price of a machine below which buying pays; null: none"""
    work_factor: float | None
    """Times the work from which buying pays; null: none is known"""
    busy_days_per_month: float | None
    """Days of use a month that a work without a plan supposes"""
    find_out_first: str
    """The figure to find out first; empty: none would change the choice"""

    @property
    def close(self) -> bool:
        """Whether best choice and runner-up are too close to call."""
        return self.confidence == TIE

    def sentences(self) -> list[str]:
        """Return the sentences of the verdict: result, advice, how to get machines, thresholds, what to find out."""
        learn = f"Find out first: {self.find_out_first}." if self.find_out_first else ""
        return [line for line in (self.sentence, self.do_this, *self.having, *self.thresholds, learn) if line]


def outcome_of(tables: Tables) -> Outcome | None:
    """Return the verdict on the study's main work; None if no option for this work has a price and a speed."""
    return next((_outcome(row) for row in verdict_rows(tables)[:1] if row["is_answer"]), None)


def other_work(tables: Tables) -> list[Outcome]:
    """List the verdicts on all work of the study except the main work of `outcome_of`."""
    return [_outcome(row) for row in verdict_rows(tables) if not row["is_answer"]]


def choices_of(tables: Tables) -> list[Row]:
    """Select the choices that answer.json lists for the main work, at least those that the verdict names.

    Parameters
    ----------
    tables
        Result tables by name; `verdict` and `choices` are read.

    Returns
    -------
    list
        Rows of `choices` as dicts, in the table's order, [] without a verdict. CHOICES_LISTED of them, or more if
        needed for the best, the runner-up, the one to start with and offers in hand; then the cheapest of each
        kind, one that costs less but cannot be the answer, and the cheapest others are taken.
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
