"""The verdict, made once: commit or not, then which machine and seller; all that speaks of the answer says this."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.choice_table import BUY, CONTRACT, KEEP, MIX, NOTHING, RANK, RENT, Work, against, standing_of
from sweetspot.decision.simulate import interval
from sweetspot.decision.standing import p_cheaper
from sweetspot.errors import UserError
from sweetspot.wording import TIE, WORDS, Money, Words, begun, confidence, counted, percent, the, times

COMMIT, MACHINE = "commit", "machine"
COLUMNS = (
    "workload", "workload_title", "is_answer", "level", "verb", "sentence", "do_this", "confidence", "kind",
    "best", "best_title", "rival", "rival_title", "rival_kind", "usd", "rival_usd", "usd_per_month", "months", "ratio",
    "ratio_low", "ratio_high", "p_cheaper", "take", "take_title", "take_rival", "take_rival_title", "take_ratio",
    "take_ratio_low", "take_ratio_high", "take_p_cheaper", "box", "box_title", "box_usd", "buy_below_usd",
    "box_prices_usd", "p_at_box_prices", "work_factor", "from_jobs", "by_hour_title",
    "busy_days_per_month", "thresholds", "find_out_first",
)  # fmt: skip
VERBS = {KEEP: "Keep what you have", RENT: "Rent by the hour", CONTRACT: "Sign the contract", BUY: "Buy", MIX: "Buy"}
COSTS = {KEEP: "What you have", RENT: "Renting", CONTRACT: "A contract", BUY: "Buying", MIX: "Buying"}
COUNTED = "this counts {busy_days_per_month:g}"
SENTENCE, DO_THIS = 15, 20  # words
NEAR = 2.0  # times the price of a machine: a threshold farther off is not said
QUOTES = (0.75, 0.875, 1.0, 1.2)  # of the price of a machine: what the answer would be at an offer of so much
ROUND = 500.0  # USD of such an offer


class Pair(NamedTuple):
    """Two choices of a work: USD of the other / USD of the one with 90 %, share of draws in which the one is cheaper.

    `other` is None where there is none.
    """

    one: int
    other: int | None
    ratio: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan

    @property
    def sure(self) -> str:
        """How sure it is that the one is cheaper."""
        return "clear" if self.other is None else confidence(self.p)

    def told(self, table: pd.DataFrame, one: str, other: str, prefix: str = "") -> dict[str, Any]:
        """Columns of the verdict: both choices under these names, and how they stand to each other."""
        row = {
            f"{name}{end}": None if place is None else table[column].iloc[place]
            for name, place in ((one, self.one), (other, self.other))
            for end, column in (("", "choice"), ("_title", "title"))
        }
        figures = {"ratio": self.ratio, "ratio_low": self.low, "ratio_high": self.high, "p_cheaper": self.p}
        return row | {f"{prefix}{name}": value for name, value in figures.items()}


def verdict_table(
    works: Sequence[Work],
    answer: str | None,
    break_even: pd.DataFrame,
    worth: Mapping[str, str],
    words: Words = WORDS["train"],
) -> pd.DataFrame:
    """One row a work that has a choice (COLUMNS), that of the answer first; `answer`: its name.

    `level`: commit (some choices bind: to a purchase or a contract) or machine (none does). `best` and `rival` are
    those of the choices, `ratio` USD of the rival / USD of the best. `take`: what to begin with; where it is too close
    to call, of the choice that commits to least; `take_rival` the next of these, held against it at today's
    prices where it binds nobody. `buy_below_usd`: price of one machine `box` at which buying costs as much as the
    cheapest that binds less; `p_at_box_prices`: share of the draws in which buying is cheaper at an offer of
    `box_prices_usd`. `work_factor`: how many times the work from which buying pays (`break_even`);
    `from_jobs`: jobs a month from which what is paid by the month pays. `worth`: what to find out first, by workload.
    `sentence` has at most 15 words, `do_this` 20.
    """
    told = [verdict_of(one, break_even, worth.get(one.name, ""), words) for one in works if one.table["stands"].any()]
    for row in told:
        if row["workload"] == answer and row["level"] == MACHINE and len(told) > 1:
            row["thresholds"] = [*row["thresholds"], _of_several(row, told)]
    rows = [row | {"is_answer": row["workload"] == answer} for row in told]
    return pd.DataFrame(sorted(rows, key=lambda row: not row["is_answer"]), columns=list(COLUMNS))


def _of_several(answer: Mapping[str, Any], told: Sequence[Mapping[str, Any]]) -> str:
    """Which of several works the answer is about, and for which of the others it is another."""
    others = [row for row in told if row["take"] != answer["take"]]
    about = f"This is about {answer['workload_title']}. The same is the cheapest for"
    if not others:
        return f"{about} all {len(told)} works here."
    first, *more = others
    named = f"for {first['workload_title']} it is {the(str(first['take_title']))}"
    return (
        f"{about} {len(told) - len(others)} of the {len(told)} works here; {named}{', among others' if more else ''}."
    )


def answer_work(works: Sequence[Work], asked: str | None, model: str | None) -> str | None:
    """The work that the study is about: what it asks for, else its plan, else the first workload of `model`.

    Raises UserError where nothing is priced for what it asks.
    """
    names = [one.name for one in works]
    if asked is not None:
        if asked not in names:
            raise UserError(f"study.yaml: work is {asked!r}; expected one of {', '.join(names) or 'none: no price'}")
        return asked
    order = [*(one for one in works if one.plan), *(one for one in works if one.model == model), *works]
    return order[0].name if order else None


def first_to_find_out(works: Sequence[Work], worth: pd.DataFrame) -> dict[str, str]:
    """By work what to find out first (`worth_knowing`), where knowing it is worth its cost."""
    found = {}
    for one in works:
        mine = (worth["workload"] == one.name) & worth["model"].isna() if one.plan else worth["model"] == one.model
        rows = worth[mine]
        if rows.empty:
            continue
        net = rows["evppi_usd"] - rows["cost_to_learn_usd"].fillna(0.0)
        rows = rows.assign(net=net)[rows["evppi_usd_low"].gt(0) & net.gt(0)]
        if len(rows):
            found[one.name] = str(rows.sort_values("net", ascending=False, kind="stable")["figure"].iloc[0])
    return found


def verdict_of(one: Work, break_even: pd.DataFrame, worth: str, words: Words) -> dict[str, Any]:
    """The row of one work."""
    best, rival = standing_of(one)
    table, binds = one.table, one.table["binds"]
    bound = rival if rival is not None and binds.iloc[best] != binds.iloc[rival] else None
    first = pair(one, best, bound)
    advised = best
    if first.sure == TIE and bound is not None:
        advised = min((best, bound), key=lambda place: RANK.index(binds.iloc[place]))
    second = _machines(one, str(binds.iloc[advised]))
    if bound is None:
        first, best = second, second.one
    facts = {
        "workload": one.name, "workload_title": one.title, "level": MACHINE if bound is None else COMMIT,
        "confidence": first.sure, "kind": table["kind"].iloc[best], "months": one.months,
        "busy_days_per_month": one.busy, "find_out_first": "" if first.sure == "clear" else worth,
        "usd": float(table["usd"].iloc[best]), "usd_per_month": float(table["usd"].iloc[best]) / one.months,
        "rival_usd": np.nan if first.other is None else float(table["usd"].iloc[first.other]),
        "rival_kind": None if first.other is None else table["kind"].iloc[first.other],
        **first.told(table, "best", "rival"), **second.told(table, "take", "take_rival", "take_"),
        **_price_of_the_box(one, bound), **_by_the_month(one, second.one), "work_factor": _work_factor(one, break_even),
    }  # fmt: skip
    facts["pays_from_days"] = _pays_from_days(one, facts, break_even)
    kind = str(table["kind"].iloc[second.one])
    facts |= {"verb": VERBS[kind], "sentence": _sentence(facts, kind, one), "do_this": _do_this(facts, kind, words)}
    return facts | {"thresholds": _thresholds(facts, words.money)}


def pair(one: Work, best: int, rival: int | None, today: bool = False) -> Pair:
    """A choice held against another, over the project or at today's prices."""
    if rival is None:
        return Pair(best, None)
    usd, name = (one.today, "usd_at_todays_prices") if today else (one.usd, "usd")
    with np.errstate(invalid="ignore"):
        low, high = (float(end) for end in interval(usd[rival] / usd[best]))
    ratio = float(one.table[name].iloc[rival] / one.table[name].iloc[best])
    return Pair(best, rival, ratio, low, high, p_cheaper(usd[best], usd[rival]))


def _machines(one: Work, binds: str) -> Pair:
    """Level (b): the cheapest machine and seller of what binds alike, at today's prices where nothing binds."""
    today = binds == NOTHING
    mine = one.table[one.table["stands"] & (one.table["binds"] == binds)]
    mine = mine.sort_values(["usd_at_todays_prices" if today else "usd", "choice"], kind="stable")
    places = [int(place) for place in mine.index]
    return pair(one, places[0], against(one, places[0], places[1:]), today)


def _price_of_the_box(one: Work, rival: int | None) -> dict[str, Any]:
    """What an offer for the cheapest machine for sale has to be, against the cheapest that binds less."""
    table, stands = one.table, one.table["stands"].to_numpy(bool)
    sale = np.flatnonzero(stands & (table["binds"] == BUY) & (table["usd_per_capex"] > 0))
    free = np.flatnonzero(stands & (table["binds"] != BUY))
    if rival is None or not len(sale) or not len(free):
        return {"buy_below_usd": np.nan, "box": None, "box_usd": np.nan, "box_prices_usd": [], "p_at_box_prices": []}
    box, other = int(sale[0]), int(free[0])
    price, slope = float(table["capex_usd"].iloc[box]), float(table["usd_per_capex"].iloc[box])
    below = price + (table["usd"].iloc[other] - table["usd"].iloc[box]) / slope
    quotes = [max(ROUND, round(price * by / ROUND) * ROUND) if price > 4 * ROUND else price * by for by in QUOTES]
    at = [one.usd[box] + slope * (quote - one.capex[box]) for quote in quotes]
    return {
        "box": table["choice"].iloc[box], "box_title": table["box_title"].iloc[box], "box_usd": price,
        "buy_below_usd": float(below) if below > 0 else np.nan, "box_prices_usd": [float(quote) for quote in quotes],
        "p_at_box_prices": [p_cheaper(usd, one.usd[other]) for usd in at],
    }  # fmt: skip


def _by_the_month(one: Work, place: int) -> dict[str, Any]:
    """From how many jobs a month a machine pays that costs so much a month, used or not, and who serves fewer."""
    table = one.table
    month = table["month_usd"] if "month_usd" in table.columns else pd.Series(np.nan, table.index)
    others = table[table["stands"] & month.isna()]
    if pd.isna(month.iloc[place]) or others.empty or one.months == 1.0:
        return {"from_jobs": np.nan, "by_hour_title": None}
    hourly = others.iloc[0]
    return {"from_jobs": float(month.iloc[place] / hourly["usd"]), "by_hour_title": hourly["title"]}


def _work_factor(one: Work, break_even: pd.DataFrame) -> float:
    """The least factor of the work from which a purchase pays; NaN where none is known."""
    if break_even.empty:
        return np.nan
    mine = break_even[(break_even["workload"] == one.name) & break_even["quantity"].isin(["jobs", "device_hours"])]
    return float(mine["factor"].min()) if len(mine) else np.nan


def _pays_from_days(one: Work, facts: Mapping[str, Any], break_even: pd.DataFrame) -> float:
    """Of a work without a plan: the days of use a month from which the purchase pays against the rival; NaN: none."""
    pair = {facts["best"], facts["rival"]}
    if facts["level"] != COMMIT or BUY not in (facts["kind"], facts["rival_kind"]) or break_even.empty:
        return np.nan
    if pd.isna(facts["busy_days_per_month"]) or "reference" not in break_even.columns:
        return np.nan
    mine = break_even[(break_even["workload"] == one.model) & break_even["reference"].isin(pair)]
    mine = mine[mine["option"].isin(pair)]
    return float(mine["pays_from"].iloc[0]) if len(mine) else np.nan


def _thresholds(facts: Mapping[str, Any], currency: Money) -> list[str]:
    """From where on it is another answer, a sentence each, where what to do does not say it."""
    told: list[tuple[str, str]] = []
    factor, days = facts["work_factor"], facts["pays_from_days"]
    if _near(facts):
        word = "up to" if facts["kind"] in (BUY, MIX) else "below"
        price = currency.words(facts["buy_below_usd"])
        told.append((price, f"Buying pays {word} {{}} for {the(str(facts['box_title']))}."))
    if pd.notna(days):
        told.append((f"{days:.2g} days", f"Buying pays from {{}} of use a month; {COUNTED.format(**facts)}."))
    if factor > 1:
        told.append((f"{times(factor)} times", "Buying pays with {} as much work."))
    if 0 < factor < 1:
        other = "renting" if RENT in (facts["kind"], facts["rival_kind"]) else "not buying"
        less = f"With less than {{}} of the work {other} is cheaper."
        tie = facts["confidence"] == TIE
        told.append((f"{100 * factor:.0f} %", less if tie else "Buying still pays with {} of the work."))
    return [sentence.format(value) for value, sentence in told if value not in facts["do_this"]]


def _sentence(facts: Mapping[str, Any], advised: str, one: Work) -> str:
    """The verdict: the verb first, then what the other way costs."""
    verb, close = VERBS[advised], facts["confidence"] == TIE
    maybe = "" if close or facts["confidence"] == "clear" else "probably "
    if facts["level"] == COMMIT:
        other = facts["rival_kind"] if advised == facts["kind"] or not close else facts["kind"]
        if close:
            over = f" over {one.months:g} months" if one.months > 1 else ""
            return f"{verb} for now. {COSTS[str(other)]} costs about the same{over}."
        return f"{verb}. {COSTS[str(other)]} {maybe}costs {times(facts['ratio'])} times as much."
    alone = f"{_taken(advised)} {the(str(facts['take_title']))}."
    if facts["take_rival"] is None:
        return alone
    how = "about the same" if close else f"{times(facts['ratio'])} times as much"
    return _short([f"{alone} {begun(the(str(facts['take_rival_title'])))} {maybe}costs {how}.", alone], SENTENCE)


def _do_this(facts: Mapping[str, Any], advised: str, words: Words) -> str:
    """What to do: the machine to begin with, and where it is too close to call what would decide it."""
    return _short(_ways_to_say(facts, advised, words), DO_THIS)


def _ways_to_say(facts: Mapping[str, Any], advised: str, words: Words) -> list[str]:
    """What to do, the fullest way to say it first."""
    title, rival, currency = the(str(facts["take_title"])), the(str(facts["take_rival_title"])), words.money
    alone = facts["take_rival"] is None
    close = not alone and confidence(facts["take_p_cheaper"]) == TIE
    sure = "" if alone else f" ({percent(facts['take_p_cheaper'])})"
    if pd.notna(facts["from_jobs"]):
        from_jobs = f"It pays from {counted(round(facts['from_jobs']), words.many[:-1], words.many)} a month."
        return [f"{from_jobs} For fewer take {the(str(facts['by_hour_title']))}.", from_jobs]
    if facts["level"] == MACHINE:
        if alone:
            return ["Nothing else does this work."]
        if close:
            same = "cost about the same: take either."
            return [f"{begun(title)} and {rival} {same}", f"{begun(rival)} costs about the same."]
        dearer = f"costs {times(facts['take_ratio'])} times as much{sure}."
        return [f"{begun(rival)} {dearer}", f"The second choice {dearer}"]
    start = f"Start with {title}"
    if facts["confidence"] == TIE and _near(facts) and advised not in (BUY, MIX):
        box = "box" if "box" in str(facts["box_title"]) else "machine"
        below = f"Buy if the {box} costs less than {currency.words(facts['buy_below_usd'])}."
        return [f"{start}. {below}", below]
    if advised == KEEP:
        nothing, today = "Buy and sign nothing.", "" if alone else f", the cheapest today{sure}"
        return [f"{nothing} Rent {title}{today}.", f"{nothing} Rent {title}.", nothing]
    if advised == RENT:
        both, again = f"{start} or {rival}: both cost about the same today.", "Compare again every quarter."
        today = f"{start}, the cheapest today{sure}."
        return [f"{both} {again}", both, today] if close else [f"{today} {again}", today]
    taken, factor = f"{_taken(advised)} {title}.", facts["work_factor"]
    paid = f"It pays up to {currency.words(facts['buy_below_usd'])}." if _near(facts) else ""
    work = f"It still pays with {100 * factor:.0f} % of the work." if 0 < factor < 1 else ""
    if pd.notna(facts["pays_from_days"]):
        paid, work = "", f"It pays from {facts['pays_from_days']:.2g} days of use a month."
    return [" ".join(filter(None, (taken, paid, work))), f"{taken} {work or paid}".strip(), taken]


def _near(facts: Mapping[str, Any]) -> bool:
    """Whether the price at which buying pays is one that somebody could be asked."""
    return bool(facts["box_usd"] / NEAR < facts["buy_below_usd"] < facts["box_usd"] * NEAR)


def _taken(kind: str) -> str:
    return {KEEP: "Keep", RENT: "Rent", CONTRACT: "Sign for"}.get(kind, "Buy")


def _short(ways: Sequence[str], most: int) -> str:
    """The first of the ways to say it that has at most so many words, else the last of them."""
    return next((words for words in ways if len(words.split()) <= most), ways[-1])


def no_answer(offers: int, figures: int) -> str:
    """The sentence where no option has both a price and a figure, by how many there are of each."""
    if not offers:
        return "No answer yet: nothing here has a price."
    if not figures:
        return "No answer yet: no machine here has a speed, measured or published."
    return "No answer yet: no machine has both a price and a speed at the batch that is asked for."
