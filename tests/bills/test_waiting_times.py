"""Waiting for a shared machine: printed values, the definition in fractions, and a queue by its events."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from sweetspot.bills.waiting_times import (
    NO_WAITS,
    OVERLOADED,
    JobClass,
    WaitDistribution,
    erlang_b,
    erlang_c,
    max_throughput,
    sample_waits,
    simulate_waits,
    start_times,
    utilization,
    wait_distribution,
)


def by_definition(servers, load):
    """Erlang C as its definition sums it, in fractions: the share of time with `servers` or more jobs there."""
    load, terms = Fraction(load), [Fraction(1)]
    for number in range(1, servers + 1):
        terms.append(terms[-1] * load / number)
    tail = terms[-1] * servers / (servers - load)
    return tail / (sum(terms[:-1]) + tail)


@pytest.mark.parametrize(
    ("servers", "load", "printed", "rounding"),
    [
        (1, 0.5, 0.5, 0),  # one server: its utilisation
        (2, 1.0, 1 / 3, 0),  # textbooks: 1/3 and 4/9
        (3, 2.0, 4 / 9, 0),
        (2, 0.5, 0.1, 0),  # a^2 / (2 + a)
        (4, 2.0, 4 / 23, 0),  # 1 + 2 + 2 + 4/3 = 19/3, 16/24 x 2 = 4/3: 4/3 of 23/3
        # Tables by offered load at a given share: 3.87 Erlang for 8 channels at 5 %, 4.08 for 10 at 1 %, two places.
        (8, 3.87, 0.05, 0.0005),
        (10, 4.08, 0.01, 0.0001),
        (14, 10.0, 0.1741, 0.0001),  # call centres' usual example: 10 Erlang, 14 agents, 17.4 %
    ],
)
def test_the_share_that_waits_is_as_printed(servers, load, printed, rounding):
    assert erlang_c(servers, load) == pytest.approx(printed, abs=rounding or 1e-12)


@pytest.mark.parametrize("servers", [1, 2, 4, 8])
@pytest.mark.parametrize("busy", [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)])
def test_the_recursion_equals_the_definition(servers, busy):
    assert erlang_c(servers, float(servers * busy)) == pytest.approx(float(by_definition(servers, servers * busy)))


def test_lost_calls_as_printed_and_many_servers_do_not_overflow():
    assert erlang_b(2, 1.0) == pytest.approx(1 / 5)  # 1/2 of 1 + 1 + 1/2
    assert erlang_b(10, 5.0) == pytest.approx(0.0184, abs=5e-5)  # tables: 1.84 %
    assert 0 < erlang_c(1000, 950.0) < 1
    assert erlang_c(4, 4.0) == erlang_c(4, 5.0) == 1


def test_the_wait_on_one_and_on_two_devices_by_hand():
    # One at a time, 0.8 of the time: P = 0.8, relaxed 10 / 0.2 = 50 h; mean 40 h, 0.8 e^(-t/50) = 0.1 at 103.97 h.
    single = wait_distribution([JobClass(0.08, 10.0, 1.0, 1)])
    assert (single.p_wait, single.mean, single.quantile(0.9)) == pytest.approx((0.8, 40.0, 50 * math.log(8)))
    # Hours that never differ halve it (Pollaczek-Khinchine): 0.08 x 10^2 / (2 x 0.2) = 20.
    assert wait_distribution([JobClass(0.08, 10.0, 0.0, 1)]).mean == pytest.approx(0.08 * 100 / (2 * 0.2))
    # Hours 2 and 20, each exponential, half and half: second moment (2 x 4 + 2 x 400) / 2 = 404; one server at 0.66:
    # 0.06 x 404 / (2 x 0.34) = 35.65 (Pollaczek-Khinchine).
    kinds = [JobClass(0.03, 2.0, 1.0, 1), JobClass(0.03, 20.0, 1.0, 1)]
    assert wait_distribution(kinds).mean == pytest.approx(0.06 * 404 / (2 * 0.34))
    # Two at once, half of the time: P = 1/3, relaxed 10 / (2 x 0.5) = 10 h; mean 10/3; 10 ln(10/3) = 12.04.
    pair = wait_distribution([JobClass(0.1, 10.0, 1.0, 2)])
    assert (pair.p_wait, pair.mean, pair.quantile(0.9)) == pytest.approx((1 / 3, 10 / 3, 10 * math.log(10 / 3)))


def test_the_share_that_waits_is_none_without_work_and_all_with_too_much():
    found = wait_distribution([JobClass(0.05, 10.0, 1.0, 2)])  # a = 0.5, c = 2: P = 0.1
    assert found.quantile(0.9) == pytest.approx(0, abs=1e-9)
    assert found.mean == pytest.approx(0.1 * 10 / (2 * 0.75))
    assert wait_distribution([JobClass(0.04, 10.0, 1.0, 2)]).quantile(0.9) == 0
    classes = [JobClass(0.13, 10.0, 1.0, 1)]
    found = wait_distribution(classes)
    assert found.is_overloaded and found == OVERLOADED
    assert utilization(classes) == pytest.approx(1.3)
    assert math.isnan(found.mean) and math.isnan(found.quantile(0.9))
    assert wait_distribution([JobClass(1.0, 1.0, 1.0, 1)]).is_overloaded  # exactly full: it never recovers
    assert wait_distribution([JobClass(1 - 1.5e-9, 1.0, 1.0, 1)]).mean == pytest.approx(1 / 1.5e-9, rel=1e-6)
    assert wait_distribution([JobClass(0.0, 10.0, 1.0, 1)]) == WaitDistribution(0.0, 0.0)
    kept = [len(simulate_waits((JobClass(1.0, 1.0, 1.0, 1),), 0.5, jobs)) for jobs in (100, 5_000)]
    assert kept == [50, 3_000]  # without half, and without the first 2,000


@pytest.mark.parametrize(("servers", "spread"), [(1, 2.0), (2, 0.5), (4, 1.0), (8, 2.0)])
def test_the_formula_and_the_events_agree(servers, spread):
    """Allen and Cunneen's correction is exact for one server and for exponential hours; else within a tenth or so."""
    rate, hours = 0.8 * servers / 10, 10.0
    seen = simulate_waits((JobClass(1.0, hours, spread, servers),), rate, 80_000)
    said = wait_distribution([JobClass(rate, hours, spread, servers)])
    assert said.mean == pytest.approx(np.mean(seen), rel=0.12)
    assert said.quantile(0.9) == pytest.approx(np.quantile(seen, 0.9), rel=0.15)


def test_the_events_on_paper():
    # Four devices. One of them from 0 to 10, all from 1: it waits for that one, and one more device from 2 for both.
    jobs = [(0.0, 10.0, 1), (1.0, 5.0, 4), (2.0, 1.0, 1), (15.5, 1.0, 3), (15.5, 1.0, 1), (15.5, 1.0, 1)]
    arrivals, hours, devices = zip(*jobs, strict=True)
    # At 15.5 three beside one; at 16 the first of the ones is back.
    assert start_times(4, arrivals, hours, devices) == [0.0, 10.0, 15.0, 15.5, 16.0, 16.5]


def test_what_a_machine_can_do_at_most_is_less_where_jobs_wait_for_all_of_it():
    # One and all in turn, by the lot, each an hour: a run of k ones takes ceil(k/4) hours, then an hour for each all.
    # A run of ones, geometric: its hours 1 + 1/16 + 1/256 + ... = 16/15; runs of alls last 2 on average. A cycle has
    # four jobs in 46/15 hours: 60/46 an hour; with nobody waiting for others 1 / (1/2 + 1/8) = 1.6.
    mix = (JobClass(0.5, 1.0, 0.0, 4), JobClass(0.5, 1.0, 0.0, 1))
    assert max_throughput(mix, 100_000) == pytest.approx(60 / 46, rel=0.01)
    # The first job of seed 2018: its class, its arrival, its hours, which are exponential.
    generator = random.Random(2018)
    generator.choices("x"), generator.expovariate(1.0)
    assert max_throughput((JobClass(1.0, 5.0, 1.0, 1),), 1) == pytest.approx(1 / generator.gammavariate(1.0, 5.0))
    # So at 1.4 an hour, 0.875 of the device-hours, the queue grows all the same.
    full = [JobClass(0.7, 1.0, 0.0, 4), JobClass(0.7, 1.0, 0.0, 1)]
    assert wait_distribution(full).is_overloaded
    assert utilization(full) == pytest.approx(0.875)


def test_who_needs_all_devices_holds_up_the_others():
    few, many = JobClass(0.064, 5.0, 1.0, 4), JobClass(0.016, 5.0, 1.0, 1)
    both = wait_distribution([few, many])
    assert utilization([few, many]) == pytest.approx(0.16)
    # Poisson arrivals see time averages: one that takes all starts at once only where nothing runs, and the others
    # wait where an `all` runs (0.08 of the time) or waits. So the mean is above the two alone, each on the machine.
    assert both.mean > wait_distribution([few]).mean + wait_distribution([many]).mean
    assert wait_distribution([few, many]) == both  # the same draws


def test_a_machine_that_just_has_what_comes_never_recovers():
    """Jobs of one device and of both, an hour each: with those held up behind the others it is full below 100 %."""
    most = max_throughput((JobClass(0.5, 1.0, 0.0, 2), JobClass(0.5, 1.0, 0.0, 1)))
    assert most < 4 / 3
    for share, full in ((1.0, True), (0.99, False)):
        each = share * most / 2
        assert wait_distribution([JobClass(each, 1.0, 0.0, 2), JobClass(each, 1.0, 0.0, 1)]).is_overloaded == full


@pytest.mark.parametrize(
    ("tail", "shares"),
    [
        # Half of the jobs wait, e-fold in two hours; of all of them less than none is waited longer.
        (WaitDistribution(0.5, 2.0), [1.0, 0.5, 0.5 * math.exp(-0.25), 0.5 * math.exp(-1.0)]),
        (WaitDistribution(0.5, 0.5), [1.0, 0.5, 0.5 * math.exp(-1.0), 0.5 * math.exp(-4.0)]),
        (WaitDistribution(0.0, 0.0), [1.0, 0.0, 0.0, 0.0]),
        (WaitDistribution(1.0, math.inf), [1.0, 1.0, 1.0, 1.0]),
        (WaitDistribution(0.75, math.nan, (0.0, 0.5, 2.0, 3.0)), [1.0, 0.75, 0.5, 0.25]),  # as they were seen
    ],
)
def test_the_share_that_waits_longer_than_so_many_hours(tail, shares):
    assert tail.p_longer_than(np.array([-1.0, 0.0, 0.5, 2.0])) == pytest.approx(shares)


def test_the_share_in_time_in_each_draw_and_month():
    """One server, ten hours a job: of those that wait, e^(-(1 - r) t / 10) of r wait longer than t, r in twentieths."""
    found = sample_waits([JobClass(0.05, 10.0, 1.0, 1)], np.array([[0.5, 0.26], [0.0, 1.0], [0.974, 0.976]]))
    late = [[0.5 * math.exp(-0.5), 0.25 * math.exp(-0.75)], [0, 1], [0.95 * math.exp(-0.15), 1]]  # of 10, 20, 30 hours
    assert found.share_in_time(np.array([10.0, 20.0, 30.0])) == pytest.approx(1 - np.array(late))
    assert found.mean_hours == pytest.approx(10)  # r / (1 - r) x 10
    nobody = sample_waits([JobClass(0.0, 10.0, 1.0, 1)], np.zeros((1, 1)))
    assert nobody.mean_hours == NO_WAITS.mean_hours == 0
    assert nobody.share_in_time(np.zeros(1)) == NO_WAITS.share_in_time(np.zeros(1)) == 1


def test_nine_in_ten_of_a_queue_that_is_simulated_wait_at_most_so_long():
    """Jobs that need the whole machine among jobs that need a fourth of it."""
    found = wait_distribution([JobClass(0.2, 2.0, 1.0, 4), JobClass(0.15, 2.0, 1.0, 1)])
    seen = np.array(found.simulated)
    assert found.p_wait == np.mean(seen > 0)
    assert WaitDistribution(0.75, math.nan, (0.0, 0.5, 2.0, 3.0)).quantile(0.6) == 2.0  # two of four are too few
    assert seen.size > 1000 and found.mean == pytest.approx(seen.mean())
    assert np.mean(seen <= found.quantile(0.9)) >= 0.9 > np.mean(seen < found.quantile(0.9)) - 1e-9
    assert found.quantile(0.9) in seen
