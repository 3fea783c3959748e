"""Where the best mix changes while a figure moves: by hand, against the search itself, and in which direction."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from mix_problems import held, problem, rented, small_problems
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER
from sweetspot.mixes.search import mixes
from sweetspot.mixes.turning import Choice, Plans, pays_from, pays_from_by_draw, thinned, turns

HOURS = np.array([10.0])
RENT, AT_HOME, IN_BOX, BOX = 0.69, 0.19, 0.1955, 568.0


def lab(rent=RENT, jobs=204.0, fixed=BOX, hours=HOURS):
    """Ours does 700 of the 2,040 device-hours of 204 jobs; the rest on a box of four (700 h) or rented."""
    ours = held("ours", hours, hours * AT_HOME, 700, there=1, for_sale=False)
    box = held("box", hours / 4, hours * IN_BOX, 700, fixed=fixed)
    return problem([[[jobs]]], [ours, box], [rented("rent", hours * rent, hours)])


def plans(case):
    return Plans(case, [mixes(case)[0].counts])


def only(found):
    assert len(found) == 1
    return found[0]


def test_the_rent_at_which_nothing_is_bought():
    """(568 + 1,340 x 0.1955) / 1,340 = 0.61938 USD an hour; dearer rent leaves the box, which does all of the rest."""
    turn = only(turns(plans(lab()), lambda factor: lab(rent=RENT * factor)))
    assert turn.factor * RENT == pytest.approx((BOX + 1340 * IN_BOX) / 1340, rel=2e-4)
    assert turn.choice == Choice((1, 0), "rent")
    assert turn.usd == pytest.approx(700 * AT_HOME + BOX + 1340 * IN_BOX)


def test_the_price_of_the_box_at_which_it_is_not_bought():
    """1,340 x (0.69 - 0.1955) = 662.63 USD a month; cheaper, a second one would do nothing."""
    turn = only(turns(plans(lab()), lambda factor: lab(fixed=BOX * factor)))
    assert turn.factor * BOX == pytest.approx(1340 * (RENT - IN_BOX), rel=2e-4)


def test_the_number_of_jobs_at_which_the_box_is_bought_and_a_second_one():
    """Device-hours beside ours: 568 / (0.69 - 0.1955) = 1,148.6, so 184.86 jobs; a second box does what is beyond
    700 + 2,800: 3,500 + 1,148.6 = 4,648.6, so 464.86 jobs.
    """
    below, above = turns(plans(lab()), lambda factor: lab(jobs=204 * factor))
    apart = BOX / (RENT - IN_BOX)
    assert below.factor * 204 == pytest.approx((700 + apart) / 10, rel=2e-4)
    assert below.choice.counts == (1, 0)
    assert above.factor * 204 == pytest.approx((3500 + apart) / 10, rel=2e-4)
    assert above.choice.counts == (1, 2)
    factor = pays_from(Plans(lab(), [(1, 1)]), lambda factor: lab(jobs=204 * factor), 1)
    assert factor * 204 == pytest.approx((700 + apart) / 10, rel=2e-4)


def test_a_box_that_always_or_never_pays():
    """Of 1,000 jobs a fifth is 200: 2,000 device-hours, of which ours does 700 and a box for 1 USD the rest. At most
    5,000 jobs leave 2,800 h to a box: 2,800 x (0.69 - 0.1955) = 1,385 USD, less than 1,400.
    """
    free, dear = (Plans(lab(fixed=usd, jobs=1000), [(1, 1)]) for usd in (1.0, 1400.0))
    assert pays_from(free, lambda factor: lab(fixed=1.0, jobs=1000 * factor), 1) == 0.0
    assert pays_from(dear, lambda factor: lab(fixed=1400.0, jobs=1000 * factor), 1) == np.inf


def test_between_two_looks_the_nearer_change_is_found():
    """From 1.6 to 2.5 times the jobs two boxes are bought one after the other: the first is named.

    A machine of 100 h for 40 USD pays from 40 h beyond those there: with rent at 1 USD at 140, 240, 340 h.
    """

    def at(factor):
        return problem([[[130.0 * factor]]], [held("m", [1.0], [0.0], 100, fixed=40.0)], [rented("rent", [1.0])])

    below, above = turns(plans(at(1.0)), at)
    assert (above.factor * 130, above.choice.counts) == (pytest.approx(140, rel=2e-4), (2,))
    assert (below.factor * 130, below.choice.counts) == (pytest.approx(40, rel=2e-4), (0,))


def test_who_is_rented_changes_where_both_cost_the_same():
    """Nothing is for sale: 1.0 against 1.3 USD a job; the first becomes the dearer at 1.3 times its price."""

    def at(factor):
        return problem([[[50.0]]], [], [rented("near", [1.0 * factor]), rented("far", [1.3])])

    turn = only(turns(plans(at(1.0)), at))
    assert turn.factor == pytest.approx(1.3, rel=3e-4)
    assert turn.choice == Choice((), "far")


def test_a_jump_is_found_where_it_is():
    """From 1.2 on a job runs on what is there for nothing; the machine for sale is then not bought."""

    def at(factor):
        there = held("there", [1.0 if factor >= 1.2 else NEVER], [0.0], 100, there=1, for_sale=False)
        return problem([[[50.0]]], [there, held("box", [1.0], [0.0], 100, fixed=20.0)], [rented("rent", [1.0])])

    turn = only(turns(plans(at(1.0)), at))
    assert turn.factor == pytest.approx(1.2, rel=3e-4)
    assert turn.choice.counts == (1, 0)


def test_no_figure_exceeds_what_it_can_be():
    """From 0.6 USD the box is bought from 1.0323 times the rent on: not where the rent can be 1.02 times at most."""

    def at(factor):
        return lab(rent=0.6 * factor)

    assert only(turns(plans(at(1.0)), at)).factor == pytest.approx(0.61938 / 0.6, rel=3e-4)
    assert turns(plans(at(1.0)), at, most=1.02) == []


def uncertain(factor, draws=300, months=12):
    """The lab with rents, jobs and months that differ; the rent at a factor."""
    source = np.random.default_rng(3)
    rent = RENT * np.exp(0.15 * source.standard_normal(draws)) * factor
    jobs = 204 * np.exp(0.2 * source.standard_normal((1, draws, months)))
    hours = np.full((1, draws), 10.0)
    ours = held("ours", HOURS, HOURS * AT_HOME, 700, there=1, for_sale=False, draws=draws)
    box = held("box", HOURS / 4, HOURS * IN_BOX, 700, fixed=BOX, draws=draws)
    offer = replace(rented("rent", HOURS, HOURS, draws), usd=hours * rent)
    return replace(problem(jobs, [ours, box], [offer]))


def test_with_draws_the_search_itself_turns_where_it_is_said():
    turn = only(turns(plans(uncertain(1.0)), uncertain))
    bought = mixes(uncertain(1.0))[0].counts
    assert mixes(uncertain(turn.factor * 1.001))[0].counts == bought
    assert mixes(uncertain(turn.factor * 0.999))[0].counts == turn.choice.counts != bought


def test_of_each_draw_alone_by_a_search_of_its_own():
    """The rent at which the box pays in one draw, against halving the interval over its own dispatch."""
    case = Plans(uncertain(1.0), [(1, 1)])
    found = pays_from_by_draw(case, uncertain, 1)
    for draw in (0, 7, 120):
        low, high = 0.2, 5.0
        for _ in range(40):
            middle = np.sqrt(low * high)
            problem = uncertain(middle)
            few = replace(problem, jobs=problem.jobs[:, :, :6])
            pays = dispatch(few, (1, 1)).usd[draw] <= dispatch(few, (1, 0)).usd[draw]
            low, high = (low, middle) if pays else (middle, high)
        assert found[draw] == pytest.approx(high, rel=0.02)  # straight lines between the factors looked at


def test_a_quick_look_takes_every_month_of_the_year_in_turn():
    case = uncertain(1.0)
    assert thinned(case).jobs[0, :, 0].tolist() == [case.jobs[0, draw, draw % 12] for draw in range(300)]


@given(small_problems(kinds=1))
@settings(max_examples=60, deadline=None)
def test_a_dearer_rental_never_helps_itself(case):
    """With its price up, the best mix costs no less and takes no more of its hours."""

    def rent(factor):
        first, *others = case.rented
        moved = replace(case, rented=(replace(first, usd=first.usd * factor), *others))
        best = mixes(moved)[0]
        hours = np.where(best.done.chosen == 0, first.device_hours, 0.0)
        return best.expected, float(np.einsum("jdt,jd->", best.done.rented, hours))

    found = [rent(factor) for factor in (0.7, 1.0, 1.2, 2.0)]
    for (usd, hours), (dearer, fewer) in pairwise(found):
        assert dearer >= usd - 1e-9
        assert fewer <= hours + 1e-9
