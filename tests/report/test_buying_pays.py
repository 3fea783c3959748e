"""When buying pays: costs by the amount of work, of tables of a few rows, worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from sweetspot.report.buying_pays import buying_pays, phases_cost_usd
from sweetspot.report.outcome import Outcome

NONE = float("nan")


def verdict(**changes):
    return Outcome.model_construct(**{"workload": "w", "work_factor": None} | changes)


def choice(name, kind, commitment, usd, **changes):
    """A row of the choices, from 0.9 to 1.2 times its cost."""
    row = {"workload": "w", "choice": name, "kind": kind, "commitment": commitment, "usd": usd, "usd_low": 0.9 * usd,
           "usd_high": 1.2 * usd, "why_not": None, "hours": 80.0, "purchase": "on_demand"}  # fmt: skip
    return row | changes


CHOICES = pd.DataFrame([
    choice("dear", "rent", "nothing", 1.0, why_not="too late"), choice("cloud", "rent", "nothing", 800.0),
    choice("box", "buy", "buy", 1050.0, purchase="own"), choice("next", "buy", "buy", 1060.0, purchase="own"),
])  # fmt: skip


def phases():
    """The box is 1,000 USD and at work 80 of its 100 hours; the work takes 50 USD of power, or 800 of rent."""
    rows = [
        ("box", "own", 1000.0, 50.0, 100.0), ("gone", "own", 1.0, 1.0, 100.0), ("cloud", "on_demand", 0.0, 800.0, NONE),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["option", "purchase", "ownership_usd", "running_usd", "room_hours"])
    return {"choices": CHOICES, "case_figures": table.assign(workload="w", machines=1.0)}


@pytest.mark.parametrize(("factor", "last", "pays_from"), [
    (None, 2.0, None), (0.5, 2.0, 0.5),  # 1.4 times it, 2 at least and 5 at most
    (2.0, 2.8, 2.0), (3.6, 5.0, 3.6), (5.0, 5.0, None), (0.0, 2.0, None),
])  # fmt: skip
def test_a_plan_of_phases_costs_whole_machines_at_each_amount_of_work(factor, last, pays_from):
    made = buying_pays(phases(), verdict(work_factor=factor))
    assert made.pays_from == pays_from
    buy, rent = made.lines
    assert (buy.kind, rent.kind) == ("buy", "rent")
    assert buy.x == rent.x and buy.x[-1] == approx(last)
    # 0.96 of a box at 1.2 times the work; 1.12 at 1.4: a second one.
    assert [buy.usd[step] for step in (0, 5, 6, 7)] == approx([1000, 1050, 1060, 2070])
    assert [rent.usd[step] for step in (0, 5, 10)] == approx([0, 800, 1600])
    assert (buy.low[5], buy.high[5]) == approx((945, 1260))


def test_whole_machines_are_as_many_as_their_hours_need():
    """Two machines for 1,000 USD, each at work 80 of 100 hours: of half the work one does all, twice takes four."""
    row = {"ownership_usd": 1000.0, "running_usd": 50.0, "machines": 2.0, "room_hours": 100.0}
    # 500 + 25; 2 x 500 + 50; 3.2 machines are four: 2,000 + 100
    assert [phases_cost_usd(row, 80.0, factor) for factor in (0.5, 1.0, 2.0)] == [525.0, 1050.0, 2100.0]
    assert phases_cost_usd(row | {"room_hours": NONE}, 80.0, 2.0) == 1100.0  # nobody counts their hours


def jobs(**changes):
    row = {"workload": "w", "model": None, "quantity": "jobs", "low": 0.5, "high": 2.0, "usd_low": 500.0,
           "usd": 1000.0, "usd_high": 1900.0, "margin_low": 1.2, "margin": 1.1, "margin_high": 1.05}  # fmt: skip
    price = row | {"quantity": "usd_per_hour", "usd_low": 1.0}
    return {"choices": CHOICES, "tornado": pd.DataFrame([price, row | changes, row | {"usd_low": 2.0}])}


def test_work_of_months_has_lines_as_long_as_the_range_of_its_jobs():
    rent, buy = buying_pays(jobs(), verdict()).lines
    # The cheaper of the two, rented, is the best; the other is 1.2, 1.1 and 1.05 times as dear.
    assert (rent.kind, rent.x, rent.usd) == ("rent", [0.5, 1.0, 2.0], [500, 1000, 1900])
    assert np.asarray([rent.low, rent.high]) == approx(np.asarray([[450, 900, 1710], [600, 1200, 2280]]))
    assert buy.kind == "buy" and buy.usd == approx([600, 1100, 1995])


@pytest.mark.parametrize("value", [NONE, float("inf")])
@pytest.mark.parametrize("end", ["low", "high"])
def test_without_both_ends_there_is_no_line(end, value):
    assert buying_pays(jobs(**{f"margin_{end}": value}), verdict()) is None


@pytest.mark.parametrize("kept", ["buy", "nothing", None])
def test_there_is_none_where_one_side_is_missing(kept):
    tables = phases()
    tables["choices"] = CHOICES[CHOICES["commitment"] == kept] if kept else pd.DataFrame()
    assert buying_pays(tables, verdict()) is None
