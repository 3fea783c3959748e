"""Spot under interruption: Daly's interval and time against printed values and an event-by-event simulation."""

import math

import numpy as np
import pytest
from price_lists import cell, machines, offers, planned, price_list, priced
from sweetspot.bills.rates import rates
from sweetspot.bills.renting import checkpoint_interval, makespan, overhead, wall_time

NAN = float("nan")
TAKEN = {"per_hour": 1 / 6, "checkpoint_s": 300.0, "restore_s": 360.0, "every_s": 3600.0, "wait_s": 900.0,
         "source": "this test"}  # fmt: skip
# Daly: M = 6 h, d = 1/12 h, R = 0.1 h, tau = 1 h
DALY = 6 * math.exp(0.1 / 6) * (math.exp((1 + 1 / 12) / 6) - 1)
LAST = 6 * math.exp(0.1 / 6) * (math.exp(1 / 6) - 1)  # the hour with which a job ends needs no checkpoint
HOURS = {"kind": "runs", "runs": 1, "hours": 10.0}


def spot(usd=2.0, terms=TAKEN, **more):
    return {"instance": "x", "purchase": "spot", "per_hour": usd, "interruptions": terms} | more


def simulate(
    work: float, per_hour: float, dump: float, restore: float, tau: float, jobs: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Machine hours and interruptions of `jobs` simulated jobs: an independent check of `wall_time`.

    Plays each job event by event: exponential times to the next interruption, segments of `tau` hours (the last
    one shorter) each but the last followed by a dump, an interrupted segment or restore begun anew. Hours throughout.
    """
    random = np.random.default_rng(seed)
    hours, interruptions = np.zeros(jobs), np.zeros(jobs, dtype=np.int64)
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
    assert float(checkpoint_interval(5.0, 2.0)) == 2.0  # longer than twice the mean time: once a mean time


@pytest.mark.parametrize(
    ("work", "per_hour", "dump", "restore", "tau"),
    [
        (24.0, 1 / 6, 5 / 60, 0.1, 1.0), (10.0, 0.5, 0.05, 0.25, 0.5), (8.0, 2.0, 0.05, 0.0, 0.25),
        (5.0, 0.01, 0.1, 1.0, 5.0), (0.5, 0.8, 0.2, 0.1, 1.0),  # the last is shorter than the interval: no checkpoint
    ],
)  # fmt: skip
def test_simulation_agrees_with_the_formula_within_its_own_confidence(work, per_hour, dump, restore, tau):
    hours, interruptions = simulate(work, per_hour, dump, restore, tau, jobs=4000, seed=2018)
    expected = float(wall_time(work, per_hour, dump, restore, tau))
    waited = float(makespan(expected, per_hour, 0.5))
    for seen, said in ((hours, expected), (interruptions, expected * per_hour), (hours + interruptions * 0.5, waited)):
        assert abs(seen.mean() - said) < 3.3 * seen.std(ddof=1) / math.sqrt(len(seen))  # 99.9 %


def test_daly_interval_is_the_best_one():
    best = float(checkpoint_interval(5 / 60, 6.0))
    at_best = float(wall_time(100.0, 1 / 6, 5 / 60, 0.1, best))
    assert all(at_best < float(wall_time(100.0, 1 / 6, 5 / 60, 0.1, best * factor)) for factor in (0.8, 0.9, 1.1, 1.25))


def test_overhead_and_wall_time_by_the_formula_and_none_without_interruptions():
    assert float(overhead(1 / 6, 1 / 12, 0.1, 1.0)) == pytest.approx(DALY)
    with np.errstate(divide="raise", invalid="raise"):
        assert float(overhead(0.0, 1 / 12, 0.1, 1.0)) == float(overhead(0.0, 0.01, 0.02, NAN)) == 1.0
    assert float(makespan(10.0, 0.5, 0.2)) == pytest.approx(11)
    # a job shorter than the interval is one stretch without a checkpoint; one and a half of them have half a saved one
    short = 6 * math.exp(0.1 / 6) * (math.exp(0.5 / 6) - 1)
    assert wall_time([0.5, 1.5], 1 / 6, 1 / 12, 0.1, 1.0).tolist() == pytest.approx([short, DALY / 2 + LAST])
    assert math.isnan(float(wall_time(NAN, 1 / 6, 1 / 12, 0.1, NAN)))
    assert float(wall_time(876_599.0, 0.0, 1.0, 0.0, NAN)) == 876_599.0  # a hundred years, and no more
    assert float(wall_time(876_601.0, 0.0, 1.0, 0.0, NAN)) == math.inf
    assert float(wall_time(0.0, 0.5, 0.1, 0.1, 1.0)) == float(makespan(0.0, 0.5, 1.0)) == 0.0


def test_a_job_that_never_finishes_is_infinite_without_a_word():
    # a thousand interruptions an hour: e^(1000 x (1 + 1/12)); a warning of numpy would be an error
    assert math.isinf(float(overhead(1000.0, 1 / 12, 0.1, 1.0)))
    assert math.isinf(float(wall_time(10.0, 1000.0, 1 / 12, 0.1, 1.0)))
    assert math.isinf(float(wall_time(0.5, 1000.0, 1 / 12, 2.0, 1.0)))  # of one stretch
    assert math.isinf(float(overhead(1000.0, 0.0, 2.0, 0.0001)))


def test_a_job_that_never_finishes_says_so_and_has_no_cheap_end():
    # a hundred interruptions an hour, each with ten hours of restoring: e^1000, never; none at the cheap end
    often = TAKEN | {"restore_s": 36e3, "checkpoint_s": 60.0, "per_hour": {"value": 100.0, "low": 0.0, "high": 100.0}}
    prices = price_list(spot(0.5, often))
    costs, bills = priced(prices, [cell("x")], work=HOURS)
    assert math.isnan(offers(prices).loc["x", "spot_overhead"])
    assert costs["status"].tolist() == ["never finishes"] and bills.empty
    assert costs[["hours", "hours_low", "usd", "usd_low", "usd_high"]].isna().all(axis=None)


def test_interruptions_divide_the_images_of_a_dollar_and_multiply_the_bill():
    prices, training = price_list(spot()), {"kind": "training", "model": "vgg16", "samples": 3_600_000.0}
    (row,) = priced(prices, [cell("x", 100.0)], work=training)[0].to_dict("records")
    assert row["images_per_usd"] == pytest.approx(3600 * 100 / (2 * DALY))
    assert row["machine_hours"] == pytest.approx(9 * DALY + LAST)
    assert row["usd"] == pytest.approx(2 * (9 * DALY + LAST))
    assert row["hours"] == pytest.approx((9 * DALY + LAST) * (1 + 0.25 / 6))  # a quarter of an hour's wait at each
    offer = offers(prices).loc["x"]
    assert offer["spot_overhead"] == pytest.approx(DALY)
    assert (offer["checkpoint_s"], offer["restore_s"], offer["wait_s"], offer["every_s"]) == (300, 360, 900, 3600)


def test_the_cheap_end_of_a_dollars_images_takes_the_dear_end_of_what_they_cost():
    often = TAKEN | {"per_hour": {"value": 1 / 6, "low": 0.0, "high": 0.5}}
    prices = price_list(spot({"value": 2.0, "low": 1.5, "high": 3.0}, often))
    figure = cell("x", 100.0, images_per_s_low=80.0, images_per_s_high=125.0)
    (row,) = priced(prices, [figure], w=HOURS)[0].to_dict("records")
    dear = 2 * math.exp(0.05) * (math.exp((1 + 1 / 12) / 2) - 1)  # M = 2 h
    assert row["images_per_usd_low"] == pytest.approx(3600 * 80 / (3 * dear))
    assert row["images_per_usd_high"] == pytest.approx(3600 * 125 / 1.5)  # never interrupted
    assert (row["usd_per_hour_low"], row["usd_per_hour_high"]) == (1.5, 3.0)
    last = 2 * math.exp(0.05) * (math.exp(1 / 2) - 1)
    assert row["usd_high"] == pytest.approx(3 * (9 * dear + last))
    assert row["usd_low"] == pytest.approx(1.5 * 10)


@pytest.mark.parametrize("hours", [6.8 / 60, 3.0])  # shorter than the best interval, of about an hour, and longer
def test_a_job_costs_alone_what_it_costs_in_a_plan(hours):
    """Five jobs on two machines that can be taken away are five times one: each ends with its result."""
    taken = {"per_hour": 0.03, "checkpoint_s": 60.0, "restore_s": 120.0, "wait_s": 300.0, "source": "this test"}
    prices = price_list(spot(35.6, taken))
    one = {"kind": "runs", "runs": 1, "hours": hours, "instance": "x", "model": "vgg16"}
    costs, _ = priced(prices, [cell("x")], job=one)
    phases = [{"name": "jobs", "jobs": 5, "hours": hours}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 2, "phases": phases}
    row = planned(prices, [cell("x")], machines(prices), p=plan).set_index("phase").loc["jobs"]
    assert row["usd"] == pytest.approx(5 * costs["usd"].item(), rel=1e-12)
    assert row["hours"] == pytest.approx(3 * costs["hours"].item(), rel=1e-12)
    if hours < 1:  # 4.05 USD and not 4.48: no checkpoint of a minute at its end
        assert costs["usd"].item() == pytest.approx(35.6 * hours, rel=0.01)


def test_an_hour_on_spot_costs_what_was_planned_and_more_with_more_interruptions():
    """Daly, a checkpoint each hour of 36 s, 72 s to restore: M e^(0.02 / M) (e^(1.01 / M) - 1), M of 10 and of 5 hours.

    1.0649 and 1.1237 machine hours an hour; 0.1 hours of waiting at each: x 1.01 and x 1.02 until the end.
    """
    row = {"purchase": "spot", "variable_usd_per_hour": 2.0, "interruptions_per_hour": 0.1, "checkpoint_s": 36.0,
           "restore_s": 72.0, "wait_s": 360.0, "every_s": 3600.0}  # fmt: skip
    planned_ = rates(row, lambda _: 1.0)
    assert (planned_.variable, planned_.longer) == (2.0, 1.0)
    often = rates(row, lambda name: 2.0 if name == "interruptions_per_hour" else 1.0)
    seldom, twice = (mean * math.exp(0.02 / mean) * math.expm1(1.01 / mean) for mean in (10, 5))
    assert often.variable == pytest.approx(2.0 * twice / seldom)
    assert often.longer == pytest.approx(twice * 1.02 / (seldom * 1.01))
