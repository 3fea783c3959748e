"""The verdict of a study as one frozen record, read from the tables of the comparison."""

import math
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sweetspot.report.notation import Row, missing, records, text
from sweetspot.report.sentences import sentences
from sweetspot.report.tables import Tables, table_of
from sweetspot.wording import TIE

ROWS = 5  # choices that the answer lists


def finite(row: Row, name: str) -> float | None:
    """Return a number of a row; None where it is missing or infinite, which JSON cannot hold."""
    value = row.get(name)
    if missing(value) or math.isinf(float(value)):  # type: ignore[arg-type]
        return None
    return float(value)  # type: ignore[arg-type]


class Part(BaseModel):
    """A part of answer.json: closed, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(Part):
    """A figure with its 90 % interval; an end is null where none is known or where it is never reached."""

    value: float | None = Field(description="The figure; null: none exists, such as days of use that never pay")
    low: float | None = Field(description="5th percentile")
    high: float | None = Field(description="95th percentile")

    @classmethod
    def of(cls, row: Row, name: str) -> "Figure":
        """Read a figure from the column `name`, its interval from `name`_low and `name`_high."""
        return cls(value=finite(row, name), low=finite(row, f"{name}_low"), high=finite(row, f"{name}_high"))


class Named(Part):
    """One choice."""

    choice: str = Field(description="Its key: an option, or a mix")
    title: str = Field(description="Name for people")


class AtPrice(Part):
    """What the answer would be at one offer for a machine."""

    usd: float = Field(description="Price of one machine")
    p_buying_cheaper: float = Field(description="Share of the draws in which buying it costs less than not buying")


class TimeFirst(Part):
    """Machines to time before the work is given to them."""

    machines: list[str] = Field(description="Offers on which one job is timed, by their names for people")
    trial_usd: float = Field(description="What these timings cost")
    saving_usd: float = Field(description="Expected saving over the project, the timings paid")


class Outcome(Part):
    """The verdict on one work."""

    workload: str = Field(description="What it is about, of workloads.yaml")
    title: str = Field(description="Name for people of that work")
    level: str = Field(description="commit: whether to bind oneself; machine: nothing binds, so which machine")
    verb: str = Field(description="What to do, in a verb")
    sentence: str = Field(description="The verdict, at most 15 words")
    do_this: str = Field(description="What to do, at most 20 words")
    confidence: str = Field(description="clear (95 % or more), likely (80 %), too close to call, or not decided")
    best: Named = Field(description="The choice that is recommended: the cheapest, or in a tie what binds less")
    rival: Named | None = Field(description="What it is held against: of another kind of commitment where one binds")
    kind: str = Field(description="Its kind: keep, rent, contract, buy, mix")
    rival_kind: str | None = Field(description="Kind of the rival")
    usd: float = Field(description="USD of the best")
    rival_usd: float | None = Field(description="USD of the rival; null: there is none")
    usd_per_month: float | None = Field(description="The best's USD a month; null: the work has no months")
    months: float | None = Field(description="Months of the project; null: the work has no months")
    ratio: Figure = Field(description="USD of the rival / USD of the best")
    p_cheaper: float | None = Field(description="Share of the draws in which the best costs less than the rival")
    start_with: Named = Field(description="Machine and seller to begin with; of what binds nobody the cheapest today")
    start_rival: Named | None = Field(description="The next of these")
    start_p_cheaper: float | None = Field(description="Share of the draws in which it costs less than the next")
    time_first: TimeFirst | None = Field(description="What to time before that; null: nothing, each job goes at once")
    having: list[str] = Field(description="What it takes to have the machine to begin with, in sentences")
    machine_title: str | None = Field(description="The machine to begin with, by its name; null: what to take is none")
    p_stock: Figure = Field(description="Share of attempts in which it is to be had; null: not known, or bought")
    thresholds: list[str] = Field(description="From where on the answer is another, in sentences")
    buy_below_usd: float | None = Field(description="Price of a machine below which buying pays; null: none")
    work_factor: float | None = Field(description="Times the work from which buying pays; null: none is known")
    at_prices: list[AtPrice] = Field(description="The answer by the price of the machine")
    busy_days_per_month: float | None = Field(description="Days of use a month that a work without a plan supposes")
    find_out_first: str = Field(description="The figure to find out first; empty: none would change the choice")

    @property
    def close(self) -> bool:
        """Whether it is too close to call."""
        return self.confidence == TIE

    def sentences(self) -> list[str]:
        """List the verdict, what to do, what having it takes, its thresholds and what to find out first."""
        learn = f"Find out first: {self.find_out_first}." if self.find_out_first else ""
        return [line for line in (self.sentence, self.do_this, *self.having, *self.thresholds, learn) if line]


def outcome_of(tables: Tables) -> Outcome | None:
    """Return the verdict on the work that the study is about; None where nothing is priced for it."""
    rows = records(table_of(tables, "verdict").head(1))
    return _outcome(rows[0]) if rows and rows[0]["is_answer"] else None


def other_work(tables: Tables) -> list[Outcome]:
    """List the verdicts on the study's other works."""
    return [_outcome(row) for row in records(table_of(tables, "verdict")) if not row["is_answer"]]


def choices_of(tables: Tables, limit: int = ROWS) -> list[dict[str, Any]]:
    """Select the choices that the answer lists, at least those that the verdict names.

    Parameters
    ----------
    tables
        Tables of the comparison; read are `verdict` and `choices`.
    limit
        How many choices are listed, unless the verdict and the offers in hand are more.

    Returns
    -------
    list of dict
        Rows of `choices`, the cheapest first: the best, the runner-up, the one to start with, offers in hand, the
        cheapest of each kind, one that costs less but cannot be the answer, then the cheapest others.
    """
    verdict, table = outcome_of(tables), table_of(tables, "choices")
    if verdict is None:
        return []
    rows = [row for row in records(table[table["workload"] == verdict.workload]) if not missing(row["usd"])]
    eligible = [row for row in rows if missing(row["why_not"])]

    named = {choice.choice for choice in (verdict.best, verdict.start_with, verdict.rival) if choice}
    all_in_hand = all(row["in_hand"] for row in rows)
    first = [row for row in rows if row["choice"] in named or (row["in_hand"] and not all_in_hand)]
    cheapest_by_kind = {row["kind"]: row for row in reversed(eligible)}
    best = {row["alternative"] for row in rows if row["is_best"]}
    excluded = [row for row in rows if not missing(row["why_not"]) and row["alternative"] not in best][:1]
    cheaper = [row for row in excluded if float(row["ratio"]) < 1]

    by_rank = dict.fromkeys(row["choice"] for row in (*first, *cheapest_by_kind.values(), *cheaper, *eligible))
    selected = list(by_rank)[: max(limit, len(first))]
    return [row for row in rows if row["choice"] in selected]


def _outcome(row: Row) -> Outcome:
    prices = zip(row["box_prices_usd"], row["p_at_box_prices"], strict=True)
    best, start = _named(row, "best"), _named(row, "take")
    assert best is not None and start is not None
    texts = ("workload", "level", "verb", "sentence", "do_this", "confidence", "kind", "find_out_first")
    optional_texts = ("rival_kind", "machine_title")
    numbers = ("rival_usd", "usd_per_month", "months", "p_cheaper", "buy_below_usd", "work_factor",
               "busy_days_per_month")  # fmt: skip
    return Outcome(
        **{name: text(row[name]) for name in texts},
        **{name: text(row.get(name)) or None for name in optional_texts},
        **{name: finite(row, name) for name in numbers},
        thresholds=[text(sentence) for sentence in row.get("thresholds", ())],
        title=text(row["workload_title"]),
        best=best,
        rival=_named(row, "rival"),
        usd=float(row["usd"]),
        ratio=Figure.of(row, "ratio"),
        start_with=start,
        start_rival=_named(row, "take_rival"),
        start_p_cheaper=finite(row, "take_p_cheaper"),
        time_first=_time_first(row),
        having=[] if row["kind"] == "keep" or "p_stock" not in row else sentences("start_times", row),
        p_stock=Figure.of(row, "p_stock"),
        at_prices=[AtPrice(usd=float(usd), p_buying_cheaper=float(share)) for usd, share in prices],
    )


def _named(row: Row, name: str) -> Named | None:
    return None if missing(row[name]) else Named(choice=text(row[name]), title=text(row[f"{name}_title"]))


def _time_first(row: Row) -> TimeFirst | None:
    machines = [text(title) for title in row.get("timed", ())]
    if not machines:
        return None
    return TimeFirst(machines=machines, trial_usd=float(row["trial_usd"]), saving_usd=float(row["saving_usd"]))
