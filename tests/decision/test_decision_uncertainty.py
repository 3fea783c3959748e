"""The simulation against cases that have a formula: log-normal ratios, quantiles that a monotone map keeps."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, cost, figure, inputs, offer, settings
from scipy.stats import lognorm, t
from sweetspot.bills.renting import overhead
from sweetspot.decision.breakeven import break_even
from sweetspot.decision.compare import Inputs, compare
from sweetspot.decision.options import build_options
from sweetspot.decision.ranks import pairs
from sweetspot.decision.simulate import simulate
from sweetspot.draws import interval, spread, stream

MANY = 100_000


def market(entries, figures, extrapolation=None, reference=None):
    """Options of some offers; `entries` are (offer, images/s, gpus)."""
    costs = pd.DataFrame([cost(entry, rate, gpus) for entry, rate, gpus in entries])
    offers = pd.DataFrame([entry for entry, _, _ in entries])
    predicted = (
        pd.DataFrame([figure("none", 1.0, 1, method="x", headline=True)]) if extrapolation is None else extrapolation
    )
    return build_options(costs, offers, pd.DataFrame(figures), predicted, settings(reference=reference))


def test_probability_of_being_cheaper_is_the_normal_s():
    # A: median 100 images/s, 90 % interval [100/1.5, 150]: sigma = ln 1.5 / 1.6449 = 0.24650
    # B: exactly 80 images/s at the same price: P(A > B) = Phi(ln(100/80) / 0.24650) = Phi(0.9052) = 0.8173
    offers = [offer("a", "on_demand", 1.0), offer("b", "on_demand", 1.0, price_list="other")]
    predicted = pd.DataFrame([figure("a", 100.0, 1, 100 / 1.5, 150.0, method="x", headline=True)])
    options = market([(offers[0], 100.0, 1), (offers[1], 80.0, 1)], [figure("b", 80.0, 1, 80.0, 80.0)], predicted)
    table = pairs(options, simulate(options, 5, MANY)).set_index(["a", "b"])
    assert table.loc[("a", "b"), "p_cheaper"] == pytest.approx(0.8173, abs=0.004)
    assert table.loc[("b", "a"), "p_cheaper"] == pytest.approx(1 - table.loc[("a", "b"), "p_cheaper"])


def test_two_uncertain_figures_add_their_variances():
    # A's spread as above; B measured twice: 95 % t interval with one degree of freedom is not normal, so both predicted
    rows = [
        figure(name, rate, 1, rate / 1.5, rate * 1.5, method="x", headline=True)
        for name, rate in (("a", 100), ("b", 80))
    ]
    offers = [offer("a", "on_demand", 1.0), offer("b", "on_demand", 1.0, price_list="other")]
    options = market([(offers[0], 100, 1), (offers[1], 80, 1)], [figure("c", 1, 1)], pd.DataFrame(rows))
    sigma = math.log(1.5) / NormalDist().inv_cdf(0.95)
    expected = NormalDist().cdf(math.log(100 / 80) / math.hypot(sigma, sigma))
    found = pairs(options, simulate(options, 5, MANY)).set_index(["a", "b"]).loc[("a", "b"), "p_faster"]
    assert found == pytest.approx(expected, abs=0.005)


def test_a_measured_mean_varies_by_t():
    # 2 degrees of freedom: the 95 % interval [90, 110] (about) must hold 95 % of the draws, the 50 % one as t has it
    low, high = 100 * math.exp(-0.1), 100 * math.exp(0.1)
    draws = spread(100.0, low, high, 0.95, stream(3, "runs").standard_t(2, MANY), freedom=2)
    assert np.mean((draws > low) & (draws < high)) == pytest.approx(0.95, abs=0.003)
    half = 0.1 / t.ppf(0.975, 2) * t.ppf(0.75, 2)
    assert np.quantile(np.log(draws / 100), 0.75) == pytest.approx(half, rel=0.03)


@pytest.mark.parametrize("freedom", [1, 5, 40])
def test_draws_of_a_measured_figure_have_the_degrees_of_freedom_of_its_interval(freedom):
    # two runs whose spread is pooled with other cells: the 95 % interval is [80, 125], and the quartiles lie where t of
    # those degrees of freedom has them, ln 1.25 x t(75 %) / t(97.5 %)
    rows = [figure(RENTED, 100.0, 1, 80.0, 125.0, basis="measured", runs=2, interval_df=freedom)]
    draws = simulate(market([(offer(RENTED, "on_demand", 1.0), 100.0, 1)], rows), 7, MANY).images_per_s[0]
    assert np.mean((draws > 80) & (draws < 125)) == pytest.approx(0.95, abs=0.003)
    quartile = math.log(1.25) * t.ppf(0.75, freedom) / t.ppf(0.975, freedom)
    assert np.quantile(np.log(draws / 100), 0.75) == pytest.approx(quartile, rel=0.03)


def test_an_asymmetric_interval_keeps_both_ends():
    draws = spread(100.0, 50.0, 110.0, 0.90, stream(4, "x").standard_normal(MANY))
    assert interval(draws) == pytest.approx((50.0, 110.0), rel=0.01)
    assert np.median(draws) == pytest.approx(100.0, rel=0.005)


def test_symmetric_draws_agree_with_scipy_s_log_normal():
    draws = spread(100.0, 80.0, 125.0, 0.90, stream(4, "x").standard_normal(MANY))
    exact = lognorm(s=math.log(1.25) / NormalDist().inv_cdf(0.95), scale=100.0)
    assert np.mean(draws) == pytest.approx(exact.mean(), rel=0.003)


def test_break_even_interval_is_exact_where_electricity_is_free():
    # d* = F / (24 p R_o / R_c); with R_o log-normal within a factor 1.25 (90 %), so is d*.
    # F = 216.667, p R_o/R_c = 6.7728: 216.667 / 162.547 = 1.33295 days, 1.0664 to 1.6662
    box = {"kw": 0.0, "usd_per_kwh": 0.0}
    entries = [(box_offer(**box), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)]
    predicted = pd.DataFrame([figure("office-4x1080ti", 498.0, 4, 498 / 1.25, 498 * 1.25, method="x", headline=True)])
    options = market(entries, [figure(RENTED, 225.0, 1, 225.0, 225.0)], predicted, reference=BOX)
    row = break_even(options, simulate(options, 11, MANY), 30.5).iloc[0]
    assert row["days"] == pytest.approx(1.33295, abs=1e-4)
    assert (row["days_low"], row["days_high"]) == pytest.approx((1.0664, 1.6662), rel=0.01)


def test_the_probability_that_the_box_is_cheaper_at_its_planned_use_is_the_normal_s():
    # A box hour at 10 days costs 216.667 / 240 = 0.902778 USD; at 0.509852 USD the rented work of one box hour costs
    # 0.509852 x 498 / 225 = 1.128472 USD: gain 1.25. With the box's speed within a factor 1.25 (90 %) the gain is
    # log-normal with its 5 % point at 1: P(gain > 1) = 0.95.
    box = box_offer(kw=0.0, usd_per_kwh=0.0)
    entries = [(box, 498.0, 4), (offer(RENTED, "on_demand", 0.509852), 225.0, 1)]
    predicted = pd.DataFrame([figure(BOX, 498.0, 4, 498 / 1.25, 498 * 1.25, method="x", headline=True)])
    options = market(entries, [figure(RENTED, 225.0, 1, 225.0, 225.0)], predicted, reference=BOX)
    row = break_even(options, simulate(options, 11, MANY), 30.5).iloc[0]
    assert row["gain_at_use"] == pytest.approx(1.25, rel=1e-5)
    assert row["p_cheaper"] == pytest.approx(0.95, abs=0.003)


def test_a_price_range_reaches_the_bill():
    # 3.06 USD, declared 2.04 to 3.40 (5 % and 95 %): the bill has the same relative ends
    entry = offer(RENTED, "on_demand", 3.06, usd_per_hour_low=2.04, usd_per_hour_high=3.40)
    options = market([(entry, 225.0, 1)], [figure(RENTED, 225.0, 1, 225.0, 225.0)])
    draws = simulate(options, 2, MANY)
    low, high = interval(draws.usd[0])
    assert low / options["usd"][0] == pytest.approx(2.04 / 3.06, rel=0.005)
    assert draws.variable[0] / 3.06 == pytest.approx(draws.usd[0] / options["usd"][0])
    assert high / options["usd"][0] == pytest.approx(3.40 / 3.06, rel=0.005)


def test_power_and_tariff_move_only_the_electricity():
    # 1.102778 = 0.902778 + 0.20; kW 0.8 to 1.2 moves the hour to 1.062778 and 1.142778
    options = market(
        [(box_offer(kw_low=0.8, kw_high=1.2), 498.0, 4)],
        [figure("office-4x1080ti", 498.0, 4, 498.0, 498.0)],
    )
    low, high = interval(simulate(options, 2, MANY).usd[0] / options["usd"][0])
    assert (low, high) == pytest.approx((1.062778 / 1.102778, 1.142778 / 1.102778), rel=0.002)


def test_interruptions_stretch_time_and_money_by_daly():
    terms = {"interruptions_per_hour": 0.05, "interruptions_per_hour_low": 0.01, "interruptions_per_hour_high": 0.25}
    terms |= {"checkpoint_s": 60.0, "restore_s": 300.0, "wait_s": 1800.0, "every_s": np.nan}
    central = float(overhead(0.05, 60 / 3600, 300 / 3600, np.nan))
    entry = offer(RENTED, "spot", 1.11, spot_overhead=central, **terms)
    row = cost(entry, 225.0, 1)
    row |= {
        "images_per_usd": row["images_per_usd"] / central,
        "usd": row["usd"] * central,
        "hours": row["hours"] * central,
    }
    predicted = pd.DataFrame([figure("none", 1.0, 1, method="x", headline=True)])
    options = build_options(
        pd.DataFrame([row]), pd.DataFrame([entry]), pd.DataFrame([figure(RENTED, 225.0, 1, 225.0, 225.0)]), predicted,
        settings(reference=None),
    )  # fmt: skip
    drawn = simulate(options, 2, MANY)
    expected = [float(overhead(rate, 60 / 3600, 300 / 3600, np.nan)) / central for rate in (0.01, 0.25)]
    assert interval(drawn.usd[0] / options["usd"][0]) == pytest.approx(expected, rel=0.005)
    # Elapsed time also waits half an hour at each interruption: T + rate x T x 0.5 (bills.spot.makespan)
    waits = [(1 + rate * 0.5) / (1 + 0.05 * 0.5) for rate in (0.01, 0.25)]
    elapsed = [ratio * wait for ratio, wait in zip(expected, waits, strict=True)]
    assert interval(drawn.hours[0] / options["hours"][0]) == pytest.approx(elapsed, rel=0.005)


def test_machines_with_one_borrowed_card_share_its_error():
    # p3.8xlarge is p3.2xlarge times a known efficiency: whatever the card's true speed, the larger stays faster
    entries = [(offer("one", "on_demand", 3.0), 200.0, 1), (offer("four", "on_demand", 12.0, price_list="b"), 640.0, 4)]
    figures = [figure("one", 200.0, 1, basis="stand_in"), figure("four", 640.0, 4, basis="stand_in")]
    options = market(entries, figures)
    assert options["assumed_interval"].all()
    table = pairs(options, simulate(options, 8)).set_index(["a", "b"])
    assert table.loc[("four", "one"), "p_faster"] == 1.0


def test_the_study_s_seed_makes_all_tables_reproducible():
    first, again = (compare(inputs(), settings(seed=3)) for _ in range(2))
    assert all(first[name].equals(again[name]) for name in first)
    other = compare(inputs(), settings(seed=4))
    assert not other["ranks"]["usd_low"].equals(first["ranks"]["usd_low"])


def test_never_is_kept_apart_from_a_late_day():
    # 0.49 USD for a box hour of work: d* = 31.1 days at the central figures, less in half of the draws
    found = compare(inputs(price_p3=0.49 * 225 / 498), settings())["break_even"]
    row = found[found["option"] == "p3.2xlarge"].iloc[0]
    assert math.isnan(row["days"]) and row["days_low"] < 30.5 and math.isnan(row["days_high"])
    assert row["verdict"].startswith("never at the central figures; from ")
    assert 0.1 < row["p_pays"] < 0.6


def test_inputs_read_one_file_or_several(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"a": [2]}).to_parquet(tmp_path / "y.parquet")
    one, two = str(tmp_path / "x.parquet"), str(tmp_path / "y.parquet")
    files = dict.fromkeys(Inputs.__dataclass_fields__, one) | {"costs": [one, two], "offers": []}
    read = Inputs.read(files)
    assert read.costs["a"].to_dict() == {0: 1, 1: 2} and read.throughput["a"].tolist() == [1] and read.offers.empty
