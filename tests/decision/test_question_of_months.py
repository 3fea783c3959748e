"""The question of work of months: its ways, the rival, numbers that may move, exact turning points."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_lab import class_of, posed
from sweetspot.decision.analyses import pays_rows, turning_rows
from sweetspot.decision.decision_problem import all_of
from sweetspot.decision.monthly_problem import MonthlyProblem, _root, monthly_problem
from three_kinds import Market, hourly, named, own, price

OLD = own("old", capex=0.0)  # 240 hours a month at 0.2 USD, 50 of care
RENTED = hourly("rented", 6.0)


def asked(*offers, jobs=100.0, **speeds):
    """So many jobs of two hours a month, certain."""
    return price(Market(offers or (own(), RENTED), speeds, jobs=jobs), kind="dispatch").dispatch()


def question_of(*offers, **more):
    return monthly_problem(posed(*offers, **({"hours": {"a": 2.0, "b": 2.0}} | more)))


def titles(question):
    return [choice.title for choice in question.choices]


@pytest.mark.parametrize(("offers", "jobs", "told", "month"), [
    # 200 hours: to buy nothing is rented; it stands there once more as a mix
    ((own(), RENTED), 100.0, ["1 × box", "rented", "rented"], [1090, 1200, 1200]),
    # 120 hours: the best that buys nothing is not told twice
    ((own(), RENTED, hourly("dear", 7.0)), 60.0, ["rented", "dear", "1 × box"],
     [720, 840, 1074]),
    # what costs a percent more is another way, what costs half of that more none
    ((own(), RENTED, hourly("dear", 6.09), hourly("same", 6.03)), 60.0, ["rented", "dear", "1 × box"],
     [720, 730.8, 1074]),
])  # fmt: skip
def test_ways_are_the_best_each_other_pure_one_and_nothing_more_than_what_is_there(offers, jobs, told, month):
    question = asked(*offers, jobs=jobs)
    assert titles(question) == told
    assert question.samples_usd[:, 0].tolist() == pytest.approx([36 * usd for usd in month])
    assert question.baseline.counts[:, 0].tolist() == [title == "1 × box" for title in told]


def test_what_cannot_do_the_work_is_no_way_but_the_machines_that_are_there():
    """Nothing is rented: ours does 240 of 300 hours, a box the rest. Ours alone does not end, and is asked."""
    work = {"jobs": [class_of("a", 150.0)], "have": ["old"]}
    question = question_of(OLD, own(), **work)
    assert len(question.choices) == 2 and question.choices[0].option == "box"
    assert question.samples_usd[0, 0] == pytest.approx(36 * (50 + 1050 + 300 * 0.2))
    assert np.isinf(question.samples_usd[1]).all()
    assert question_of(OLD, **work) is None  # no way, no question


def test_resale_value_rises_until_its_high_bound_is_the_lowest_price_of_the_machine():
    price_range = {"value": 36_000.0, "low": 30_000.0, "high": 40_000.0}
    # 7,500 reaches the lowest price of 30,000 at 4 times: 4 x 6,000 = 24,000. Without a range 6,000 rises to 30,000.
    for resale, highest in (({"value": 6000.0, "low": 5000.0, "high": 7500.0}, 24_000.0), (6000.0, 30_000.0)):
        question = asked(own(capex=price_range, residual=resale), RENTED)
        (resale_value,) = (one for one in question.parameters if one.quantity == "residual_usd")
        assert resale_value.maximum == pytest.approx(highest)


def against(question):
    index = question.runner_up
    does_work = index is not None and np.isfinite(question.samples_usd[index]).all()
    return titles(question)[index] if does_work else None


def test_the_rival_is_the_cheapest_way_that_holds_other_machines():
    dear = hourly("dear", 7.0)
    assert against(asked(own(), own("late", capex=72_000.0), RENTED)) == "rented"  # not `late`, bought too
    few = asked(own(), RENTED, dear, jobs=60.0)
    assert titles(few)[1] == "dear" and against(few) == "1 × box"  # dearer, but another thing to do
    for offers, rival in (((RENTED, dear), "dear"), ((RENTED,), None)):  # nothing to buy
        assert against(question_of(*offers, jobs=[class_of("a", 100.0)])) == rival


def test_what_does_not_do_the_work_is_no_rival():
    """Class b runs on the box alone: 60 hours a month, and 240 more of a than the box has room for. The rest is rented,
    or a second box is bought, which is no other thing to do; to rent all is impossible, though it would be.
    """

    def change(options):
        return options[~((options["instance"] == "rented") & (options["workload"] == "lab.b"))].reset_index(drop=True)

    jobs = [class_of("a", 120.0), class_of("b", 30.0)]
    question = question_of(own(), RENTED, jobs=jobs, change=change)
    # the jobs of each class, and of both together
    assert [one.subject for one in question.parameters if one.figure in ("jobs", "per_month")] == ["a", "b", ""]
    assert titles(question)[0] == "1 × box, the rest on rented" and against(question) is None


def test_as_many_machines_are_bought_as_cost_the_least():
    """300 jobs are 600 hours: two boxes do 480 for 2,196 and rented the rest for 720."""
    question = asked(own(), hourly("rented", 6.0), jobs=300.0)
    by_hand = {1: 1050 + 48 + 360 * 6.0, 2: 2100 + 96 + 120 * 6.0, 3: 3150 + 120.0}
    assert question.samples_usd[0] == pytest.approx(36 * min(by_hand.values()))
    assert titles(question)[0] == "2 × box, the rest on rented"


def test_more_work_than_the_machines_bought_can_do_takes_more_of_them():
    """Nothing is rented: 200 hours take one box, three times as many take three."""
    question = monthly_problem(posed(own(), jobs=[class_of("a", 100.0)], hours={"a": 2.0}))
    (jobs,) = (one for one in question.parameters if one.quantity == "per_month")
    thrice = question.at(jobs, np.array([3.0]))
    assert [question.title(0, count) for count in (1.0, 3.0)] == ["1 × box", "3 × box"]
    assert thrice.counts[0, 0] == 3.0 and thrice.usd[0, 0] == pytest.approx(36 * (3150 + 120.0))


def quantity_of(question, quantity, subject=None):
    """The assumption of that quantity, and subject where several have it."""
    (found,) = (one for one in question.parameters if one.quantity == quantity and subject in (None, one.subject))
    return found


def test_what_costs_much_more_than_the_best_is_priced_only_where_its_own_figures_move():
    """Of 1,090 USD as planned 1,635 is 1.5 times, 2,090 more than 1.6; at half its price the last is as good."""
    question = asked(own(), own("near", capex=36 * 1545.0), own("far", capex=72_000.0), RENTED, hourly("dear", 7.0))
    place = {choice.option: index for index, choice in enumerate(question.choices)}
    assert question.baseline.usd[place["far"], 0] == pytest.approx(36 * 2090)
    more = question.at(quantity_of(question, "per_month"), np.array([1.05])).usd[:, 0]  # 210 hours
    assert more[[place["box"], place["near"]]] == pytest.approx([36 * 1092, 36 * 1637])
    assert np.isinf(more[[place["far"], place["dear"]]]).all() and more[place["rented"]] == pytest.approx(36 * 1260)
    half = question.at(quantity_of(question, "capex_usd", "far"), np.array([0.5]))
    assert half.usd[place["far"], 0] == pytest.approx(36 * 1090)


def turns(question, quantity, subject):
    """The turning points of an assumption."""
    ((_, found),) = (
        pair for pair in question.turning_points.items() if (pair[0].quantity, pair[0].subject) == (quantity, subject)
    )
    return found


def test_more_jobs_turn_to_the_way_that_gains_most_by_each_though_another_is_nearer():
    """200 h, rented for 1,200. `near`: 180 + 5.4 an hour, pays from 300 h; `far`: 1,176 + 0.6, from 217.8 h."""
    question = asked(own("near", capex=130 * 36.0, kw=27.0), own("far", capex=1126 * 36.0, kw=3.0), RENTED)
    assert question.choices[0].option == "rented"
    (turn,) = (turn for turn in turns(question, "per_month", "jobs") if turn.factor > 1)
    assert turn.factor == pytest.approx(1176 / 5.4 / 200, rel=1e-6) and named(question, turn) == "far"


@pytest.mark.parametrize(("estimated", "crossings", "decided"), [
    (0.2, {"near": 0.2, "far": 0.25}, 2),  # at 1.25 times, and beyond the crossing with what is best there
    (0.4, {"near": 0.2, "far": 0.25}, 5),  # at 1.6 times; about 0.25, where a third is best; in the middle; beyond 0.2
    (0.4, {"near": 9.0, "far": 9.0}, 40),  # halved on and on, each time just before its end too
])  # fmt: skip
def test_what_is_best_is_decided_a_few_times_until_it_changes_just_there(estimated, crossings, decided):
    """Up to exp(0.2) times the work is rented, up to exp(0.3) one machine is the best, then another."""
    tried, alike = [], {"counts": (), "timed": (), "single_offer": False, "done": SimpleNamespace(lead="rented")}
    ways = {name: SimpleNamespace(bought={name: 1} if name else {}, source=name, **alike)
            for name in ("", "near", "far")}  # fmt: skip
    searched = SimpleNamespace(
        mixes=[*ways.values()], at=lambda _, factors: factors, is_changed=lambda factors: np.log(factors) > estimated,
        _decide=lambda _, log: tried.append(log) or ways["" if log < 0.2 else "near" if log < 0.3 else "far"],
        _crossing=lambda _, inner, outer, first, second: min(crossings[second.source], outer),
    )  # fmt: skip
    point = MonthlyProblem._turning_point(searched, all_of("work"), 1.0)
    assert point.factor == pytest.approx(np.exp(0.2), rel=7e-7) and (point.to, point.machines) == (1, 1.0)
    assert len(tried) <= decided


def test_where_a_function_changes_its_sign_and_where_it_does_not():
    assert _root(lambda log: log - 0.3, 0.0, 1.0, 1e-9) == pytest.approx(0.3, abs=1e-9)
    assert [_root(lambda _, value=value: value, 0.0, 1.0, 1e-9) for value in (0.5, 0.0, -2.0)] == [1.0, 1.0, 1.0]


def rows_held(question):
    """What is told of each machine: (machine, quantity, class) with its row."""
    return {
        (row["reference"], row["quantity"], row["subject"]): row
        for row in pays_rows("lab", question.break_even_cases())
    }


def test_the_work_of_a_month_is_that_of_the_best_mix():
    """The box is twice as fast: its 200 jobs are 200 hours, of the rented device 400."""
    row = rows_held(asked(jobs=200.0, box=200.0))["box", "device_hours", None]
    # 1,050 a month instead of 6 x 400: it pays from 1,050 / (2,400 - 40) of it on.
    assert (row["planned"], row["factor"]) == (pytest.approx(200.0), pytest.approx(1050 / 2360, rel=1e-6))
    # Of 300 jobs it does 240, the others take 120 hours: 720 USD, a second box 1,062.
    assert rows_held(asked(jobs=300.0, box=200.0))["box", "device_hours", None]["planned"] == pytest.approx(360)


def test_an_estimate_is_right_as_planned_and_no_year_of_work_is_certain():
    """One month of each sample stands for all 36, corrected by what it is off at the baseline."""
    jobs = class_of("a", {"value": 100.0, "low": 50.0, "high": 200.0}, within_hours=3.0,
                    urgent_per_month={"value": 10.0, "low": 5.0, "high": 12.0})  # fmt: skip
    question = question_of(own(), RENTED, jobs=[jobs], draws=300)
    assert question.baseline.usd[:, 0] == pytest.approx(question.samples_usd.mean(axis=1), rel=1e-9)
    every, urgent = (one for one in question.parameters if one.figure == "per_month")
    assert (every.name, urgent.name) == ("jobs of a a month", "urgent jobs of a a month")
    assert (every.low, every.high, every.maximum) == (50.0, 200.0, np.inf)
    assert (urgent.value, urgent.low, urgent.high, urgent.maximum) == (10.0, 5.0, 12.0, 100.0)
    assert [one.name for one, _ in question.work_samples] == [every.name, urgent.name]
    certain = asked()
    assert certain.work_samples == () and [one.quantity for one in certain.parameters].count("jobs") == 0
    assert [one.value for one in asked(jobs=0.5).parameters if one.figure == "per_month"] == [0.5]


def test_of_two_sellers_the_price_turns_to_the_other_and_both_are_named():
    """6 and 7 USD an hour for the same: from 7 on, or from 6 on, the other one is rented."""
    question = question_of(RENTED, hourly("other", 7.0), jobs=[class_of("a", 100.0)])
    rows = {(row["subject"], row["side"]): row for row in turning_rows(question) if row["quantity"] == "usd_per_hour"}
    values = {key: (row["to_title"], row["turning_value"]) for key, row in rows.items()}
    approximately = {("rented", "above"): 7.0, ("other", "below"): 6.0}
    assert values == {key: ("other", pytest.approx(usd, rel=1e-6)) for key, usd in approximately.items()}
    kept = question_of(own("old", capex=4000.0), RENTED, hourly("other", 7.0), jobs=[class_of("a", 150.0)],
                       have=["old"])  # fmt: skip
    assert kept.title(0, 0.0, "other") == "other beside what you have"
    assert kept.title(0, 0.0, kept.choices[0].alternative) == kept.title(0, 0.0) == kept.choices[0].title
    assert "capex_usd" not in {one.quantity for one in kept.parameters}


def test_a_machine_is_priced_at_both_sides_of_the_plan():
    case = next(iter(asked().break_even_cases()))
    assert case.factors[case.selected] == pytest.approx([0.2, 0.4, 0.625, 0.8, 1 / 1.1, 1, 1.1, 1.25, 1.6, 2.5, 5.0])


def test_machines_are_asked_about_by_the_months_the_jobs_of_each_class_and_all_work():
    """Not by urgent jobs, which are few, nor a contract by months, nor the jobs of the only class beside all work."""
    deal = {"instance": "signed", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 700.0}}
    jobs = [class_of("a", 60.0, within_hours=3.0, urgent_per_month=6.0), class_of("b", 40.0)]
    rows = rows_held(question_of(own(), deal, RENTED, jobs=jobs))
    work = {("device_hours", None), ("per_month", "a"), ("per_month", "b")}
    assert set(rows) == {
        ("box", "months", None),
        *((name, *by) for name in ("box", "signed (reserved)") for by in work),
    }
    assert set(rows_held(asked())) == {("box", "months", None), ("box", "device_hours", None)}
    kept = rows_held(question_of(OLD, own(), RENTED, jobs=[class_of("a", 150.0)], have=["old"]))
    assert {name for name, *_ in kept} == {"box"}


@pytest.mark.parametrize(("fixed", "kw", "rent", "factor", "pays"), [
    # 1,050 a month and nothing an hour, beside 200 hours at 5.25; at 5.2475 these are 50 cents less
    (1050, 0.0, 5.25, 1.0, 1.0), (1050, 0.0, 5.2475, 1050 / 5.2475 / 200, 0.0),
    # beside 6 an hour a box of 0.2 pays from `fixed` / 5.8 hours; a fifth of the 200 is the least
    (300, 1.0, 6.0, 300 / 5.8 / 200, 1.0), (225, 1.0, 6.0, 0.0, 1.0), (1200, 1.0, 6.0, 1200 / 5.8 / 200, 0.0),
])  # fmt: skip
def test_a_machine_pays_from_where_it_costs_no_more_to_the_last_dollar(fixed, kw, rent, factor, pays):
    question = asked(own(capex=36 * (fixed - 50.0), kw=kw), hourly("rented", rent))
    row = rows_held(question)["box", "device_hours", None]
    assert (row["factor"], row["p_pays"]) == (pytest.approx(factor, rel=1e-6), pays)


def test_where_nothing_is_rented_a_machine_pays_as_far_as_it_does_the_work(recwarn):
    """A box does 120 jobs of two hours in its 240; of 100 planned. A hundredth of the work may be left."""
    question = monthly_problem(posed(own(), jobs=[class_of("a", 100.0)], hours={"a": 2.0}))
    row = rows_held(question)["box", "device_hours", None]
    assert (row["break_even_value"], row["p_pays"]) == (0.0, 1.0)
    assert row["pays_until"] == pytest.approx(240.0 / 0.99, rel=2e-4)
    assert not recwarn.list


def test_days_of_use_are_those_of_the_machine_that_is_there_too():
    """Ours and the box work 240 of 300 hours a month each; on half the days 120: the rest is rented at 6."""
    question = question_of(OLD, own(), RENTED, jobs=[class_of("a", 150.0)], hours={"a": 2.0}, have=["old"])
    (days,) = (one for one in question.parameters if one.quantity == "days_per_month")
    half = question.at(days, np.array([0.5]))
    assert half.usd.min() == pytest.approx(36 * (50 + 120 * 0.2 + 180 * 6.0))


def test_a_longer_project_keeps_machines_longer_and_has_as_much_work_in_each_month():
    """200 hours a month: a box of 36,000 costs its price once, 50 a month of care and 40 of running; rented 1,200."""
    question = asked()
    (months,) = (one for one in question.parameters if one.quantity == "months")
    for length in (0.5, 2.0):
        usd = question.at(months, np.array([length])).usd[[0, -1], 0]
        assert usd == pytest.approx([36_000 + 36 * length * 90, 36 * length * 1200])
