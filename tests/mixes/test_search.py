"""How many machines to have: by hand, against enumeration, and the ways that are held against the best."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from mix_problems import held, problem, rented, small_problems, unlimited
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER
from sweetspot.mixes.search import BEST, BOUGHT, OWNED, RENTED, MixSearch, climb, mixes, useful_counts


def test_the_peak_is_rented_and_the_base_owned():
    """Half of the months 100 h, half 300 h. A machine of 100 h costs 40 a month and nothing to run; rent 1 an hour.

    None: 0.5 x 100 + 0.5 x 300 = 200; one: 40 + 0.5 x 200 = 140; two: 80 + 0.5 x 100 = 130; three: 120: the third
    machine is used half of the time and saves 50 for 40. At 60 a machine one is best: 60 + 100 = 160 against 200, 170.
    """
    for fixed, count, usd in ((40.0, 3, 120.0), (60.0, 1, 160.0)):
        machine = held("machine", [1.0], [0.0], 100, fixed=fixed)
        case = problem([[[100.0, 300.0] * 6]], [machine], [rented("rent", [1.0])])
        best, *pure = mixes(case, unlimited)
        assert best.counts == (count,) and best.expected == pytest.approx(usd)
        assert {one.counts for one in pure if one.kind == BOUGHT} == {(count,)}  # as many as cost the least


@given(small_problems())
@settings(max_examples=25, deadline=None)
def test_the_steps_find_what_enumeration_finds(case):
    """Every number of both kinds is tried; more than do all jobs alone never pay."""
    loads = [(case.jobs[:, 0, 0] * kind.hours[:, 0]).sum() / kind.capacity[0] for kind in case.held]
    numbers = product(*(range(int(np.ceil(load)) + 1) for load in loads))
    lowest = min(float(dispatch(case, counts).usd.mean()) for counts in numbers)
    best, *pure = mixes(case, unlimited)
    assert best.expected == pytest.approx(lowest, rel=1e-9, abs=1e-9)
    assert all(best.expected <= mix.expected for mix in pure)


@pytest.mark.parametrize(
    ("kinds", "offers", "counts"),
    [
        ([held("cheap", [NEVER], [0.0], 10.0, 1.0), held("dear", [1.0], [0.0], 10.0, 500_000.0)], [], (0, 1)),
        # It takes 50,000 USD to run; a second kind, for another class, is rented for less than it saves.
        ([held("only", [1.0, NEVER], [50_000.0, 0.0], 10.0, 1.0), held("other", [NEVER, 1.0], [0.0, 0.0], 10.0, 9.0)],
         [rented("rent", [NEVER, 1.0])], (1, 0)),
    ],
)  # fmt: skip
def test_a_machine_is_bought_for_what_nobody_else_does_however_dear(kinds, offers, counts):
    assert mixes(problem([[[1.0]]] * len(kinds[0].hours), kinds, offers), unlimited)[0].counts == counts


def test_exchanging_machines_finds_what_no_single_step_does():
    """21 hours a month: a machine of 10 for 10 USD and one of 11 for 10.5. Two of 11 do it too; from there one machine
    more or less is dearer, and three of 10 are. What is rented costs 100 an hour. 31 hours are two of 10 and one of 11;
    who begins with nothing takes two of 11 first, and one of 10 beside them, from which no single step leads on.
    """
    kinds = [held("ten", [1.0], [0.0], 10.0, 10.0), held("eleven", [1.0], [0.0], 11.0, 10.5)]
    for hours, counts, usd in ((21.0, (1, 1), 20.5), (31.0, (2, 1), 30.5)):
        best = mixes(problem([[[hours]]], kinds, [rented("rent", [100.0])]), unlimited)[0]
        assert best.counts == counts and best.expected == pytest.approx(usd)


def test_only_the_kinds_that_may_change_are_changed():
    """(first - 6)² + second USD a month: six of the first kind, whose neighbours cost 1; the second stays at none."""
    assert climb((0, 0), lambda counts: (counts[0] - 6.0) ** 2 + counts[1], [0], (0, 0), (9, 9)) == (6, 0)
    assert sum(climb((0, 0), lambda counts: sum(counts) if sum(counts) > 2 else np.inf, [0, 1], (0, 0), (3, 3))) == 3
    # Of starts between which no step leads the cheaper one: three machines save 300 h of rent.
    case = problem([[[300.0]]], [held("machine", [1.0], [0.0], 100, fixed=40.0)], [rented("rent", [1.0])])
    search = MixSearch(case, lambda counts: counts in ((0,), (3,)))
    assert search.cheapest([(0,), (3,)], [0]).counts == search.cheapest([(3,), (0,)], [0]).counts == (3,)


def test_what_a_mix_buys_is_what_it_has_beyond_what_is_there():
    ours = held("ours", [1.0], [0.0], 10.0, there=3)
    box = held("box", [1.0], [0.0], 10.0, fixed=1.0)
    case = problem([[[45.0]]], [ours, box], [rented("rent", [1.0])])
    found = {one.kind: one for one in mixes(case, unlimited)}
    # three are there for 30 hours; two more save 15 USD for 2
    bought = [found[kind].bought for kind in (BEST, RENTED, OWNED)]
    assert found[BEST].counts == (3, 2) and bought == [{"box": 2}, {}, {}]
    assert MixSearch(case, unlimited).mix((5, 0)).bought == {"ours": 2}
    keys = {kind: (one.key, one.single_offer) for kind, one in found.items()}
    assert keys == {BEST: ("best", False), OWNED: ("there", False), BOUGHT: ("box", False), RENTED: ("rent", True)}
    # Two boxes, 15 hours that nobody does, and 15 hours of rent: also where the mix is asked for the problem anew.
    assert [found[kind].at(case).usd.tolist() for kind in (BEST, OWNED, RENTED)] == [[2.0], [NEVER], [15.0]]
    # Where nobody rents out nothing is rented, however little all jobs cost on what is there.
    kinds = [held("ours", [1.0], [0.5], 10.0, there=1), held("box", [1.0], [0.0], 10.0, fixed=0.1)]
    assert [one.kind for one in mixes(problem([[[1.0]]], kinds, []), unlimited)] == [BEST, BOUGHT, OWNED]


def test_a_source_that_does_one_class_of_two_is_held_against_the_others():
    box = held("box", [1.0, NEVER], [0.0, 0.0], 10.0, 1.0)
    case = problem([[[5.0]], [[5.0]]], [box], [rented("first", [2.0, 2.0]), rented("second", [1.0, NEVER])])
    found = mixes(case, unlimited)
    assert {(one.kind, one.source) for one in found[1:]} == {(BOUGHT, "box"), (RENTED, "first"), (RENTED, "second")}
    # One box for the five hours of the first class, five of the second at 2; nothing is cheaper.
    assert (found[0].kind, found[0].expected) == (BEST, pytest.approx(1.0 + 10.0))


def test_no_more_machines_are_tried_than_the_busiest_month_keeps_busy():
    """250 h in the busier month, of 100 h each: three; of what is not for sale those that are there."""
    kinds = [held("sold", [1.0], [0.0], 100), held("ours", [1.0], [0.0], 100, there=2)]
    assert useful_counts(problem([[[50.0, 250.0]]], kinds, [])) == (3, 2)
    both = [held("sold", [1.0, 2.0], [0.0, 0.0], 100)]
    assert useful_counts(problem([[[100.0]], [[75.0]]], both, [])) == (3,)  # 100 h of one class, 150 of the other
    seldom = [held("sold", [1.0], [0.0], np.array([100.0, 50.0]), draws=2)]  # in one draw it works half of the hours
    assert useful_counts(problem([[[80.0], [80.0]]], seldom, [])) == (2,)
