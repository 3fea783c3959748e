"""The table of what to find out first, on small markets worked out by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from answer_options import option
from decision_tables import BOX, RENTED, box_offer, figure, offer, options_of
from scipy.integrate import quad
from scipy.stats import norm
from small_lab import class_of, same, small_lab
from sweetspot.decision.analyses import _choices_on, timings_of, worth_rows
from sweetspot.decision.compare import analysed
from sweetspot.decision.decision_problem import Choice
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from sweetspot.decision.simulate import Figure, simulate
from three_kinds import hourly, own

MONTH = 30.5


def table(entries, figures, reference=None, draws=40_000):
    """`entries`: (offer, images/s, devices)."""
    options = options_of(*entries, figures=figures, reference=reference)
    drawn = simulate(options, 5, draws)
    problems = shared_machine_problems(options, drawn, MONTH)
    return analysed(problems, options, drawn)["worth_knowing"].set_index("figure")


def two_rented(draws=40_000, **more):
    """A: 100 images/s, 95 % between two thirds and 1.5 times that; B: exactly 80, for one USD an hour; C for three."""
    a, b, c = offer("a", "on_demand", 1.0, **more), offer("b", "on_demand", 1.0), offer("c", "on_demand", 3.0)
    figures = [figure("a", 100.0, 1, 100 / 1.5, 150.0), *(figure(name, 80.0, 1, 80.0, 80.0) for name in "bc")]
    return table([(a, 100.0, 1), (b, 80.0, 1), (c, 80.0, 1)], figures, draws=draws)


def test_a_rented_speed_is_worth_what_the_formula_of_a_call_says():
    # 94.72 M images: A 94.72e6 / (100 x 3600) = 263.11 USD, log-normal with s = ln 1.5 / 1.9600 = 0.2069; B 328.89 USD.
    # Knowing A saves E[max(0, A - B)]: Black's formula of a call at 328.89
    found = two_rented().loc["speed of card on VGG-16"]
    spread, a, b = math.log(1.5) / norm.ppf(0.975), 94.72e6 / 360_000, 94.72e6 / 288_000
    below = math.log(a / b) / spread
    expected = a * math.exp(spread**2 / 2) * norm.cdf(below + spread) - b * norm.cdf(below)
    assert found["evppi_usd"] == pytest.approx(expected, abs=2.4 * (found["evppi_usd_high"] - found["evppi_usd"]))
    # 1.645 standard errors of the mean of 40,000 draws either side
    square = quad(lambda z: max(0.0, a * math.exp(spread * z) - b) ** 2 * norm.pdf(z), -8, 8, points=[-below])[0]
    half = 1.6449 * math.sqrt((square - expected**2) / 40_000)
    ends = found["evppi_usd_high"] - found["evppi_usd"], found["evppi_usd"] - found["evppi_usd_low"]
    assert ends == pytest.approx((half, half), rel=0.1)
    # the winner changes where A takes as long as B: 80 images/s
    assert found["turning_point"] == pytest.approx(80.0) and (found["unit"], found["value"]) == ("images/s", 100.0)
    # half an hour at one USD an hour; both have one "card"
    assert found["cost_to_learn_usd"] == 0.5


def test_timing_takes_half_an_hour_of_the_cheapest_machine_by_the_hour_that_may_be_the_answer():
    free = {"granularity_s": np.nan, "minimum_s": np.nan, "gpu": "X", "gpus": 1, "hours": 1.0}
    rows = [option(title, usd, **free | more) for title, usd, more in (
        ("Dear", 2.0, {}), ("Spot", 0.5, {"purchase": "spot"}), ("Year", 0.1, {"purchase": "reserved"}),
        ("Box", 0.1, {"purchase": "own"}), ("Free", 1.0, {"usd_per_hour": 0.0}),
        ("Other list", 0.1, {"in_answer": False}), ("Four", 8.0, {"gpus": 4, "granularity_s": 3600.0}),
        ("Two", 3.0, {"gpus": 2, "minimum_s": 7200.0}))]  # fmt: skip
    found = timings_of(pd.DataFrame(rows))
    costs = {key: (row["cost_to_learn_usd"], row["learn_on_title"]) for key, row in found.items()}
    assert costs == {("X", 1): (0.25, "Spot"), ("X", 2): (6.0, "Two"), ("X", 4): (8.0, "Four")}


def test_a_figure_is_of_the_choices_that_rest_on_it():
    """A box with the team's months and days, a machine by the hour and a contract whose hour goes by these days."""
    rows = [option(name, 1.0, row=row, alternative=name, purchase=purchase, days_per_month=days)
            for row, (name, purchase, days) in enumerate(
                (("Box", "own", 10.0), ("Hour", "on_demand", np.nan), ("Year", "reserved", 10.0)))]  # fmt: skip
    chosen = {"choices": [Choice.of(row) for row in rows], "competing": np.array([1, 0, 2]), "not_sampled": ("kw",)}

    def choices(name, *labels, reference=0):
        found = Figure(name, np.ones(1), (), list(labels))
        return _choices_on(SimpleNamespace(reference=reference, **chosen), found)

    assert choices("kw", 0) == [] and choices("capex_usd", 0) == [1] and choices("capex_usd", 9) == []
    assert choices("months", 0) == [0, 1, 2] and choices("days_per_month", 1) == []
    assert choices("usd_per_hour", 1, 2) == [0] and choices("usd_per_kwh", 0, 2) == [1, 2]
    assert choices("months", 0, reference=None) == [1] and choices("usd_per_hour", 2, reference=None) == [2]


def test_a_price_turns_at_its_own_value_and_jobs_of_work_of_months_are_a_figure_too():
    """Of two rentals each has its own row, and neither is that of all rents. 200 hours a month: a box of 1,050 and 0.2
    an hour costs as much as the first from 1,050 / 5.8 hours on, half as many jobs.
    """
    by_hour = (hourly(name, {"value": usd, "low": usd - 1, "high": usd + 1}) for name, usd in (("a", 6.0), ("b", 6.5)))
    made = small_lab(own(), *by_hour, jobs=[class_of("job", {"value": 100.0, "low": 50.0, "high": 200.0})],
                     hours={"job": 2.0}, draws=50)  # fmt: skip
    rows = {row["figure"]: row for row in worth_rows(monthly_problem(made[0]), made[2], {})}
    assert set(rows) == {"price of a", "price of b", "number of jobs of job a month"}
    same(rows["price of a"], {"quantity": "usd_per_hour", "value": 6.0, "unit": "USD/hour", "title": "a"})
    jobs = rows["number of jobs of job a month"]
    same(jobs, {"quantity": "per_month", "value": 100.0, "unit": "jobs/month", "title": "job", "workload": "lab"})
    assert jobs["turning_point"] == pytest.approx(1050 / 5.8 / 2, rel=0.1)
    worth = [row["evppi_usd"] for row in rows.values()]
    assert worth == sorted(worth, reverse=True) and worth[0] > worth[-1]


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


def test_of_what_is_worth_nothing_the_names_give_the_order():
    ends = {"capex_usd_low": 6400.0, "capex_usd_high": 6600.0, "kw_low": 0.99, "kw_high": 1.01}
    found = owned(offer(RENTED, "on_demand", 3.06), **ends)["evppi_usd"]
    assert list(found.items()) == [(f"power of {BOX}", 0.0), (f"price of {BOX}", 0.0)]


def test_figures_that_are_off_together_are_known_together():
    # two published figures of one device and framework share one error: one row, on which both options rest
    a, b, c = (offer(name, "on_demand", price, price_list=name) for name, price in (("a", 1.0), ("b", 1.1), ("c", 1.2)))
    spans = [figure("a", 100.0, 1), figure("b", 100.0, 1), figure("c", 110.0, 1, 110.0, 110.0)]
    found = table([(a, 100.0, 1), (b, 100.0, 1), (c, 110.0, 1)], spans, draws=4000)
    assert list(found.index) == ["speed of card on VGG-16"]
    # C does the work of an hour of A for 1.2 x 100 / 110: A is no longer the cheaper below 91.67 images/s
    assert found["turning_point"].iloc[0] == pytest.approx(110 / 1.2) and found["title"].tolist() == ["a"]
