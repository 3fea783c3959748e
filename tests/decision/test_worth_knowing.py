"""The table of what to find out first, on small markets worked out by hand."""

import math

import numpy as np
import pytest
from decision_tables import BOX, RENTED, box_offer, figure, offer, options_of
from scipy.integrate import quad
from scipy.stats import norm
from sweetspot.decision.analyses import partial_value
from sweetspot.decision.compare import analysed
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from sweetspot.decision.simulate import simulate

MONTH = 30.5


def table(entries, figures, reference=None, draws=40_000):
    """`entries`: (offer, images/s, devices)."""
    options = options_of(*entries, figures=figures, reference=reference)
    drawn = simulate(options, 5, draws)
    problems = shared_machine_problems(options, drawn, MONTH)
    return analysed(problems, options, drawn)["worth_knowing"].set_index("figure")


def two_rented(draws=40_000, **more):
    """A: 100 images/s, 95 % between two thirds and 1.5 times that; B: exactly 80, each at one USD an hour."""
    a, b = offer("a", "on_demand", 1.0, **more), offer("b", "on_demand", 1.0, price_list="other")
    figures = [figure("a", 100.0, 1, 100 / 1.5, 150.0), figure("b", 80.0, 1, 80.0, 80.0)]
    return table([(a, 100.0, 1), (b, 80.0, 1)], figures, draws=draws)


def test_a_rented_speed_is_worth_what_the_formula_of_a_call_says():
    # 94.72 M images: A 94.72e6 / (100 x 3600) = 263.11 USD, log-normal with s = ln 1.5 / 1.9600 = 0.2069; B 328.89 USD.
    # Knowing A saves E[max(0, A - B)]: Black's formula of a call at 328.89
    found = two_rented().loc["speed of card on VGG-16"]
    spread, a, b = math.log(1.5) / norm.ppf(0.975), 94.72e6 / 360_000, 94.72e6 / 288_000
    below = math.log(a / b) / spread
    expected = a * math.exp(spread**2 / 2) * norm.cdf(below + spread) - b * norm.cdf(below)
    assert found["evppi_usd"] == pytest.approx(expected, abs=2.4 * (found["evppi_usd_high"] - found["evppi_usd"]))
    assert found["evppi_usd_high"] < 1.08 * found["evppi_usd"]
    # the winner changes where A takes as long as B: 80 images/s
    assert found["turning_point"] == pytest.approx(80.0) and (found["unit"], found["value"]) == ("images/s", 100.0)
    # half an hour at one USD an hour; both have one "card"
    assert found["cost_to_learn_usd"] == 0.5


def test_timing_is_billed_by_the_terms_of_the_offer():
    # B has no terms; of an hour or of ten minutes, 30 minutes cost 1.00 or 0.50 USD, and a minimum of two hours 2.00
    a = offer("a", "on_demand", 0.9, granularity_s=3600.0, minimum_s=0.0)
    b = offer("b", "on_demand", 1.2, price_list="other", granularity_s=600.0, minimum_s=0.0)
    spans = [figure("a", 100.0, 1, 60.0, 160.0), figure("b", 80.0, 1, 80.0, 80.0)]
    found = table([(a, 100.0, 1), (b, 80.0, 1)], spans, draws=1000).loc["speed of card on VGG-16"]
    # a whole hour of A: 0.90; half an hour of B: 0.60
    assert (found["cost_to_learn_usd"], found["learn_on_title"]) == (pytest.approx(0.6), "b")
    b["minimum_s"] = 7200.0
    found = table([(a, 100.0, 1), (b, 80.0, 1)], spans, draws=1000).loc["speed of card on VGG-16"]
    assert (found["cost_to_learn_usd"], found["learn_on_title"]) == (pytest.approx(0.9), "a")


def owned(rented, **more):
    """A box of 498 images/s, 10 days a month; one rented machine, 225 images/s; their speeds are certain."""
    spans = [figure(BOX, 498.0, 4, 498.0, 498.0), figure(RENTED, 225.0, 1, 225.0, 225.0)]
    return table([(box_offer(**more), 498.0, 4), (rented, 225.0, 1)], spans, reference=BOX)


def test_days_of_use_are_worth_what_the_integral_over_them_says():
    # A month of the box: 216.667 + 4.8 d (24 h x 0.20 USD); of the rented machine for the same work
    # 24 x 3.06 x 498/225 d = 162.55 d. Even at 216.667 / 157.75 = 1.373 days; d log-normal, median 2, 90 % 1 to 4.
    ends = {"days_per_month_low": 1.0, "days_per_month_high": 4.0}
    found = owned(offer(RENTED, "on_demand", 3.06), days_per_month=2.0, **ends).loc["days of use a month"]
    rented, electricity, month = 24 * 3.06 * 498 / 225, 4.8, 6500 / 30
    spread = math.log(2) / norm.ppf(0.95)

    def cheaper(z):
        days = min(2 * math.exp(spread * z), MONTH)
        return max(0.0, month + electricity * days - rented * days) * norm.pdf(z)

    # knowing the days saves what the box costs more, wherever it does, over 30 months
    expected = 30 * quad(cheaper, -8, 8, points=[-1.0])[0]
    assert found["evppi_usd"] == pytest.approx(expected, abs=2.4 * (found["evppi_usd_high"] - found["evppi_usd"]))
    assert found["evppi_usd_high"] < 1.08 * found["evppi_usd"]
    assert found["turning_point"] == pytest.approx(month / (rented - electricity), rel=1e-6)
    mean = 30 * (month + electricity * 2 * math.exp(spread**2 / 2))
    assert found["project_usd"] == pytest.approx(mean, rel=0.01)
    assert math.isnan(found["cost_to_learn_usd"])


def test_figures_that_are_off_together_are_known_together():
    # two published figures of one device and framework share one error: one row, on which both options rest
    a, b, c = (offer(name, "on_demand", price, price_list=name) for name, price in (("a", 1.0), ("b", 1.1), ("c", 1.2)))
    spans = [figure("a", 100.0, 1), figure("b", 100.0, 1), figure("c", 110.0, 1, 110.0, 110.0)]
    found = table([(a, 100.0, 1), (b, 100.0, 1), (c, 110.0, 1)], spans, draws=4000)
    assert list(found.index) == ["speed of card on VGG-16"]
    # C does the work of an hour of A for 1.2 x 100 / 110: A is no longer the cheaper below 91.67 images/s
    assert found["turning_point"].iloc[0] == pytest.approx(110 / 1.2)


def test_what_does_not_rest_on_a_figure_is_held_against_by_its_cheapest():
    """A costs x, 5 to 17 USD as likely; B 10 and C 20 whatever x is. Taking A below 10 saves the mean of (10 - x)+."""
    x = np.random.default_rng(1).permutation(np.linspace(5.0, 17.0, 4001))
    usd = np.stack([np.full(x.size, 10.0), x, np.full(x.size, 20.0)])
    found = partial_value(usd, x)
    assert found.worth == pytest.approx(5**2 / 2 / 12, rel=0.01)
