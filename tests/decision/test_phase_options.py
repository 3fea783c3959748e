"""A plan of phases by option: its USD by hand, who is the best, and who that is held against."""

import numpy as np
import pandas as pd
import pytest
from phase_plans import CARE, compared, hourly, own, priced_plan
from sweetspot.decision.assumption import Choice
from sweetspot.decision.cost_rounds import priced_plans, rounds_question
from sweetspot.decision.options import build_options, with_alternative
from sweetspot.decision.question import Question
from sweetspot.decision.simulate import simulate
from sweetspot.draws import shares

CLOUD = {"provider": "cloud", "gpu": "H9", "gpus": 8}
SPEEDS = {"nodes": (180.0, 180.0, 180.0), "other": (120.0, 120.0, 120.0)}
FACTS = {
    "rented": CLOUD,
    "nodes": CLOUD | {"gpus": 16, "nodes": 2},
    "other": CLOUD | {"provider": "cloudier"},
    "taken": CLOUD,
}


def options(*rows, **keys):
    found = compared(*rows, facts=FACTS, buying={}, **keys)
    table = found["choices"][found["choices"]["workload"] == "work"]
    return table.set_index("choice"), found["verdict"].set_index("workload").loc["work"]


def test_each_option_of_the_plan_by_hand():
    """3,600 jobs of two hours: 7,200 h of the box; two boxes where it works 80 h of a month less."""
    few = own(days_per_month=5.0)
    table, whole = options(few, hourly(0.5), hourly(1.2) | {"instance": "other"}, speeds=SPEEDS)
    # One box works 24 x 5 x 36 = 4,320 h: two, each for half of the jobs; electricity is of all hours.
    box = table.loc["box"]
    assert (box["counts"], box["hours"], box["basis"]) == (2.0, 3600.0, "published")
    assert box["title"] == "2 × box"
    assert (box["usd_running"], box["usd_possession"]) == pytest.approx((7200 * 0.2, 2 * (36_000 + 36 * CARE)))
    assert table["usd"].to_dict() == pytest.approx(
        {"rented": 7200 * 0.5, "other": 7200 / 1.2 * 1.2, "box": 7200 * 0.2 + 2 * (36_000 + 36 * CARE)}
    )
    assert table.index.tolist() == ["rented", "other", "box"]
    assert table[["is_best", "is_rival"]].to_numpy().tolist() == [[True, False], [False, False], [False, True]]
    assert table["ratio"].tolist() == pytest.approx([1.0, 2.0, table.loc["box", "usd"] / 3600])
    assert (whole["take"], whole["take_rival"]) == ("rented", "other")


def test_more_nodes_of_the_best_are_no_rival():
    """Two nodes of it cost 2.2 / 1.8 x 0.5 as much: dearer by a ninth, and nobody's reason to doubt the machine."""
    nodes = hourly(2 * 0.55) | {"instance": "nodes"}
    table, whole = options(own(), hourly(0.5), nodes, hourly(0.9) | {"instance": "other"}, speeds=SPEEDS)
    assert table.index.tolist()[:3] == ["rented", "nodes", "other"]
    assert table["alternative"].tolist()[:3] == ["rented (on_demand)", "rented (on_demand)", "other (on_demand)"]
    assert (whole["take"], whole["take_rival"], whole["rival"]) == ("rented", "other", "box")
    assert table.loc["other", "ratio"] == pytest.approx(0.9 / 1.2 / 0.5) == pytest.approx(whole["take_ratio"])


def test_what_can_be_taken_away_is_listed_and_is_neither():
    spot = {"instance": "taken", "purchase": "spot", "per_hour": 0.1}
    table, _ = options(own(), hourly(0.5), spot, hourly(0.9) | {"instance": "other"}, speeds=SPEEDS)
    assert table.index[0] == "taken (spot)" and table["ratio"].iloc[0] == pytest.approx(0.2)
    assert not table[["is_best", "is_rival"]].iloc[0].any()
    assert table.index[table["is_best"]].tolist() == ["rented"]


def test_the_draws_of_the_price_are_the_ends_and_the_probability_that_of_the_machine():
    """One is 0.3 to 0.833 USD (0.5 / 0.6, 0.5 x 0.6 to 90 %), the other certainly 0.6 an hour of the same work."""
    ranged = {"instance": "rented", "per_hour": {"value": 0.5, "low": 0.3, "high": 0.5 / 0.6}}
    table, whole = options(own(), ranged, hourly(0.72) | {"instance": "other"}, speeds=SPEEDS, draws=20_000)
    first = table.loc["rented"]
    assert (first["usd_low"], first["usd_high"]) == pytest.approx((7200 * 0.3, 7200 * 0.5 / 0.6), rel=0.02)
    assert table.loc["other", "ratio_low"] == pytest.approx(0.6 / (0.5 / 0.6), rel=0.02)
    # P(Z < ln 1.2 / (ln 1.6667 / 1.6449)) = P(Z < 0.5871) = 0.7214
    assert first["p_cheapest"] == pytest.approx(0.7214, abs=0.01)
    assert whole["take_p_cheaper"] == pytest.approx(first["p_cheapest"])
    assert whole["do_this"].startswith("Start with rented or other: both cost about the same today.")


def rows(*entries):
    names = ("instance", "provider", "gpu", "gpus", "nodes", "purchase", "usd_per_hour")
    return with_alternative(pd.DataFrame(entries, columns=names))["alternative"].tolist()


def test_nodes_belong_to_the_machine_that_they_are_made_of():
    """Two machines of the same devices: the nodes are of that whose price they are; another provider's are not."""
    assert rows(
        ("mega", "g", "H9", 8, np.nan, "on_demand", 12.0), ("high", "g", "H9", 8, 1.0, "on_demand", 10.0),
        ("two", "g", "H9", 16, 2.0, "on_demand", 20.4), ("held", "g", "H9", 8, 1.0, "reserved", 5.0),
        ("two", "g", "H9", 16, 2.0, "reserved", 10.0), ("elsewhere", "h", "H9", 16, 2.0, "on_demand", 20.0),
    ) == [
        "mega (on_demand)", "high (on_demand)", "high (on_demand)", "held (reserved)", "held (reserved)",
        "h with H9 in nodes of 8 (on_demand)",
    ]  # fmt: skip


def test_a_draw_in_which_more_nodes_are_the_cheapest_is_one_for_the_machine():
    usd = np.array([[1.0, 3.0, 3.0, np.inf], [2.0, 1.0, 4.0, np.inf], [3.0, 2.0, 2.0, np.inf]])
    assert shares(usd, ["a", "a", "b"]) == {"a": 0.5, "b": 0.25}  # in the third draw b, in the last none


def asked(*choices):
    """A question of choices, the cheapest first: (alternative, taken)."""
    rows = ({"option": f"{n}", "title": "", "row": n, "alternative": name} for n, (name, _) in enumerate(choices))
    made = tuple(Choice.of(row, taken) for row, (_, taken) in zip(rows, choices, strict=True))
    return Question("work", 1.0, made, (), lambda _: None, np.zeros((len(made), 1)))


def test_the_best_is_the_first_that_may_be_taken_and_its_rival_another_alternative():
    found = asked(("a", True), ("a", True), ("b", True))
    assert (found.best, found.rival) == (0, 2)
    found = asked(("a", False), ("b", True), ("c", False), ("b", True), ("a", True))
    assert (found.best, found.rival) == (1, 4)
    assert asked(("a", True), ("a", True), ("b", False)).rival is None


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
    tables, settings = priced_plan(
        own(), hourly(), hourly(1.9) | {"instance": "single"}, work=jobs, facts=facts, speeds=speeds
    )
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    draws = simulate(options, settings.seed, 2)
    (whole,) = priced_plans(options, draws, tables.plans)
    question = rounds_question(whole, options, draws, 30.5)
    table = whole.table.set_index("option")
    assert table["hours"].to_dict() == pytest.approx({"rented": 30.0, "single": 180.0, "box": 60.0})
    assert table["device_hours"].to_dict() == pytest.approx({"rented": 90.0, "single": 180.0, "box": 180.0})
    place = [choice.option for choice in question.choices].index("box")
    moved = {
        tuple(one.subject.split("|")[1:3]): question.at(one, np.array([2.0])).usd[place, 0] - question.usd[place]
        for one in question.assumptions
        if one.quantity == "speed"
    }
    assert moved == pytest.approx({("X", "1"): -6.0, ("X", "4"): 0.0, ("Y", "4"): 0.0})


def test_who_is_rented_goes_by_the_speed_that_moves_though_the_same_machine_is_cheaper_on_spot():
    """7,200 h at 6; the spot rate of the same machine is no choice that stays, and no figure of it is asked about."""
    spot = hourly(1.0) | {
        "purchase": "spot",
        "interruptions": {"per_hour": 0.0, "checkpoint_s": 60.0, "source": "here"},
    }
    tables, settings = priced_plan(spot, own(), hourly(6.0), facts={"rented": {"gpu": "H9"}})
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    draws = simulate(options, settings.seed, 2)
    (whole,) = priced_plans(options, draws, tables.plans)
    question = rounds_question(whole, options, draws, 30.5)
    names = [choice.option for choice in question.choices]
    assert names[0] == "rented (spot)"
    (speed,) = (one for one in question.assumptions if "H9" in one.subject)
    assert question.at(speed, np.array([2.0])).usd[names.index("rented"), 0] == pytest.approx(7200 * 6.0 / 2)


def test_the_row_of_a_plan_is_that_of_the_cell_the_option_was_priced_on():
    """The same machine has a figure of another framework, with which the plan would cost twice as much."""
    tables, settings = priced_plan(own(), hourly())
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    other = tables.plans.assign(framework="another", usd=2 * tables.plans["usd"])
    (whole,) = priced_plans(options, simulate(options, settings.seed, 2), pd.concat([other, tables.plans]))
    assert whole.table.set_index("option")["usd"].to_dict() == pytest.approx({"box": 39_240.0, "rented": 43_200.0})
