"""Spot under interruption: Daly's interval and time against printed values and an event-by-event simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from price_lists import cell, machines, planned, price_list, priced
from sweetspot.bills.renting import checkpoint_interval, losing_rate, makespan, overhead, wall_time

NAN = float("nan")


def simulate(
    work: float, per_hour: float, dump: float, restore: float, tau: float, jobs: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Machine hours and interruptions of `jobs` simulated jobs: an independent check of `wall_time`.

    Plays each job event by event: exponential times to the next interruption, segments of `tau` hours (the last
    one shorter) each but the last followed by a dump, an interrupted segment or restore begun anew. Hours throughout.
    """
    random = np.random.default_rng(seed)
    hours = np.zeros(jobs)
    interruptions = np.zeros(jobs, dtype=np.int64)
    for job in range(jobs):
        done, clock, restoring = 0.0, 0.0, 0.0
        failure = random.exponential(1.0 / per_hour)
        while work - done > 1e-12:
            step = min(tau, work - done)
            need = restoring + step + (dump if done + step < work - 1e-12 else 0.0)
            if clock + need <= failure:
                clock += need
                done, restoring = done + step, 0.0
            else:
                clock = failure
                interruptions[job] += 1
                failure = clock + random.exponential(1.0 / per_hour)
                restoring = restore
        hours[job] = clock
    return hours, interruptions


@pytest.mark.parametrize(("between_h", "minutes"), [(24, 117), (6, 57), (0.25, 9.1)])
def test_checkpoint_interval_gives_dalys_values(between_h, minutes):
    digits = 0.05 if minutes < 10 else 0.5  # as printed
    assert float(checkpoint_interval(5.0, between_h * 60)) == pytest.approx(minutes, abs=digits)


def test_checkpoint_longer_than_twice_the_mean_time_is_taken_once_a_mean_time():
    assert float(checkpoint_interval(5.0, 2.0)) == 2.0


@pytest.mark.parametrize(
    ("work", "per_hour", "dump", "restore", "tau"),
    [
        (24.0, 1 / 6, 5 / 60, 0.1, 1.0),
        (10.0, 0.5, 0.05, 0.25, 0.5),
        (8.0, 2.0, 0.05, 0.0, 0.25),
        (5.0, 0.01, 0.1, 1.0, 5.0),
        (0.5, 0.8, 0.2, 0.1, 1.0),  # shorter than the interval: no checkpoint at all
    ],
)
def test_simulation_agrees_with_the_formula_within_its_own_confidence(work, per_hour, dump, restore, tau):
    hours, interruptions = simulate(work, per_hour, dump, restore, tau, jobs=4000, seed=2018)
    expected = float(wall_time(work, per_hour, dump, restore, tau))
    half = 3.3 * hours.std(ddof=1) / math.sqrt(len(hours))  # 99.9 %
    assert abs(hours.mean() - expected) < half
    half = 3.3 * interruptions.std(ddof=1) / math.sqrt(len(hours))
    assert abs(interruptions.mean() - expected * per_hour) < half
    waited = hours + interruptions * 0.5
    assert abs(waited.mean() - float(makespan(expected, per_hour, 0.5))) < 3.3 * waited.std(ddof=1) / math.sqrt(
        len(hours)
    )


def test_daly_interval_is_the_best_one():
    best = float(checkpoint_interval(5 / 60, 6.0))
    at_best = float(wall_time(100.0, 1 / 6, 5 / 60, 0.1, best))
    others = [float(wall_time(100.0, 1 / 6, 5 / 60, 0.1, best * factor)) for factor in (0.8, 0.9, 1.1, 1.25)]
    assert at_best < min(others)


def test_without_interruptions_nothing_is_added():
    assert float(wall_time(24.0, 0.0, 0.1, 0.5, NAN)) == 24.0
    assert float(overhead(0.0, 0.1, 0.5, NAN)) == 1.0


def test_a_job_that_never_finishes_is_infinite_here_and_never_a_number():
    assert math.isinf(float(wall_time(300.0, 10.0, 0.1, 2.0, NAN)))  # e^20 lost hours for each saved one


@settings(max_examples=60)
@given(rate=st.floats(0.001, 2.0), more=st.floats(1.0, 5.0), dump=st.floats(0.001, 0.2), restore=st.floats(0, 0.5))
def test_more_interruptions_never_make_a_job_shorter(rate, more, dump, restore):
    assert overhead(rate * more, dump, restore, NAN) >= overhead(rate, dump, restore, NAN) * (1 - 1e-3)
    assert overhead(rate, dump, restore, NAN) >= 1


@settings(max_examples=40)
@given(fraction=st.floats(0.1, 0.95), dump=st.floats(0.001, 0.2), restore=st.floats(0, 0.5))
def test_losing_rate_separates_spot_from_on_demand(fraction, dump, restore):
    rate = losing_rate(fraction, 1.0, dump, restore)
    assert fraction * overhead(rate * 0.99, dump, restore, NAN) < 1.0
    assert fraction * overhead(rate * 1.02, dump, restore, NAN) > 1.0


def test_spot_dearer_than_on_demand_always_loses():
    assert losing_rate(1.0, 0.9, 0.1, 0.1) is None


def test_arrays_are_priced_at_once():
    hours = wall_time(np.array([10.0, 20.0, 30.0]), np.array([0.1, 0.1, 0.1]), 0.05, 0.1, 1.0)
    assert hours[2] - hours[1] == pytest.approx(hours[1] - hours[0])


@pytest.mark.parametrize("hours", [6.8 / 60, 3.0])  # shorter than the best interval, of about an hour, and longer
def test_a_job_costs_alone_what_it_costs_in_a_plan(hours):
    """Five jobs on two machines that can be taken away are five times one: each ends with its result."""
    taken = {"per_hour": 0.03, "checkpoint_s": 60.0, "restore_s": 120.0, "wait_s": 300.0, "source": "this test"}
    prices = price_list({"instance": "x", "purchase": "spot", "per_hour": 35.6, "interruptions": taken})
    one = {"kind": "runs", "runs": 1, "hours": hours, "instance": "x", "model": "vgg16"}
    costs, _ = priced(prices, [cell("x")], job=one)
    phases = [{"name": "jobs", "jobs": 5, "hours": hours}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 2, "phases": phases}
    row = planned(prices, [cell("x")], machines(prices), p=plan).set_index("phase").loc["jobs"]
    assert row["usd"] == pytest.approx(5 * costs["usd"].item(), rel=1e-12)
    assert row["hours"] == pytest.approx(3 * costs["hours"].item(), rel=1e-12)
    if hours < 1:  # 4.05 USD and not 4.48: no checkpoint of a minute at its end
        assert costs["usd"].item() == pytest.approx(35.6 * hours, rel=0.01)
