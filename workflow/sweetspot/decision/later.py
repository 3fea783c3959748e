"""Buying later: rent for some months, then buy; every machine and month beside buying at once and never."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.rates import month_of, or_zero, sold_for
from sweetspot.bills.rent_ahead import Rents, moves_ahead, rent_share
from sweetspot.bills.renting import ROUNDING
from sweetspot.bills.resale import MONTHS_A_YEAR
from sweetspot.decision.cost_rounds import PricedPlan, drawn_costs
from sweetspot.decision.dispatch_problem import Posed, with_terms
from sweetspot.decision.dispatch_tables import bought_in_words
from sweetspot.decision.options import Row, records
from sweetspot.decision.simulate import Draws
from sweetspot.draws import LEVEL_RANGE, interval, shares, spread, stream
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Rented
from sweetspot.mixes.search import Mix
from sweetspot.study.yamlfile import load_yaml
from sweetspot.wording import confidence

TABLE = (
    "workload", "after_months", "option", "title", "box", "box_title", "machines", "until", "until_title", "months",
    "box_usd", "box_usd_low", "box_usd_high", "rent_usd", "usd", "usd_low", "usd_high", "saved_usd", "saved_usd_low",
    "saved_usd_high", "p_saves", "p_cheapest", "confidence", "status",
)  # fmt: skip
Cases = np.ndarray  # at central figures, then in every draw
NAMED = ("box", "box_title", "until", "until_title")  # null in the rows of a way that has none
Among = dict[str, tuple[pd.DataFrame, np.ndarray]]


class Dates(NamedTuple):
    """A workload by its name: its `months`, and `after` how many of them machines may be bought."""

    name: str
    months: float
    after: tuple[float, ...]


class Machines(NamedTuple):
    """What may be bought: its key and name, rows of the options with how many of each."""

    option: str
    title: str
    rows: Sequence[tuple[Row, float]]


class Spent(NamedTuple):
    """The work of some months: USD, hours; what the table says of what is `rented` for it: who does most, USD."""

    usd: Cases
    hours: float
    rented: dict[str, Any]


class Deferral(NamedTuple):
    """A workload that asks. `cost`: of the months between two, on machines but for their price, or on none of them
    (None: nobody does the work). `mixed`: central figures are means of the draws, and nothing bought is `never`.
    """

    dates: Dates
    machines: Sequence[Machines]
    cost: Callable[[Machines | None, float, float], Spent | None]
    mixed: bool = False


class Way(NamedTuple):
    """One way through the months: what the table says of it, USD in all and of the machines on their day."""

    told: dict[str, Any]
    usd: Cases = np.full(1, np.nan)
    price: Cases = np.full(2, np.nan)


def load_plans(path: str | Path) -> dict[str, Dates]:
    """The plans of phases that ask; only these keys are read: `price_workloads` has checked the file."""
    works = load_yaml(Path(path)) if Path(path).is_file() else {}
    return {
        name: Dates(name, float(work["months"]), tuple(map(float, work["buy_after_months"])))
        for name, work in works.items()
        if work["kind"] == "plan" and work.get("buy_after_months")
    }


def buying_later(asked: Iterable[Deferral], draws: Draws, seed: int) -> tuple[pd.DataFrame, Among]:
    """The ways to buy later of every workload that asks (docs/decision.md), and what competes with a plan's options.

    In the table `box_usd`: price of the machines on their day; `rent_usd`: of what is rented until then; `usd` in all,
    with 90 % of the draws; `saved_usd`: less than the same machines bought at once, `p_saves` that it is less,
    `confidence` of that order; `p_cheapest` of the workload's rows here; `status`: ok, or why they are not reckoned.
    """
    ways = {one.dates: list(ways_of(one, draws, seed)) for one in asked}
    rows = [row for dates, found in ways.items() for row in _rows(dates, found)]
    among = {dates.name: _among(found) for dates, found in ways.items()}
    return pd.DataFrame(rows, columns=list(TABLE)), {name: one for name, one in among.items() if len(one[0])}


def ways_of(asked: Deferral, draws: Draws, seed: int) -> Iterator[Way]:
    """Each machine at once and later, those cheapest at once first; then never buying."""
    ways = [[_bought(asked, box, one, draws, seed) for one in (0.0, *asked.dates.after)] for box in asked.machines]
    found = [[way for way in one if way is not None] for one in ways]
    for known in sorted(found, key=lambda ways: (np.nan_to_num(ways[0].usd[0], nan=np.inf), ways[0].told["option"])):
        yield from known
    never = asked.cost(None, 0.0, asked.dates.months)
    if never is not None and not np.isinf(never.usd).any():
        told = {"after_months": asked.dates.months, "title": never.rented["until_title"]} | never.rented
        yield Way(told | {"option": "never" if asked.mixed else told["until"]}, never.usd)


def _bought(asked: Deferral, box: Machines, after: float, draws: Draws, seed: int) -> Way | None:
    """Machines bought after so many months; None where nobody does the work until then."""
    dates, (option, title, rows) = asked.dates, box
    told = {"after_months": after, "option": option, "title": title, "box": option, "box_title": title}
    told |= {"machines": sum(count for _, count in rows), "instance": rows[0][0]["instance"]}
    if reason := why_not(box, dates.months):
        return None if after else Way(told | {"status": reason})
    until = asked.cost(None, 0.0, after) if after else Spent(np.zeros(1), 0.0, {"rent_usd": 0.0})
    since = asked.cost(box, after, dates.months)
    if until is None or since is None:
        return None
    usd, price = until.usd + since.usd, np.zeros(len(since.usd))
    for row, count in rows:
        paid, kept = (count * part[: len(usd)] for part in _held(dates, row, after, draws, seed))
        price, usd = price + paid, usd + kept
    if asked.mixed:
        price[0], usd[0] = price[1:].mean(), usd[1:].mean()
    told |= {"hours": until.hours + since.hours} | until.rented
    if after:
        told["option"] = f"{option} after {after:g} months"
        told["title"] = f"{title} in {after:g} months, {told['until_title']} until then"
    if np.isinf(usd).any():
        told |= {"status": "what is there and rented does not do the work until then", "rent_usd": None}
    return Way(told, usd, price)


def why_not(box: Machines, months: float) -> str:
    """Why machines cannot be bought later; '' where they can."""
    for row, _ in box.rows:
        if row["purchase"] != "own":
            return "the mix has contracts, which are signed for the whole project"
        if float(row["months"]) != months:
            return f"is used for {row['months']:g} months, the work lasts {months:g}"
    return ""


def _held(dates: Dates, row: Row, after: float, draws: Draws, seed: int) -> tuple[Cases, Cases]:
    """Price of one machine bought after some months, and USD of having it from then to the end.

    On the last day it is worth what one bought at once would be: it is as old. Never more than was paid for it.
    """
    known, count = {one.name: one.values for one in draws.figures if row["row"] in one.rows}, draws.usd.shape[1]
    capex, residual = (np.append(row[n], known.get(n, np.full(count, row[n]))) for n in ("capex_usd", "residual_usd"))
    change, low, high = (1.0 + or_zero(row.get(f"capex_change{end}")) for end in ("", "_low", "_high"))
    # One market of machines: what makes one dearer in a year makes the others so.
    noise = np.append(0.0, stream(seed, "price of machines").standard_normal(count))
    price = capex * spread(change, low, high, LEVEL_RANGE, noise) ** (after / MONTHS_A_YEAR)
    left, sold = dates.months - after, np.minimum(sold_for(row, capex, residual, dates.months), price)
    return price, np.asarray(month_of(row, price, left, sold) * left)


def of_phases(
    plans: Sequence[PricedPlan], dates: Mapping[str, Dates], options: pd.DataFrame, draws: Draws, offers: pd.DataFrame
) -> Iterator[Deferral]:
    """The plans of phases that ask; `options`, `draws`: of the comparison; `offers`: all offers."""
    for plan in (one for name in dates for one in plans if one.name == name):
        table = plan.table[plan.table["persistent"].astype(bool)]
        told = with_terms(options, offers)
        told = told[told["in_answer"].astype(bool) & told["model"].eq(plan.model)].drop_duplicates("option")
        by_key = {row["option"]: row for row in records(told)}
        running, held = (table[name].to_numpy(float) for name in ("usd_running", "usd_possession"))
        drawn = drawn_costs(options.loc[[by_key[name]["row"] for name in table["option"]]], running, held, draws)
        by_case = {"usd_running": [*np.column_stack([running, drawn[0]])]}
        by_case |= {"usd_possession": [*np.column_stack([held, drawn[1]])]}
        rows = [by_key[row["option"]] | row for row in table.assign(**by_case).to_dict("records")]
        yield of_plan(dates[plan.name], rows, draws.rents)


def of_plan(dates: Dates, rows: Sequence[Row], rents: Rents | None) -> Deferral:
    """Of the options of a plan, their USD by case: each owned machine, until then what is cheapest to rent so long."""
    months, others = dates.months, [row for row in rows if row["purchase"] != "own"]

    def cost(box: Machines | None, start: float, end: float) -> Spent | None:
        share = (end - start) / months
        if box is not None:
            row = box.rows[0][0]
            return Spent(row["usd_running"] * share, row["hours"] * share, {})
        usd = [float(_rent(row, end, months, None)[0]) for row in others]
        if not usd or not np.isfinite(min(usd)):
            return None
        one = others[usd.index(min(usd))]
        rented = {"until": one["option"], "until_title": one["title"], "rent_usd": min(usd)}
        return Spent(_rent(one, end, months, rents), one["hours"] * share, rented)

    owned = [row for row in rows if row["purchase"] == "own"]
    return Deferral(dates, [Machines(row["option"], row["title"], [(row, row["boxes"])]) for row in owned], cost)


def _rent(row: Row, after: float, months: float, rents: Rents | None) -> Cases:
    """USD of renting for the first months, by use and by contract: that is signed for whole terms or not (infinite)."""
    running, held, term = row["usd_running"], row["usd_possession"], row["term_months"]
    if after == months:
        return np.asarray(running + held)
    if pd.isna(term):
        return np.asarray(running * rent_share(row, after, months, rents))
    whole = abs(after / term - round(after / term)) < ROUNDING
    terms = np.ceil(months / term - ROUNDING) * term
    return np.asarray(running * after / months + (held * after / terms if whole else np.inf))


def of_months(works: Sequence[Posed], draws: Draws) -> Iterator[Deferral]:
    """The workloads of months that ask: the machines of the best mix, until then what is there and rented. The mix is
    that of buying at once: fewer months would not pay for more machines. Nothing where it buys none.
    """
    for posed in works:
        best, after = posed.mixes[0], tuple(posed.work.buy_after_months)
        if after and best.bought and np.isfinite(best.expected):
            yield _of_mix(posed, best, Dates(posed.name, posed.work.months, after), draws)


def _of_mix(posed: Posed, best: Mix, dates: Dates, draws: Draws) -> Deferral:
    # What is bought is paid for by its price (`_held`), not by the month.
    held = tuple(replace(one, fixed=one.fixed * (one.name not in best.bought)) for one in best.problem.held)
    problem, months = replace(best.problem, held=held), dates.months
    rows = [(posed.source(name).offer, count) for name, count in best.bought.items()]
    alone = len(rows) == 1 and rows[0][1] == 1
    bought = Machines("best", str(rows[0][0]["title"]) if alone else bought_in_words(best, posed), rows)

    def rent(offer: Rented, start: float, end: float) -> Rented:
        row = posed.source(offer.name).offer
        if not moves_ahead(row):
            return offer
        before, due = (rent_share(row, month, months, draws.rents)[1:] for month in (start, end))
        return replace(offer, usd=offer.usd * ((due - before) * months / (end - start))[: offer.usd.shape[1]])

    def cost(box: Machines | None, start: float, end: float) -> Spent | None:
        if why_not(bought, months):
            return None
        then = replace(problem, rented=tuple(rent(offer, start, end) for offer in problem.rented))
        done = dispatch(then, problem.there if box is None else best.counts)
        paid = {name: done.usd_by_use(name) for name, one in done.sources.items() if isinstance(one, Rented)}
        main = max((name for name in paid if paid[name] > 0), key=lambda name: paid[name], default=None)
        title = "what is there" if main is None else posed.title(main)
        told = {"until": main, "until_title": title, "rent_usd": sum(paid.values()) * (end - start)}
        return Spent(np.append(done.usd.mean(), done.usd) * (end - start), np.nan, told)

    return Deferral(dates, [bought], cost, mixed=True)


def _rows(dates: Dates, ways: Sequence[Way]) -> list[dict[str, Any]]:
    known = [way for way in ways if "status" not in way.told]
    first = shares(np.stack([way.usd[1:] for way in known]), range(len(known))) if known else {}
    at_once = {way.told["box"]: way.usd for way in known if way.told["after_months"] == 0}
    for place, way in enumerate(known):
        told = way.told | {"p_cheapest": first[place]} | _figure("usd", way.usd) | _figure("box_usd", way.price)
        if "box" in told and told["after_months"] > 0:
            saved = at_once[told["box"]] - way.usd
            saves = float(np.mean(saved[1:] > 0))
            told |= _figure("saved_usd", saved) | {"p_saves": saves, "confidence": confidence(max(saves, 1 - saves))}
        way.told.update(told)
    facts = dict.fromkeys(NAMED) | {"workload": dates.name, "months": dates.months, "status": "ok"}
    return [facts | way.told for way in ways]


def _figure(name: str, usd: Cases) -> dict[str, float]:
    low, high = interval(usd[1:])
    return {name: float(usd[0]), f"{name}_low": float(low), f"{name}_high": float(high)}


def _among(ways: Sequence[Way]) -> tuple[pd.DataFrame, np.ndarray]:
    """What buying later adds to the options of a plan, with its draws."""
    kept = [way for way in ways if "status" not in way.told and way.told["after_months"] and "box" in way.told]
    facts = {"persistent": True, "planned_hours": np.nan, "boxes": 1.0, "purchase": "own"}
    names = ["option", "box", "instance", "title", "after_months", "machines", "hours", "usd", *facts]
    return pd.DataFrame([way.told | facts for way in kept], columns=names), np.array([way.usd[1:] for way in kept])
