"""The cost of work of months as an analysis sees it: quick looks, the ways that are looked at, and their names."""

import pytest
from phase_plans import hourly as rented_at
from small_lab import class_of, posed
from sweetspot.decision.assumption import Moved
from sweetspot.decision.cost_dispatch import dispatch_question
from three_kinds import Market, hourly, named, own, price

OLD = own("old", capex=0.0)  # 240 hours a month at 0.2 USD, 50 of care
PLANNED = Moved(1, {})


def first_turn(question, quantity, subject="", side=1):
    """The turning point of an assumption above (or below) what is planned."""
    found = [
        turn
        for one, turns in question.turns.items()
        for turn in turns
        if one.quantity == quantity and one.subject == subject and (turn.factor > 1) == (side > 0)
    ]
    assert len(found) == 1
    return found[0]


def test_quick_looks_cost_at_planned_figures_what_all_draws_do():
    """From 60 to 200 jobs a month in 300 draws of 36 months: what a way costs is the mean over all of them."""
    jobs = [class_of("a", {"value": 120.0, "low": 60.0, "high": 200.0})]
    question = dispatch_question(posed(own(), rented_at(6.0), jobs=jobs, hours={"a": 2.0}, draws=300))
    assert question.drawn.std(axis=1).min() > 100
    found = question.cost(PLANNED).usd[:, 0]
    titles = [choice.title for choice in question.choices]
    assert "2 × box, the rest on rented" in titles  # one box is cheaper: a way has the best number of its machines
    for place in (place for place, title in enumerate(titles) if not title.startswith("2")):
        assert found[place] == pytest.approx(question.drawn[place].mean(), rel=1e-9), titles[place]


def test_a_way_far_dearer_than_the_best_is_looked_at_where_there_is_no_nearer_one():
    """Rented 1,200 a month, a box for thirty days 3,000 and 0.2 an hour: three times. It pays from 3,000 / 5.8 h."""
    box = own(capex=36 * 2950.0, days_per_month=30.0)
    question = price(Market((box, hourly("rented", 6.0)))).dispatch()
    turn = first_turn(question, "per_month", "jobs")
    assert turn.factor == pytest.approx(3000 / 5.8 / 200, rel=1e-9)
    assert named(question, turn) == "box" and turn.machines == 1


def test_where_another_offer_gets_cheaper_that_is_named():
    """6 an hour beside 7: at 7 / 6 of its price the first is no longer rented. A third at 9 is never."""
    offers = (own(capex=360_000.0), hourly("dear", 9.0), hourly("cheap", 6.0), hourly("next", 7.0))
    question = price(Market(offers)).dispatch()
    turn = first_turn(question, "usd_per_hour", "cheap")
    assert turn.factor == pytest.approx(7 / 6, rel=1e-3)
    assert named(question, turn) == "next"


def test_machines_of_a_way_are_those_beyond_what_is_there():
    """Ours does 240 of 700 hours; a box and two are dearer than renting the rest by 6 an hour or cheaper by 1,050."""
    question = dispatch_question(
        posed(OLD, own(), rented_at(6.0), jobs=[class_of("a", 350.0)], hours={"a": 2.0}, have=["old"])
    )
    costs = question.cost(PLANNED)
    bought = [place for place, choice in enumerate(question.choices) if choice.option == "box"]
    alone = [place for place, choice in enumerate(question.choices) if choice.option != "box"]
    assert bought and set(costs.counts[bought, 0]) <= {1.0, 2.0} and not costs.counts[alone, 0].any()


def test_a_way_with_another_number_of_machines_says_so():
    question = price(Market((own(), hourly("rented", 6.0)))).dispatch()
    box = [choice.option for choice in question.choices].index("box")
    assert question.title(box, 1.0, None) == question.choices[box].title
    assert question.title(box, 3.0, None) == "3 × box"
