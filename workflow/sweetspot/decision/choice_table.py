"""What one could do for each work of a study: all choices, with draws, by what they bind one to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot import decision_words as words
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import or_zero, possession
from sweetspot.decision.decision_problem import Parameter, ParameterValues
from sweetspot.decision.monthly_work import COMMITTED, UP_FRONT, MonthlyWork
from sweetspot.decision.options import NO_MODEL, OFFER, Row, records
from sweetspot.decision.phases_problem import PhasesProblem
from sweetspot.decision.simulate import Draws
from sweetspot.decision.sources import SAME as SAME_MIX
from sweetspot.decision.sources import mix_rows
from sweetspot.decision_words import BUY, CANNOT, CONTRACT, KEEP, LIMIT, MAY_STOP, MIX, NOT_ASKED, RENT, WHY_NOT
from sweetspot.draws import interval, p_cheaper, shares
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.search import BEST, Mix
from sweetspot.study.settings import Settings
from sweetspot.wording import DISPATCH, ROUNDS, SHARE, TIE, Money, confidence

MOSTLY = 0.5  # of the work done by what is there: keeping it is what the choice is called
NOTHING = "nothing"  # a choice that binds nobody: what is there, or rented by the hour or month
DOTS = 20  # quantiles of the money, equally likely outcomes
MOST_PRICED = 24  # machines of a kind whose price that pays is looked at
FIRM = 1.05  # from the low to the high of a price: a firm one in another currency has the range of its rate
SAME = 1e-6  # choices whose money differs by a smaller share in every draw are one alternative
COLUMNS = (
    "workload", "workload_title", "choice", "alternative", "kind", "commitment", "title", "instance", "purchase",
    "price_list", "counts", "months", "hours", "device_hours", "usd", "usd_low", "usd_high", "usd_outcomes",
    "usd_per_month", "usd_per_month_low", "usd_per_month_high", "usd_at_todays_prices", "p_cheapest", "p_cheaper",
    "is_best", "is_rival", "ratio", "ratio_low", "ratio_high", "in_hand", "why_not", "cost", "model", "persistent",
    "basis", "hours_low", "hours_high", "planned_hours", "usd_running", "ownership_usd", "mix",
    "source", "usd_per_month_central", "box_title", "main_rented", "why_not_rule", "sold",
    "all_rented_title", "used_at_most", "strategy", "timed", "trial_usd", "saving_usd",
)  # fmt: skip
OF_PHASES = ("title", "alternative", "hours", "hours_low", "hours_high", "planned_hours", "usd", "usd_running",
             "ownership_usd", "device_hours")  # fmt: skip
OF_A_ROW = ("alternative", "title", "instance", "purchase", "price_list", "persistent", "in_answer", "is_reference",
            "basis", "capex_usd", "capex_usd_low", "capex_usd_high")  # fmt: skip
RANK = (NOTHING, CONTRACT, BUY)  # from what commits to least


class Work(NamedTuple):
    """One work with its choices, cheapest first. `table`: COLUMNS up to `months`, hours, `usd` (of the whole work, at
    central figures), `stands` (may be the answer), `why_not`; of a machine bought `capex_usd`, `box_title` (null: none)
    and `usd_per_capex` (USD of the work by each USD of that price); `month_usd` of what a single workload pays by the
    month. `usd`: draws over the project, `today`: the same where rents stay as they are; `capex`: draws of a machine's
    price, infinite where none is bought. `busy`: days of use a month that a work which is no `plan` supposes of an
    owned machine; `cost`: share, rounds or dispatch; `model` that its hours are of; `limits`: what those of the team
    cost and until when offers stand, in sentences; `months_work`: of work that grows, that of each month drawn over the
    mean of all.
    """

    name: str
    title: str
    months: float
    table: pd.DataFrame
    usd: np.ndarray
    today: np.ndarray
    capex: np.ndarray
    busy: float = np.nan
    cost: str = SHARE
    model: str = ""
    limits: tuple[str, ...] = ()
    months_work: tuple[float, ...] = ()
    without_speed: tuple[tuple[str, str], ...] = ()

    @property
    def plan(self) -> bool:
        """Whether it is a plan, of phases or of months."""
        return self.cost != SHARE


def works(
    options: pd.DataFrame,
    draws: Draws,
    plans: Sequence[PhasesProblem],
    monthly: Sequence[MonthlyWork],
    settings: Settings,
    titles: Mapping[str, str] | None = None,
    every: pd.DataFrame | None = None,
    offers: pd.DataFrame | None = None,
) -> list[Work]:
    """The work of months (`monthly`), the plans of phases, then each workload of the options that is no part of these.
    `titles`: names of plans; `every`: the options, those that do not fit among them, and `offers`: all, of which some
    may have no speed for a work.
    """
    found = [_of_months(one, options, draws, settings.money) for one in monthly]
    found += [_of_phases(one, options, draws) for one in plans]
    found = [one._replace(title=(titles or {}).get(one.name, one.title)) for one in found]
    parts = tuple(f"{one.name}." for one in monthly)
    names = map(str, dict.fromkeys(options["workload"].dropna()))
    found += [_single(name, options, draws, settings) for name in names if not name.startswith(parts)]
    if every is None or offers is None or offers.empty:
        return found
    asked = offers[offers["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)]
    jobs = {one.name: one for one in monthly}
    return [one._replace(without_speed=_without_speed(one, jobs.get(one.name), every, asked, settings))
            for one in found]  # fmt: skip


def _without_speed(
    one: Work, posed: MonthlyWork | None, every: pd.DataFrame, offers: pd.DataFrame, settings: Settings
) -> tuple[tuple[str, str], ...]:
    """Machines that are offered and have no speed for a work, or for a class of its jobs: name for people, and what to
    take one would bind to.
    """
    models = {one.model} if posed is None else {str(each.job.model) for each in posed.classes if each.job.model}
    have, found = () if posed is None else posed.work.have, dict[tuple[str, str], None]()
    known = [set(map(tuple, every.loc[every["model"] == model, list(OFFER)].to_numpy())) for model in models]
    for offer in offers.drop_duplicates(list(OFFER)).to_dict("records"):
        key, name = tuple(offer[column] for column in OFFER), str(offer["instance"])
        if name not in have and NO_MODEL not in models and not all(key in keys for keys in known):
            commitment = BUY if offer["purchase"] == "own" else CONTRACT if offer["purchase"] in COMMITTED else NOTHING
            found[settings.titles.get(name, name), commitment] = None
    return tuple(found)


def choice_table(found: Sequence[Work], in_hand: Sequence[str]) -> pd.DataFrame:
    """One row a work and choice (COLUMNS), cheapest first.

    `kind`: keep, rent, contract, buy, mix; `commitment`: to nothing, a contract or a purchase. USD of the work over its
    project, with 90 % of the draws in `_low`, `_high`, DOTS equally likely `usd_outcomes` and `usd_at_todays_prices`
    (no rent moves); a month of it where the work has months. `p_cheapest`: share of the draws in which the choice's
    alternative costs least of all that may be the answer; `p_cheaper`: in which it costs less than the best; `ratio`:
    its USD / those of the best. `is_best`, `is_rival`: `standing_of`. `in_hand`: its price list, machine or key is
    among `offers_in_hand` (none named: all). `why_not`: why it is not the answer, in words; `why_not_rule`: as a key of
    WHY_NOT (null: it may be). Of a plan of phases `usd_running` by use, `ownership_usd` by the month, `planned_hours`
    of one machine, of months the kind of the `mix`, its `source`,
    `main_rented`: the offer that does most of what is rented (null: nothing is), `all_rented_title` its title where
    there is nothing else, how many machines are `sold`, and how each class is given a machine (`strategy_of`); there
    `p_cheapest` is of each choice with its strategy.
    """
    rows = [row for one in found for row in _told(one, set(in_hand)).to_dict("records")]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def standing_of(one: Work) -> tuple[int, int | None]:
    """Places of the choice that is recommended (one at least may be the answer) and of the runner-up: the cheapest,
    and the cheapest of what binds to something else, or where none does the cheapest other alternative. Where these two
    are too close to call, what commits to less is recommended; of a purchase at a firm price the cheaper all the same.
    """
    places = [place for place, stands in enumerate(one.table["stands"]) if stands]
    best, commitment = places[0], one.table["commitment"]
    bound = against(one, best, places, bound=True)
    if bound is None:
        return best, against(one, best, places)
    less = RANK.index(commitment.iloc[bound]) < RANK.index(commitment.iloc[best])
    tie = confidence(p_cheaper(one.usd[best], one.usd[bound])) == TIE
    return (bound, best) if tie and less and not has_firm_price(one, best) else (best, bound)


def has_firm_price(one: Work, place: int) -> bool:
    """Whether a choice is a purchase at a price that is stated without a range, but for the rate of a currency."""
    if one.table["commitment"].iloc[place] != BUY or "capex_usd_low" not in one.table.columns:
        return False
    price = float(one.table["capex_usd"].iloc[place])
    ends = (float(one.table[f"capex_usd_{end}"].iloc[place]) for end in ("low", "high"))
    low, high = (price if np.isnan(end) else end for end in ends)
    return bool(0 < high <= low * FIRM)


def against(one: Work, best: int, places: Sequence[int], bound: bool = False) -> int | None:
    """Of `places` in their order the first that is another alternative than `best`; `bound`: binds to something else.
    Equal in every draw is no other alternative.
    """
    keys = one.table["commitment" if bound else "alternative"].to_numpy(object)
    others = (place for place in places if keys[place] != keys[best])
    return next((n for n in others if not np.allclose(one.usd[n], one.usd[best], rtol=SAME, atol=0.0)), None)


def _told(one: Work, in_hand: set[str]) -> pd.DataFrame:
    """The choices of one work with how they stand to each other; what does not do the work has no figures."""
    table, usd = one.table, one.usd
    stands, known = table["stands"].to_numpy(bool), np.isfinite(table["usd"].to_numpy(float))
    best, rival = standing_of(one) if stands.any() else (None, None)
    places = np.arange(len(table))
    alternative = table["choice"] if one.cost == DISPATCH else table["alternative"].fillna(table["choice"])
    same = SAME_MIX if one.cost == DISPATCH else SAME  # no trial of a few dollars makes a strategy the dearer one
    first = shares(usd[stands], alternative[stands].tolist(), same) if stands.any() else {}
    named = [table[name].isin(list(in_hand)) for name in ("choice", "instance", "price_list")]
    made = table.assign(
        workload=one.name, workload_title=one.title, months=one.months, cost=one.cost, model=one.model or None,
        is_best=places == best, is_rival=places == rival, in_hand=np.any(named, axis=0) if in_hand else True,
    )  # fmt: skip
    figures = _with_ends("usd", table["usd"], usd)
    figures |= {name.replace("usd", "usd_per_month"): value / one.months for name, value in figures.items()}
    figures |= {"p_cheapest": alternative.map(first), "usd_at_todays_prices": table["usd_at_todays_prices"]}
    outcomes = np.quantile(usd, (np.arange(DOTS) + 0.5) / DOTS, axis=1, method="nearest").T.tolist()
    figures["usd_outcomes"] = pd.Series(outcomes, table.index, dtype=object)
    if best is not None:
        with np.errstate(invalid="ignore"):
            figures |= _with_ends("ratio", table["usd"] / table["usd"].iloc[best], usd / usd[best])
        chances = [p_cheaper(one, usd[best]) if place != best else None for place, one in enumerate(usd)]
        figures["p_cheaper"] = pd.Series(chances, table.index, dtype=object)
    told = {name: values.astype(object).where(known, None) for name, values in figures.items()}
    return made.assign(**told).reindex(columns=list(COLUMNS))


def _with_ends(name: str, value: pd.Series, drawn: np.ndarray) -> dict[str, pd.Series]:
    low, high = interval(drawn)
    return {name: value, f"{name}_low": pd.Series(low, value.index), f"{name}_high": pd.Series(high, value.index)}


class _Priced(NamedTuple):
    """One choice: the `row` of the options that it rests on (None: of no one), what the table says of it beside that,
    its draws, of its USD those paid for `having` a machine, and whether its rent may be told at `today`'s prices.
    """

    row: Row | None
    told: Row
    usd: np.ndarray
    having: float
    today: bool = True


def _work(
    name: str, title: str, months: float, priced: Sequence[_Priced], draws: Draws, cost: str = SHARE, model: str = "",
    busy: float = np.nan,
) -> Work:  # fmt: skip
    """A work of choices in any order: those that stay may be the answer, with the study's own; all where none stays."""
    table = pd.DataFrame([_facts(one) | one.told for one in priced])
    able = table["in_answer"].astype(bool) & np.isfinite(table["usd"].astype(float))
    kept = able & (table["persistent"].astype(bool) | table["is_reference"].astype(bool))
    table["stands"] = kept if kept.any() else able
    told = [_why_not(row) for row in table.to_dict("records")]
    table["why_not_rule"], table["why_not"] = [rule for rule, _ in told], [words for _, words in told]
    order = table.sort_values(["usd", "choice"], kind="stable").index.to_numpy()
    usd = np.stack([one.usd for one in priced])[order]
    today, price = (
        np.stack([np.broadcast_to(of(one, draws), draws.usd.shape[1:])[: usd.shape[1]] for one in priced])[order]
        for of in (_rents_stay, _price_of)
    )
    table = table.loc[order].reset_index(drop=True)
    rows = [one.row for one in priced if one.row is not None]
    said = tuple(_of_offers(rows, cost != DISPATCH))
    return Work(name, title, months, table, usd, usd * today, price, busy, cost, model, said)


def _of_offers(rows: Sequence[Row], at_once: bool) -> Iterator[str]:
    """What the offers say of their days, in sentences: until when they stand, and, of a work whose costs suppose that
    all is there `at_once`, what comes later.
    """
    mine = [row for row in rows if row["in_answer"]]
    late = {row["title"]: row["delivery_months"] for row in mine if or_zero(row.get("delivery_months")) > 0}
    if late and at_once:
        yield words.late_in_words(late)
    for ended in (True, False):
        days = {row["title"]: row["offer_until"] for row in mine
                if pd.notna(row.get("offer_until")) and bool(row["offer_ended"]) == ended}  # fmt: skip
        if days:
            yield words.until_in_words(days, ended)


def _why_not(row: Mapping[Any, Any]) -> tuple[str | None, str | None]:
    """Why a choice is not the answer: the rule (of WHY_NOT), and its words."""
    if row["stands"]:
        return None, None
    if row.get("why_not"):
        return row.get("why_not_rule") or CANNOT, str(row["why_not"])
    rule = NOT_ASKED if not row["in_answer"] else CANNOT if row["persistent"] else MAY_STOP
    return rule, WHY_NOT[rule]


def _kind_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Kind of one option, and what it binds to."""
    if row["purchase"] == "own":
        there = not or_zero(row["capex_usd"]) > 0
        return (KEEP, NOTHING) if there else (BUY, BUY)
    return (CONTRACT, CONTRACT) if row["purchase"] in COMMITTED else (RENT, NOTHING)


def _facts(one: _Priced) -> Row:
    """What the options say of a choice, and what follows from its price."""
    row = one.row
    if row is None:
        return dict.fromkeys(OF_A_ROW) | {"capex_usd": np.nan, "usd_per_capex": 0.0}
    kind, commitment = _kind_of(row)
    today = float(row["rent_factor"]) if one.today else 1.0  # of what is owned it is 1
    return {name: row[name] for name in OF_A_ROW} | {
        "choice": row["option"], "kind": kind, "commitment": commitment, "box_title": row["title"], "counts": 1.0,
        "usd_per_capex": _by_price(row, one.having), "usd_at_todays_prices": one.told["usd"] / today,
    }  # fmt: skip


def _rents_stay(one: _Priced, draws: Draws) -> np.ndarray | float:
    """What the USD of a choice are multiplied with where its rent stays as it is today."""
    if one.row is None or not one.today or draws.rents is None:
        return 1.0
    return 1.0 / (draws.rents.factor(one.row) * float(one.row["rent_factor"]))


def _price_of(one: _Priced, draws: Draws) -> np.ndarray | float:
    """Draws of the price of a machine for sale; infinite for what is not."""
    row = one.row
    if row is None or not or_zero(row["capex_usd"]) > 0 or row["purchase"] != "own":
        return np.inf
    drawn = (one.values for one in draws.figures if one.name == "capex_usd" and row["row"] in one.rows)
    return next(drawn, float(row["capex_usd"]))


def _by_price(row: Row, fixed_usd: float) -> float:
    """USD of a work by each USD of the machine's price, of `fixed_usd` that it pays for having it."""
    capex = or_zero(row["capex_usd"])
    if row["purchase"] != "own" or not capex > 0 or not row["fixed_usd_per_month"] > 0:
        return 0.0
    now = possession(row, lambda _: 1.0)
    dearer = possession(row, lambda name: 1.1 if name == "capex_usd" else 1.0)
    return float(fixed_usd / row["fixed_usd_per_month"] * np.asarray(dearer - now) / (0.1 * capex))


def _of_phases(plan: PhasesProblem, options: pd.DataFrame, draws: Draws) -> Work:
    known = {row["option"]: row for row in records(options[options["model"] == plan.phase_model])}
    priced = []
    for usd, told in zip(plan.samples_usd, plan.table.to_dict("records"), strict=True):
        said = {name: told.get(name) for name in OF_PHASES} | {"choice": told["option"], "counts": told["boxes"]}
        priced.append(_Priced(known[told["option"]], said, usd, told["ownership_usd"]))
    return _work(plan.workload, plan.workload, plan.months, priced, draws, ROUNDS, plan.phase_model)


def _of_months(posed: MonthlyWork, options: pd.DataFrame, draws: Draws, money: Money) -> Work:
    known = {row["option"]: row for row in records(options.drop_duplicates("option"))}
    months, priced, alike = float(posed.work.months), [], None
    for mix, told in mix_rows(posed):
        bought = list(mix.bought.items())
        box = known[bought[0][0]] if bought else None
        kind, commitment = _mixed(told, box, bool(posed.at_home))
        if box is None and told["main_rented"] and not told["sold"]:
            kind = alike = alike or kind  # as the cheapest of them: a faster device has fewer hours for the same work
        fixed = np.nan if box is None else float(box["fixed_usd_per_month"]) * bought[0][1] * months
        # Who has nothing and rents all on one offer mostly does what the way with that offer alone does.
        lead = told["main_rented"] if box is None and not any(posed.drawn.owned) else None
        said = told | {
            "alternative": lead or told["choice"], "kind": kind, "commitment": commitment, "persistent": True,
            "is_reference": False, "usd_at_todays_prices": told["usd"], "purchase": None, "basis": None,
        }  # fmt: skip
        said |= {"instance": told["main_rented"]} if box is None else {}
        broken = [words.breaks(*one, money) for one in posed.violations(mix)] if told["why_not"] is None else []
        said |= {"in_answer": not broken, "why_not_rule": LIMIT if broken else None}
        said |= {"why_not": "; ".join(broken)} if broken else {}
        said |= {"pays_below_usd": price_that_pays(posed, bought[0][0]) if commitment == BUY else np.nan}
        priced.append(_Priced(box, said, mix.done.usd * months, fixed, today=False))
    filled = posed.mixes[0].filled
    limits = [words.sooner_in_words(filled)] if filled < 1 else []
    limits += [words.price_of_limit(one.limit, one.allowed, less, money) for one, less in posed.limit_costs]
    days = _of_offers([one.offer for one in posed.sources if not one.there], at_once=False)
    work = _work(posed.name, posed.name, months, priced, draws, DISPATCH)
    if not posed.growth.any():
        return work._replace(limits=(*limits, *days))
    done = posed.mixes[0].at(posed.central)
    hours = np.sum([done.device_hours(name) for name in done.sources], axis=(0, 1))
    return work._replace(limits=(*limits, *days), months_work=tuple(hours / hours.mean()))


def price_that_pays(posed: MonthlyWork, name: str) -> float:
    """USD of one machine of a kind for sale at which the cheapest mix with it costs as much as the cheapest of what
    buys nothing; NaN without such a mix. With so many of them the price that pays is a straight line; the number of
    machines that is best at that price is the one of which it is the highest.
    """
    free = [one for one in posed.mixes if not any(posed.source(each).offer["purchase"] == "own" for each in one.bought)]
    rival = min((one.expected for one in free if not posed.violations(one)), default=np.inf)
    place = next(place for place, kind in enumerate(posed.drawn.held) if kind.name == name)
    price = float(posed.source(name).offer["capex_usd"])
    share = _month_by_price(posed, name, place) * price
    if not np.isfinite(rival) or not share > 0:
        return np.nan
    allowed, found = posed.limits.get(UP_FRONT, np.inf), list[float]()
    for base in {posed.drawn.owned, posed.mixes[0].counts}:
        of_base = list[float]()
        for number in range(1, MOST_PRICED + 1):
            counts = (*base[:place], posed.drawn.owned[place] + number, *base[place + 1 :])
            mix = posed.with_strategy(Mix(BEST, "", dispatch(posed.drawn, counts)))
            if any(each.limit != UP_FRONT for each in posed.violations(mix)):
                continue
            below = price * (1 + (rival - mix.expected) / (number * share))
            if of_base and below < of_base[-1]:
                break
            of_base.append(below)
            found.append(min(below, allowed / number))
    return max(found, default=np.nan)


def _month_by_price(posed: MonthlyWork, name: str, place: int) -> float:
    """USD a month of a machine by each USD of its price, the mean of the draws."""
    labels = posed.source(name).labels
    price = Parameter("capex_usd", name, name, "USD", 1.0, 1.0, 1.0, "declared", "capex_usd", labels)
    now, twice = (one.held[place].fixed.mean() for one in (posed.drawn, posed.moved(ParameterValues(1, {price: 2.0}))))
    return float(twice - now) / float(posed.source(name).offer["capex_usd"])


def _mixed(told: Row, box: Row | None, at_home: bool) -> tuple[str, str]:
    """Kind of a mix, and what it binds to: to a purchase or contract where machines are held for it."""
    if box is None:
        nothing_rented = at_home and told["main_rented"] is None
        return (
            KEEP if nothing_rented or told["there_device_hours"] >= MOSTLY * told["device_hours"] else RENT
        ), NOTHING
    kind, commitment = _kind_of(box)
    return (MIX if told["main_rented"] is not None and commitment == BUY else kind), commitment


def _single(name: str, options: pd.DataFrame, draws: Draws, settings: Settings) -> Work:
    found, priced = records(options[options["workload"] == name]), []
    for row in found:
        months = float(row["hours"]) / (HOURS_A_DAY * row["days_per_month"])  # of an owned machine
        said = {"device_hours": row["hours"] * (row["gpus"] if pd.notna(row["gpus"]) else 1)}
        said |= {each: row[each] for each in ("usd", "hours", "month_usd")}
        priced.append(_Priced(row, said, draws.usd[row["row"]], months * or_zero(row["fixed_usd_per_month"])))
    busy = next((float(row["days_per_month"]) for row in found if _kind_of(row)[0] == BUY), np.nan)
    months = 1.0 if settings.counts == "month" else np.nan
    title, model = str(found[0].get("workload_title") or name), str(found[0]["model"])
    title = title if title != name or model == NO_MODEL else str(found[0]["model_title"])
    return _work(name, title, months, priced, draws, SHARE, model, busy)
