"""Rented offers that may not be there: who does the jobs then and what they cost, by hand and job by job."""

import numpy as np
import pytest
from mix_problems import held, problem, rented
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER, RentalOffer
from sweetspot.mixes.search import RENTED, mixes

ONE = [[[100.0]]]


def offer(name, usd, there=1.0, fallback=None, event=""):
    chances = (np.full((1, 1), float(one)) for one in (there, there if fallback is None else fallback))
    return RentalOffer(name, np.full((1, 1), float(usd)), np.ones((1, 1)), *chances, event)


def shares(*offers, first=""):
    made = problem(ONE, [], offers)
    made = made.only(first) if first else made
    return [float(made.share_of(place)[0, 0]) for place in range(len(offers))], float(made.rent[0, 0])


THREE = (offer("c", 30, 0.25), offer("a", 10, 0.5), offer("b", 20, 0.8))


@pytest.mark.parametrize(
    ("offers", "first", "done", "usd"),
    [
        # a 0.5; b 0.5 x 0.8; c 0.1 x 0.25; 0.075 find none and wait for a
        (THREE, "", [0.025, 0.575, 0.4], 0.025 * 30 + 0.575 * 10 + 0.4 * 20),
        # b 0.8; a 0.2 x 0.5; c 0.1 x 0.25; 0.075 wait for b
        (THREE, "b", [0.025, 0.1, 0.875], 0.025 * 30 + 0.1 * 10 + 0.875 * 20),
        # one seller's machine under two price lists is one event: a second look finds no other
        ((offer("a", 10, 0.5, event="s"), offer("a2", 12, 0.5, event="s"), offer("b", 20)), "", [0.5, 0, 0.5], 15),
        # a class that falls back on blocks alone, of which the cheapest is taken for certain
        ((offer("a", 10, 0.5, 0), offer("b", 20, 0.8, 0), offer("d", 40, 0, 1), offer("e", 50, 0, 1)), "",
         [0.5, 0, 0.5, 0], 25),
        # without any block the others wait for the cheapest
        ((offer("a", 10, 0.5, 0), offer("b", 20, 0.8, 0)), "", [1, 0], 10),
        # what cannot run does not help, nor does it stand for its event
        ((offer("a", 10, 0.5), offer("x", NEVER, 1, event="s"), offer("b", 20, 1, event="s")), "", [0.5, 0, 0.5], 15),
        ((offer("x", NEVER, 0.5),), "", [0], NEVER),
    ],
)  # fmt: skip
def test_shares_and_their_cost_by_hand(offers, first, done, usd):
    found, rent = shares(*offers, first=first)
    assert found == pytest.approx(done) and rent == pytest.approx(usd)


def test_where_all_are_there_the_cheapest_does_all():
    made = problem(ONE, [], [offer("c", 30), offer("a", 10)])
    assert dispatch(made, ()).jobs("a").sum() == 100 and dispatch(made, ()).usd == [1000]


def played(offers, jobs=50_000, seed=4):
    """Mean USD of jobs, each of which looks at one offer after the other, the cheapest first: an independent check."""
    random = np.random.default_rng(seed)
    events = sorted({one.event or one.name for one in offers})
    paid = 0.0
    by_price = sorted(offers, key=lambda one: one.usd[0, 0])
    chance = {(one.event or one.name): one.availability[0, 0] for one in offers}
    for luck in random.random((jobs, len(events))):
        there = {event: one < chance[event] for event, one in zip(events, luck, strict=True)}
        found = next((one for one in by_price if there[one.event or one.name]), by_price[0])
        paid += found.usd[0, 0]
    return paid / jobs


def test_a_simulation_of_the_jobs_agrees():
    offers = (*THREE, offer("d", 25, 0.3, event="s"), offer("e", 18, 0.3, event="s"), offer("f", 60, 0.9))
    assert shares(*offers)[1] == pytest.approx(played(offers), rel=0.02)


def test_the_mix_prices_the_fallback():
    """A job costs 12 USD on the machine that is there; rented 10, or 14.5 with the fallback: then nobody rents."""
    kind = held("k", [1.0], [12.0], 200.0, there=1, for_sale=False)
    always, seldom = problem(ONE, [kind], [offer("a", 10)]), problem(ONE, [kind], THREE)
    assert dispatch(always, (1,)).usd == [1000] and dispatch(seldom, (1,)).usd == [1200]
    done = dispatch(seldom, (0,))
    assert done.usd == pytest.approx([1450]) and done.jobs("b").sum() == pytest.approx(40)
    assert done.device_hours("a").sum() == pytest.approx(57.5)
    assert done.lead == "b"  # 40 x 20 USD; a has 57.5 x 10
    assert done.usd_by_use("b") == pytest.approx(800) and set(done.sources) == {"k", "a", "b", "c"}


def test_no_way_that_rents_on_one_offer_first_is_cheaper_than_the_best():
    ways = mixes(problem(ONE, [], THREE))
    pure = {one.source: one.expected for one in ways if one.kind == RENTED}
    assert ways[0].expected == pytest.approx(1450) and pure["b"] == pytest.approx(1925) and min(pure.values()) >= 1450


def test_some_of_the_draws_keep_their_chances():
    usd, there = np.array([[10.0, 12.0, 14.0]]), np.array([[0.2, 0.5, 1.0]])
    made = problem(np.ones((1, 3, 1)), [], [RentalOffer("a", usd, usd, there, there), rented("b", [20.0], draws=3)])
    assert made.rent.tolist() == [pytest.approx([0.2 * 10 + 0.8 * 20, 16.0, 14.0])]
    assert made.select(np.array([2, 1]), np.array([0, 0])).rent.tolist() == [pytest.approx([14.0, 16.0])]
