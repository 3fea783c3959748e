"""Who does what in a mix: the order of merit by hand, against the linear programme, and what a dispatch says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mix_problems import by_linear_programme, held, problem, rented, small_problems, timing
from sweetspot.mixes import problem as arrays
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER


def test_each_class_goes_where_it_saves_most_by_hand():
    """Two machines of 100 h that cost nothing to run. Class a takes 10 h on one and 20 on two, b 20 and 10.

    10 of each: a on one and b on two fill both, and nothing is rented, whatever rent is.
    """
    one, two = held("one", [10.0, 20.0], [0.0, 0.0], 100), held("two", [20.0, 10.0], [0.0, 0.0], 100)
    # Rent 15 for a, 50 for b: held against rent alone b is worth more by an hour of machine one (2.5) than a (1.5), and
    # fills it with 5 jobs; two does the other 5 and 2.5 of a, and 7.5 of a are rented for 112.5.
    done = dispatch(problem([[[10.0]], [[10.0]]], [one, two], [rented("rent", [15.0, 50.0])]), (1, 1))
    assert [done.jobs(name)[:, 0, 0].tolist() for name in ("one", "two")] == [[10.0, 0.0], [0.0, 10.0]]


def test_what_nobody_rents_does_not_stay_undone_for_being_cheap():
    """Ten jobs of a (rent 6) and of b, which nobody rents out. Machine one of 100 h does either in 10 h for nothing;
    two takes 10 h and 5 USD for a, and 100 h for b. With a on one nothing is paid, but nine of b stay undone.
    """
    one, two = held("one", [10.0, 10.0], [0.0, 0.0], 100), held("two", [10.0, 100.0], [5.0, 0.0], 100)
    done = dispatch(problem([[[10.0]], [[10.0]]], [one, two], [rented("rent", [6.0, NEVER])]), (1, 1))
    assert not done.remaining[1].any()
    assert done.usd[0] == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("running", "timed", "jobs", "usd"),
    [
        ([0.2, 0.9], (), [0.0, 0.0], [5.0, 5.0]),  # 0.55 is expected, beside 0.5 rented: all is rented
        ([0.2, 0.7], (), [10.0, 10.0], [2.0, 7.0]),  # 0.45 is expected: all jobs run there, also where each costs 0.7
        ([0.2, 0.8], (), [0.0, 0.0], [5.0, 5.0]),  # as dear as rent
        ([0.2, 0.9], ("ours: a",), [10.0, 0.0], [2.0, 5.0]),  # it works where it is known to be the cheaper
    ],
)
def test_a_machine_works_where_it_is_expected_to_be_the_cheaper(running, timed, jobs, usd):
    """Ten jobs, of two hours in the first draw and of four in the second; one machine of 100 hours, and 0.5 rented."""
    ours = held("ours", [[2.0, 4.0]], [running], 100.0, there=1, draws=2)
    case = timing(problem([[[10.0], [10.0]]], [ours], [rented("rent", [0.5], draws=2)]), timed)
    done = dispatch(case, (1,))
    assert done.jobs("ours")[0, :, 0].tolist() == jobs
    assert done.usd.tolist() == pytest.approx(usd)


@pytest.mark.parametrize(("late", "finite"), [(9.0, True), (10.0, True), (15.0, False)])
def test_one_job_in_a_hundred_may_wait_for_a_quieter_month(late, finite):
    """A thousand jobs of an hour, which nobody rents out, on a machine that has `late` hours too few."""
    machine = held("machine", [1.0], [0.0], 1000.0 - late, there=1)
    done = dispatch(problem([[[1000.0]]], [machine], []), (1,))
    assert done.remaining.sum() == pytest.approx(late)
    assert np.isfinite(done.usd).all() == finite


@given(small_problems(), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_a_dispatch_is_feasible_and_with_one_kind_the_linear_programme(case, first, second):
    counts = (first, second)[: len(case.held)]
    done = dispatch(case, counts)
    assert np.allclose(sum(done.owned_jobs.values()) + done.remaining, case.jobs)
    for place, kind in enumerate(case.held):
        assert (done.jobs(kind.name)[:, 0, 0] * kind.hours[:, 0]).sum() <= counts[place] * kind.capacity[0] * (1 + 1e-9)
    assert done.usd[0] >= by_linear_programme(case, counts) - 1e-6
    single = replace(case, held=case.held[:1])
    assert dispatch(single, (first,)).usd[0] == pytest.approx(by_linear_programme(single, (first,)), rel=1e-6, abs=1e-6)


def unlike_kinds(source, unlike):
    """Two or three kinds of machines, two to four classes, one to three offers: hours are the work over a kind's speed
    and `unlike` of a factor off for each class (log-normal), as devices are for networks.
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


@pytest.mark.parametrize(
    ("unlike", "most_often", "worst"), [pytest.param(0.1, 0.005, 0.06, marks=pytest.mark.slow), (0.3, 0.005, 0.16)]
)
def test_how_far_the_dispatch_is_from_the_linear_programme(unlike, most_often, worst):
    """Of 120 cases nine in ten are within `most_often` of it, all within `worst`: as docs/decision.md says."""
    source = np.random.default_rng(2018)
    cases = (unlike_kinds(source, unlike) for _ in range(120))
    gaps = [dispatch(case, counts).usd[0] / by_linear_programme(case, counts) - 1 for case, counts in cases]
    assert min(gaps) > -1e-9 and np.quantile(gaps, 0.95) < most_often and max(gaps) < worst


def test_each_source_with_its_jobs_hours_and_money():
    """All speeds are known first. Class a: 3 and 5 jobs in one draw, 7 and 9 in the next; b: two always. A machine of
    two devices and 4 hours, at 0.5 USD an hour, does a in an hour each; a is rented from `west` in the first draw for 2
    USD (3 elsewhere), from `east` in the second for 1 (4 elsewhere), three device-hours each; b from `east` alone, for
    6, and never on the box.
    """
    box = held("box", [1.0, NEVER], [0.5, 0.5], 4.0, fixed=10.0, draws=2, devices=2)
    east = rented("east", [[3.0, 1.0], [6.0, 6.0]], [[3.0, 3.0], [8.0, 8.0]])
    west = rented("west", [[2.0, 4.0], [NEVER, NEVER]], [[3.0, 3.0], [NEVER, NEVER]])
    jobs = [[[3.0, 5.0], [7.0, 9.0]], [[2.0, 2.0], [2.0, 2.0]]]
    case = problem(jobs, [box], [east, west, rented("never", [99.0, 99.0], draws=2)])
    done = dispatch(timing(case, timing(case).trials), (1,))
    assert list(done.sources) == ["box", "east", "west"] and done.lead == "east"
    # The machine does four of a in a month, three where there are no more.
    assert done.jobs("box").tolist() == [[[3.0, 4.0], [4.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]]
    assert done.jobs("west").tolist() == [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    assert done.jobs("east").tolist() == [[[0.0, 0.0], [3.0, 5.0]], [[2.0, 2.0], [2.0, 2.0]]]
    assert done.device_hours("box").tolist() == [[6.0, 8.0], [8.0, 8.0]]
    assert done.device_hours("west").tolist() == [[0.0, 3.0], [0.0, 0.0]]
    assert done.device_hours("east").tolist() == [[16.0, 16.0], [9.0 + 16.0, 15.0 + 16.0]]
    assert done.rent_by_offer == pytest.approx({"west": 2.0 / 4, "east": (3.0 + 5.0 + 4 * 12.0) / 4})
    # by draw, the mean of its months, with the 10 of having the machine
    assert done.usd.tolist() == pytest.approx([10 + (1.5 + 2 + 2) / 2 + 12, 10 + (2 + 2 + 3 + 5) / 2 + 12])


def test_in_each_draw_a_machine_does_the_jobs_that_are_worth_most_in_it():
    """Its speed is known. Ten hours: ten jobs of the class that takes one hour, which saves 4 USD an hour of rent; the
    other takes two and saves 2. Of ten jobs each, the ten of the other class are rented for 40.
    """
    ours = held("ours", [[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0], 10.0, there=1, draws=2)
    case = problem(np.full((2, 2, 1), 10.0), [ours], [rented("rent", [4.0, 4.0], draws=2)])
    done = dispatch(timing(case, ["ours: a", "ours: b"]), (1,))
    assert done.jobs("ours")[:, :, 0].tolist() == [[10.0, 0.0], [0.0, 10.0]] and done.usd.tolist() == [40.0, 40.0]


@pytest.mark.parametrize(
    ("selected", "usd"),
    [
        # rented 10 - 5 = 5 and 20 - 10 = 10; 30 - 10 = 20 and 40 - 5 = 35; means 25 and 200; 8 and 12 of the machine
        (None, [(5 * 2 + 10 * 4) / 2 + 8, (20 * 6 + 35 * 8) / 2 + 12]),
        ((..., np.array([1])), [40 + 8, 280 + 12]),
        # the second draw in the first month, the first in the second; a machine costs 10 on average
        ((np.array([1, 0]), np.array([0, 1])), [120 + 10, 40 + 10]),
    ],
)
def test_deliveries_and_prices_of_each_month_count_in_it(selected, usd):
    """10 and 20 jobs of an hour in the two months of the first draw, 30 and 40 of the second. A machine of 10 hours is
    there for half of the first month, or of the second; rent of 2 USD is once to four times that. Another is idle.
    """
    box = held("box", [1.0], [0.0], 10.0, np.array([8.0, 12.0]), draws=2, present=np.array([[0.5, 1.0], [1.0, 0.5]]))
    assert box.hours_per_month.tolist() == [[5.0, 10.0], [10.0, 5.0]]
    offer = rented("rent", [2.0], draws=2, path=np.array([[1.0, 2.0], [3.0, 4.0]]))
    case = problem([[[10.0, 20.0], [30.0, 40.0]]], [box, held("idle", [NEVER], [0.0], 10.0, draws=2)], [offer])
    assert dispatch(case.select(*selected) if selected else case, (1, 1)).usd.tolist() == pytest.approx(usd)


def test_long_projects_are_looked_at_in_36_months_and_many_options_by_fewer_samples(capsys):
    """Of 72 months every second: they grow to its middle, half a month after its begin where months are of one."""
    starts, length = arrays.months_of(72.0)
    assert (starts.tolist(), length) == (list(range(0, 72, 2)), 2.0)
    assert arrays.months_of(2.5)[0].tolist() == pytest.approx([0.0, 2.5 / 3, 5.0 / 3])
    assert arrays.growth_by_month(np.array([[0.1]]), 72.0)[0, 0, [0, -1]] == pytest.approx([1.1**0.5, 1.1**70.5])
    assert [arrays.even_indices(5, most).tolist() for most in (3, 9)] == [[0, 2, 4], [0, 1, 2, 3, 4]]
    assert arrays.finite(np.array([NEVER, 2.0])).tolist() == [0.0, 2.0]
    # five million values, 100 samples at the least: 5,000,000 / 1,251 = 3,996.8
    assert [arrays.affordable_samples(count, 4000) for count in (0, 1250, 1251, 10**6)] == [4000, 4000, 3996, 100]
    assert arrays.affordable_samples(0, 10**7) == 5 * 10**6 and capsys.readouterr().err.count("note: ") == 3


def test_months_are_alike_as_asked():
    """Correlation of two months, over 20,000 projects, and unit variance of each."""
    for alike in (0.0, 0.5, 1.0):
        noise = arrays.month_noise(np.random.default_rng(1), 20_000, 2, alike)
        assert np.corrcoef(noise.T)[0, 1] == pytest.approx(alike, abs=0.03)
        assert noise.std(axis=0) == pytest.approx([1, 1], abs=0.03)
    project, months = (generator := np.random.default_rng(1)).standard_normal((9, 1)), generator.standard_normal((9, 2))
    assert arrays.month_noise(np.random.default_rng(1), 9, 2, 0.36) == pytest.approx(0.6 * project + 0.8 * months)
