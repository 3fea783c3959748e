"""Mixes against enumeration, against the linear programme of the dispatch, and by hand."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mix_problems import held, problem, rented, small_problems
from scipy.optimize import linprog
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER, load_duration, month_noise
from sweetspot.mixes.search import BEST, BOUGHT, RENTED, THERE, climb, machines_for, mixes, numbers_to_have
from sweetspot.mixes.search import most_useful as bounds_of


def by_linear_programme(one, counts):
    """USD of the cheapest dispatch of the only draw and month, written without regard to the order of merit."""
    classes = len(one.classes)
    columns, cost = [], []
    for kind in one.held:
        for job in range(classes):
            if np.isfinite(kind.hours[job, 0]):
                columns.append((job, one.held.index(kind), kind.hours[job, 0]))
                cost.append(kind.running[job, 0])
    for offer in one.rented:
        for job in range(classes):
            if np.isfinite(offer.usd[job, 0]):
                columns.append((job, None, 0.0))
                cost.append(offer.usd[job, 0])
    done = np.array([[float(job == column[0]) for column in columns] for job in range(classes)])
    used = np.array([[column[2] * (column[1] == kind) for column in columns] for kind in range(len(one.held))])
    room = [count * kind.capacity[0] for count, kind in zip(counts, one.held, strict=True)]
    found = linprog(cost, used, room, done, one.jobs[:, 0, 0])
    assert found.status == 0
    return found.fun + sum(count * kind.fixed[0] for count, kind in zip(counts, one.held, strict=True))


def test_the_case_of_the_lab_by_hand():
    """60 runs of 24.6 h and 40 of 14.1 h: 2,040 device-hours, of which 700 at home; the rest bought or rented.

    Rented: (2,040 - 700) x 0.69 = 924.60. Box of four: 568 a month + 1,340 x 0.1955 = 829.97. Both with 700 x 0.19.
    """
    hours = np.array([24.6, 14.1])
    ours = held("ours", hours, hours * 0.19, 700, there=1, for_sale=False)
    box = held("box", hours / 4, hours * 0.1955, 700, fixed=568.0)
    case = problem([[[60.0]], [[40.0]]], [ours, box], [rented("rent", hours * 0.69, hours)])
    found = {one.kind: one for one in mixes(case)}
    assert found[BOUGHT].expected == pytest.approx(700 * 0.19 + 568 + 1340 * 0.1955, abs=1e-6)
    assert found[RENTED].expected == pytest.approx(700 * 0.19 + 1340 * 0.69, abs=1e-6)
    assert found[BEST].counts == (1, 1)
    assert np.isinf(found[THERE].expected)


def test_with_a_cheaper_rental_nothing_is_bought():
    # 0.60 x 1,340 = 804 is less than 830: the turning point is 830 / 1,340 = 0.6194 USD an hour
    hours = np.array([10.0])
    ours = held("ours", hours, hours * 0.19, 700, there=1, for_sale=False)
    box = held("box", hours / 4, hours * 0.1955, 700, fixed=568.0)
    for price, bought in ((0.619, 0), (0.620, 1)):
        case = problem([[[204.0]]], [ours, box], [rented("rent", hours * price, hours)])
        assert mixes(case)[0].counts == (1, bought)


def test_the_peak_is_rented_and_the_base_owned():
    """Half of the months 100 h, half 300 h. A machine of 100 h costs 40 a month and nothing to run; rent 1 an hour.

    None: 0.5 x 100 + 0.5 x 300 = 200; one: 40 + 0.5 x 200 = 140; two: 80 + 0.5 x 100 = 130; three: 120: the third
    machine is used half of the time and saves 50 for 40. At 60 a machine one is best: 60 + 100 = 160 against 200, 170.
    """
    for fixed, count, usd in ((40.0, 3, 120.0), (60.0, 1, 160.0)):
        machine = held("machine", [1.0], [0.0], 100, fixed=fixed)
        case = problem([[[100.0, 300.0] * 6]], [machine], [rented("rent", [1.0])])
        best, *pure = mixes(case)
        assert best.counts == (count,)
        assert best.expected == pytest.approx(usd)
        assert {one.counts for one in pure if one.kind == BOUGHT} == {(2,)}  # what the mean month of 200 h takes


def test_jobs_that_run_nowhere_else_come_first():
    """A machine of 100 h; class a can be rented for 5 an hour, class b nowhere (its memory): b has the hours."""
    machine = held("machine", [1.0, 1.0], [0.0, 0.0], 100, there=1, for_sale=False)
    case = problem([[[80.0]], [[90.0]]], [machine], [rented("rent", [5.0, NEVER], [1.0, 0.0])])
    done = dispatch(case, (1,))
    assert done.held[:, 0, 0, 0].tolist() == [10.0, 90.0]
    assert done.usd[0] == pytest.approx(70 * 5.0)


def test_what_runs_dearer_than_it_is_rented_is_not_run():
    old = held("old", [1.0], [0.9], 100, there=1, for_sale=False)
    done = dispatch(problem([[[50.0]]], [old], [rented("rent", [0.5])]), (1,))
    assert done.held.sum() == 0
    assert done.usd[0] == pytest.approx(25.0)


def test_a_kind_that_one_class_cannot_use_is_not_put_behind_for_it():
    """Class b runs on the cheap machine alone, which has 100 h: 90 of a go there, 10 to the dear one.

    What b would pay on the dear machine, where it does not run, is given as 0, as the workflow does.
    """
    cheap = held("cheap", [1.0, 1.0], [0.1, 0.1], 100, there=1, for_sale=False)
    dear = held("dear", [1.0, NEVER], [0.5, 0.0], 100, there=1, for_sale=False)
    case = problem([[[100.0]], [[10.0]]], [cheap, dear], [rented("rent", [5.0, 5.0])])
    done = dispatch(case, (1, 1))
    assert done.held[:, 0, 0, 0].tolist() == pytest.approx([90.0, 10.0])
    assert done.usd[0] == pytest.approx(100 * 0.1 + 10 * 0.5)


def test_an_urgent_class_is_bought_for_where_nothing_rented_is_in_time():
    """Class b runs on the machine for sale alone: one is bought, though a is cheaper rented."""
    machine = held("machine", [1.0, 1.0], [0.0, 0.0], 100, fixed=500.0)
    case = problem([[[10.0]], [[2.0]]], [machine], [rented("rent", [1.0, NEVER], [1.0, 0.0])])
    assert mixes(case)[0].counts == (1,)


@given(small_problems())
@settings(max_examples=60, deadline=None)
def test_the_programme_finds_what_enumeration_finds(case):
    """Numbers of machines by the integer programme against all of them, each with its own linear programme."""
    grid = list(product(*(range(most_useful(case, kind) + 1) for kind in case.held)))
    costs = {counts: by_linear_programme(case, counts) for counts in grid}
    # A number is whole to 1e-6 in the solver, which is a machine for so little work.
    assert by_linear_programme(case, numbers_to_have(case)) == pytest.approx(min(costs.values()), rel=1e-6, abs=1e-5)


def most_useful(case, kind):
    """Machines that do all jobs alone: more never pay."""
    return int(np.ceil(float((case.jobs[:, 0, 0] * kind.hours[:, 0]).sum() / kind.capacity[0]) - 1e-9))


@given(small_problems())
@settings(max_examples=100, deadline=None)
def test_a_mix_never_costs_more_than_its_best_part(case):
    best, *pure = mixes(case)
    assert all(best.expected <= one.expected for one in pure)


@given(small_problems(), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_the_order_of_merit_is_the_linear_programme_where_one_kind_is_held(case, count):
    case = replace(case, held=case.held[:1])
    assert dispatch(case, (count,)).usd[0] == pytest.approx(by_linear_programme(case, (count,)), rel=1e-6, abs=1e-6)


@given(small_problems(), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_the_order_of_merit_is_feasible_and_never_cheaper_than_the_linear_programme(case, first, second):
    counts = (first, second)[: len(case.held)]
    done = dispatch(case, counts)
    assert np.allclose(done.held.sum(axis=1) + done.rented, case.jobs)
    for place, kind in enumerate(case.held):
        assert (done.held[:, place, 0, 0] * kind.hours[:, 0]).sum() <= counts[place] * kind.capacity[0] * (1 + 1e-9)
    assert done.usd[0] >= by_linear_programme(case, counts) - 1e-6


def unlike_kinds(source, unlike):
    """Two or three kinds of machines held, two to four classes, one to three offers: hours on a device of each kind are
    the work over its speed, and `unlike` of a factor off for each class (log-normal), as devices are for networks.
    """
    classes, kinds = source.integers(2, 5), source.integers(2, 4)
    work = source.lognormal(2.5, 0.7, classes)

    def hours():
        return work / source.lognormal(0, 0.4) / source.lognormal(0, unlike, classes)

    taken = [hours() for _ in range(kinds)]
    kept = [held(f"k{n}", one, one * source.uniform(0.1, 0.4), 703.0) for n, one in enumerate(taken)]
    offers = [rented(f"r{n}", hours() * source.uniform(0.5, 1.5)) for n in range(source.integers(1, 4))]
    case = problem(source.uniform(5, 60, (classes, 1, 1)), kept, offers)
    return case, tuple(int(count) for count in source.integers(1, 4, kinds))


@pytest.mark.parametrize(("unlike", "most_often", "worst"), [(0.1, 0.005, 0.06), (0.3, 0.005, 0.16)])
def test_how_far_the_dispatch_is_from_the_linear_programme(unlike, most_often, worst):
    """Of 120 cases nine in ten are within `most_often` of it, all within `worst`: as docs/decision.md says."""
    source = np.random.default_rng(2018)
    gaps = []
    for case, counts in (unlike_kinds(source, unlike) for _ in range(120)):
        gaps.append(float(dispatch(case, counts).usd[0]) / by_linear_programme(case, counts) - 1)
    assert min(gaps) > -1e-9
    assert np.quantile(gaps, 0.95) < most_often
    assert max(gaps) < worst


def test_each_class_goes_where_it_saves_most_by_hand():
    """Two machines of 100 h that cost nothing to run. Class a takes 10 h on one and 20 on two, b 20 and 10; rent is 20.

    10 of each: a on one and b on two fill both, and nothing is rented, whatever rent is.
    """
    one, two = held("one", [10.0, 20.0], [0.0, 0.0], 100), held("two", [20.0, 10.0], [0.0, 0.0], 100)
    done = dispatch(problem([[[10.0]], [[10.0]]], [one, two], [rented("rent", [20.0, 20.0])]), (1, 1))
    assert done.usd[0] == 0
    # Rent 15 for a, 50 for b: held against rent alone b is worth more by an hour of machine one (2.5) than a (1.5), and
    # fills it with 5 jobs; two does the other 5 and 2.5 of a, and 7.5 of a are rented for 112.5.
    done = dispatch(problem([[[10.0]], [[10.0]]], [one, two], [rented("rent", [15.0, 50.0])]), (1, 1))
    assert done.usd[0] == 0
    assert done.held[:, :, 0, 0].tolist() == [[10.0, 0.0], [0.0, 10.0]]


def test_a_machine_that_does_all_leaves_to_another_what_that_can_do():
    """Ten jobs each of a (rent 10) and b (rent 5), 10 h each. One does either for nothing in its 100 h, two only a, for
    1 USD: with a on one, which is worth more there, b would be rented for 50; with a on two all costs 10.
    """
    one, two = held("one", [10.0, 10.0], [0.0, 0.0], 100), held("two", [10.0, NEVER], [1.0, 0.0], 100)
    done = dispatch(problem([[[10.0]], [[10.0]]], [one, two], [rented("rent", [10.0, 5.0])]), (1, 1))
    assert done.usd[0] == pytest.approx(10.0)
    assert done.held[:, :, 0, 0].tolist() == [[0.0, 10.0], [10.0, 0.0]]


def test_two_kinds_whose_speeds_are_in_proportion_are_dispatched_at_the_least_cost():
    """Devices of one generation: what order of merit is exact for; 200 cases against the linear programme."""
    source = np.random.default_rng(7)
    for _ in range(200):
        work, price = source.uniform(1, 20, 3), source.uniform(0.5, 3.0)
        kinds = [
            held(f"k{n}", work / speed, work / speed * cost, source.uniform(50, 400), there=1)
            for n, (speed, cost) in enumerate(source.uniform([0.5, 0.05], [2.0, 0.4], (2, 2)))
        ]
        case = problem(source.uniform(0, 40, (3, 1, 1)), kinds, [rented("rent", work * price)])
        usd = dispatch(case, (1, 1)).usd[0]
        assert usd == pytest.approx(by_linear_programme(case, (1, 1)), rel=1e-6)


def test_months_are_alike_as_asked():
    """Correlation of two months, over 20,000 projects, and unit variance of each."""
    for alike in (0.0, 0.5, 1.0):
        noise = month_noise(np.random.default_rng(1), 20_000, 2, alike)
        assert np.corrcoef(noise.T)[0, 1] == pytest.approx(alike, abs=0.03)
        assert noise.std(axis=0) == pytest.approx([1, 1], abs=0.03)


def test_the_load_is_sorted_by_its_sum_and_adds_up():
    """Base 10 in all months, a peak of 0, 5, 20 on top: the busiest first."""
    load = np.array([[10.0, 10.0, 10.0], [5.0, 0.0, 20.0]])
    curve = load_duration(load, np.array([0.0, 0.5, 1.0]))
    assert curve[0].tolist() == [10.0, 10.0, 10.0]
    # windows of one month on either side of each third: means of (20, 5), (20, 5, 0) and (5, 0)
    assert curve[1].tolist() == pytest.approx([12.5, 25 / 3, 2.5])


def test_the_windows_of_a_longer_load_are_as_wide_as_its_shares_are_apart():
    """Eight months of 1 to 8 and three shares: two months on either side."""
    load = np.array([[1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0]])
    # 8, 7, 6; around the fifth busiest 6 to 2; 3, 2, 1
    assert load_duration(load, np.array([0.0, 0.5, 1.0])).tolist() == [pytest.approx([7.0, 4.0, 2.0])]


def test_a_class_that_nobody_rents_out_has_no_offer():
    case = problem([[[1.0]], [[1.0]]], [], [rented("rent", [1.0, NEVER])])
    assert dispatch(case, ()).problem.cheapest.tolist() == [[0], [-1]]
    assert dispatch(problem([[[1.0]]], [], []), ()).problem.cheapest.tolist() == [[-1]]


def test_what_nobody_rents_does_not_stay_undone_for_being_cheap():
    """Ten jobs of a (rent 6) and of b, which nobody rents out. Machine one of 100 h does either in 10 h for nothing;
    two takes 10 h and 5 USD for a, and 100 h for b. With a on one nothing is paid, but nine of b stay undone.
    """
    one, two = held("one", [10.0, 10.0], [0.0, 0.0], 100), held("two", [10.0, 100.0], [5.0, 0.0], 100)
    done = dispatch(problem([[[10.0]], [[10.0]]], [one, two], [rented("rent", [6.0, NEVER])]), (1, 1))
    assert done.undone.sum() == 0
    assert done.usd[0] == pytest.approx(50.0)


def test_kinds_in_proportion_are_filled_with_what_is_dearest_to_rent():
    """Two machines of 100 h that run all alike; b is rented for 1 an hour, a for 10: a fills both."""
    kinds = [held("cheap", [1.0, 1.0], [0.1, 0.1], 100), held("dear", [1.0, 1.0], [0.5, 0.5], 100)]
    done = dispatch(problem([[[100.0]], [[200.0]]], kinds, [rented("rent", [1.0, 10.0])]), (1, 1))
    assert done.held[:, :, 0, 0].tolist() == [[0.0, 0.0], [100.0, 100.0]]
    assert done.usd[0] == pytest.approx(100 * 0.1 + 100 * 0.5 + 100 * 1.0)


def test_no_more_machines_are_looked_at_than_the_busiest_month_keeps_busy():
    """250 h in the busier month, of 100 h each: three; of what is not for sale those that are there."""
    kinds = [held("sold", [1.0], [0.0], 100), held("ours", [1.0], [0.0], 100, there=2, for_sale=False)]
    assert bounds_of(problem([[[50.0, 250.0]]], kinds, [])) == (3, 2)
    both = [held("sold", [1.0, 2.0], [0.0, 0.0], 100)]
    assert bounds_of(problem([[[100.0]], [[75.0]]], both, [])) == (3,)  # 100 h of one class, 150 of the other


def test_of_numbers_of_machines_that_cost_the_same_the_first_is_kept():
    usd = {0: 5.0, 1: 3.0, 2: 4.0, 3: 3.0}
    assert climb((0,), lambda counts: usd[counts[0]], [0], (0,), (3,)) == (1,)
    usd[3] = 2.0  # twice the step is cheaper
    assert climb((0,), lambda counts: usd[counts[0]], [0], (0,), (3,)) == (3,)


@pytest.mark.parametrize(
    ("hours", "capacity", "jobs", "room", "boxes", "each"),
    [
        ([1.0, 1.0], 0.25, [0.5, 0.0], 0.3, 1, 1.0),  # half an hour of work, of which ours does half: 0.25 h are left
        ([1.0, NEVER], 100.0, [50.0, 20.5], 10.0, 3, 1.0),  # ours does all of a and nothing of b: 20.5 h
        ([1.0, 1.0], 35.25, [50.0, 20.5], 10.0, 4, 1.0),  # half of each class: 35.25 h are left
        ([1.0, 1.0], 35.25, [50.0, 20.5], 10.0, 8, 2.0),  # of which each takes two hours on a box
    ],
)
def test_so_many_machines_are_bought_as_do_what_those_that_are_there_leave(hours, capacity, jobs, room, boxes, each):
    ours = held("ours", hours, [0.0, 0.0], capacity, there=1, for_sale=False)
    case = problem([[[one]] for one in jobs], [ours, held("box", [each, each], [0.0, 0.0], room)], [])
    assert machines_for(case, 1) == boxes
