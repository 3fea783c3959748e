"""What the question of work of months is made of: its ways, the rival, the neighbours, and numbers that may move."""

import numpy as np
import pytest
from phase_plans import hourly as rented_at
from small_lab import class_of, posed
from sweetspot.decision.cost_dispatch import dispatch_question
from three_kinds import Market, hourly, own, price

OLD = own("old", capex=0.0)  # 240 hours a month at 0.2 USD, 50 of care


def asked(*offers, jobs=100.0, **speeds):
    """So many jobs of two hours a month, certain."""
    return price(Market(offers, speeds, jobs=jobs)).dispatch()


def titles(question):
    return [choice.title for choice in question.choices]


# --- ways -------------------------------------------------------------------------------------------------------------


def test_ways_are_the_best_each_other_pure_one_and_nothing_more_than_what_is_there():
    """200 hours: the box 1,090 USD, rented 1,200. To buy nothing is rented; it stands there once more as a mix."""
    question = asked(own(), hourly("rented", 6.0))
    assert titles(question) == ["1 × box", "all on rented", "nothing bought, all on rented"]
    assert question.drawn[:, 0].tolist() == pytest.approx([36 * 1090.0, 36 * 1200.0, 36 * 1200.0])
    assert [choice.option for choice in question.choices] == ["box", "rented", "rented"]


def test_the_best_that_buys_nothing_is_not_told_twice():
    """120 hours: rented 720, the box 1,074; a dearer rental 840."""
    question = asked(own(), hourly("rented", 6.0), hourly("dear", 7.0), jobs=60.0)
    assert titles(question) == ["nothing bought, all on rented", "all on dear", "1 × box"]
    assert question.drawn[:, 0].tolist() == pytest.approx([36 * 720.0, 36 * 840.0, 36 * 1074.0])


def test_what_cannot_do_the_work_is_no_way_but_the_machines_that_are_there():
    """Nothing is rented: ours does 240 of 300 hours, a box the rest. Ours alone does not end, and is asked."""
    question = dispatch_question(posed(OLD, own(), jobs=[class_of("a", 150.0)], hours={"a": 2.0}, have=["old"]))
    assert len(question.choices) == 2 and question.choices[0].option == "box"
    assert question.drawn[0, 0] == pytest.approx(36 * (50 + 1050 + 300 * 0.2)) and np.isinf(question.drawn[1]).all()


def test_no_way_no_question():
    assert dispatch_question(posed(OLD, jobs=[class_of("a", 150.0)], hours={"a": 2.0}, have=["old"])) is None


def test_a_turning_point_takes_few_looks():
    """A look dispatches hundreds of draws: a price takes one, and what turns the answer at most twenty beside it."""
    question = asked(own(), hourly("rented", 6.0))
    looks = []
    counted = question.cost

    def cost(moved):
        looks.append(moved.cases)
        return counted(moved)

    object.__setattr__(question, "cost", cost)
    assert sum(len(found) for found in question.turns.values()) >= 4
    assert sum(looks) <= 2 * 20 * len(question.assumptions)


# --- the rival and the neighbours -------------------------------------------------------------------------------------


def against(question):
    return None if question.against is None else titles(question)[question.against]


def test_the_rival_is_the_cheapest_way_that_holds_other_machines():
    cheap, dear, box = hourly("cheap", 6.0), hourly("dear", 7.0), own("box")
    assert against(asked(box, cheap)) == "all on cheap"
    assert against(asked(box, own("late", capex=72_000.0), cheap)) == "all on cheap"  # not `late`, which is bought too
    few = asked(box, cheap, dear, jobs=60.0)
    assert titles(few)[1] == "all on dear" and against(few) == "1 × box"  # dearer, but another thing to do
    for rented, rival in (((6.0, 7.0), "all on second"), ((6.0,), None)):  # nothing to buy
        offers = [rented_at(usd) | {"instance": name} for usd, name in zip(rented, ("first", "second"), strict=False)]
        question = dispatch_question(posed(*offers, jobs=[class_of("a", 100.0)], hours={"a": 2.0}))
        assert against(question) == rival


def test_what_does_not_do_the_work_is_no_rival():
    """Class b runs on the box alone: 60 hours a month, and 240 more of a than the box has room for. The rest is rented,
    or a second box is bought; to rent all is impossible, though it would hold other machines.
    """

    def change(options):
        return options[~((options["instance"] == "rented") & (options["workload"] == "lab.b"))].reset_index(drop=True)

    jobs = [class_of("a", 120.0), class_of("b", 30.0)]
    question = dispatch_question(posed(own(), rented_at(6.0), jobs=jobs, hours={"a": 2.0, "b": 2.0}, change=change))
    assert titles(question)[0] == "1 × box, the rest on rented" and against(question) == "2 × box"


def test_one_machine_more_and_one_less_are_dispatched_beside_the_best():
    """300 jobs are 600 hours: two boxes do 480 for 2,196 and rented the rest for 720."""
    question = asked(own(), hourly("rented", 6.0), jobs=300.0)
    by_hand = {1: 1050 + 48 + 360 * 6.0, 2: 2100 + 96 + 120 * 6.0, 3: 3150 + 120.0}
    assert question.drawn[0] == pytest.approx(36 * min(by_hand.values()))
    assert titles(question)[0] == "2 × box, the rest on rented"
    assert question.beside[:, 0].tolist() == pytest.approx([36 * by_hand[1], 36 * by_hand[3]])


def test_a_neighbour_that_does_not_do_the_work_is_none_and_none_is_below_what_is_there():
    """Without rentals no box is one too few; of our own machine there is never less."""
    question = dispatch_question(posed(OLD, own(), jobs=[class_of("a", 150.0)], hours={"a": 2.0}, have=["old"]))
    assert question.beside[:, 0].tolist() == pytest.approx([36 * (50 + 2100 + 60.0)])


def test_more_work_than_the_machines_bought_can_do_takes_more_of_them():
    """Nothing is rented: 200 hours take one box, three times as many take three."""
    question = dispatch_question(posed(own(), jobs=[class_of("a", 100.0)], hours={"a": 2.0}))
    (jobs,) = (one for one in question.assumptions if one.quantity == "per_month")
    thrice = question.at(jobs, np.array([3.0]))
    assert thrice.counts[0, 0] == 3.0 and thrice.usd[0, 0] == pytest.approx(36 * (3150 + 120.0))


def test_a_neighbour_that_does_the_work_of_some_draws_only_is_none():
    """A box has room for 120 jobs; 90 to 130 a month come, as many in each month of a draw."""
    jobs = [class_of("a", {"value": 110.0, "low": 90.0, "high": 130.0})]
    made = posed(own(), jobs=jobs, hours={"a": 2.0}, draws=40, months_alike=1.0)
    assert made.numbers.min() < 120 < made.numbers.max()
    question = dispatch_question(made)
    assert titles(question)[0] == "2 × box"
    three = 36 * (3150 + 0.4 * made.numbers[0].mean(axis=1))
    assert question.beside.tolist() == [pytest.approx(three)]


def test_a_choice_stands_on_the_row_of_what_it_buys_else_of_what_is_rented_most():
    """80 hours of class a on `one`, 120 of class b on `two`: each is cheaper for its own."""
    jobs = [class_of("a", 40.0), class_of("b", 60.0)]

    def change(options):
        mine = options["workload"].str[-1].map({"a": "one", "b": "two"}) == options["instance"]
        return options.assign(usd=options["usd"].where(mine | (options["instance"] == "old"), options["usd"] * 2))

    one, two = (rented_at(6.0) | {"instance": name} for name in ("one", "two"))
    question = dispatch_question(posed(one, two, jobs=jobs, hours={"a": 2.0, "b": 2.0}, change=change))
    assert question.choices[0].option == "two"
    ours = dispatch_question(posed(OLD, jobs=[class_of("a", 40.0)], hours={"a": 2.0}, have=["old"]))
    assert [choice.option for choice in ours.choices] == ["old"]


# --- what may move ----------------------------------------------------------------------------------------------------

MANY = [
    class_of("a", {"value": 100.0, "low": 80.0, "high": 150.0}, within_hours=3.0, urgent_per_month=5.0),
    class_of("b", 40.0, within_hours=3.0, urgent_per_month=0.0),
]
TWO_HOURS = {"a": 2.0, "a.urgent": 2.0, "b": 2.0, "b.urgent": 2.0}


def test_numbers_of_jobs_move_by_class_with_their_range_and_all_together():
    """Where there are no urgent jobs, there is no number to move; of others at most as many as of their class."""
    question = dispatch_question(posed(own(), rented_at(6.0), jobs=MANY, hours=TWO_HOURS, draws=40))
    found = [tuple(one) for one in question.assumptions if one.figure in ("per_month", "jobs")]
    ends = (frozenset(), np.inf)
    assert found == [
        ("per_month", "a", "jobs of a a month", "jobs/month", 100.0, 80.0, 150.0, "declared", "per_month", *ends),
        ("per_month", "a (urgent)", "urgent jobs of a a month", "jobs/month", 5.0, 4.0, 6.0, "assumed", "per_month",
         frozenset(), 100.0),
        ("per_month", "b", "jobs of b a month", "jobs/month", 40.0, 32.0, 48.0, "assumed", "per_month", *ends),
        ("jobs", "", "number of jobs a month", "times the plan", 1.0, 0.8, 1.2, "assumed", "jobs", *ends),
    ]  # fmt: skip


def test_drawn_numbers_of_jobs_are_the_means_of_the_project():
    """Only class a is uncertain. Its mean over months is drawn, not that of a month alone."""
    made = posed(own(), rented_at(6.0), jobs=MANY, hours=TWO_HOURS, draws=40)
    ((assumption, jobs),) = dispatch_question(made).drawn_work
    assert assumption.subject == "a" and jobs.shape == (40,)
    place = [one.name for one in made.classes].index("a")
    assert jobs == pytest.approx([sum(months) / len(months) for months in made.numbers[place].tolist()])


def test_a_number_that_differs_by_less_than_a_job_is_drawn_too():
    jobs = [class_of("a", {"value": 0.5, "low": 0.4, "high": 0.6})]
    ((assumption, drawn),) = dispatch_question(
        posed(own(), rented_at(6.0), jobs=jobs, hours={"a": 400.0}, draws=40)
    ).drawn_work
    assert assumption.subject == "a" and 0.05 < np.ptp(drawn) < 0.5


def test_the_question_says_what_it_is_of():
    question = asked(own(), hourly("rented", 6.0))
    assert (question.workload, question.months, question.told, question.word) == ("lab", 36.0, "36 months", "best mix")
    assert question.model == "" and question.about == {"workload": "lab", "model": None, "model_title": None}
    every = {choice.option: choice for choice in question.choices}
    assert every["box"].labels == every["rented"].labels == frozenset(question.rows)
    assert [choice.alternative for choice in question.choices] == ["0", "1", "2"]
