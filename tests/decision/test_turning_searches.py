"""Where a search for turning points might stop too soon: a third way that turns first, a bound close by."""

import numpy as np
import pytest
from sweetspot.decision.breakeven import break_even, surface, utilisation
from sweetspot.decision.turning import pays_rows
from three_kinds import SHARE, Market, hourly, named, own, price


def signed(usd):
    """A contract by the month."""
    terms = {"term_months": 12.0, "per_month": usd}
    return {"instance": "signed", "purchase": "reserved", "commitment": terms, "days_per_month": 10.0}


def turns(question, quantity, side):
    """The turning points of the assumptions of a quantity, on one side of what is planned."""
    return [
        (turn, one)
        for one, found in question.turns.items()
        for turn in found
        if one.quantity == quantity and (turn.factor > 1) == (side > 0)
    ]


def test_more_jobs_turn_to_the_way_that_gains_most_by_each_though_another_is_nearer():
    """200 h a month. Rented at 6: 1,200. `near`: 180 + 5.4 an hour = 1,260, which pays from 300 h. `far`: 1,176 + 0.6
    an hour = 1,296, which pays from 1,176 / 5.4 = 217.8 h on.
    """
    near, far = own("near", capex=130 * 36.0, kw=27.0), own("far", capex=1126 * 36.0, kw=3.0)
    question = price(Market((near, far, hourly("rented", 6.0)))).dispatch()
    assert question.choices[0].option == "rented"
    ((turn, _),) = turns(question, "per_month", +1)
    assert turn.factor == pytest.approx(1176 / 5.4 / 200, rel=1e-6)
    assert named(question, turn) == "far"


def test_days_of_use_are_looked_at_up_to_those_of_a_month():
    """Of a month's 30.5 days 23.33 (560 h) are planned: factors up to 1.31. The box costs 1,050 a month and 0.2 an
    hour; beside 2.0 an hour it pays from 1,050 / 1.8 = 583.3 h.
    """
    question = price(Market((own(days_per_month=560 / 24), hourly("rented", 2.0)))).question(SHARE)
    assert question.choices[question.best].option == "rented"
    ((turn, one),) = turns(question, "days_per_month", +1)
    assert one.most == 30.5
    assert turn.factor == pytest.approx(1050 / 1.8 / 560, rel=1e-9)


def test_a_contract_costs_the_same_for_twice_the_days_of_use():
    """900 USD a month whatever is done; rented at 6 an hour twice the hours cost twice as much."""
    question = price(Market((own(), hourly("rented", 6.0), signed(900.0)))).question(SHARE)
    (days,) = (one for one in question.assumptions if one.quantity == "days_per_month")
    moved = question.at(days, np.array([2.0])).usd[:, 0] / question.usd
    by_name = {one.option: factor for one, factor in zip(question.choices, moved, strict=True)}
    box = (1050 + 2 * 240 * 0.2) / (1050 + 240 * 0.2)
    assert by_name == pytest.approx({"box": box, "rented": 2.0, "signed (reserved)": 1.0})


@pytest.mark.parametrize(("month", "days", "months"), [(1200.0, 0.0, 36_000 / (1200 - 50 - 48)), (900.0, None, None)])
def test_beside_a_contract_a_box_pays_on_the_days_planned_or_on_none(month, days, months):
    """1,050 and 48 USD of running in ten days; on more days the box costs more and the contract does not."""
    made = price(Market((own(), hourly("rented", 6.0), signed(month))))
    table = break_even(made.options, made.draws, 30.5).set_index("option")
    row = table.loc["signed (reserved)"]
    assert (None if np.isnan(row["days"]) else row["days"]) == days
    assert row["p_pays"] == (days == 0.0) and np.isnan(row["never_below_usd_per_hour"])
    if months is not None:
        assert row["months_needed"] == pytest.approx(months)
    curve = utilisation(made.options, made.draws, 30.5).set_index(["option", "days"])["gain"]
    assert curve["signed (reserved)", 20.0] == pytest.approx(month / (1050 + 20 * 4.8))
    assert table.loc["rented", "days"] == pytest.approx(1050 / (24 * 5.8))


def test_where_buying_pays_is_told_beside_what_is_rented_by_the_hour():
    """The contract is the cheaper: 900 a month for 240 h that cost 1,440 by the hour."""
    found = surface([price(Market((own(), hourly("rented", 6.0), signed(900.0)))).share()], 30.5)
    assert set(found["rival"]) == {"rented"}


def test_half_a_job_a_month_is_a_number_that_may_be_another():
    question = price(Market((own(), hourly("rented", 6.0)), jobs=0.5, hours=400.0)).dispatch()
    (jobs,) = (one for one in question.assumptions if one.quantity == "per_month")
    assert (jobs.value, jobs.low, jobs.high) == (0.5, pytest.approx(0.4), pytest.approx(0.6))
    assert "jobs" not in {one.quantity for one in question.assumptions}  # of one class all jobs are its own


@pytest.mark.parametrize(("fixed", "factor"), [(300.0, 300 / 5.8 / 200), (225.0, 0.0), (1200.0, 1200 / 5.8 / 200)])
def test_a_box_pays_from_a_quarter_of_the_work_on_or_from_all_that_is_looked_at(fixed, factor):
    """200 h a month: beside 6 an hour a box of 0.2 pays from `fixed` / 5.8 hours; a fifth of them is the least."""
    box = own(capex=36 * (fixed - 50.0))
    question = price(Market((box, hourly("rented", 6.0)))).dispatch()
    rows = {row["quantity"]: row for row in pays_rows("lab", question.held(question))}
    assert rows["device_hours"]["factor"] == pytest.approx(factor, rel=1e-6)
    assert rows["device_hours"]["p_pays"] == (factor <= 1)
