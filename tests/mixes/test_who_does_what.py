"""What a dispatch and a mix say of themselves, on two draws of two months that can be added up."""

import numpy as np
import pytest
from mix_problems import held, problem, rented
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER, Rented, finite
from sweetspot.mixes.search import BEST, BOUGHT, RENTED, THERE, mixes, moved, numbers_to_have


@pytest.fixture(scope="module")
def done():
    """Class a: 3 and 5 jobs in the first draw, 7 and 9 in the second; b: two always. A machine of 4 hours, at 0.5 USD
    of running an hour, does a in an hour each; a is rented from `west` in the first draw for 2 USD (3 elsewhere), from
    `east` in the second for 1 (4 elsewhere), three device-hours each; b from `east` alone, for 6, and never on the box.
    """
    box = held("box", [1.0, NEVER], [0.5, 0.5], 4.0, fixed=10.0, draws=2)
    east = Rented("east", np.array([[3.0, 1.0], [6.0, 6.0]]), np.array([[3.0, 3.0], [8.0, 8.0]]))
    west = Rented("west", np.array([[2.0, 4.0], [NEVER, NEVER]]), np.array([[3.0, 3.0], [NEVER, NEVER]]))
    never = rented("never", [99.0, 99.0], draws=2)
    jobs = [[[3.0, 5.0], [7.0, 9.0]], [[2.0, 2.0], [2.0, 2.0]]]
    return dispatch(problem(jobs, [box], [east, west, never]), (1,))


def test_the_sources_are_what_is_held_and_those_that_do_something(done):
    assert list(done.sources) == ["box", "east", "west"]
    assert done.problem.cheapest.tolist() == [[1, 0], [0, 0]]


def test_the_jobs_of_each_source_add_up(done):
    """The machine does four of a in a month, three where there are no more."""
    assert done.jobs("box").tolist() == [[[3.0, 4.0], [4.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]]
    assert done.jobs("west").tolist() == [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    assert done.jobs("east").tolist() == [[[0.0, 0.0], [3.0, 5.0]], [[2.0, 2.0], [2.0, 2.0]]]
    assert not done.jobs("never").any() and not done.undone.any()


def test_device_hours_and_money_of_each_source(done):
    assert done.device_hours("box").tolist() == [[3.0, 4.0], [4.0, 4.0]]
    assert done.device_hours("west").tolist() == [[0.0, 3.0], [0.0, 0.0]]
    assert done.device_hours("east").tolist() == [[16.0, 16.0], [9.0 + 16.0, 15.0 + 16.0]]
    assert done.usd_by_use("box") == pytest.approx(0.5 * 15 / 4)  # 3 + 4 + 4 + 4 hours in four months
    assert done.usd_by_use("west") == pytest.approx(2.0 / 4)
    assert done.usd_by_use("east") == pytest.approx((3.0 + 5.0 + 4 * 12.0) / 4)
    # by draw, the mean of its months, with the 10 of having the machine
    assert done.usd.tolist() == pytest.approx([10 + (1.5 + 2 + 2) / 2 + 12, 10 + (2 + 2 + 3 + 5) / 2 + 12])
    assert done.lead == "east"


def test_without_rent_nobody_leads():
    alone = dispatch(problem([[[1.0]]], [held("box", [1.0], [0.0], 4.0)], [rented("rent", [9.0])]), (1,))
    assert alone.lead == ""


def test_what_cannot_run_counts_for_nothing():
    assert finite(np.array([NEVER, 2.0, -NEVER, 0.0])).tolist() == [0.0, 2.0, 0.0, 0.0]


def test_what_a_mix_buys_is_what_it_has_beyond_what_is_there():
    ours = held("ours", [1.0], [0.0], 10.0, there=2, for_sale=False)
    box = held("box", [1.0], [0.0], 10.0, fixed=1.0, there=1)
    found = {one.kind: one for one in mixes(problem([[[45.0]]], [ours, box], [rented("rent", [1.0])]))}
    # three are there for 30 hours; two more save 15 USD for 2
    assert found[BEST].counts == (2, 3) and found[BEST].bought == {"box": 2}
    assert found[RENTED].bought == {} == found[THERE].bought
    assert [found[kind].key for kind in (BEST, THERE, BOUGHT, RENTED)] == ["best", "there", "box", "rent"]


@pytest.mark.parametrize(("fixed", "boxes"), [(4.9, 1), (5.1, 0)])
def test_a_machine_has_to_save_its_month_in_the_mean_of_the_months(fixed, boxes):
    """Of 8, 8, 2 and 2 hours a month at 1 USD it does all: 5 a month. A second kind for sale is never worth it."""

    def kinds(draws):
        return [held("box", [1.0], [0.0], 8.0, fixed, draws=draws), held("dear", [1.0], [0.0], 8.0, 99.0, draws=draws)]

    draws = problem([[[8.0], [8.0], [2.0], [2.0]]], kinds(4), [rented("rent", [1.0], draws=4)])
    assert numbers_to_have(draws) == (boxes, 0)
    months = problem([[[8.0, 8.0, 2.0], [2.0, 8.0, 2.0]]], kinds(2), [rented("rent", [1.0], draws=2)])
    assert mixes(months)[0].counts == (boxes, 0)  # 30 hours in six months


@pytest.mark.parametrize("kinds", [1, 2])
def test_the_best_of_many_draws_and_months_is_what_enumeration_finds(kinds):
    """Ninety draws of three months, more than the sample of the programme; every number of both machines is tried."""
    source = np.random.default_rng(7)
    jobs = source.uniform(5.0, 60.0, (2, 90, 3))
    boxes = [
        held("one", [1.0, 2.0], [0.1, 0.1], 20.0, 9.0, draws=90),
        held("two", [2.0, 1.0], [0.1, 0.3], 20.0, 8.0, draws=90),
    ]
    case = problem(jobs, boxes[:kinds], [rented("rent", [1.0, 1.0], draws=90)])
    numbers = [(one, *two) for one in range(12) for two in ([()] if kinds == 1 else [(n,) for n in range(12)])]
    least = min(float(dispatch(case, counts).usd.mean()) for counts in numbers)
    assert mixes(case)[0].expected == pytest.approx(least, rel=1e-9)


def test_the_programme_finds_what_no_single_step_does():
    """21 hours a month: a machine of 10 for 10 USD and one of 11 for 10.5. Two of 11 do it too; from there one machine
    more or less is dearer, and three of 10 are. What is rented costs 100 an hour. 31 hours are two of 10 and one of 11;
    who begins with nothing takes two of 11 first, and one of 10 beside them, from which no single step leads on.
    """
    kinds = [held("ten", [1.0], [0.0], 10.0, 10.0), held("eleven", [1.0], [0.0], 11.0, 10.5)]
    for hours, counts, usd in ((21.0, (1, 1), 20.5), (31.0, (2, 1), 30.5)):
        best = mixes(problem([[[hours]]], kinds, [rented("rent", [100.0])]))[0]
        assert best.counts == counts and best.expected == pytest.approx(usd)


def test_kinds_are_ordered_by_what_runs_on_them():
    """One costs the least for a and cannot do b; the other 1.5 times that for a, the least for b: 1.25 in the mean."""
    kinds = [held("half", [1.0, NEVER], [2.0, 2.0], 10.0), held("both", [1.0, 1.0], [3.0, 4.0], 10.0)]
    for order in ((0, 1), (1, 0)):
        listed = problem([[[1.0]], [[1.0]]], [kinds[place] for place in order], [])
        assert [listed.held[place].name for place in listed.by_running] == ["half", "both"]


def test_a_job_that_nobody_rents_out_is_done_however_dear_it_is():
    """It takes 50,000 USD to run; a second kind, for another class, is rented for less than it saves."""
    kinds = [held("only", [1.0, NEVER], [50000.0, 0.0], 10.0, 1.0), held("other", [NEVER, 1.0], [0.0, 0.0], 10.0, 9.0)]
    assert numbers_to_have(problem([[[1.0]], [[1.0]]], kinds, [rented("rent", [NEVER, 1.0])])) == (1, 0)


def test_half_an_hour_rented_leads():
    assert dispatch(problem([[[0.5]]], [], [rented("rent", [1.0])]), ()).lead == "rent"


@pytest.mark.parametrize(("step", "expected"), [(1, (3, 1)), (-2, (0, 1)), (3, (5, 1)), (4, None), (-3, None)])
def test_machines_more_and_less_within_the_bounds(step, expected):
    assert moved((2, 1), 0, step, (0, 0), (5, 5)) == expected
