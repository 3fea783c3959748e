"""Buying later: rent for some months, then buy; every machine and month beside buying at once and never."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.renting import ROUNDING
from sweetspot.decision.counted import TIE, begun, chance, confidence, money, the
from sweetspot.decision.mix_problem import Posed
from sweetspot.decision.mix_tables import Worked, source_usd
from sweetspot.decision.mix_words import Words, purchase_in_words
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.phases import PricedPlan, drawn_costs
from sweetspot.decision.rates import month_of, or_zero, sold_for
from sweetspot.decision.rent_ahead import Rents, moves_ahead, rent_share
from sweetspot.decision.simulate import LEVEL_RANGE, Draws, interval, spread, stream
from sweetspot.decision.standing import shares
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.search import Mix
from sweetspot.study.yamlfile import load_yaml

TABLE = (
    "workload", "after_months", "option", "title", "box", "box_title", "machines", "until", "until_title", "months",
    "box_usd", "box_usd_low", "box_usd_high", "rent_usd", "usd", "usd_low", "usd_high", "saved_usd", "saved_usd_low",
    "saved_usd_high", "p_saves", "p_cheapest", "confidence", "status",
)  # fmt: skip
YEAR = 12.0
Cases = np.ndarray  # at central figures, then in every draw
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
    """The work of some months: USD, hours; of what is rented for it who does most (key, name), and USD."""

    usd: Cases
    hours: float = np.nan
    option: str | None = None
    title: str | None = None
    rent: float = 0.0


class Deferral(NamedTuple):
    """A workload that asks. `cost`: of the months between two, on machines but for their price, or on none of them
    (None: nobody does the work). `mixed`: central figures are means of the draws, and nothing bought is `never`.
    """

    dates: Dates
    machines: Sequence[Machines]
    cost: Callable[[Machines | None, float, float], Spent | None]
    mixed: bool = False


class Way(NamedTuple):
    """One way through the months: what the table says of it beside money; hours, USD in all and of the machines."""

    told: dict[str, Any]
    hours: float = np.nan
    usd: Cases = np.full(1, np.nan)
    price: Cases = np.full(1, np.nan)


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

    In the table (TABLE) `box_usd`: price of the machines on the day of purchase; `rent_usd`: what is rented until then
    costs; `usd`: the whole project, with 90 % of the draws; `saved_usd`: less than buying the same machines at once;
    `p_saves` that it is less, `confidence` how sure the order of the two is; `p_cheapest` of the workload's rows here;
    `status`: ok, or why machines are not reckoned.
    """
    ways = {one.dates.name: list(ways_of(one, draws, seed)) for one in asked}
    rows = [row for found in ways.values() for row in _rows(found)]
    return pd.DataFrame(rows, columns=list(TABLE)), {
        name: made for name, found in ways.items() if len((made := _among(found))[0])
    }


def ways_of(asked: Deferral, draws: Draws, seed: int) -> Iterator[Way]:
    """Each machine at once and later, those cheapest at once first; then never buying."""
    name, months, after = asked.dates
    told, found = {"workload": name, "months": months, "status": "ok"}, []
    for box in asked.machines:
        ways = (_bought(asked, told, box, month, draws, seed) for month in (0.0, *after))
        found.append([way for way in ways if way is not None])
    for ways in sorted(found, key=lambda ways: (np.nan_to_num(ways[0].usd[0], nan=np.inf), ways[0].told["option"])):
        yield from ways
    never = asked.cost(None, 0.0, months)
    if never is not None and not np.isinf(never.usd).any():
        told |= {"after_months": months, "option": "never" if asked.mixed else never.option, "title": never.title}
        yield Way(told | _until(never), never.hours, _known(asked, never.usd))


def _bought(asked: Deferral, told: Row, box: Machines, after: float, draws: Draws, seed: int) -> Way | None:
    """Machines bought after so many months; None where nobody does the work until then."""
    dates, option, title = asked.dates, box.option, box.title
    told = told | {"after_months": after, "box": option, "box_title": title, "machines": sum(n for _, n in box.rows)}
    reason, until = why_not(box, dates.months), asked.cost(None, 0.0, after) if after else Spent(np.zeros(1), 0.0)
    if reason or until is None:
        return None if after else Way(told | {"option": option, "title": title, "status": reason})
    since = asked.cost(box, after, dates.months)
    assert since is not None
    usd, price = until.usd + since.usd, np.zeros(1)
    for row, count in box.rows:
        paid, kept = (count * part[: len(usd)] for part in _held(dates, row, after, draws, seed))
        price, usd = price + paid, usd + kept
    if after:
        option, title = f"{option} after {after:g} months", f"{title} in {after:g} months, {until.title} until then"
    if np.isinf(usd).any():
        told |= {"status": "what is there and rented does not do the work until then"}
    told |= {"option": option, "title": title, "instance": box.rows[0][0]["instance"]} | _until(until)
    return Way(told, until.hours + since.hours, _known(asked, usd), _known(asked, price))


def why_not(box: Machines, months: float) -> str:
    """Why machines cannot be bought later; '' where they can."""
    for row, _ in box.rows:
        if row["purchase"] != "own":
            return "the mix has contracts, which are signed for the whole project"
        if float(row["months"]) != months:
            return f"is used for {row['months']:g} months, the work lasts {months:g}"
    return ""


def _until(spent: Spent) -> dict[str, Any]:
    return {"until": spent.option, "until_title": spent.title, "rent_usd": spent.rent}


def _known(asked: Deferral, usd: Cases) -> Cases:
    return np.append(usd[1:].mean(), usd[1:]) if asked.mixed else usd


def _held(dates: Dates, row: Row, after: float, draws: Draws, seed: int) -> tuple[Cases, Cases]:
    """Price of one machine bought after some months, and USD of having it from then to the end.

    On the last day it is worth what one bought at once would be: it is as old. Never more than was paid for it.
    """
    count, figures = draws.usd.shape[1], []
    for name in ("capex_usd", "residual_usd"):
        drawn = (one.values for one in draws.figures if one.name == name and row["row"] in one.rows)
        figures.append(np.append(row[name], np.broadcast_to(next(drawn, row[name]), count)))
    change, low, high = (1.0 + or_zero(row.get(f"capex_change{end}")) for end in ("", "_low", "_high"))
    # One market of machines: what makes one dearer in a year makes the others so.
    noise = np.append(0.0, stream(seed, "price of machines").standard_normal(count))
    price = figures[0] * spread(change, low, high, LEVEL_RANGE, noise) ** (after / YEAR)
    left, sold = dates.months - after, np.minimum(sold_for(row, *figures, dates.months), price)
    return price, np.asarray(month_of(row, price, left, sold) * left)


class Side(NamedTuple):
    """One option of a plan of phases: its row of the options, name, machines, hours of all the work, USD of it by use
    and by the month, months of its contract (NaN: none).
    """

    row: Row
    title: str
    machines: float
    hours: float
    running: Cases
    held: Cases
    term: float

    def rent(self, after: float, months: float, rents: Rents | None) -> Cases:
        """USD of renting for the first months, by use and by contract: signed for whole terms or not (infinite)."""
        if after == months:
            return self.running + self.held
        if np.isnan(self.term):
            return self.running * rent_share(self.row, after, months, rents)
        terms = np.ceil(months / self.term - ROUNDING) * self.term
        whole = abs(after / self.term - round(after / self.term)) < ROUNDING
        return self.running * after / months + (self.held * after / terms if whole else np.inf)


def of_phases(
    plans: Sequence[PricedPlan], dates: Mapping[str, Dates], options: pd.DataFrame, draws: Draws, offers: pd.DataFrame
) -> Iterator[Deferral]:
    """The plans of phases that ask; `options`, `draws`: of the comparison; `offers`: all offers."""
    for plan in (one for name in dates for one in plans if one.name == name):
        known = options[options["in_answer"].astype(bool) & options["model"].eq(plan.model)]
        by_key = {row["option"]: row for row in records(known.drop_duplicates("option"))}
        terms = offers.drop_duplicates(list(OFFER)).set_index(list(OFFER))["term_months"]
        table = plan.table[plan.table["persistent"].astype(bool)]
        rows = [by_key[name] for name in table["option"]]
        usd = [table[name].to_numpy(float) for name in ("usd_running", "usd_possession")]
        drawn = drawn_costs(options.loc[[row["row"] for row in rows]], *usd, draws)
        by_case = [np.column_stack(pair) for pair in zip(usd, drawn, strict=True)]
        term = [float(terms[tuple(row[key] for key in OFFER)]) for row in rows]
        told = zip(rows, table["title"], table["boxes"], table["hours"], *by_case, term, strict=True)
        yield of_sides(dates[plan.name], [Side(*one) for one in told], draws)


def of_sides(dates: Dates, sides: Sequence[Side], draws: Draws) -> Deferral:
    """Of the options of a plan of phases: each that is owned, until then the one that is cheapest to rent so long."""
    months, owned = dates.months, {str(side.row["option"]): side for side in sides if side.row["purchase"] == "own"}
    rented = [side for side in sides if side.row["purchase"] != "own"]

    def cost(box: Machines | None, start: float, end: float) -> Spent | None:
        share = (end - start) / months
        if box is not None:
            return Spent(owned[box.option].running * share, owned[box.option].hours * share)
        usd = [float(side.rent(end, months, None)[0]) for side in rented]
        if not usd or not np.isfinite(min(usd)):
            return None
        one = rented[usd.index(min(usd))]
        paid = one.rent(end, months, draws.rents)
        return Spent(paid, one.hours * share, str(one.row["option"]), one.title, min(usd))

    return Deferral(dates, [Machines(name, one.title, [(one.row, one.machines)]) for name, one in owned.items()], cost)


def of_months(worked: Sequence[Worked], draws: Draws, words: Words) -> Iterator[Deferral]:
    """The workloads of months that ask: the machines of the best mix, until then what is there and rented.

    The mix is that of buying at once: fewer months would not pay for more machines. Nothing where it buys none.
    """
    for one in worked:
        best, after = one.mixes[0], tuple(one.posed.work.buy_after_months)
        if after and best.counts != best.problem.there and np.isfinite(best.expected):
            yield _of_mix(one.posed, best, Dates(one.posed.name, one.posed.work.months, after), draws, words)


def _of_mix(posed: Posed, best: Mix, dates: Dates, draws: Draws, words: Words) -> Deferral:
    more = [count - there for count, there in zip(best.counts, best.problem.there, strict=True)]
    # What is bought is paid for by its price (`_held`), not by the month.
    held = [replace(one, fixed=one.fixed * (not new)) for one, new in zip(best.problem.held, more, strict=True)]
    problem, months = replace(best.problem, held=tuple(held)), dates.months
    rows = [(posed.source(one.name).offer, new) for one, new in zip(held, more, strict=True) if new]
    bought = Machines("best", purchase_in_words(best.counts, problem, words), rows)

    def cost(box: Machines | None, start: float, end: float) -> Spent | None:
        if why_not(bought, months):
            return None
        rented, counts = [], problem.there if box is None else best.counts
        for offer in problem.rented:
            if moves_ahead(row := posed.source(offer.name).offer):
                due = [rent_share(row, month, months, draws.rents)[1:] for month in (start, end)]
                mean = (due[1] - due[0]) * months / (end - start)
                offer = replace(offer, usd=offer.usd * mean[: offer.usd.shape[1]])
            rented.append(offer)
        then = replace(problem, rented=tuple(rented))
        done = dispatch(then, counts)
        usd = source_usd(then, done, counts)
        paid = {offer.name: usd[offer.name] for offer in rented if usd.get(offer.name, 0.0) > 0}
        main = max(paid, key=lambda name: paid[name], default=None)
        title = "what is there" if main is None else words.title(main)
        spent = np.append(np.nan, done.usd) * (end - start)
        return Spent(spent, np.nan, main, title, sum(paid.values()) * (end - start))

    return Deferral(dates, [bought], cost, mixed=True)


def _rows(ways: Sequence[Way]) -> Iterator[dict[str, Any]]:
    """The rows of the table of one workload."""
    known = [way for way in ways if way.told["status"] == "ok"]
    first = shares(np.stack([way.usd[1:] for way in known]), range(len(known))) if known else {}
    at_once = {way.told["box"]: way for way in known if way.told["after_months"] == 0}
    for way in ways:
        row = dict(way.told)
        if row["status"] == "ok":
            row |= {"p_cheapest": first[next(n for n, one in enumerate(known) if one is way)]}
            row |= _figure("usd", way.usd)
            row |= _figure("box_usd", way.price) if "box" in row else {}
            row |= _saved(at_once[row["box"]], way) if "box" in row and row["after_months"] else {}
        yield row


def _saved(at_once: Way, way: Way) -> dict[str, Any]:
    """What a way saves against the same machines bought at once."""
    saved = at_once.usd - way.usd
    saves = float(np.mean(saved[1:] > 0))
    return _figure("saved_usd", saved) | {"p_saves": saves, "confidence": confidence(max(saves, 1 - saves))}


def _figure(name: str, usd: Cases) -> dict[str, float]:
    """A figure with 90 % of its draws."""
    low, high = interval(usd[1:])
    return {name: float(usd[0]), f"{name}_low": float(low), f"{name}_high": float(high)}


def _among(ways: Sequence[Way]) -> tuple[pd.DataFrame, np.ndarray]:
    """What buying later adds to the options of a plan, with its draws."""
    later = [way for way in ways if way.told["status"] == "ok" and way.told["after_months"] and "box" in way.told]
    facts = {"persistent": True, "planned_hours": np.nan, "boxes": 1.0, "purchase": "own"}
    names = ("option", "instance", "title", "after_months", "machines")
    rows = [{name: way.told[name] for name in names} | {"hours": way.hours, "usd": way.usd[0]} | facts for way in later]
    return pd.DataFrame(rows), np.array([way.usd[1:] for way in later])


def later_in_words(table: pd.DataFrame, code: str = "USD") -> list[str]:
    """Of each plan: the machine that is cheapest at once, bought later; then which of all these ways is the cheapest.

    `table`: comparison/later.parquet; `code`: its currency. Empty where no plan asks.
    """
    said = []
    for name, rows in table.groupby("workload", sort=False) if len(table) else ():
        known = rows[rows["status"] == "ok"].to_dict("records")
        bought = [row for row in known if pd.notna(row["box"])]
        if not bought:
            said.append(f"Buying later in {name}: no machine that may be bought is reckoned.")
            continue
        first, *later = [row for row in bought if row["box"] == bought[0]["box"]]
        over = f"{money(first['usd'])} {code} over {first['months']:g} months"
        said.append(f"{begun(the(first['title']))}, bought at once: {over}.")
        said += [_later(row, code) for row in later]
        said += _least(known, code)
    return said


def _later(row: dict[str, Any], code: str) -> str:
    saved, low, high = (row[f"saved_usd{end}"] for end in ("", "_low", "_high"))
    less = saved >= 0
    ends = sorted((low, high) if less else (-high, -low))
    span = " to ".join(f"{'−' if end < 0 else ''}{money(abs(end))}" for end in ends)
    likely = row["p_saves"] if less else 1 - row["p_saves"]
    told = TIE if confidence(max(likely, 1 - likely)) == TIE else chance(likely)
    return (
        f"Bought in {row['after_months']:g} months, renting {the(row['until_title'])} until then: "
        f"{money(row['usd'])} {code}, {money(abs(saved))} {'less' if less else 'more'} ({span}), {told}."
    )


def _least(known: list[dict[str, Any]], code: str) -> list[str]:
    """The cheapest of the ways, and what never to buy costs where that is another."""
    best = min(known, key=lambda row: row["usd"])
    sure = chance(best["p_cheapest"])
    if pd.isna(best["box"]):
        return [
            f"Cheapest of these is never to buy: {the(best['title'])} for all {best['months']:g} months, "
            f"{money(best['usd'])} {code}, {sure}."
        ]
    when = "at once" if best["after_months"] == 0 else f"in {best['after_months']:g} months"
    never = [f"Never to buy costs {money(row['usd'])} {code}." for row in known if pd.isna(row["box"])]
    return [f"Cheapest of these is {the(best['box_title'])}, bought {when}, {sure}.", *never]
