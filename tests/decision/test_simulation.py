"""The simulation: noise by hand, cases that have a formula, and what of the options is drawn together."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from decision_tables import BOX, RENTED, box_offer, figure, inputs, offer, options_of
from scipy.stats import t
from sweetspot.bills.renting import makespan, overhead
from sweetspot.decision.simulate import simulate
from sweetspot.draws import interval

FIXED = 6500 / 30
MANY = 100_000
EXACT = figure(RENTED, 225.0, 1, 225.0, 225.0)


def test_central_draws_are_the_table_itself():
    certain = inputs(box=(498.0, 498.0, 498.0))
    certain.throughput[["images_per_s_low", "images_per_s_high"]] = 225.0
    options = options_of(market=certain)
    draws = simulate(options, 1, 3)
    for name in ("usd", "hours", "images_per_usd", "images_per_s"):
        assert getattr(draws, name) == pytest.approx(np.repeat(options[name].to_numpy(float)[:, None], 3, axis=1))
    own = options["purchase"].eq("own").to_numpy()
    assert draws.fixed[own] == pytest.approx(np.full((1, 3), FIXED)) and np.isnan(draws.days[~own]).all()
    assert draws.days[own] == pytest.approx(np.full((1, 3), 10.0))
    assert draws.variable[options["option"].eq(RENTED)].tolist() == [[3.06] * 3]


def test_the_same_seed_gives_the_same_draws_and_a_new_offer_changes_none():
    options = options_of()
    first = simulate(options, 7, 50)
    assert np.array_equal(first.usd, simulate(options, 7, 50).usd)
    fewer = options[options["purchase"] != "spot"]
    assert np.array_equal(simulate(fewer.reset_index(drop=True), 7, 50).usd, first.usd[fewer.index])
    none = simulate(options.head(0), 1, 7)
    arrays = [name for name in none.__dataclass_fields__ if name not in ("figures", "rents")]
    assert {getattr(none, name).shape for name in arrays} == {(0, 7)} and none.figures == ()


def test_a_machine_drawn_at_half_the_speed_takes_twice_the_hours():
    # hours x images/s are the images of the job, in every draw
    draws = simulate(options_of(), 1, 20)
    assert draws.hours * draws.images_per_s * 3600 == pytest.approx(np.full((3, 20), 94_720_000.0))
    assert draws.images_per_s.std(axis=1).min() > 1
    # A price drawn above the planned one buys as many images less.
    draws = simulate(options_of((box_offer(capex_usd_low=5000.0, capex_usd_high=9000.0), 498.0, 4)), 1, 20)
    assert draws.usd * draws.images_per_usd == pytest.approx(np.full((1, 20), 94_720_000.0))
    assert np.ptp(draws.fixed) > 20


@pytest.mark.parametrize("other", [(80.0, 80.0), (80 / 1.5, 80 * 1.5)])
def test_probability_of_being_cheaper_is_the_normal_s(other):
    """A: median 100 images/s, 95 % interval [100/1.5, 150]: sigma = ln 1.5 / 1.9600 = 0.20687. B: 80 at the same price,
    exactly, then with the same spread: Phi(ln(100/80) / 0.20687) = Phi(1.0786) = 0.8596; and by the square root of two.
    """
    figures = [figure("a", 100.0, 1, 100 / 1.5, 150.0), figure("b", 80.0, 1, *other)]
    entries = [(offer(name, "on_demand", 1.0), rate, 1) for name, rate in (("a", 100.0), ("b", 80.0))]
    options = options_of(*entries, figures=figures, reference=None)
    draws = simulate(options, 5, MANY)
    sigma = math.log(1.5) / NormalDist().inv_cdf(0.975)
    chance = NormalDist().cdf(math.log(100 / 80) / (sigma if other[0] == 80.0 else math.hypot(sigma, sigma)))
    assert chance == pytest.approx(0.8596, abs=1e-4) or other[0] < 80.0
    first, second = (options.index[options["instance"] == name][0] for name in "ab")
    for values in (draws.images_per_usd, draws.images_per_s):
        assert np.mean(values[first] > values[second]) == pytest.approx(chance, abs=0.005)


@pytest.mark.parametrize("freedom", [1, 5, 40])
def test_draws_of_a_measured_figure_have_the_degrees_of_freedom_of_its_interval(freedom):
    # two runs whose spread is pooled with other cells: the 95 % interval is [80, 125], and the quartiles lie where t of
    # those degrees of freedom has them, ln 1.25 x t(75 %) / t(97.5 %)
    rows = [figure(RENTED, 100.0, 1, 80.0, 125.0, basis="measured", runs=2, interval_df=freedom)]
    draws = simulate(
        options_of((offer(RENTED, "on_demand", 1.0), 100.0, 1), figures=rows, reference=None), 7, MANY
    ).images_per_s[0]
    assert np.mean((draws > 80) & (draws < 125)) == pytest.approx(0.95, abs=0.003)
    quartile = math.log(1.25) * t.ppf(0.75, freedom) / t.ppf(0.975, freedom)
    assert np.quantile(np.log(draws / 100), 0.75) == pytest.approx(quartile, rel=0.03)


def test_a_price_range_reaches_the_bill():
    # 3.06 USD, declared 2.04 to 3.40 (5 % and 95 %): the bill has the same relative ends
    entry = offer(RENTED, "on_demand", 3.06, usd_per_hour_low=2.04, usd_per_hour_high=3.40)
    options = options_of((entry, 225.0, 1), figures=[EXACT], reference=None)
    draws = simulate(options, 2, MANY)
    assert interval(draws.usd[0] / options["usd"][0]) == pytest.approx((2.04 / 3.06, 3.40 / 3.06), rel=0.005)
    assert draws.variable[0] / 3.06 == pytest.approx(draws.usd[0] / options["usd"][0])


def test_interruptions_drawn_lengthen_by_daly_against_the_central_ones():
    taken = {"interruptions_per_hour": 0.5, "checkpoint_s": 360.0, "restore_s": 720.0, "wait_s": 1800.0,
             "every_s": 3600.0}  # fmt: skip
    factor = float(overhead(0.5, 0.1, 0.2, 1.0))

    def drawn(low, high, draws):
        ends = {"interruptions_per_hour_low": low, "interruptions_per_hour_high": high}
        entry = offer(RENTED, "spot", 1.0, spot_overhead=factor, **taken, **ends)
        options = options_of((entry, 225.0, 1), figures=[EXACT], reference=None)
        found = simulate(options, 1, draws)
        return found.variable[0], found.hours[0] / options["hours"][0]

    usd, hours = drawn(0.5, 0.5000001, 5)
    assert usd == pytest.approx(np.full(5, factor), rel=1e-5) and hours == pytest.approx(np.ones(5), rel=1e-5)
    # a range from half to twice as many: close to the 5 % and 95 % ends, 0.25 and 1 an hour
    usd, hours = drawn(0.25, 1.0, 2000)
    assert interval(usd) == pytest.approx([float(overhead(end, 0.1, 0.2, 1.0)) for end in (0.25, 1.0)], rel=0.05)
    stretch = [
        float(overhead(end, 0.1, 0.2, 1.0)) / factor * float(makespan(1.0, end, 0.5) / makespan(1.0, 0.5, 0.5))
        for end in (0.25, 1.0)
    ]
    assert interval(hours) == pytest.approx(stretch, rel=0.05)


def test_boxes_of_one_price_list_pay_one_price_of_electricity():
    ranges = {"usd_per_kwh_low": 0.1, "usd_per_kwh_high": 0.4, "days_per_month_low": 5.0, "days_per_month_high": 15.0}
    entries = [(box_offer(price_list="own", **ranges) | {"instance": name}, 498.0, 4) for name in (BOX, "other")]
    drawn = simulate(options_of(*entries), 1, 50)
    for one, other in (drawn.variable, drawn.days):  # and are used on the same days
        assert one.tolist() == other.tolist() and len(set(one)) == 50
