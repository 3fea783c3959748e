"""When a result is there, counted from today, against closed forms and a simulation of the events."""

import math

import numpy as np
import pytest
from sweetspot.availability.start_times import CHECKPOINT_HOURS, RESTART_HOURS, StartTimes, result_quantiles
from sweetspot.bills.renting import checkpoint_interval

NAN = float("nan")


def start_times(share=1.0, wait=0.0, failures=0.0, start=None, machines=1.0):
    """A machine whose figures are certain."""
    ranges = [(value,) * 3 for value in (share, wait, failures)]
    return StartTimes(*ranges, start_hours=start, machines=machines)


def simulated_hours(work, per_hour, share, wait, jobs=5_000):
    """Hours to the result of jobs played event by event, independent of the library.

    A machine is free with the chance `share`, else after an exponential wait; a failure ends the stretch or the
    restart, a machine is sought again, and the stretch since the last checkpoint begins anew.
    """
    random, hours = np.random.default_rng(7), np.empty(jobs)
    tau = min(float(checkpoint_interval(CHECKPOINT_HOURS, 1 / per_hour)), work)
    for job in range(jobs):
        clock = 0.0 if random.random() < share else random.exponential(wait)
        done, restart = 0.0, 0.0
        while work - done > 1e-9:
            step = min(tau, work - done)
            need = restart + step + (CHECKPOINT_HOURS if work - done - step > 1e-9 else 0.0)
            until_failure = random.exponential(1 / per_hour)
            if until_failure >= need:
                clock, done, restart = clock + need, done + step, 0.0
            else:
                clock += until_failure + (0.0 if random.random() < share else random.exponential(wait))
                restart = RESTART_HOURS
        hours[job] = clock
    return hours


@pytest.mark.parametrize(("share", "wait"), [(0.5, 21.6), (0.07, 115.2)])
def test_a_search_is_free_at_once_or_waits_exponentially(share, wait):
    # The quantile q of the wait is w ln((1 - p)/(1 - q)), and 0 where p >= q.
    hours = start_times(share, wait).result_hours(np.full(200_000, 6.0))
    for level in (0.5, 0.9):
        quantile = wait * math.log(max((1 - share) / (1 - level), 1))
        assert np.quantile(hours, level) == pytest.approx(6 + quantile, rel=0.02, abs=0.2)


@pytest.mark.parametrize(("work", "per_hour", "share", "wait"), [(400.0, 0.01, 0.3, 48.0), (720.0, 8e-4, 0.07, 115.2)])
def test_a_simulation_of_the_events_agrees(work, per_hour, share, wait):
    ours = start_times(share, wait, per_hour).result_hours(np.full(40_000, work))
    theirs = simulated_hours(work, per_hour, share, wait)
    assert ours.mean() == pytest.approx(theirs.mean(), rel=0.04)
    for level in (0.5, 0.9):
        assert np.quantile(ours, level) == pytest.approx(np.quantile(theirs, level), rel=0.05)


def test_a_delivery_comes_on_its_day():
    # Uniform from 0 to 1,344 h: 672 in the middle, 9 of 10 within 1,209.6; no search before it.
    ordered = start_times(0.1, 1e6, start=(NAN, 0.0, 1344.0))
    assert result_quantiles(ordered, 10.0) == pytest.approx((682.0, 1219.6), rel=0.04)


@pytest.mark.parametrize("machines", [1, 4])
def test_several_machines_are_free_together_from_p_to_p_to_the_m(machines):
    # Of p^(m^u) with u uniform: between p^4 = 0.0625 and p = 0.5, mean of 0.5^(4^u) over u.
    hours = start_times(0.5, 1e9, machines=machines).result_hours(np.full(50_000, 1.0))
    levels = (np.arange(1000) + 0.5) / 1000
    assert (hours < 2).mean() == pytest.approx((0.5 ** (machines**levels)).mean(), abs=0.01)
