"""Buying the machines of a mix later: the first months on what is there and rented, the others on the best mix."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.decision.dispatch_problem import Posed
from sweetspot.decision.dispatch_tables import Words, Worked, purchase_in_words
from sweetspot.decision.later_costs import Plan, bought_drawn
from sweetspot.decision.rent_ahead import moves_ahead
from sweetspot.decision.simulate import Draws
from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Array, Problem
from sweetspot.mixes.search import Mix

Told = dict[str, Any]
"""One way: the columns of `later` that name it, `hours`, and its draws: `drawn` USD in all, `box_drawn`."""


def ways_of_mix(worked: Worked, draws: Draws, words: Words, month_days: float, seed: int) -> Iterator[Told]:
    """The machines of the best mix bought at once, later and never; nothing where it buys none.

    The mix is that of buying at once: fewer months would not pay for more machines.
    """
    posed, best = worked.posed, worked.mixes[0]
    plan = Plan(posed.name, posed.work.months, tuple(posed.work.buy_after_months))
    more = [count - kind.there for kind, count in zip(best.problem.held, best.counts, strict=True)]
    if not plan.after or not any(more) or not np.isfinite(best.expected):
        return
    named: Told = {"box": "best", "machines": sum(more), "hours": HOURS_A_DAY * month_days * plan.months}
    named["box_title"] = purchase_in_words(best.counts, best.problem, words)
    reason = _why_not(posed, best, more)
    if reason:
        yield named | {"after": 0.0, "option": "best", "title": named["box_title"], "status": reason}
        return
    for after in (0.0, *plan.after):
        yield named | _way(plan, posed, best, more, after, draws, seed, words)
    alone = dispatch(best.problem, best.problem.there)
    main, rent = _rented(best.problem, alone)
    if np.isfinite(alone.usd).all():
        title = "" if main is None else words.title(main)
        yield {"after": plan.months, "option": "never", "title": title, "box": None, "until": main, "status": "",
               "until_title": title, "hours": named["hours"], "rent_usd": plan.months * rent,
               "drawn": plan.months * alone.usd}  # fmt: skip


def _why_not(posed: Posed, best: Mix, more: Sequence[int]) -> str:
    """Why the machines of a mix cannot be bought later; '' where they can."""
    for kind, count in zip(best.problem.held, more, strict=True):
        row = posed.source(kind.name).offer
        if count and row["purchase"] != "own":
            return "the mix has contracts, which are signed for the whole project"
        if count and float(row["months"]) != posed.work.months:
            return f"is used for {row['months']:g} months, the work lasts {posed.work.months:g}"
    return ""


def _way(
    plan: Plan, posed: Posed, best: Mix, more: Sequence[int], after: float, draws: Draws, seed: int, words: Words
) -> Told:
    """The work of `after` months on what is there and rented, then on the mix whose machines are bought then."""
    left, count = plan.months - after, best.problem.jobs.shape[1]
    rest = _at_rents(best.problem, posed, draws, lambda until: (plan.months - after * until) / left, after)
    price, held = np.zeros(count), []
    for kind, bought in zip(rest.held, more, strict=True):
        if bought:
            paid, kept = (
                part[:count] for part in bought_drawn(plan, posed.source(kind.name).offer, after, draws, seed)
            )
            price = price + bought * paid
            kind = replace(kind, fixed=kept / left)
        held.append(kind)
    drawn = left * dispatch(replace(rest, held=tuple(held)), best.counts).usd
    told: Told = {"after": after, "option": "best", "box_drawn": price, "rent_usd": 0.0, "until": None, "status": ""}
    told |= {"title": purchase_in_words(best.counts, best.problem, words), "until_title": None}
    if after:
        first = _at_rents(best.problem, posed, draws, lambda until: until, after)
        done = dispatch(first, first.there)
        main, rent = _rented(first, done)
        drawn = drawn + after * done.usd
        title = "what is there" if main is None else words.title(main)
        told |= {"option": f"best after {after:g} months", "until": main, "until_title": title}
        told |= {"title": f"{told['title']} in {after:g} months, {title} until then", "rent_usd": after * rent}
    never = "" if np.isfinite(drawn).all() else "what is there and rented does not do the work until then"
    return told | {"drawn": drawn, "status": never}


def _at_rents(problem: Problem, posed: Posed, draws: Draws, factor: Any, after: float) -> Problem:
    """The problem with its rents of some months: `factor` of the mean of the first `after` over the project's."""
    rented = []
    for offer in problem.rented:
        row = posed.source(offer.name).offer
        if after and draws.rents is not None and moves_ahead(row):
            offer = replace(offer, usd=offer.usd * factor(draws.rents.until(row, after)[: offer.usd.shape[1]]))
        rented.append(offer)
    return replace(problem, rented=tuple(rented))


def _rented(problem: Problem, done: Done) -> tuple[str | None, float]:
    """The offer that does most of what is rented, and USD a month of all of them."""
    usd: dict[str, float] = {}
    for number in np.unique(done.chosen[done.chosen >= 0]):
        offer = problem.rented[number]
        paid: Array = np.where(done.chosen == number, np.where(np.isfinite(offer.usd), offer.usd, 0.0), 0.0)
        usd[offer.name] = float(np.einsum("jdt,jd->dt", done.rented, paid).mean())
    found = {name: spent for name, spent in usd.items() if spent > 0}
    return max(found, key=lambda name: found[name], default=None), sum(found.values())
