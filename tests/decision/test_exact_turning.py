"""Turning points of work of months made exact, on costs that are written here; and from when on a machine pays."""

import numpy as np
import pytest
from phase_plans import hourly as rented_at
from small_lab import class_of, posed
from sweetspot.decision.assumption import Moved, all_of
from sweetspot.decision.cost_dispatch import Dispatch, dispatch_question
from sweetspot.decision.turning import pays_rows
from three_kinds import Market, hourly, own, price

ALL = all_of("number of jobs a month")


class Written(Dispatch):
    """Two ways whose USD apart are written: on all draws, and by a quick look; by the logarithm of a factor."""

    def __init__(self, exactly, quickly):
        self.curves = {"exactly": exactly, "quickly": quickly}

    def problem(self, moved):
        (factor,) = moved.values.values()
        return "exactly", float(np.log(factor))

    def quick(self, problem):
        return "quickly", problem[1]

    def usd(self, quick, way):
        return self.exact(quick, way)

    def exact(self, problem, way):
        curve, place = problem
        return 1000.0 + (self.curves[curve](place) if way[0] == "second" else 0.0)

    def crossing(self, start=1.0):
        """The logarithm of the exact factor, from that of the quick looks, and what the first costs there."""
        factor, usd = self._crossing(ALL, start, lambda _: [("first", (), 1.0), ("second", (), 1.0)])
        return float(np.log(factor)), usd


def line(zero, slope):
    return lambda place: slope * (place - zero)


@pytest.mark.parametrize("slope", [500.0, -500.0])
def test_a_crossing_that_quick_looks_missed_by_five_percent_is_found(slope):
    """Their slope is off by a percent: 5 % away, four steps of Newton's leave 5e-2 x 1e-8."""
    found, usd = Written(line(0.05, slope * 1.01), line(0.0, slope)).crossing()
    assert found == pytest.approx(0.05, abs=1.5e-9)
    assert usd == 1000.0


@pytest.mark.parametrize("missed", [0.12, -0.12])
def test_a_step_of_more_than_a_tenth_is_not_believed(missed):
    assert Written(line(missed, 500.0), line(0.0, 500.0)).crossing() == (0.0, 1000.0)


def test_each_step_may_be_that_long_and_not_all_of_them():
    """Quick looks whose slope is twice too steep: steps of 0.08, 0.04, 0.02, 0.01 towards 0.16."""
    found, _ = Written(line(0.16, 500.0), line(0.0, 1000.0)).crossing()
    assert found == pytest.approx(0.15)


def test_a_jump_stays_where_quick_looks_found_it():
    """From 40 to -40 USD at the factor 1.0; all draws say 3 more. No slope leads to a better place."""

    def jump(place):
        return -40.0 if place >= 0 else 40.0

    assert Written(lambda place: jump(place) + 3.0, jump).crossing() == (0.0, 1000.0)


def test_what_never_ends_near_a_turning_point_leaves_it():
    """On one side the job is not done in time: the cost is infinite and has no slope."""

    def late(place):
        return np.inf if place < 0 else -1e-9

    assert Written(lambda place: 1e-9, late).crossing() == (0.0, 1000.0)


def test_a_crossing_a_fifth_of_a_tenth_of_the_rise_away_is_smooth_and_three_are_not():
    """The rise over two slight steps is 2 USD; quick looks that are 0.1 or 0.3 USD apart at the point they found."""
    for apart, expected in ((0.1, 0.02), (0.3, 0.0)):
        found, _ = Written(line(0.02, 1000.0), lambda place, off=apart: 1000.0 * place + off).crossing()
        assert found == pytest.approx(expected, abs=1e-9), apart


# --- quick looks, and names -------------------------------------------------------------------------------------------


def test_a_quick_look_is_one_month_of_draws_from_the_first_to_the_last():
    """501 draws of 36 months: 250 of them, each with a month by its number; the last is draw 500, month 32."""
    jobs = [class_of("a", {"value": 120.0, "low": 60.0, "high": 200.0})]
    made = posed(own(), rented_at(6.0), jobs=jobs, hours={"a": 2.0}, draws=501)
    few, every = Dispatch(made, [], [], ()).quick(made.drawn), made.drawn.jobs
    assert few.jobs.shape == (1, 250, 1)
    assert few.jobs[0, 0, 0] == every[0, 0, 0] and few.jobs[0, -1, 0] == every[0, 500, 500 % 36]
    assert set(few.jobs[0, :, 0]) <= {every[0, draw, draw % 36] for draw in range(501)}


def test_a_way_that_is_rented_has_its_title_whatever_the_case():
    question = price(Market((own(), hourly("rented", 6.0), hourly("dear", 7.0)))).dispatch()
    place = [choice.title for choice in question.choices].index("all on dear")
    assert question.title(place, 0.0, None) == question.title(place, 0.0, place) == "all on dear"


def test_what_is_rented_instead_is_numbered_after_the_ways():
    """At 7 / 6 of the price of `cheap`, which is rented and stands first, it is `next`, the second."""
    question = price(Market((own(capex=360_000.0), hourly("next", 7.0), hourly("cheap", 6.0)))).dispatch()
    (turn,) = (
        turn for one, found in question.turns.items() for turn in found
        if (one.quantity, one.subject) == ("usd_per_hour", "cheap")
    )  # fmt: skip
    first = len(question.choices)
    assert question.planned.alternative[0, 0] == first and turn.alternative == first + 1
    box = [choice.option for choice in question.choices].index("box")
    named = [question.title(box, 0.0, number) for number in (first, first + 1)]
    assert named == ["nothing bought, all on cheap", "nothing bought, all on next"]


def test_a_machine_far_too_dear_is_looked_at_where_a_figure_of_one_of_its_rows_moves():
    """A box of 11,050 a month beside 1,200 of rent is left out, but where a figure moves of one of its classes."""
    offers, jobs = (own(), own("dear", capex=396_000.0), rented_at(6.0)), [class_of("a", 60.0), class_of("b", 40.0)]
    question = dispatch_question(posed(*offers, jobs=jobs, hours={"a": 2.0, "b": 2.0}))
    place = [choice.option for choice in question.choices].index("dear")
    (mine,) = (one for one in question.assumptions if one.quantity == "capex_usd" and one.subject == "dear")
    (rent,) = (one for one in question.assumptions if one.quantity == "usd_per_hour")
    assert len(mine.rows) == 2
    for moved, looked in ((mine._replace(rows=frozenset([max(mine.rows)])), True), (rent, False)):
        assert np.isfinite(question.cost(Moved(1, {moved: 1.01})).usd[place, 0]) == looked, moved.name
    assert np.isfinite(question.cost(Moved(1, {})).usd[place, 0])  # as planned all are


# --- from when on a machine pays --------------------------------------------------------------------------------------


def signed(usd):
    """A contract by the month."""
    return {"instance": "signed", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": usd}}


def rows_held(question):
    """What is told of each machine: (machine, quantity, class) with its row."""
    return {
        (row["reference"], row["quantity"], row["subject"]): row for row in pays_rows("lab", question.held(question))
    }


def test_a_machine_pays_by_all_work_by_each_class_and_if_it_is_bought_by_the_months():
    """Two classes, of one some are urgent: of those nothing is told, they are among theirs."""
    jobs = [class_of("a", 60.0, within_hours=3.0, urgent_per_month=6.0), class_of("b", 40.0)]
    question = dispatch_question(
        posed(own(), signed(900.0), rented_at(6.0), jobs=jobs, hours={"a": 2.0, "a.urgent": 2.0, "b": 2.0})
    )
    rows = rows_held(question)
    of_work = [("device_hours", None), ("per_month", "a"), ("per_month", "b")]
    box = [("box", *one) for one in (*of_work, ("months", None))]
    assert set(rows) == {*box, *(("signed (reserved)", *one) for one in of_work)}
    told = {key[1:]: (row["assumption"], row["planned"], row["unit"]) for key, row in rows.items() if key[0] == "box"}
    assert told == {
        ("device_hours", None): ("the work of a month", pytest.approx(200.0), "device-hours/month"),
        ("per_month", "a"): ("jobs of a a month", 60.0, "jobs/month"),
        ("per_month", "b"): ("jobs of b a month", 40.0, "jobs/month"),
        ("months", None): ("length of the project", 36.0, "months"),
    }
    # A box costs 1,050 a month, and 0.2 an hour instead of 6: from 1,050 / 5.8 = 181 hours on.
    assert rows["box", "device_hours", None]["pays_from"] == pytest.approx(1050 / 5.8)


def test_of_one_class_the_jobs_are_the_work():
    jobs = [class_of("a", 100.0, within_hours=3.0, urgent_per_month=6.0)]
    question = dispatch_question(posed(own(), rented_at(6.0), jobs=jobs, hours={"a": 2.0, "a.urgent": 2.0}))
    assert set(rows_held(question)) == {("box", "device_hours", "a"), ("box", "months", None)}


def test_the_work_of_a_month_is_that_of_the_best_mix():
    """The box is twice as fast: its 200 jobs are 200 hours, of the rented device 400."""
    question = price(Market((own(), hourly("rented", 6.0)), {"box": 200.0}, jobs=200.0)).dispatch()
    assert question.choices[0].title == "1 × box"
    row = rows_held(question)["box", "device_hours", "jobs"]
    assert row["planned"] == pytest.approx(200.0)
    # 1,050 a month instead of 6 x 400: it pays from 1,050 / (2,400 - 40) of it on.
    assert row["factor"] == pytest.approx(1050 / 2360, rel=1e-6)
    # Of 300 jobs it does 240, the others take 120 hours: 720 USD, a second box 1,062.
    more = price(Market((own(), hourly("rented", 6.0)), {"box": 200.0}, jobs=300.0)).dispatch()
    assert rows_held(more)["box", "device_hours", "jobs"]["planned"] == pytest.approx(240 + 120)


@pytest.mark.parametrize(("rent", "pays"), [(5.25, 1.0), (5.2475, 0.0), (6.0, 1.0)])
def test_a_machine_pays_as_planned_where_it_costs_no_more_to_the_last_dollar(rent, pays):
    """1,050 a month and nothing an hour, beside 200 hours at 5.25; at 5.2475 these are 50 cents less."""
    question = price(Market((own(kw=0.0), hourly("rented", rent)))).dispatch()
    assert rows_held(question)["box", "device_hours", "jobs"]["p_pays"] == pays


def test_a_machine_that_pays_from_a_twentieth_more_does_not_pay_as_planned():
    """1,050 / 5.8 = 181 hours; 172.4 are planned."""
    question = price(Market((own(), hourly("rented", 6.0)), jobs=1050 / 5.8 / 1.05 / 2)).dispatch()
    row = rows_held(question)["box", "device_hours", "jobs"]
    assert (row["p_pays"], row["factor"]) == (0.0, pytest.approx(1.05, rel=1e-6))


def test_of_two_machines_for_sale_each_is_told_of():
    """The second costs 2,050 a month: from 2,050 / 5.8 hours on, if it had them; it has 240."""
    offers = (own(), own("other", capex=36 * 500.0), hourly("rented", 6.0))
    rows = rows_held(price(Market(offers)).dispatch())
    found = {name: rows[name, "device_hours", "jobs"]["pays_from"] for name in ("box", "other")}
    assert found == pytest.approx({"box": 1050 / 5.8, "other": 550 / 5.8}, rel=1e-6)


def test_where_nothing_is_rented_a_machine_pays_as_far_as_it_does_the_work(recwarn):
    """A box does 120 jobs of two hours in its 240; of 100 planned. A hundredth of the work may be left."""
    question = dispatch_question(posed(own(), jobs=[class_of("a", 100.0)], hours={"a": 2.0}))
    row = rows_held(question)["box", "device_hours", "a"]
    assert (row["pays_from"], row["p_pays"], row["pays_until"]) == (0.0, 1.0, pytest.approx(240.0 / 0.99, rel=2e-4))
    assert not recwarn.list


def test_the_interval_of_where_a_machine_pays_is_of_six_months_of_each_draw():
    """Jobs differ by month; a box pays from where rents for its hours make up for 1,050 a month."""
    jobs = [class_of("a", {"value": 80.0, "low": 40.0, "high": 120.0}, source="this test")]
    made = posed(own(capex=36 * 450.0), rented_at(6.0), jobs=jobs, hours={"a": 2.0}, draws=60)
    row = rows_held(dispatch_question(made))["box", "device_hours", "a"]
    # All hours fit into the 240 of the box as long as they are below 1.5 times 160: it pays from 500 / 5.8 hours.
    hours = 2.0 * made.numbers[0][:, [0, 7, 14, 21, 28, 35]].mean(axis=1)
    low, high = np.quantile(500 / 5.8 / hours, [0.05, 0.95]) * row["planned"]
    assert (row["pays_from_low"], row["pays_from_high"]) == pytest.approx((low, high), rel=2e-2)
