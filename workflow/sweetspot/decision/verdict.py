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
COSTS = {KEEP: "What you have costs", RENT: "Renting costs", CONTRACT: "A contract costs", BUY: "Buying costs",
         MIX: "Buying costs"}  # fmt: skip
PROBABLY = {name: words.replace(" costs", " probably costs") for name, words in COSTS.items()}
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
    table = one.table
    bound = rival is not None and table["binds"].iloc[best] != table["binds"].iloc[rival]
    first = pair(one, best, rival) if bound else Pair(best, None)
    close = first.sure == TIE
    advised = best
    if close and rival is not None:
        advised = min((best, rival), key=lambda place: RANK.index(table["binds"].iloc[place]))
    second = _machines(one, str(table["binds"].iloc[advised]))
    if not bound:
        first = second
    facts = {
        "workload": one.name, "workload_title": one.title, "level": COMMIT if bound else MACHINE,
        "confidence": first.sure, "kind": table["kind"].iloc[second.one if not bound else best], "months": one.months,
        "busy_days_per_month": one.busy, "find_out_first": "" if first.sure == "clear" else worth,
        **_paired(one, first, ("best", "rival", ""), "usd_at_todays_prices" if not bound else "usd"),
        **_paired(one, second, ("take", "take_rival", "take_"), None),
    }  # fmt: skip
    facts |= {"usd_per_month": facts["usd"] / one.months, **_price_of_the_box(one, best, rival if bound else None)}
    facts |= _by_the_month(one, second.one)
    facts |= {"work_factor": _work_factor(one, break_even), "pays_from_days": _pays_from_days(one, facts, break_even)}
    advised_kind = str(table["kind"].iloc[second.one])
    facts |= {"sentence": _sentence(facts, advised_kind, one), "do_this": _do_this(facts, advised_kind, words)}
    return facts | {"verb": VERBS[advised_kind], "thresholds": _thresholds(facts, words.money)}


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
    table = one.table
    name = "usd_at_todays_prices" if today else "usd"
    mine = table[table["stands"] & (table["binds"] == binds)].sort_values([name, "choice"], kind="stable")
    places = [int(place) for place in mine.index]
    return pair(one, places[0], against(one, places[0], places[1:]), today)


def _paired(one: Work, two: Pair, names: tuple[str, str, str], usd: str | None) -> dict[str, Any]:
    best, rival, prefix = names
    table = one.table
    row: dict[str, Any] = {}
    for name, place in ((best, two.one), (rival, two.other)):
        row |= {
            name: None if place is None else table["choice"].iloc[place],
            f"{name}_title": None if place is None else table["title"].iloc[place],
        }
    row |= {f"{prefix}ratio{end}": value for end, value in (("", two.ratio), ("_low", two.low), ("_high", two.high))}
    row[f"{prefix}p_cheaper"] = two.p
    if usd is not None:
        other = two.other
        row |= {
            "usd": float(table["usd"].iloc[two.one]),
            "rival_usd": np.nan if other is None else float(table["usd"].iloc[other]),
            "rival_kind": None if other is None else table["kind"].iloc[other],
        }
    return row


def _price_of_the_box(one: Work, best: int, rival: int | None) -> dict[str, Any]:
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
    title = str(facts.get("box_title") or "")
    buying = facts["kind"] in (BUY, MIX)
    if _near(facts):
        word = "Buying pays up to" if buying else "Buying pays below"
        told.append((currency.words(facts["buy_below_usd"]), f"{word} {{}} for {the(title)}."))
    factor, days = facts["work_factor"], facts["pays_from_days"]
    if pd.notna(days):
        counts = f"this counts {facts['busy_days_per_month']:g}"
        told.append((f"{days:.2g} days", f"Buying pays from {{}} of use a month; {counts}."))
    if pd.notna(factor) and factor > 1:
        told.append((f"{times(factor)} times", "Buying pays with {} as much work."))
    if pd.notna(factor) and 0 < factor < 1:
        tie = facts["confidence"] == TIE
        other = "renting" if RENT in (facts["kind"], facts["rival_kind"]) else "not buying"
        less = f"With less than {{}} of the work {other} is cheaper."
        told.append((f"{100 * factor:.0f} %", less if tie else "Buying still pays with {} of the work."))
    return [sentence.format(value) for value, sentence in told if value not in facts["do_this"]]


def _sentence(facts: Mapping[str, Any], advised: str, one: Work) -> str:
    """The verdict: the verb first, then what the other way costs."""
    verb, close = VERBS[advised], facts["confidence"] == TIE
    over = f" over {one.months:g} months" if one.months > 1 else ""
    if facts["level"] == COMMIT:
        if close:
            other = facts["rival_kind"] if advised == facts["kind"] else facts["kind"]
            return _short([f"{verb} for now. {COSTS[str(other)]} about the same{over}."], SENTENCE)
        words = (COSTS if facts["confidence"] == "clear" else PROBABLY)[str(facts["rival_kind"])]
        return _short([f"{verb}. {words} {times(facts['ratio'])} times as much."], SENTENCE)
    title, rival = the(str(facts["take_title"])), the(str(facts["take_rival_title"]))
    alone = f"{_taken(advised)} {title}."
    if facts["take_rival"] is None:
        return _short([alone], SENTENCE)
    if close:
        return _short([f"{alone} {begun(rival)} costs about the same.", alone], SENTENCE)
    maybe = "" if facts["confidence"] == "clear" else "probably "
    return _short([f"{alone} {begun(rival)} {maybe}costs {times(facts['ratio'])} times as much.", alone], SENTENCE)


def _do_this(facts: Mapping[str, Any], advised: str, words: Words) -> str:
    """What to do: the machine to begin with, and where it is too close to call what would decide it."""
    title, currency = the(str(facts["take_title"])), words.money
    close = facts["take_rival"] is not None and confidence(facts["take_p_cheaper"]) == TIE
    rival = "" if facts["take_rival"] is None else the(str(facts["take_rival_title"]))
    if pd.notna(facts["from_jobs"]):
        from_jobs = f"It pays from {counted(round(facts['from_jobs']), words.many[:-1], words.many)} a month."
        return _short([f"{from_jobs} For fewer take {the(str(facts['by_hour_title']))}.", from_jobs], DO_THIS)
    if facts["level"] == MACHINE:
        if not rival:
            return "Nothing else does this work."
        if close:
            both = f"{begun(title)} and {rival} cost about the same: take either."
            return _short([both, f"{begun(rival)} costs about the same."], DO_THIS)
        sure = f"costs {times(facts['take_ratio'])} times as much ({percent(facts['take_p_cheaper'])})."
        return _short([f"{begun(rival)} {sure}", f"The second choice {sure}"], DO_THIS)
    if facts["confidence"] == TIE and _near(facts) and advised not in (BUY, MIX):
        box = "box" if "box" in str(facts["box_title"]) else "machine"
        below = f"Buy if the {box} costs less than {currency.words(facts['buy_below_usd'])}."
        return _short([f"Start with {title}. {below}", below], DO_THIS)
    if advised == KEEP:
        sure = f", the cheapest today ({percent(facts['take_p_cheaper'])})" if rival else ""
        nothing = "Buy and sign nothing."
        return _short([f"{nothing} Rent {title}{sure}.", f"{nothing} Rent {title}.", nothing], DO_THIS)
    if advised == RENT:
        sure = f" ({percent(facts['take_p_cheaper'])})" if rival else ""
        today = f"Start with {title}, the cheapest today{sure}."
        if close:
            both = f"Start with {title} or {rival}: both cost about the same today."
            return _short([f"{both} Compare again every quarter.", both, today], DO_THIS)
        return _short([f"{today} Compare again every quarter.", today], DO_THIS)
    taken, factor = f"{_taken(advised)} {title}.", facts["work_factor"]
    paid = f"It pays up to {currency.words(facts['buy_below_usd'])}." if _near(facts) else ""
    work = f"It still pays with {100 * factor:.0f} % of the work." if pd.notna(factor) and 0 < factor < 1 else ""
    if pd.notna(facts["pays_from_days"]):
        paid, work = "", f"It pays from {facts['pays_from_days']:.2g} days of use a month."
    return _short([" ".join(filter(None, (taken, paid, work))), f"{taken} {work or paid}".strip(), taken], DO_THIS)


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
