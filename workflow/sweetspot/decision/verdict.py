"""The verdict, made once: commit or not, then which machine and seller; all that speaks of the answer says this."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.choice_kinds import BUY, COMMIT, MACHINE, NOT_DECIDED
from sweetspot.decision.choice_table import NOTHING, Work, against, has_firm_price, standing_of
from sweetspot.decision.texts import VERBS, do_this, not_decided, of_several, sentence, thresholds
from sweetspot.draws import interval, p_cheaper
from sweetspot.errors import UserError
from sweetspot.wording import WORDS, Words, confidence

COLUMNS = (
    "workload", "workload_title", "is_answer", "level", "verb", "sentence", "do_this", "confidence", "kind",
    "best", "best_title", "rival", "rival_title", "rival_kind", "usd", "rival_usd", "usd_per_month", "months", "ratio",
    "ratio_low", "ratio_high", "p_cheaper", "take", "take_title", "take_rival", "take_rival_title", "take_ratio",
    "take_ratio_low", "take_ratio_high", "take_p_cheaper", "box", "box_title", "box_usd", "box_usd_low", "box_usd_high",
    "firm_price", "buy_below_usd",
    "box_prices_usd", "p_at_box_prices", "work_factor", "from_jobs", "by_hour_title",
    "busy_days_per_month", "thresholds", "find_out_first", "strategy", "timed", "trial_usd", "saving_usd",
)  # fmt: skip
QUOTES = (0.75, 0.875, 1.0, 1.2)  # of the price of a machine: what the answer would be at an offer of so much
ROUND = 500.0  # USD of such an offer


class Pair(NamedTuple):
    """Two choices of a work: USD of the other (None: there is none) / USD of the one with 90 %, share of draws in which
    the one is cheaper.
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
            f"{name}{end}": _at(table, place, column)
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
    """One row a work that has a choice (COLUMNS), that of the `answer` first; `worth`: what to find out first, by work.
    `level`: commit (some choices bind: to a purchase or a contract) or machine (none does). `best` and `rival` are
    those of the choices (`standing_of`), `ratio` USD of the rival / USD of the best. `take`: what to begin with, of
    what binds as the best does; `take_rival` the next of these, held against it at today's prices where it binds
    nobody. `buy_below_usd`: price of one machine `box` (`box_usd`, with its range where it is no `firm_price`) at which
    buying costs as much as the cheapest that binds less; `p_at_box_prices`: share of the draws in which buying is
    cheaper at an offer of `box_prices_usd`.
    `strategy`, `timed`, `trial_usd`, `saving_usd`: those of `take`, of months. `work_factor`: how many times the work
    from which buying pays (`break_even`); `from_jobs`: jobs a month from which what is paid by the month pays.
    `sentence` has at most 15 words (of a toss-up 20), `do_this` 20. Where all choices bind alike and machines that
    would not have no speed, it is not decided: `confidence` NOT_DECIDED.
    """
    told = [_verdict_of(one, break_even, worth.get(one.name, ""), words) for one in works if one.table["stands"].any()]
    for row in told:
        if row["workload"] == answer and row["level"] == MACHINE and len(told) > 1:
            row["thresholds"] = [*row["thresholds"], of_several(row, told)]
    rows = [row | {"is_answer": row["workload"] == answer} for row in told]
    return pd.DataFrame(sorted(rows, key=lambda row: not row["is_answer"]), columns=list(COLUMNS))


def answer_work(works: Sequence[Work], asked: str | None, model: str | None) -> str | None:
    """The work that the study is about: what it asks for, else its plan, else the first workload of `model`. Raises
    UserError where nothing is priced for what it asks.
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


def _verdict_of(one: Work, break_even: pd.DataFrame, worth: str, words: Words) -> dict[str, Any]:
    best, rival = standing_of(one)
    table, commitment = one.table, one.table["commitment"]
    bound = rival if rival is not None and commitment.iloc[best] != commitment.iloc[rival] else None
    first = _pair(one, best, bound)
    second = _machines(one, str(commitment.iloc[best]))
    if bound is None:
        first, best = second, second.one
    facts = {
        "workload": one.name, "workload_title": one.title, "level": MACHINE if bound is None else COMMIT,
        "confidence": first.sure, "kind": table["kind"].iloc[best], "months": one.months,
        "busy_days_per_month": one.busy, "find_out_first": "" if first.sure == "clear" else worth,
        "usd": float(table["usd"].iloc[best]), "usd_per_month": float(table["usd"].iloc[best]) / one.months,
        "rival_usd": _at(table, first.other, "usd", np.nan), "rival_kind": _at(table, first.other, "kind"),
        # What a choice rents most where it holds nothing: its own title is of all that it takes.
        "take_lead": _at(table, second.one, "all_rented_title"),
        "take_rival_lead": _at(table, second.other, "all_rented_title"),
        **first.told(table, "best", "rival"), **second.told(table, "take", "take_rival", "take_"),
        **_strategy_of(table, second.one),
        **_price_of_the_box(one, bound), **_by_the_month(one, second.one), **_by_work(one, break_even),
    }  # fmt: skip
    facts["pays_from_days"] = _pays_from_days(one, facts, break_even)
    kind = str(table["kind"].iloc[second.one])
    facts |= {
        "verb": VERBS[kind],
        "sentence": sentence(facts, kind, words.money),
        "do_this": do_this(facts, kind, words),
    }
    lacking = [title for title, kind in one.without_speed if kind != commitment.iloc[best]]
    if bound is None and lacking:
        facts["verb"], facts["confidence"] = NOT_DECIDED.capitalize(), NOT_DECIDED
        facts["sentence"], facts["do_this"] = not_decided(lacking, str(facts["take_title"]))
    facts["work_month"] = _month_of(one, facts["work_factor"])
    return facts | {"thresholds": [*thresholds(facts, words.money), *one.limits]}


def _strategy_of(table: pd.DataFrame, place: int) -> dict[str, Any]:
    """How the choice to begin with gives each class of jobs a machine (`sources.strategy_of`); null for other works."""
    timed = table["timed"].iloc[place] if "timed" in table.columns else []
    found = {name: _at(table, place, name, np.nan) for name in ("trial_usd", "saving_usd")}
    return found | {"strategy": _at(table, place, "strategy"), "timed": timed if isinstance(timed, list) else []}


def _at(table: pd.DataFrame, place: int | None, column: str, none: Any = None) -> Any:
    """What a table of choices says of one; `none` where there is no such choice, or nothing is said of it."""
    found = none if place is None or column not in table.columns else table[column].iloc[place]
    return none if pd.isna(found) else found


def _pair(one: Work, best: int, rival: int | None, today: bool = False) -> Pair:
    """A choice held against another, over the project or at today's prices."""
    if rival is None:
        return Pair(best, None)
    usd, name = (one.today, "usd_at_todays_prices") if today else (one.usd, "usd")
    with np.errstate(invalid="ignore", divide="ignore"):  # what is there and free costs nothing
        low, high = (float(end) for end in interval(usd[rival] / usd[best]))
        ratio = float(one.table[name].iloc[rival] / one.table[name].iloc[best])
    return Pair(best, rival, ratio, low, high, p_cheaper(usd[best], usd[rival]))


def _machines(one: Work, commitment: str) -> Pair:
    """Level (b): the cheapest machine and seller of what binds alike, at today's prices where nothing binds."""
    today = commitment == NOTHING
    mine = one.table[one.table["stands"] & (one.table["commitment"] == commitment)]
    places = mine.sort_values(["usd_at_todays_prices" if today else "usd", "choice"], kind="stable").index.tolist()
    return _pair(one, places[0], against(one, places[0], places[1:]), today)


def _price_of_the_box(one: Work, rival: int | None) -> dict[str, Any]:
    """What an offer for the cheapest machine for sale has to be, against the cheapest that binds less."""
    table, stands = one.table, one.table["stands"].to_numpy(bool)
    sale = np.flatnonzero(stands & (table["commitment"] == BUY) & (table["usd_per_capex"] > 0))
    free = np.flatnonzero(stands & (table["commitment"] != BUY))
    if rival is None or not len(sale):  # else there is what binds less: one of the two is no purchase
        none = dict.fromkeys(("buy_below_usd", "box_usd", "box_usd_low", "box_usd_high"), np.nan)
        return none | {"box": None, "firm_price": False, "box_prices_usd": [], "p_at_box_prices": []}
    box, other = int(sale[0]), int(free[0])
    price, slope = float(table["capex_usd"].iloc[box]), float(table["usd_per_capex"].iloc[box])
    below = _at(table, box, "pays_below_usd", np.nan)
    if pd.isna(below):  # with one machine more or less the work is another: its price alone moves
        below = price + (table["usd"].iloc[other] - table["usd"].iloc[box]) / slope
    quotes = [round(price * by / ROUND) * ROUND if price > 4 * ROUND else price * by for by in QUOTES]
    at = [one.usd[box] + slope * (quote - one.capex[box]) for quote in quotes]
    return {
        "box": table["choice"].iloc[box], "box_title": table["box_title"].iloc[box], "box_usd": price,
        "box_usd_low": _at(table, box, "capex_usd_low", price), "firm_price": has_firm_price(one, box),
        "box_usd_high": _at(table, box, "capex_usd_high", price),
        "buy_below_usd": float(below) if below > 0 else np.nan, "box_prices_usd": [float(quote) for quote in quotes],
        "p_at_box_prices": [p_cheaper(usd, one.usd[other]) for usd in at],
    }  # fmt: skip


def _by_the_month(one: Work, place: int) -> dict[str, Any]:
    """From how many jobs a month a machine pays that costs so much a month, used or not, and who serves fewer."""
    month, none = _at(one.table, place, "month_usd", np.nan), {"from_jobs": np.nan, "by_hour_title": None}
    if np.isnan(month) or one.months == 1.0:
        return none
    others = one.table[one.table["stands"] & one.table["month_usd"].isna()].to_dict("records")
    return {"from_jobs": float(month / others[0]["usd"]), "by_hour_title": others[0]["title"]} if others else none


def _by_work(one: Work, break_even: pd.DataFrame) -> dict[str, Any]:
    """The least factor of the work from which a purchase pays, up to which factor, and which; NaN where none is."""
    mine = break_even
    if len(mine):
        mine = mine[(mine["workload"] == one.name) & mine["quantity"].isin(["jobs", "device_hours"])]
    if mine.empty:
        return {"work_factor": np.nan, "work_until": np.nan, "pays_title": None}
    least = mine.sort_values("factor", kind="stable").iloc[0]
    until = least["pays_until"] / least["planned"]
    return {"work_factor": float(least["factor"]), "work_until": until, "pays_title": least["title"]}


def _month_of(one: Work, factor: float) -> float:
    """The first month with so many times the mean work of a month; NaN where the work does not grow to it."""
    found = np.flatnonzero(np.asarray(one.months_work) >= factor)
    return float(found[0] * one.months / len(one.months_work) + 1) if len(found) else np.nan


def _pays_from_days(one: Work, facts: Mapping[str, Any], break_even: pd.DataFrame) -> float:
    """Of a work without a plan: the days of use a month from which the purchase pays against the rival; NaN: none."""
    pair, bought = {facts["best"], facts["rival"]}, BUY in (facts["kind"], facts["rival_kind"])
    if facts["level"] != COMMIT or not bought or break_even.empty or pd.isna(facts["busy_days_per_month"]):
        return np.nan
    both = break_even.reindex(columns=["reference", "option"]).isin(pair).all(axis=1)
    mine = break_even[(break_even["workload"] == one.model) & both]
    return float(mine["break_even_value"].iloc[0]) if len(mine) else np.nan
