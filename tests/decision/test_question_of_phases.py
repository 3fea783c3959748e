"""A plan of phases by option and at moved figures, by hand; what its question is made of, and when owning pays."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from phase_plans import CARE, compared, own, priced_plan
from phase_plans import hourly as rented_at
from sweetspot.decision.analyses import pays_rows
from sweetspot.decision.decision_problem import Choice, Parameter, ParameterValues
from sweetspot.decision.options import build_options
from sweetspot.decision.phases_problem import PhasesProblem, _speed_of, phases_problems, sampled_costs
from sweetspot.decision.simulate import simulate
from sweetspot.draws import shares
from three_kinds import ROUNDS, Market, hourly, price

# 36 months of 100 jobs of two hours: 7,200 hours. A box works 24 x 10 x 36 = 8,640; it costs 36,000 and 50 a month of
# care, 0.2 an hour. Rented at 6.
HELD, RUNNING = 36_000 + 36 * CARE, 7200 * 0.2


def asked(*offers, draws=2, **market):
    return price(Market(offers or (own(), hourly("rented", 6.0)), **market), draws, ROUNDS).rounds()


def moved(question, quantity, subject="", factor=1.0):
    """USD and machines of each option with one assumption moved."""
    (one,) = (one for one in question.parameters if one.quantity == quantity and subject in one.subject)
    costs = question.at(one, np.array([factor]))
    return {
        choice.option: (usd, boxes)
        for choice, usd, boxes in zip(
            question.choices, costs.usd[:, 0].tolist(), costs.counts[:, 0].tolist(), strict=True
        )
    }


@pytest.mark.parametrize(("quantity", "subject", "factor", "box", "rented"), [
    ("jobs", "", 1.0, (HELD + RUNNING, 1), 43_200),
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
    # Twice the months, as much work in each: the price once, twice the care (36 x 50) and twice what use costs.
    ("months", "", 2.0, (HELD + 1800 + 2 * RUNNING, 1), 86_400),
    ("usd_per_hour", "rented", 1.5, (HELD + RUNNING, 1), 64_800),
])  # fmt: skip
def test_every_figure_moves_what_rests_on_it_alone(quantity, subject, factor, box, rented):
    found = moved(asked(), quantity, subject, factor)
    assert found == {"box": (pytest.approx(box[0]), box[1]), "rented": (pytest.approx(rented), 1)}


def planned(*, jobs=10, slots=4.0, hours=2.0, room=6.0, least=1.0, machines=1.0, **row):
    """One phase on one option: ten jobs, four at once, in three rounds of two hours, for 30 USD by use and 100 held."""
    told = {
        "row": 7, "option": "box", "purchase": "own", "gpus": 8, "images_per_s": 1.0, "capex_usd": 100.0,
        "residual_usd": 0.0, "maintenance_usd_per_month": 0.0, "staff_usd_per_month": 0.0, "months": 10.0, "kw": 1.0,
        "pue": 1.0, "usd_per_kwh": 0.2, "days_per_month": 10.0, "discount_rate": 0.0, "fixed_usd_per_month": 10.0,
    } | row  # fmt: skip
    told |= {"title": "box", "alternative": "box"}
    one, none = np.ones(1), np.zeros((1, 1))
    plan = {"usd": 30.0 + 100 * machines, "counts": machines, "boxes": least, "ownership_usd": 100 * machines,
            "room_hours": room, "renewed_term_months": np.nan}  # fmt: skip
    return PhasesProblem(
        workload="plan", months=10.0, choices=(Choice.of(told),), parameters=(),
        samples_usd=none, table=pd.DataFrame([plan]), jobs=np.array([jobs]), phase_usd=30 * one[None],
        job_hours=hours * one[None], slots=slots * one[None], speed_of=[[7]],
        work_hours=jobs * hours, running_samples=none, ownership_samples=none,
    )  # fmt: skip


def cost(plan, **factors):
    """USD and machines of the option, with figures moved."""
    told = ("", "", "", 1.0, 1.0, 1.0, "")
    values = {
        Parameter(name, *told, name, frozenset() if name == "jobs" else frozenset([7])): np.array([factor])
        for name, factor in factors.items()
    }
    found = plan.cost_usd(ParameterValues(1, values))
    return float(found.usd[0, 0]), float(found.counts[0, 0])


LARGE = planned(slots=1.0, machines=5.0)
# Ten jobs of two hours and three of one, each alone on a machine, in six hours: four take 3 x 2 + 1, five 5.
BOTH = replace(LARGE, jobs=np.array([10, 3]), phase_usd=np.array([[30.0], [10.0]]), job_hours=np.array([[2.0], [1.0]]),
               slots=np.ones((2, 1)), speed_of=[[7], [7]])  # fmt: skip
TWO = planned(least=2.0, machines=2.0)
FALLING = {"purchase": "on_demand", "variable_usd_per_hour": 3.0, "trend_kind": "drift", "trend_change": 0.9**12 - 1}


@pytest.mark.parametrize(("plan", "factors", "usd", "boxes"), [
    # Three rounds of two hours fill the room of six. A percent more takes two boxes: five jobs each in two rounds
    # of four, so that four rounds are worked instead of three.
    (planned(), {}, 130.0, 1.0),
    (planned(), {"jobs": 1.0}, 130.0, 1.0),
    (planned(), {"jobs": 1.01}, 200 + 30 * 1.01 * 4 / 3, 2.0),
    # Three jobs of ten hours, in a room of six: each has a machine and is late all the same.
    (planned(jobs=3, slots=1.0, hours=10.0), {"jobs": 1.1}, np.inf, 3.0),
    (BOTH, {"jobs": 1.0}, 540.0, 5.0),
    (TWO, {"jobs": 0.5}, 200 + 15, 2.0),  # two at least, as planned: ten jobs on two take four rounds
    # A plan twice as long has twice the work: 1.5 times as much in each month still takes two machines, each bought
    # once for 100.
    (planned(), {"jobs": 1.5, "months": 2.0}, 2 * 100 + 2 * 30 * 1.5 * 4 / 3, 2.0),
    # A contract is dearer in both parts; what costs nothing stays so; uncounted hours take no further machine.
    (planned(purchase="reserved", variable_usd_per_hour=3.0), {"usd_per_hour": 1.5}, 1.5 * 130, 1.0),
    # A rent that falls by a tenth a month: the mean of 20 months over that of 10 is (1 + 0.9^10) / 2.
    (planned(room=np.inf, **FALLING), {"months": 2.0}, (100 + 2 * 30) * (1 + 0.9**10) / 2, 1.0),
    (planned(kw=0.0), {"usd_per_kwh": 4.0}, 130.0, 1.0),
    (planned(capex_usd=0.0), {"capex_usd": 4.0}, 130.0, 1.0),
    (planned(room=np.inf), {"jobs": 5.0}, 100 + 150, 1.0),
])  # fmt: skip
def test_moved_figures_move_usd_and_machines_of_an_option(plan, factors, usd, boxes):
    assert cost(plan, **factors) == (pytest.approx(usd), boxes)


@pytest.mark.parametrize("months", [3.0, 30.0, 72.0])
def test_months_are_the_length_of_the_project_for_rent_and_box_alike(months):
    """A box of 6,500 sold for 500, 20 a month of care, 0.2 an hour for 200 hours a month; rented at 6. It was told to
    cost 6,500 x 30 / 72 at 72 months, and rent at 3 months to be that of 30. A year by contract: whole terms.
    """
    box = own(capex=6500.0, residual=500.0, maintenance_per_month=20.0, months=30.0)
    term = {"term_months": 12, "per_month": 100.0, "per_hour": 0.0, "charged": "used"}
    year = {"instance": "year", "purchase": "reserved", "commitment": term}
    question = asked(box, hourly("rented", 6.0), year, months=30.0)
    found = moved(question, "months", factor=months / 30)
    assert found["box"] == (pytest.approx(6500 - 500 + 20 * months + 0.2 * 200 * months), 1)
    assert found["rented"][0] == pytest.approx(6 * 200 * months)
    assert found["year (reserved)"][0] == pytest.approx(100 * {3.0: 12, 30.0: 36, 72.0: 72}[months])


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
    used, held = sampled_costs(rows, np.full(4, 100.0), np.full(4, 200.0), draws)
    assert used[:, 0].tolist() == [400.0, 200.0, 400.0, 200.0]
    assert held[:, 0].tolist() == [300.0, 200.0, 400.0, 400.0]


CLOUD = {"provider": "cloud", "gpu": "H9", "gpus": 8}
SPEEDS = {"nodes": (180.0, 180.0, 180.0), "other": (120.0, 120.0, 120.0)}
FACTS = {"rented": CLOUD, "nodes": CLOUD | {"gpus": 16, "nodes": 2}, "other": CLOUD | {"provider": "cloudier"}}


def choices(*rows):
    found = compared(*rows, facts=FACTS, speeds=SPEEDS, draws=2)
    table = found["choices"].query("workload == 'work'").set_index("choice")
    return table, found["verdict"].set_index("workload").loc["work"]


def test_each_option_of_the_plan_by_hand():
    """3,600 jobs of two hours: 7,200 h of the box; two boxes where it works 80 h of a month less."""
    table, whole = choices(own(days_per_month=5.0), rented_at(0.5), rented_at(1.2) | {"instance": "other"})
    # One box works 24 x 5 x 36 = 4,320 h: two, each for half of the jobs; electricity is of all hours.
    box = table.loc["box"]
    assert (box["counts"], box["hours"], box["planned_hours"], box["title"]) == (2.0, 3600.0, 4320.0, "2 × box")
    assert table["planned_hours"].drop("box").isna().all() and table["device_hours"].tolist() == [57_600, 48_000, 7200]
    assert dict(table["usd"]) == pytest.approx({"rented": 3600, "other": 7200, "box": RUNNING + 2 * HELD})
    assert table.index.tolist() == ["rented", "other", "box"]
    assert table["is_best"].tolist() == [True, False, False]
    assert table["ratio"].tolist() == pytest.approx([1.0, 2.0, table.loc["box", "usd"] / 3600])
    assert (whole["take"], whole["take_rival"]) == ("rented", "other")


def test_a_plan_that_one_machine_runs_has_one_choice():
    table, whole = choices(own())
    assert (table["model"].tolist(), whole["best"], table["p_cheapest"].tolist()) == (["vgg16"], "box", [1.0])
    assert table["title"].tolist() == ["box"]


def test_more_nodes_of_the_best_are_no_rival():
    """Two nodes of it cost 2.2 / 1.8 x 0.5 as much: dearer by a ninth, and nobody's reason to doubt the machine."""
    nodes = rented_at(2 * 0.55) | {"instance": "nodes"}
    table, whole = choices(own(), rented_at(0.5), nodes, rented_at(0.9) | {"instance": "other"})
    assert table.index.tolist()[:3] == ["rented", "nodes", "other"]
    assert table["alternative"].tolist()[:3] == ["rented (on_demand)", "rented (on_demand)", "other (on_demand)"]
    assert (whole["take"], whole["take_rival"], whole["rival"]) == ("rented", "other", "box")
    assert table.loc["other", "ratio"] == pytest.approx(0.9 / 1.2 / 0.5) == pytest.approx(whole["take_ratio"])
    usd = np.array([[1.0, 3.0, 3.0, np.inf], [2.0, 1.0, 4.0, np.inf], [3.0, 2.0, 2.0, np.inf]])
    assert shares(usd, ["a", "a", "b"]) == {"a": 0.5, "b": 0.25}  # in the third draw b, in the last none


def plans_of(*rows, draws=2, change=lambda plans: plans, **more):
    """The priced plans of a few offers, the options and the draws."""
    tables, settings = priced_plan(*rows, **more)
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    drawn = simulate(options, 1, draws)
    return phases_problems(options, drawn, change(tables.plans), 30.5), options, drawn, settings


def test_plans_are_asked_in_the_order_of_the_study():
    def twice(plans):
        return pd.concat([plans, plans.assign(plan="a plan before")])

    names = [one.workload for one in plans_of(own(), rented_at(6.0), change=twice)[0]]
    assert names[1:] == ["a plan before"] and names[0] > names[1]


def question_of(*rows, **more):
    """The question of the one plan."""
    return plans_of(*rows, **more)[0][0]


def test_jobs_on_one_device_each_go_by_the_figure_of_the_machine_with_one():
    """Nine jobs of 20 hours on one device; four at once on the box, in three rounds: 60 h of 1 kW at 0.2. Twice as fast
    a device halves that; four at once that are faster together do not. Nobody sells the one device of `rented`: an
    equal share of its own speed counts, 200 images/s.
    """
    one = {"gpus": 1, "gpu": "X"}
    facts = {"box": {"gpus": 4, "gpu": "X", "base_instance": "single"}, "single": one,
             "rented": {"gpus": 4, "gpu": "Y", "base_instance": "unsold"}}  # fmt: skip
    jobs = {"instance": "single", "phases": [{"name": "jobs", "jobs": 9, "hours": 20.0, "gpus_per_job": "one"}]}
    speeds = {"box": (380.0, 380.0, 380.0), "rented": (800.0, 800.0, 800.0)}
    single = rented_at(1.9) | {"instance": "single"}
    question = question_of(own(), rented_at(), single, work=jobs, facts=facts, speeds=speeds)
    table = question.table.set_index("option")
    assert dict(table["hours"]) == pytest.approx({"rented": 30.0, "single": 180.0, "box": 60.0})
    assert dict(table["device_hours"]) == pytest.approx({"rented": 90.0, "single": 180.0, "box": 180.0})
    place = [choice.option for choice in question.choices].index("box")
    moved = {
        tuple(one.subject.split("|")[1:3]): question.at(one, np.array([2.0])).usd[place, 0]
        - question.baseline.usd[place, 0]
        for one in question.parameters
        if one.quantity == "speed"
    }
    assert moved == pytest.approx({("X", "1"): -6.0, ("X", "4"): 0.0, ("Y", "4"): 0.0})


def test_the_speed_of_a_job_is_that_of_its_machine_else_of_the_first_of_one_such_device():
    names = (4, "box", 4, "X"), (3, "other", 1, "Y"), (2, "one", 1, "X"), (1, "two", 1, "X")
    rows = [dict(zip(("row", "instance", "gpus", "gpu"), values, strict=True)) for values in names]
    assert [_speed_of(rows[0], name, rows) for name in ("box", "other", "two", "unsold")] == [4, 3, 1, 2]
    assert _speed_of(rows[0], "unsold", rows[:2]) is None


def held(question):
    return {(row["reference"], row["quantity"]): row for row in pays_rows("work", question.break_even_cases())}


def test_a_machine_pays_by_the_jobs_of_the_plan_and_by_the_days_of_use():
    """37,800 / (2 x 5.8) = 3,258.6 jobs of 3,600. Below 8.33 days of use it takes two boxes and does not pay."""
    rows = held(asked())
    assert set(rows) == {("box", "jobs"), ("box", "days_per_month")}
    work, days = rows["box", "jobs"], rows["box", "days_per_month"]
    assert (work["assumption"], work["unit"], work["planned"]) == ("the work of the plan", "jobs", 3600.0)
    assert work["break_even_value"] == pytest.approx(HELD / 5.8 / 2, rel=1e-6) and work["p_pays"] == 1.0
    assert work["pays_until"] == pytest.approx(3600 * 1.2, rel=1e-3)  # then two boxes
    assert (days["planned"], days["unit"]) == (10.0, "days/month")
    assert days["break_even_value"] == pytest.approx(7200 / 24 / 36, rel=1e-3) and np.isnan(days["pays_until"])


def test_beside_several_the_cheapest_is_held_against_and_without_rentals_nothing():
    """5.5 an hour beside 6, and a contract of 30,000 a year whose USD are by the month, which never is."""
    deal = {"instance": "deal", "purchase": "reserved", "commitment": {"term_months": 36.0, "per_month": 2000.0}}
    rows = held(asked(own(), hourly("rented", 6.0), hourly("less", 5.5), deal))
    assert rows["box", "jobs"]["break_even_value"] == pytest.approx(HELD / 5.3 / 2, rel=1e-6)
    assert not held(asked(own(), own("other", capex=50_000.0)))
    case = next(case for case in asked().break_even_cases() if case.parameter.quantity == "jobs")
    assert np.abs(case.factors - 1).min() < 1e-12  # the plan itself is looked at
    rows = held(asked(own(), hourly("rented", 5.0)))
    assert rows["box", "jobs"]["p_pays"] == 0.0  # 39,240 against 36,000
    assert rows["box", "jobs"]["break_even_value"] == pytest.approx(HELD / 4.8 / 2, rel=1e-6)


@pytest.mark.parametrize(("month", "pays"), [(1060.0, False), (1120.0, True)])
def test_a_box_that_pays_beside_rent_has_a_contract_to_beat_too(month, pays):
    """37,800 and 1,440 USD of running, beside 43,200 of rent: from 37,800 / 41,760 of the work, until a second box. A
    contract of 36 x 1,060 = 38,160 is the cheaper from a quarter of the work on; 36 x 1,120 = 40,320 from 1.75 times.
    """
    deal = {"instance": "signed", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": month}}
    row = held(asked(own(), hourly("rented", 6.0), deal))["box", "jobs"]
    least = pytest.approx(3600 * 37_800 / 41_760, rel=1e-3)
    assert row["break_even_value"] == least if pays else math.isnan(row["break_even_value"])
    assert row["p_pays"] == pays
