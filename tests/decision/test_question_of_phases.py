"""The cost of a plan of phases at moved figures, by hand; and what its question is made of."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly as rented_at
from phase_plans import own, priced_plan
from sweetspot.decision.assumption import Assumption, Moved, all_of
from sweetspot.decision.choice_table import works
from sweetspot.decision.cost_rounds import (
    Part,
    Plan,
    PricedPlan,
    _speed_of,
    drawn_costs,
    priced_plans,
    rounds_cost,
    rounds_question,
    with_later,
)
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate
from sweetspot.decision.turning import pays_rows
from three_kinds import ROUNDS, Market, hourly, price

# 36 months of 100 jobs of two hours: 7,200 hours. A box works 24 x 10 x 36 = 8,640; it costs 36,000 and 50 a month of
# care, 0.2 an hour. Rented at 6.
HELD, RUNNING = 36_000 + 36 * 50.0, 7200 * 0.2
WORK = all_of("amount of work")


def asked(*offers, draws=2, **market):
    return price(Market(offers or (own(), hourly("rented", 6.0)), **market), draws, ROUNDS).rounds()


def moved(question, quantity, subject="", factor=1.0):
    """USD and machines of each option with one assumption moved."""
    (one,) = (one for one in question.assumptions if one.quantity == quantity and subject in one.subject)
    costs = question.at(one, np.array([factor]))
    return {
        choice.option: (usd, boxes)
        for choice, usd, boxes in zip(
            question.choices, costs.usd[:, 0].tolist(), costs.counts[:, 0].tolist(), strict=True
        )
    }


def near(expected):
    return {name: (pytest.approx(usd), boxes) for name, (usd, boxes) in expected.items()}


@pytest.mark.parametrize(
    ("quantity", "subject", "factor", "box", "rented"),
    [
        ("jobs", "", 1.0, (HELD + RUNNING, 1), 43_200),
        ("jobs", "", 1.1, (HELD + RUNNING * 1.1, 1), 47_520),
        ("jobs", "", 1.2, (HELD + RUNNING * 1.2, 1), 51_840),  # all of its hours
        ("jobs", "", 1.3, (2 * HELD + RUNNING * 1.3, 2), 56_160),
        ("jobs", "", 4.0, (4 * HELD + RUNNING * 4, 4), 172_800),  # 28,800 of 34,560 h; three have 25,920
        ("days_per_month", "", 0.5, (2 * HELD + RUNNING, 2), 43_200),
        ("days_per_month", "", 2.0, (HELD + RUNNING, 1), 43_200),
        ("speed", "card of box", 0.8, (2 * HELD + RUNNING / 0.8, 2), 43_200),
        ("speed", "card of box", 2.0, (HELD + RUNNING / 2, 1), 43_200),
        ("speed", "card of rented", 2.0, (HELD + RUNNING, 1), 21_600),
        ("usd_per_kwh", "", 3.0, (HELD + RUNNING * 3, 1), 43_200),
        ("kw", "box", 0.5, (HELD + RUNNING / 2, 1), 43_200),
        ("capex_usd", "box", 1.5, (HELD + 18_000 + RUNNING, 1), 43_200),
        ("maintenance_usd_per_month", "box", 3.0, (HELD + 3600 + RUNNING, 1), 43_200),
        ("months", "", 2.0, (HELD - 18_000 + RUNNING, 1), 43_200),  # written off over twice as long
        ("usd_per_hour", "rented", 1.5, (HELD + RUNNING, 1), 64_800),
    ],
)  # fmt: skip
def test_every_figure_moves_what_rests_on_it_alone(quantity, subject, factor, box, rented):
    assert moved(asked(), quantity, subject, factor) == near({"box": box, "rented": (rented, 1)})


def test_cases_are_apart():
    """Three cases at once: one box, two, and four."""
    question = asked()
    costs = question.at(WORK._replace(name="amount of work"), np.array([1.0, 1.3, 4.0]))
    place = [choice.option for choice in question.choices].index("box")
    assert costs.counts[place].tolist() == [1.0, 2.0, 4.0]
    expected = [HELD + RUNNING, 2 * HELD + RUNNING * 1.3, 4 * HELD + RUNNING * 4]
    assert costs.usd[place].tolist() == pytest.approx(expected)


# --- rounds on whole machines -----------------------------------------------------------------------------------------


def planned(*, jobs=10, slots=4.0, hours=2.0, room=6.0, least=1.0, own_months=False, **row):
    """One phase on one option: ten jobs, four at once, in three rounds of two hours, for 30 USD by use and 100 held."""
    told = {
        "row": 7, "option": "box", "purchase": "own", "gpus": 8, "images_per_s": 1.0, "capex_usd": 100.0,
        "residual_usd": 0.0, "maintenance_usd_per_month": 0.0, "staff_usd_per_month": 0.0, "months": 10.0, "kw": 1.0,
        "pue": 1.0, "usd_per_kwh": 0.2, "days_per_month": 10.0, "discount_rate": 0.0, "fixed_usd_per_month": 10.0,
    } | row  # fmt: skip
    part = Part(jobs, np.array([30.0]), np.array([hours]), np.array([slots]), [told["row"]])
    array = lambda value: np.array([value])  # noqa: E731
    return Plan([told], [part], array(100.0), array(1.0), array(least), array(room), own_months, jobs * hours)


def cost(plan, **factors):
    """USD and machines of the option, with figures moved."""
    told = ("", "", "", 1.0, 1.0, 1.0, "")
    values = {
        Assumption(name, *told, name, frozenset() if name == "jobs" else frozenset([7])): np.array([factor])
        for name, factor in factors.items()
    }
    found = rounds_cost(plan)(Moved(1, values))
    return float(found.usd[0, 0]), float(found.counts[0, 0])


def test_more_work_is_longer_jobs_in_as_many_rounds_and_then_more_machines():
    """Three rounds of two hours fill the room of six. A percent more takes two boxes: five jobs each in two rounds of
    four, so that four rounds are worked instead of three.
    """
    assert cost(planned()) == (130.0, 1.0)
    assert cost(planned(), jobs=1.0) == (130.0, 1.0)
    usd, boxes = cost(planned(), jobs=1.01)
    assert boxes == 2.0 and usd == pytest.approx(200 + 30 * 1.01 * 4 / 3)


def test_no_more_machines_than_jobs_and_what_does_not_end_is_infinite():
    """Three jobs of ten hours, in a room of six: each has a machine and is late all the same."""
    usd, boxes = cost(planned(jobs=3, slots=1.0, hours=10.0), jobs=1.1)
    assert (usd, boxes) == (np.inf, 3.0)


def test_there_are_as_many_machines_as_the_largest_phase_has_jobs():
    """Ten jobs of two hours and three of one, each alone on a machine, in six hours: four take 3 x 2 + 1, five 5."""
    plan = planned(slots=1.0)
    small = Part(3, np.array([10.0]), np.array([1.0]), np.array([1.0]), [7])
    both = plan._replace(parts=[*plan.parts, small], boxes=np.array([5.0]), held=np.array([500.0]))
    assert cost(both, jobs=1.0) == (pytest.approx(540.0), 5.0)


def test_where_nobody_counts_the_hours_machines_stay():
    usd, boxes = cost(planned(room=np.inf), jobs=5.0)
    assert (usd, boxes) == (pytest.approx(100 + 150), 1.0)


def test_so_many_machines_are_held_however_little_there_is_to_do():
    """Two at least, as planned: ten jobs on two take four rounds instead of three."""
    plan = planned(least=2.0)._replace(boxes=np.array([2.0]), held=np.array([200.0]))
    assert cost(plan, jobs=0.5) == (pytest.approx(200 + 15), 2.0)


def test_a_machines_own_months_give_it_more_room_and_the_plans_do_not():
    """Without months of a plan it is paid, and works, for those of the machine."""
    assert cost(planned(own_months=True), jobs=1.5, months=2.0) == (pytest.approx(100 + 30 * 1.5), 1.0)
    usd, boxes = cost(planned(), jobs=1.5, months=2.0)
    assert boxes == 2.0 and usd == pytest.approx(2 * 100 / 2 + 30 * 1.5 * 4 / 3)


def test_a_contract_is_dearer_with_its_price_and_a_free_machine_is_not():
    """Of both parts; a machine that costs nothing stays at nothing."""
    contract = {"purchase": "reserved", "variable_usd_per_hour": 3.0}
    assert cost(planned(**contract), usd_per_hour=1.5) == (pytest.approx(1.5 * 130), 1.0)
    assert cost(planned(kw=0.0), usd_per_kwh=4.0) == (pytest.approx(130.0), 1.0)
    assert cost(planned(capex_usd=0.0), capex_usd=4.0) == (pytest.approx(130.0), 1.0)


def test_draws_move_what_is_paid_by_use_with_speed_and_rate_and_what_is_held_with_its_own():
    """100 USD by use and 200 by the month. Half the speed; a rate that doubles, of nothing, and as it is; a machine
    held for half as much again, nothing by the month (then as the rate: a contract), and half a dollar that doubles.
    """
    rows = pd.DataFrame(
        {"images_per_s": [100.0] * 4, "variable_usd_per_hour": [0.5, 0.0, 2.0, 3.0],
         "fixed_usd_per_month": [10.0, 0.0, 0.0, 0.5]}, index=[3, 0, 1, 2],
    )  # fmt: skip
    draws = SimpleNamespace(
        images_per_s=np.array([[50.0]] * 4),
        variable=np.array([[9.0], [4.0], [3.0], [1.0]]),
        fixed=np.array([[7.0], [7.0], [1.0], [15.0]]),
    )
    used, held = drawn_costs(rows, np.full(4, 100.0), np.full(4, 200.0), draws)
    assert used[:, 0].tolist() == [400.0, 200.0, 400.0, 200.0]
    assert held[:, 0].tolist() == [300.0, 200.0, 400.0, 400.0]


def test_hours_of_all_devices():
    """Ten jobs of two hours, four at once, on eight devices: 5 hours of each. A machine of no devices counts as one."""
    assert planned().device_hours.tolist() == [40.0]
    assert planned(gpus=0).device_hours.tolist() == [5.0]


# --- the question -----------------------------------------------------------------------------------------------------


def plans_of(*rows, draws=2, change=lambda plans: plans, **more):
    """The priced plans of a few offers, the options and the draws."""
    tables, settings = priced_plan(*rows, **more)
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    drawn = simulate(options, 1, draws)
    return priced_plans(options, drawn, change(tables.plans)), options, drawn, settings


def test_what_can_be_taken_away_is_no_choice_but_where_nothing_else_is():
    spot = {"instance": "spot", "purchase": "spot", "per_hour": 1.0}

    def taken(*rows, **more):
        (plan,), options, draws, _ = plans_of(*rows, **more)
        question = rounds_question(plan, options, draws, 30.5)
        return {one.option: one.taken for one in question.choices}, question

    both, question = taken(own(), rented_at(6.0), spot)
    assert both == {"spot (spot)": False, "box": True, "rented": True}
    assert not any("spot" in one.subject for one in question.assumptions)
    assert taken(spot, work={"instance": "spot"})[0] == {"spot (spot)": True}


def test_the_question_says_what_it_is_of():
    question = asked()
    assert (question.workload, question.months, question.told) == ("work", 36.0, "36 months")
    assert question.held_still == ("days_per_month",) and not question.dear and question.against is None
    assert question.assumptions[-1] == all_of("amount of work")
    assert [choice.option for choice in question.choices] == ["box", "rented"]
    assert question.drawn[:, 0].tolist() == pytest.approx([HELD + RUNNING, 43_200])


def test_plans_are_told_in_the_order_of_the_study():
    def twice(plans):
        return pd.concat([plans.assign(plan=name) for name in ("later", "early")], ignore_index=True)

    assert [plan.name for plan in plans_of(own(), rented_at(6.0), change=twice)[0]] == ["later", "early"]
    assert plans_of(own(), change=lambda plans: plans.iloc[:0])[0] == []
    _, options, draws, _ = plans_of(own())
    assert priced_plans(options, draws, pd.DataFrame()) == []  # a study without plans
    assert priced_plans(options.assign(in_answer=False), draws, pd.DataFrame()) == []


def test_jobs_go_by_the_speed_of_the_machine_itself_of_one_named_or_of_one_device_of_the_kind():
    box, one, two = (
        {"row": row, "instance": name, "gpus": gpus, "gpu": gpu}
        for row, name, gpus, gpu in ((1, "box", 4, "X"), (2, "one", 1, "X"), (3, "two", 1, "Y"))
    )
    rows = [two, box, one]
    assert [_speed_of(box, name, rows) for name in ("box", "two", "gone")] == [1, 3, 2]
    assert _speed_of(box | {"row": 4}, "box", rows) == 4  # the same machine at another rate
    assert _speed_of(box | {"gpu": "Z"}, "gone", rows) is None


def test_a_plan_names_its_machines_with_their_number_where_there_are_several():
    """Half of the days: two boxes."""
    for days, title in ((10.0, "box"), (5.0, "2 × box")):
        (plan,), *_ = plans_of(own(days_per_month=days), rented_at(6.0))
        assert set(plan.table["title"]) == {title, "rented"}


def test_planned_hours_are_those_of_one_machine_that_is_owned():
    (plan,), *_ = plans_of(own(), rented_at(6.0))
    found = plan.table.set_index("option")["planned_hours"]
    assert found["box"] == 24 * 10 * 36 and np.isnan(found["rented"])


def test_hours_of_a_plan_have_the_ends_of_its_speed():
    """14,400 hours at 50 images/s; 95 draws of 100 lie between 40 and 75, and 90 of them 1.645 / 1.96 as far."""
    speeds, facts = {"rented": (50.0, 40.0, 75.0)}, {"rented": {"provider": "cloud", "gpu": "H9", "gpus": 1}}
    (plan,), *_ = plans_of(own(), rented_at(6.0), speeds=speeds, facts=facts, draws=20_000)
    row, as_far = plan.table.set_index("option").loc["rented"], 1.6449 / 1.9600
    assert row["hours"] == 14_400.0
    assert row["hours_low"] == pytest.approx(14_400 / 1.5**as_far, rel=0.02)
    assert row["hours_high"] == pytest.approx(14_400 * 1.25**as_far, rel=0.02)


def test_a_plan_bought_later_takes_its_place_by_cost_and_no_price_of_the_machine_turns_it():
    """At once 39,240 (each dollar of the price is one), rented 43,200, a box after six months 41,000."""
    (plan,), options, draws, settings = plans_of(own(), rented_at(6.0))
    row = plan.table[plan.table["option"] == "box"]
    later = row.assign(option="box after 6", box="box", after_months=6.0, usd=41_000.0, usd_possession=30_000.0)
    both = with_later(plan, {"work": (later, np.full((1, 2), 41_000.0))})
    assert both.table["option"].tolist() == ["box", "box after 6", "rented"]
    assert both.table.index.tolist() == [0, 1, 2] and "index" not in both.table
    assert both.usd[:, 0].tolist() == pytest.approx([39_240.0, 41_000.0, 43_200.0])
    assert with_later(plan, {}) is plan
    (found, *_) = works(options, draws, [both], [], settings)
    told = found.table.set_index("choice")["usd_per_capex"]
    assert told.to_dict() == {"box": pytest.approx(1.0), "box after 6": 0.0, "rented": 0.0}
    assert isinstance(both, PricedPlan) and rounds_question(both, options, draws, 30.5).drawn.shape == (2, 2)


# --- from when on a machine pays --------------------------------------------------------------------------------------


def held(question):
    return {(row["reference"], row["quantity"]): row for row in pays_rows("work", question.held(question))}


def test_a_machine_pays_by_the_jobs_of_the_plan_and_by_the_days_of_use():
    """37,800 / (2 x 5.8) = 3,258.6 jobs of 3,600. Below 8.33 days of use it takes two boxes and does not pay."""
    rows = held(asked())
    assert set(rows) == {("box", "jobs"), ("box", "days_per_month")}
    work, days = rows["box", "jobs"], rows["box", "days_per_month"]
    assert (work["assumption"], work["unit"], work["planned"]) == ("the work of the plan", "jobs", 3600.0)
    assert work["pays_from"] == pytest.approx(HELD / 5.8 / 2, rel=1e-6) and work["p_pays"] == 1.0
    assert work["pays_until"] == pytest.approx(3600 * 1.2, rel=1e-3)  # then two boxes
    assert (days["planned"], days["unit"]) == (10.0, "days/month")
    assert days["pays_from"] == pytest.approx(7200 / 24 / 36, rel=1e-3) and np.isnan(days["pays_until"])


def test_without_rentals_nothing_is_held_against_and_what_is_dear_does_not_pay():
    assert not held(asked(own(), own("other", capex=50_000.0)))
    rows = held(asked(own(), hourly("rented", 5.0)))
    assert rows["box", "jobs"]["p_pays"] == 0.0  # 39,240 against 36,000
    assert rows["box", "jobs"]["pays_from"] == pytest.approx(HELD / 4.8 / 2, rel=1e-6)


def test_the_interval_of_where_a_machine_pays_is_of_a_thousand_draws():
    """In each draw it pays from 37,800 / (2 x (rent - 0.2)) jobs."""
    ranged = hourly("rented", {"value": 6.0, "low": 5.0, "high": 7.0})
    question = asked(own(), ranged, draws=1200)
    rents = question.drawn[[choice.option for choice in question.choices].index("rented")] / 7200
    row = held(question)["box", "jobs"]
    found = np.sort(HELD / (rents[:1000] - 0.2) / 2)
    low, high = found[50], found[949]  # those with five of a hundred beyond
    assert (row["pays_from_low"], row["pays_from_high"]) == pytest.approx((low, high), rel=1e-6)
    assert row["p_pays"] == np.mean(rents[:1000] * 7200 >= HELD + RUNNING)


def test_beside_several_the_cheapest_is_held_against():
    """5.5 an hour beside 6, and a contract of 30,000 a year whose USD are by the month, which never is."""
    deal = {"instance": "deal", "purchase": "reserved", "commitment": {"term_months": 36.0, "per_month": 2000.0}}
    rows = held(asked(own(), hourly("rented", 6.0), hourly("less", 5.5), deal))
    assert rows["box", "jobs"]["pays_from"] == pytest.approx(HELD / 5.3 / 2, rel=1e-6)
