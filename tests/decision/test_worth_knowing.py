"""The table of what to find out first, on small markets worked out by hand, and its two sentences."""

import math

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, cost, figure, inputs, offer, settings
from scipy.integrate import quad
from scipy.stats import norm
from sweetspot.decision.compare import analysed, compare
from sweetspot.decision.cost_share import share_questions
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate
from sweetspot.decision.worth_knowing import Uncertain, _value, _worths
from sweetspot.known_value import Value
from sweetspot.report.worth_words import NOTHING, TOO_DEAR, worth_in_words

MANY = 40_000
SPEED_OF_A = "speed of a on VGG-16"
MONTH = 30.5


def table(entries, figures, predicted=None, reference=None, draws=MANY):
    """`entries`: (offer, images/s, devices)."""
    costs = pd.DataFrame([cost(entry, rate, gpus) for entry, rate, gpus in entries])
    none = pd.DataFrame([figure("none", 1.0, 1, method="x", headline=True)])
    extrapolation = none if predicted is None else pd.DataFrame(predicted)
    offers = pd.DataFrame([entry for entry, _, _ in entries])
    options = build_options(costs, offers, pd.DataFrame(figures), extrapolation, settings(reference=reference))
    drawn = simulate(options, 5, draws)
    questions = share_questions(options, drawn, MONTH)
    return analysed(questions, options, drawn)["worth_knowing"].set_index("assumption")


def test_the_work_of_a_model_is_its_own_and_not_another_s():
    """Two rented machines and two models: the question of one has the bills of its own workload alone."""
    offered = [offer("a", "on_demand", 1.0), offer("b", "on_demand", 3.0, price_list="other")]
    costs = pd.DataFrame([cost(entry, 100.0, 1) for entry in offered])
    figures = pd.DataFrame([figure(name, 100.0, 1, 100.0, 100.0) for name in ("a", "b")])
    none = pd.DataFrame([figure("none", 1.0, 1, method="x", headline=True)])
    one = build_options(costs, pd.DataFrame(offered), figures, none, settings(reference=None))
    other = one.assign(model="resnet50", workload="other", usd=7 * one["usd"])
    options = pd.concat([one, other], ignore_index=True)
    found = {each.workload: each for each in share_questions(options, simulate(options, 1, 4), MONTH)}
    bill = 94_720_000 / 100 / 3600
    assert found["vgg16"].usd.tolist() == pytest.approx([bill, 3 * bill])
    assert found["resnet50"].usd.tolist() == pytest.approx([7 * bill, 21 * bill])


def two_rented(low=100 / 1.5, high=150.0, other=80.0, **more):
    """A: 100 images/s with an interval; B: exactly `other`, each at one USD an hour."""
    a, b = offer("a", "on_demand", 1.0, **more), offer("b", "on_demand", 1.0, price_list="other")
    predicted = [figure("a", 100.0, 1, low, high, method="x", headline=True)]
    return table([(a, 100.0, 1), (b, other, 1)], [figure("b", other, 1, other, other)], predicted)


def test_a_rented_speed_is_worth_what_the_formula_of_a_call_says():
    # 94.72 M images: A 94.72e6 / (100 x 3600) = 263.11 USD, log-normal with s = ln 1.5 / 1.6449 = 0.2465; B 328.89 USD.
    # Knowing A saves E[max(0, A - B)]: Black's formula of a call at 328.89
    found = two_rented().loc[SPEED_OF_A]
    spread, a, b = math.log(1.5) / norm.ppf(0.95), 94.72e6 / 360_000, 94.72e6 / 288_000
    below = math.log(a / b) / spread
    expected = a * math.exp(spread**2 / 2) * norm.cdf(below + spread) - b * norm.cdf(below)
    assert found["evppi_usd"] == pytest.approx(expected, abs=4 * found["evppi_se_usd"])
    assert found["evppi_se_usd"] < 0.05 * expected
    assert found["project"] == "imagenet"
    # the winner changes where A takes as long as B: 80 images/s
    assert found["turning_point"] == pytest.approx(80.0) and (found["unit"], found["value"]) == ("images/s", 100.0)
    # half an hour at one USD an hour; both have one "card"
    assert (found["cost_to_learn_usd"], found["minutes_to_learn"]) == (0.5, 30.0)


def test_timing_is_billed_by_the_terms_of_the_offer():
    # B has no terms; of an hour or of ten minutes, 30 minutes cost 1.00 or 0.50 USD, and a minimum of two hours 2.00
    a = offer("a", "on_demand", 0.9, granularity_s=3600.0, minimum_s=0.0)
    b = offer("b", "on_demand", 1.2, price_list="other", granularity_s=600.0, minimum_s=0.0)
    spans = [figure("a", 100.0, 1, 60.0, 160.0), figure("b", 80.0, 1, 80.0, 80.0)]
    found = table([(a, 100.0, 1), (b, 80.0, 1)], spans, draws=1000).loc["speed of card on VGG-16"]
    # a whole hour of A: 0.90; half an hour of B: 0.60
    assert (found["cost_to_learn_usd"], found["learn_on"]) == (pytest.approx(0.6), "b")
    b["minimum_s"] = 7200.0
    found = table([(a, 100.0, 1), (b, 80.0, 1)], spans, draws=1000).loc["speed of card on VGG-16"]
    assert (found["cost_to_learn_usd"], found["learn_on"]) == (pytest.approx(0.9), "a")


def test_a_narrow_figure_far_from_its_turning_point_is_worth_nothing():
    found = two_rented(low=99.0, high=101.0).loc[SPEED_OF_A]
    assert (found["evppi_usd"], found["evppi_usd_high"]) == (0.0, 0.0)


def test_a_nearer_rival_and_a_wider_interval_make_a_speed_worth_more():
    worth = [two_rented(*span).loc[SPEED_OF_A, "evppi_usd"] for span in ((80, 125), (70, 143), (50, 200))]
    assert worth == sorted(worth) and worth[0] < worth[2]
    nearer = [two_rented(other=rate).loc[SPEED_OF_A, "evppi_usd"] for rate in (60.0, 75.0, 95.0)]
    assert nearer == sorted(nearer) and nearer[0] < nearer[2]


def owned(days=(5.0, 20.0), **more):
    """A box of 498 images/s, 10 days a month; one rented machine, 225 images/s for 3.06 USD an hour; only days vary."""
    box = box_offer(days_per_month_low=days[0], days_per_month_high=days[1], **more)
    rented = offer(RENTED, "on_demand", 3.06)
    spans = [figure(BOX, 498.0, 4, 498.0, 498.0), figure(RENTED, 225.0, 1, 225.0, 225.0)]
    return table([(box, 498.0, 4), (rented, 225.0, 1)], spans, reference=BOX)


def test_days_of_use_are_worth_what_the_integral_over_them_says():
    # A month of the box: 216.667 + 4.8 d (24 h x 0.20 USD); of the rented machine for the same work
    # 24 x 3.06 x 498/225 d = 162.55 d. Even at 216.667 / 157.75 = 1.373 days; d log-normal, median 2, 90 % 1 to 4.
    found = owned(days=(1.0, 4.0), days_per_month=2.0).loc["days of use a month"]
    rented, electricity, month = 24 * 3.06 * 498 / 225, 4.8, 6500 / 30
    spread = math.log(2) / norm.ppf(0.95)

    def cheaper(z):
        days = min(2 * math.exp(spread * z), MONTH)
        return max(0.0, month + electricity * days - rented * days) * norm.pdf(z)

    # knowing the days saves what the box costs more, wherever it does, over 30 months
    expected = 30 * quad(cheaper, -8, 8, points=[-1.0])[0]
    assert found["evppi_usd"] == pytest.approx(expected, abs=4 * found["evppi_se_usd"])
    assert found["evppi_se_usd"] < 0.05 * expected
    assert found["turning_point"] == pytest.approx(month / (rented - electricity), rel=1e-6)
    assert found["project"] == "2 days of use a month for 30 months"
    mean = 30 * (month + electricity * 2 * math.exp(spread**2 / 2))
    assert found["project_usd"] == pytest.approx(mean, rel=0.01)
    assert math.isnan(found["cost_to_learn_usd"])


def test_more_days_of_use_are_worth_less_to_know_far_from_the_turning_point():
    worth = [owned(days=(days / 2, 2 * days), days_per_month=days).loc["days of use a month", "evppi_usd"]
             for days in (1.5, 3.0, 8.0)]  # fmt: skip
    assert worth[0] > worth[1] > worth[2]


def test_a_range_of_the_resale_value_is_a_figure_like_another():
    # 0 to 5000 of 6500 USD back: the month costs 216.7 to 50; at 1.3 days the box loses, unless it sells well
    more = {"residual_usd": 1000.0, "residual_usd_low": 100.0, "residual_usd_high": 5000.0}
    found = owned(days=(1.0, 1.0), days_per_month=1.0, **more)
    assert "days of use a month" not in found.index
    assert found.loc[f"resale value of {BOX}", "evppi_usd"] > 0


def test_a_contract_is_used_as_the_work_asks():
    # A contract of 500 USD a month, 10 days: 2.0833 USD an hour there, twice that at 5 days. The box costs 216.667 +
    # 4.8 d, the contract for the same work 498/225 x 500 = 1106.67 a month whatever the days: the days never matter.
    box = box_offer(days_per_month_low=5.0, days_per_month_high=20.0)
    contract = offer(
        RENTED, "reserved", 500 / 240, days_per_month=10.0, usd_per_hour_low=500 / 480, usd_per_hour_high=500 / 120
    )
    spans = [figure(BOX, 498.0, 4, 498.0, 498.0), figure(RENTED, 225.0, 1, 225.0, 225.0)]
    found = table([(box, 498.0, 4), (contract, 225.0, 1)], spans, reference=BOX)
    assert list(found.index) == ["days of use a month"]
    assert found["evppi_usd"].iloc[0] == 0.0
    assert found["rests_on_it"].iloc[0] == 2


def test_the_comparison_has_the_table_and_the_first_row_is_worth_most():
    found = compare(inputs(), settings(), draws=2000)["worth_knowing"]
    assert (found["evppi_usd"] >= 0).all()
    assert found["evppi_usd"].is_monotonic_decreasing
    # the interruptible offer of the same machine does not compete
    assert set(found["options"]) == {2}
    assert set(found["assumption"]) == {f"speed of {BOX} on VGG-16", "speed of card on VGG-16"}


def rows(*entries):
    names = (
        "figure",
        "quantity",
        "unit",
        "value",
        "evppi_usd",
        "evppi_usd_low",
        "evppi_usd_high",
        "cost_to_learn_usd",
        "turning_point",
    )
    more = {"rests_on_it": 1, "model": "m", "project": "10 days of use a month for 30 months", "minutes_to_learn": 30.0}
    more |= {"learn_on_title": "Cloud, 1 x X", "title": "X"}
    return pd.DataFrame([dict(zip(names, entry, strict=True)) | more for entry in entries])


SPEED = ("speed of X", "images_per_s", "images/s", 100.0, 912.0, 800.0, 1024.0, 3.0, 124.0)
DAYS = ("days of use a month", "days_per_month", "days/month", 10.0, 2000.0, 1900.0, 2100.0, np.nan, 13.7)


def test_what_can_be_timed_is_measured_first():
    assert worth_in_words(rows(SPEED)) == [
        "Measure the speed of X first.",
        "That takes 30 minutes on Cloud, 1 x X, about 3 USD.",
        "Knowing that is worth up to 910 USD (800 to 1,000) over the project.",
        "The cheapest changes if it is 24 % faster.",
        "No other figure is worth finding out.",
    ]


def test_a_speed_that_several_options_share_says_so():
    for count, every in ((2, "both"), (3, "all 3")):
        told = worth_in_words(rows(SPEED).assign(rests_on_it=count))
        assert told[3] == f"The cheapest changes if it is 24 % faster, on {every} options that rest on it."


def test_a_figure_that_nobody_can_time_comes_with_the_first_that_one_can():
    assert worth_in_words(rows(SPEED, DAYS)) == [
        "Find out the days of use a month first.",
        "Knowing that is worth up to 2,000 USD (1,900 to 2,100) over the project.",
        "The cheapest changes at 13.7 days.",
        "Of what can be timed, measure the speed of X first.",
        "That takes 30 minutes on Cloud, 1 x X, about 3 USD.",
        "Knowing it is worth up to 910 USD (800 to 1,000).",
        "The cheapest changes if it is 24 % faster.",
    ]


def test_a_timing_that_costs_more_than_it_is_worth_is_not_named():
    dear = (*SPEED[:7], 1000.0, SPEED[8])
    assert worth_in_words(rows(dear)) == [f"No {TOO_DEAR}"]
    assert worth_in_words(rows(dear, DAYS))[-1].startswith("No speed is worth timing")


def test_within_its_monte_carlo_error_a_figure_is_worth_nothing():
    assert worth_in_words(rows((*SPEED[:5], 0.0, *SPEED[6:]))) == [f"No {NOTHING}"]


def test_no_sentence_where_nothing_is_uncertain():
    assert worth_in_words(pd.DataFrame()) == []


def test_the_turning_point_of_a_rival_box_s_price_is_where_both_boxes_cost_the_same():
    # Both boxes 10 days a month, 0.20 USD an hour of electricity. The reference: 216.667 / 240 + 0.2 = 1.102778 USD an
    # hour for 498 images/s; the other 600 images/s, so even at 1.102778 x 600 / 498 = 1.328648 USD an hour:
    # (1.328648 - 0.2) x 240 x 30 months = 8126.3 USD
    box = box_offer()
    other = box_offer(capex_usd=9000.0, capex_usd_low=6000.0, capex_usd_high=12000.0) | {"instance": "other-box"}
    spans = [figure(BOX, 498.0, 4, 498.0, 498.0), figure("other-box", 600.0, 4, 600.0, 600.0)]
    found = table([(box, 498.0, 4), (other, 600.0, 4)], spans, reference=BOX, draws=4000)
    assert found.loc["price of other-box", "turning_point"] == pytest.approx(8126.3, abs=0.1)
    assert found.loc["price of other-box", "evppi_usd"] > 0
    assert list(found["rests_on_it"]) == [1]


def test_figures_that_are_off_together_are_known_together():
    # two published figures of one device and framework share one error: one row, on which both options rest
    a, b, c = (offer(name, "on_demand", price, price_list=name) for name, price in (("a", 1.0), ("b", 1.1), ("c", 1.2)))
    spans = [figure("a", 100.0, 1), figure("b", 100.0, 1), figure("c", 110.0, 1, 110.0, 110.0)]
    found = table([(a, 100.0, 1), (b, 100.0, 1), (c, 110.0, 1)], spans, draws=4000)
    assert list(found.index) == ["speed of card on VGG-16"]
    assert found["rests_on_it"].iloc[0] == 2
    # C does the work of an hour of A for 1.2 x 100 / 110: A is no longer the cheaper below 91.67 images/s
    assert found["turning_point"].iloc[0] == pytest.approx(110 / 1.2)


def test_the_interval_of_a_worth_is_that_of_its_error_and_not_below_nothing():
    """Errors of 2 USD; a figure that changes the choice in no draw has none, and ranks with nobody."""
    rows = _worths([Value(10.0, 2.0, (9.0, 11.0)), Value(0.0, 0.0), Value(1.0, 2.0, (1.0, 1.0))])
    first, none, little = (tuple(row.values()) for row in rows)
    assert first == pytest.approx((10.0, 2.0, 10 - 2 * 1.6449, 10 + 2 * 1.6449, 10.0))
    assert none == (0.0, 0.0, 0.0, 0.0, 0.0)
    assert little == pytest.approx((1.0, 2.0, 0.0, 1 + 2 * 1.6449, 1.0))


def test_what_does_not_rest_on_a_figure_is_held_against_by_its_cheapest():
    """A costs x, 5 to 17 USD as likely; B 10 and C 20 whatever x is. Taking A below 10 saves the mean of (10 - x)+."""
    x = np.random.default_rng(1).permutation(np.linspace(5.0, 17.0, 4001))
    found = _value(np.stack([np.full(x.size, 10.0), x, np.full(x.size, 20.0)]), Uncertain({}, x, [1]))
    assert found.worth == pytest.approx(5**2 / 2 / 12, rel=0.01)


def test_of_figures_worth_the_same_that_which_is_worth_more_alone_is_first(monkeypatch):
    def alike(values):
        ends = dict.fromkeys(("evppi_usd", "evppi_se_usd", "evppi_usd_low", "evppi_usd_high"), 0.0)
        return [ends | {"evppi_alone_usd": float(number)} for number in range(len(values))]

    monkeypatch.setattr("sweetspot.decision.worth_knowing._worths", alike)
    dear = {"usd_per_hour_low": 0.9, "usd_per_hour_high": 1.2}
    assert two_rented(**dear)["evppi_alone_usd"].tolist() == [1.0, 0.0]
