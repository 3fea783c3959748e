"""Buying later: rent for some months, then buy; every machine and month beside buying at once and never."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import MONTHS_A_YEAR
from sweetspot.bills.rates import Rents, month_of, moves_ahead, or_zero, rent_of_first, rent_share, sold_for
from sweetspot.decision.cost_rounds import PricedPlan, drawn_costs
from sweetspot.decision.options import Row
from sweetspot.decision.pose import with_terms
from sweetspot.decision.posed import Posed
from sweetspot.decision.simulate import Draws
from sweetspot.decision.sources import bought_in_words
from sweetspot.draws import LEVEL_RANGE, interval, shares, spread, stream
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Counts, Held, Rented
from sweetspot.study.settings import Dates
from sweetspot.wording import confidence

TABLE = (
    "workload", "after_months", "option", "title", "box", "box_title", "machines", "until", "until_title", "months",
    "box_usd", "box_usd_low", "box_usd_high", "rent_usd", "usd", "usd_low", "usd_high", "saved_usd", "saved_usd_low",
    "saved_usd_high", "p_saves", "p_cheapest", "confidence", "status",
)  # fmt: skip
Among = dict[str, tuple[pd.DataFrame, np.ndarray]]
Cases = np.ndarray  # at central figures, then in every draw
COMPETING = ("option", "box", "instance", "title", "after_months", "machines", "hours", "usd")
OF_A_PLAN = {"persistent": True, "planned_hours": np.nan, "boxes": 1.0, "purchase": "own"}
NAMED = ("box", "box_title", "until", "until_title")  # null in the rows of a way that has none


class Way(NamedTuple):
    """One way through some months: what the table says of it, and its USD (none where it is not reckoned)."""

    told: dict[str, Any]
    usd: Cases = np.full(1, np.nan)


class Machines(NamedTuple):
    """What may be bought: its key and name, rows of the options with how many of each; `since`: the way through the
    months after a date on them, but for their price.
    """

    option: str
    title: str
    rows: Sequence[tuple[Row, float]]
    since: Callable[[float], Way]


class Deferral(NamedTuple):
    """A workload that asks. `until`: the way through the first months with nothing bought (None: nobody does the work).
    `mixed`: central figures are means of the draws, and nothing bought is `never`.
    """

    dates: Dates
    machines: Sequence[Machines]
    until: Callable[[float], Way | None]
    mixed: bool = False


def buying_later(asked: Iterable[Deferral], draws: Draws, seed: int) -> tuple[pd.DataFrame, Among]:
    """The ways to buy later of every workload that asks (docs/decision.md), and what competes with a plan's options. In
    the table `box_usd`: price of the machines on their day; `rent_usd`: of what is rented until then; `usd` in all,
    with 90 % of the draws; `saved_usd`: less than the same machines bought at once, `p_saves` that it is less,
    `confidence` of that order; `p_cheapest` of the workload's rows here; `status`: ok, or why they are not reckoned.
    """
    rows, among = list[dict[str, Any]](), Among()
    for one in asked:
        ways = list(ways_of(one, draws, seed))
        known = [way for way in ways if "status" not in way.told]
        first = shares(np.stack([way.usd[1:] for way in known]), range(len(known))) if known else {}
        for place, way in enumerate(known):
            way.told["p_cheapest"] = first[place]
        facts = dict.fromkeys(NAMED) | {"workload": one.dates.name, "months": one.dates.months, "status": "ok"}
        rows += [facts | way.told for way in ways]
        if later := [way for way in known if "saved_usd" in way.told]:
            table = pd.DataFrame([way.told | OF_A_PLAN for way in later], columns=[*COMPETING, *OF_A_PLAN])
            among[one.dates.name] = table, np.array([way.usd[1:] for way in later])
    return pd.DataFrame(rows, columns=list(TABLE)), among


def ways_of(asked: Deferral, draws: Draws, seed: int) -> Iterator[Way]:
    """Each machine at once and later, those cheapest at once first; then never buying."""
    found = [list(_bought(asked, box, draws, seed)) for box in asked.machines]
    for known in sorted(found, key=lambda ways: (np.nan_to_num(ways[0].usd[0], nan=np.inf), ways[0].told["option"])):
        yield from known
    never = asked.until(asked.dates.months)
    if never is not None and not np.isinf(never.usd).any():
        told = {"after_months": asked.dates.months, "title": never.told["until_title"]} | never.told
        told |= {"option": "never" if asked.mixed else told["until"]} | _figure("usd", never.usd)
        yield Way(told, never.usd)


def _bought(asked: Deferral, box: Machines, draws: Draws, seed: int) -> Iterator[Way]:
    """Machines bought at once and after so many months, where somebody does the work until then."""
    dates, option, title = asked.dates, box.option, box.title
    facts = {"option": option, "title": title, "box": option, "box_title": title,
             "machines": sum(count for _, count in box.rows), "instance": box.rows[0][0]["instance"]}  # fmt: skip
    if reason := why_not(box.rows, dates.months):
        yield Way(facts | {"after_months": 0.0, "status": reason})
        return
    at_once = np.zeros(1)
    for after in (0.0, *dates.after):
        until = asked.until(after) if after else Way({"hours": 0.0, "rent_usd": 0.0}, np.zeros(1))
        if until is None:
            continue
        since = box.since(after)
        usd, price = until.usd + since.usd, np.zeros(len(since.usd))
        for row, count in box.rows:
            paid, kept = (count * part[: len(usd)] for part in _held(dates, row, after, draws, seed))
            price, usd = price + paid, usd + kept
        if asked.mixed:
            price[0], usd[0] = price[1:].mean(), usd[1:].mean()
        told = facts | until.told | {"after_months": after, "hours": until.told["hours"] + since.told["hours"]}
        if after:
            told["option"] = f"{option} after {after:g} months"
            told["title"] = f"{title} in {after:g} months, {told['until_title']} until then"
        else:
            at_once = usd
        if np.isinf(usd).any():
            told |= {"status": "what you have and what is rented do not do the work until then", "rent_usd": None}
        else:
            told |= _figure("box_usd", price) | _figure("usd", usd)
            if after:
                saves = float(np.mean((at_once - usd)[1:] > 0))
                told |= _figure("saved_usd", at_once - usd) | {"p_saves": saves}
                told |= {"confidence": confidence(max(saves, 1 - saves))}
        yield Way(told, usd)


def _figure(name: str, usd: Cases) -> dict[str, float]:
    low, high = interval(usd[1:])
    return {name: float(usd[0]), f"{name}_low": float(low), f"{name}_high": float(high)}


def why_not(rows: Sequence[tuple[Row, float]], months: float) -> str:
    """Why machines cannot be bought later; '' where they can."""
    for row, _ in rows:
        if row["purchase"] != "own":
            return "the mix has contracts, which are signed for the whole project"
        if float(row["months"]) != months:
            return f"is used for {row['months']:g} months, the work lasts {months:g}"
    return ""


def _held(dates: Dates, row: Row, after: float, draws: Draws, seed: int) -> tuple[Cases, Cases]:
    """Price of one machine bought after some months, and USD of having it from then to the end. On the last day it is
    worth what one bought at once would be, never more than was paid for it. What it costs by the month begins when it
    is delivered.
    """
    known, count = {one.name: one.values for one in draws.figures if row["row"] in one.rows}, draws.usd.shape[1]
    capex, residual = (np.append(row[n], known.get(n, np.full(count, row[n]))) for n in ("capex_usd", "residual_usd"))
    change, low, high = (1.0 + or_zero(row.get(f"capex_change{end}")) for end in ("", "_low", "_high"))
    # One market of machines: what makes one dearer in a year makes the others so.
    noise = np.append(0.0, stream(seed, "price of machines").standard_normal(count))
    price = capex * spread(change, low, high, LEVEL_RANGE, noise) ** (after / MONTHS_A_YEAR)
    left = dates.months - after - or_zero(row.get("delivery_months"))
    sold = np.minimum(sold_for(row, capex, residual, dates.months), price)
    return price, np.asarray(month_of(row, price, left, sold) * left)


def of_phases(
    plans: Sequence[PricedPlan], asked: Mapping[str, Dates], options: pd.DataFrame, draws: Draws, offers: pd.DataFrame
) -> Iterator[Deferral]:
    """The plans of phases that ask; `options`, `draws`: of the comparison; `offers`: all offers."""
    for plan in (one for one in plans if one.name in asked):
        known = options.loc[[row["row"] for row in plan.plan.rows]]
        running, held = (plan.table[name].to_numpy(float) for name in ("usd_running", "usd_possession"))
        drawn = drawn_costs(known, running, held, draws)
        table = plan.table.assign(
            usd_running=[*np.column_stack([running, drawn[0]])],
            usd_possession=[*np.column_stack([held, drawn[1]])],
            term_months=with_terms(known, offers)["term_months"],
        )
        both = zip(plan.plan.rows, table.to_dict("records"), strict=True)
        yield of_plan(asked[plan.name], [row | told for row, told in both if told["persistent"]], draws.rents)


def of_plan(dates: Dates, rows: Sequence[Row], rents: Rents | None) -> Deferral:
    """Of the options of a plan, their USD by case: each owned machine, until then what is cheapest to rent so long."""
    months, others = dates.months, [row for row in rows if row["purchase"] != "own"]

    def until(after: float) -> Way | None:
        usd = [float(rent_of_first(row, after, months, None)[0]) for row in others]
        if not np.isfinite(min(usd, default=np.inf)):
            return None
        one = others[usd.index(min(usd))]
        told = {"until": one["option"], "until_title": one["title"], "rent_usd": min(usd)}
        return Way(told | {"hours": one["hours"] * after / months}, rent_of_first(one, after, months, rents))

    def owned(row: Row) -> Machines:
        def since(after: float) -> Way:
            share = (months - after) / months
            return Way({"hours": row["hours"] * share}, row["usd_running"] * share)

        return Machines(row["option"], row["title"], [(row, row["boxes"])], since)

    return Deferral(dates, [owned(row) for row in rows if row["purchase"] == "own"], until)


def of_months(works: Sequence[Posed], draws: Draws) -> Iterator[Deferral]:
    """The workloads of months that ask and whose best mix buys: its machines, until then what is there and rented. It
    is the mix of buying at once: fewer months would not pay for more machines.
    """
    for posed in works:
        best = posed.mixes[0]
        if posed.work.buy_after_months and best.bought and np.isfinite(best.expected):
            yield _of_mix(posed, draws.rents)


def _of_mix(posed: Posed, rents: Rents | None) -> Deferral:
    best, months = posed.mixes[0], posed.work.months
    rows = [(posed.source(name).offer, count) for name, count in best.bought.items()]
    alone = len(rows) == 1 and rows[0][1] == 1

    def rent(offer: Rented, start: float, end: float) -> Rented:
        row = posed.source(offer.name).offer
        if not moves_ahead(row):
            return offer
        before, due = (rent_share(row, month, months, rents)[1:] for month in (start, end))
        return replace(offer, usd=offer.usd * ((due - before) * months / (end - start))[: offer.usd.shape[1]])

    def late(kind: Held, after: float) -> Held:
        """What is bought is paid for by its price (`_held`), not by the month, and comes after its delivery."""
        if kind.name not in best.bought:
            return kind
        source, paid = posed.source(kind.name), replace(kind, fixed=kind.fixed * 0.0)
        return replace(paid, present=posed.present(source, kind.fixed.size, after))

    def between(start: float, end: float, counts: Counts) -> Way:
        offers = tuple(rent(offer, start, end) for offer in best.problem.rented)
        held = tuple(late(kind, start) for kind in best.problem.held)
        problem = replace(best.problem, held=held, rented=offers)
        done = dispatch(problem.months(posed.within(start, end)) if posed.changes else problem, counts)
        paid = {name: done.usd_by_use(name) for name, one in done.sources.items() if isinstance(one, Rented)}
        main = max((name for name in paid if paid[name] > 0), key=lambda name: paid[name], default=None)
        told = {"until": main, "until_title": "what you have" if main is None else posed.title(main),
                "rent_usd": sum(paid.values()) * (end - start), "hours": np.nan}  # fmt: skip
        return Way(told, np.append(done.usd.mean(), done.usd) * (end - start))

    def until(after: float) -> Way | None:
        return None if why_not(rows, months) else between(0.0, after, best.problem.there)

    title = str(rows[0][0]["title"]) if alone else bought_in_words(best, posed)
    bought = Machines("best", title, rows, lambda after: between(after, months, best.counts))
    return Deferral(Dates(posed.name, months, tuple(posed.work.buy_after_months)), [bought], until, mixed=True)
