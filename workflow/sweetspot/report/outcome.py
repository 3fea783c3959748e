"""The verdict of a study as one object, read from its table: all that speaks of the answer says this."""

import math
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from sweetspot.report.notation import Row, interval_text, missing, number, records, text
from sweetspot.report.sentences import sentences
from sweetspot.report.tables import Tables, table_of
from sweetspot.wording import TIE, Money, percent, the, times

ROWS = 5  # choices that a table of the answer shows
BUYING = ("buy", "mix")


class Kind(NamedTuple):
    """Words for a kind of choice: as the head of its row, within a sentence, in a table."""

    group: str
    doing: str
    short: str


KINDS = {
    "keep": Kind("Keep what you have", "keeping what you have", "Keep"),
    "rent": Kind("Rent by the hour", "renting", "Rent"),
    "contract": Kind("Contract", "a contract", "Contract"),
    **dict.fromkeys(BUYING, Kind("Buy", "buying", "Buy")),
}


def finite(row: Row, name: str) -> float | None:
    """A finite number of a row, else nothing: JSON has no other."""
    found = row.get(name)
    return None if missing(found) or math.isinf(float(found)) else float(found)  # type: ignore[arg-type]


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
        """A figure of a row, its ends in the columns behind it."""
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
    usd_per_month: float | None = Field(description="The same a month; null: the work has no months")
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
        """The verdict, what to do, what having it takes, from where on it is another, what to find out first."""
        learn = f"Find out first: {self.find_out_first}." if self.find_out_first else ""
        return [part for part in (self.sentence, self.do_this, *self.having, *self.thresholds, learn) if part]


def outcome_of(tables: Tables) -> Outcome | None:
    """The verdict on the work that the study is about; None where nothing is priced for it."""
    rows = records(table_of(tables, "verdict").head(1))
    return _outcome(rows[0]) if rows and rows[0]["is_answer"] else None


def other_work(tables: Tables) -> list[Outcome]:
    """The verdicts on the other works."""
    return [_outcome(row) for row in records(table_of(tables, "verdict")) if not row["is_answer"]]


def choices_of(tables: Tables, most: int = ROWS) -> list[dict[str, Any]]:
    """Rows of the choices of the answer's work: best, rival, the start, offers in hand, the cheapest of each kind,
    and what costs less but is not the answer; then the cheapest others, `most` in all; cheapest first.
    """
    found, table = outcome_of(tables), table_of(tables, "choices")
    if found is None:
        return []
    rows = [row for row in records(table[table["workload"] == found.workload]) if not missing(row["usd"])]
    stands = [row for row in rows if missing(row["why_not"])]
    told = {found.best.choice, found.start_with.choice, *([found.rival.choice] if found.rival else [])}
    named = any(not row["in_hand"] for row in rows)
    first = [row for row in rows if row["choice"] in told or (named and row["in_hand"])]
    kinds = {row["kind"]: row for row in reversed(stands)}
    ours = {row["alternative"] for row in rows if row["is_best"]}
    cheaper = [row for row in rows if not missing(row["why_not"]) and row["alternative"] not in ours][:1]
    cheaper = [row for row in cheaper if float(row["ratio"]) < 1]
    order = {row["choice"]: row for row in (*first, *kinds.values(), *cheaper, *stands)}
    kept = list(order)[: max(most, len(first))]
    return [row for row in rows if row["choice"] in kept]


def group_of(row: Row) -> str:
    """What a choice is, as the head of its row; what one has may leave something to rent."""
    return KINDS[row["kind"]].group + (", and rent" if keeps_and_rents(row) else "")


def keeps_and_rents(row: Row) -> bool:
    """Whether a choice is to keep what one has and to rent beside it."""
    return row["kind"] == "keep" and not missing(row["main_rented"])


def busy(found: Outcome) -> str:
    """What a work without a plan supposes of an owned machine, for behind its name."""
    days = found.busy_days_per_month
    return "" if days is None else f", on a machine busy {days:g} days a month"


class KeyFigure(NamedTuple):
    """A figure as printed, what it is, and its 90 % interval in words, empty where none is known."""

    value: str
    label: str
    span: str = ""


def key_figures(found: Outcome | None, money: Money) -> list[KeyFigure]:
    """How sure the verdict is, by how much, and how often the machine to begin with is to be had or from where on the
    verdict is another: three at most.
    """
    if found is None or found.rival is None or found.p_cheaper is None:
        return []
    mine, other = the(found.best.title), the(found.rival.title)
    if found.level == "commit":
        mine, other = KINDS[found.kind].doing, KINDS[str(found.rival_kind)].doing
    made = [KeyFigure(percent(found.p_cheaper), f"likely that {mine} costs less than {other}")]
    value, low, high = found.ratio.value, found.ratio.low, found.ratio.high
    if value is not None:
        span = interval_text(low, high) if low is not None and number(low) != number(high) else ""
        made.append(KeyFigure(f"{times(value)} ×", f"as much for {other} as for {mine}", span))
    chance, buying = found.p_stock, found.kind in BUYING
    if chance.value is not None and chance.value < 1 and found.machine_title is not None:
        known = chance.low is not None and chance.high is not None
        span = f"{percent(chance.low)} to {percent(chance.high)}" if known else ""  # type: ignore[arg-type]
        made.append(KeyFigure(percent(chance.value), f"of attempts find {the(found.machine_title)} free", span))
    if found.work_factor is not None and found.work_factor > 1 and not buying:
        made.append(KeyFigure(f"{times(found.work_factor)} ×", "as much work before buying pays"))
    if found.buy_below_usd is not None and (found.close or buying):
        made.append(KeyFigure(money.words(found.buy_below_usd), "price of the machine below which buying pays"))
    return made[:3]


def _time_first(row: Row) -> TimeFirst | None:
    machines = [text(one) for one in row.get("timed", ())]
    if not machines:
        return None
    return TimeFirst(machines=machines, trial_usd=float(row["trial_usd"]), saving_usd=float(row["saving_usd"]))


def _outcome(row: Row) -> Outcome:
    def named(name: str) -> Named | None:
        return None if missing(row[name]) else Named(choice=text(row[name]), title=text(row[f"{name}_title"]))

    best, start = named("best"), named("take")
    assert best is not None and start is not None
    prices = zip(row["box_prices_usd"], row["p_at_box_prices"], strict=True)
    words = ("workload", "level", "verb", "sentence", "do_this", "confidence", "kind")
    numbers = ("usd_per_month", "p_cheaper", "buy_below_usd", "work_factor", "busy_days_per_month")
    return Outcome(
        **{name: text(row[name]) for name in words},
        **{name: finite(row, name) for name in numbers},
        title=text(row["workload_title"]),
        best=best,
        rival=named("rival"),
        rival_kind=None if missing(row["rival_kind"]) else text(row["rival_kind"]),
        usd=float(row["usd"]),
        ratio=Figure.of(row, "ratio"),
        start_with=start,
        start_rival=named("take_rival"),
        start_p_cheaper=finite(row, "take_p_cheaper"),
        time_first=_time_first(row),
        having=[] if row["kind"] == "keep" or "p_stock" not in row else sentences("start_times", row),
        machine_title=None if missing(row.get("machine_title")) else text(row["machine_title"]),
        p_stock=Figure.of(row, "p_stock"),
        thresholds=[text(said) for said in row["thresholds"]],
        at_prices=[AtPrice(usd=float(usd), p_buying_cheaper=float(share)) for usd, share in prices],
        find_out_first=text(row["find_out_first"]),
    )
