"""One piece of work, asked three ways: as often as the use of a box allows, as a phase that fills its room, as so many
jobs a month. It has one answer, and every stated turning point, put into the price list, the speeds or the work, turns
it; a little less does not. By the code that prices, not by the factors that found it.
"""

import numpy as np
import pandas as pd
import pytest
from sweetspot.decision.analyses import pays_rows, worth_rows
from sweetspot.decision.shared_machine_problem import break_even_rows
from three_kinds import DISPATCH, KINDS, ROUNDS, SHARE, Market, best, hourly, named, own, price, put

# Certain shares of the price by age: what is put in then has no other draws.
CURVE = {"points": [[2.0, 0.83, 0.83, 0.83], [4.0, 0.59, 0.59, 0.59], [6.0, 0.29, 0.29, 0.29]], "share": 0.8}
FALLING = {"trend": {"kind": "drift", "change_per_year": -0.2}}
DOWN, RATE, SOLD = {"downtime_share": 0.1}, {"discount_rate": 0.1}, {"residual": CURVE}
ALL = DOWN | RATE | SOLD
TERMS = {
    "nothing of it": ({}, {}),
    "downtime": (DOWN, {}),
    "discount, resale curve and falling": (RATE | SOLD, FALLING),
}


def filled(name, rent=6.0):
    """A market whose work fills one box to its last hour of use: 36 months of 240 hours."""
    box, trend = TERMS[name]
    return Market((own(**box), hourly("rented", rent, **trend)), jobs=120.0 * (1 - box.get("downtime_share", 0.0)))


@pytest.mark.parametrize("name", TERMS)
def test_they_cost_what_the_bills_say_and_owning_pays_from_the_same_share_of_the_work(name):
    """By hand: the months of possession, and 240 hours of each but for the tenth in which the box is broken. Days over
    those planned, jobs over those planned: the month of possession over what an hour gains.
    """
    made, falls = price(filled(name)), "falling" in name
    asked = {SHARE: made.share(), ROUNDS: made.rounds(), DISPATCH: made.dispatch()}
    hours, kept = 240.0 * 36 * (0.9 if name == "downtime" else 1.0), 36_000 * 0.8 * (0.83 + 0.59) / 2
    rate = 1.1 ** (1 / 12) - 1
    month = 36_000 / 36 if not falls else (36_000 - kept / 1.1**3) * rate / (1 - 1 / 1.1**3)
    rent = 6.0 * (np.mean(0.8 ** (np.arange(36) / 12)) if falls else 1.0)
    for kind, question in asked.items():
        assert [one.option for one in question.choices[:2]] == ["box", "rented"]
        expected = [36 * (month + 50) + 0.2 * hours, rent * hours]
        assert question.baseline.usd[:, 0][:2] == pytest.approx(expected, rel=1e-9), kind
        assert question.samples_usd[:2].mean(axis=1) == pytest.approx(expected, rel=1e-9), kind
    days = pd.DataFrame(break_even_rows(made.options, made.draws, 30.5)).set_index("option").loc["rented"]
    rounds, months = (
        {row["quantity"]: row for row in pays_rows(work, asked[kind].break_even_cases())}
        for work, kind in (("work", ROUNDS), ("lab", DISPATCH))
    )
    assert [rounds["jobs"]["factor"], months["device_hours"]["factor"]] == pytest.approx([days["days"] / 10] * 2, 1e-9)
    if not falls:  # with a curve, months of a job are whole ones
        # 36,000 USD are worth it once (rent - electricity) x hours of a month - 50 have paid for them.
        needed = 36_000 / ((rent - 0.2) * hours / 36 - 50)
        assert months["months"]["break_even_value"] == pytest.approx(needed, rel=1e-9)


@pytest.mark.parametrize("name", TERMS)
def test_the_rent_is_worth_the_same_to_know(name):
    made = price(filled(name, {"value": 5.0, "low": 3.5, "high": 7.0}), 1000)
    found = [
        next(row for row in worth_rows(question, made.draws, {}) if row["quantity"] == "usd_per_hour")
        for question in (made.share(), made.rounds(), made.dispatch())
    ]
    assert found[0]["evppi_usd"] > 100
    for column in ("evppi_usd", "evppi_usd_high", "project_usd"):
        assert [row[column] for row in found] == pytest.approx([found[0][column]] * 3, rel=1e-9), column


# Beyond and short of a turning point, in it: by how much a search is exact. The issue asks for 1.5 %.
CLOSE = {SHARE: 1e-6, ROUNDS: 1e-6, DISPATCH: 1e-3}


def market(rent=6.0, trend=None, second=None, **box):
    """A box, perhaps a smaller one beside it, and two machines by the hour; each device has an error of its own."""
    boxes = [own(**box)] + ([] if second is None else [own("second", capex=20000.0, kw=0.9, **second)])
    rented = [hourly("rented", rent, **(trend or {})), hourly("dearer", rent * 7 / 6, **(trend or {}))]
    return Market((*boxes, *rented), {} if second is None else {"second": 60.0})


MARKETS = {
    "all of it": market(7.5, FALLING, ALL, **ALL),
    "nothing of it": market(),
    "downtime": market(second={}, **DOWN),
    "discount": market(5.0, second={}, **RATE),
    "resale curve": market(5.0, second=SOLD, **SOLD),
    "falling rents": market(7.0, FALLING),
}
ASKED = {"usd_per_hour", "rents", "capex_usd", "months", "days_per_month", "speed"}
# The quick test puts in the resale value, the months and the days of a job.
FEW = {"residual_usd", "months", "days_per_month"}
# Every kind with all of it, and each market by itself with one kind.
EVERY = [*((kind, "all of it") for kind in KINDS), (SHARE, "nothing of it"), (ROUNDS, "downtime"),
         (DISPATCH, "discount"), (ROUNDS, "resale curve"), (SHARE, "falling rents")]  # fmt: skip
CASES = [(SHARE, "all of it", False), *(pytest.param(*case, True, marks=pytest.mark.slow) for case in EVERY)]


@pytest.mark.parametrize(("kind", "name", "every"), CASES)
def test_each_turns_the_answer_and_a_little_less_does_not(kind, name, every):
    made, close = MARKETS[name], CLOSE[kind]
    question, now = price(made, kind=kind).question(kind), best(made, kind)
    found = [(one, turn) for one, turns in question.turning_points.items() for turn in turns]
    assert {one.quantity for one, _ in found} >= ASKED - ({"days_per_month"} if name == "falling rents" else set())
    for assumption, turn in found if every else [pair for pair in found if pair[0].quantity in FEW]:
        beyond, short = (
            best(put(made, kind, assumption, turn.factor * (1 + part if turn.factor > 1 else 1 - part)), kind)
            for part in (close, -close)
        )
        assert (beyond, short) == (named(question, turn), now), (assumption.name, turn.factor)


@pytest.mark.parametrize(("downtime", "months"), [(0.1, 47.2), (0.04, 37.8)])
def test_the_months_at_which_two_boxes_cost_the_same_by_hand(downtime, months):
    """((6500 - 900) / m + 20) / (240 (1 - d)) + 0.30 for 500 images/s, ((3300 - 900) / m + 20) / 240 + 0.27 for 300."""
    plain = {"months": 30.0, "maintenance_per_month": 20.0, "per_kwh": 0.30, "residual": 900.0}
    boxes = own(capex=6500.0, downtime_share=downtime, **plain), own("second", capex=3300.0, kw=0.9, **plain)
    market = Market((*boxes, hourly("rented", 3.06)), {"box": 500.0, "second": 300.0, "rented": 225.0})
    points = price(market, kind=SHARE).share().turning_points
    ((assumption, (turn,)),) = (pair for pair in points.items() if pair[0].quantity == "months")
    value = turn.factor * assumption.value
    ours, theirs = (5600 / value + 20) / (240 * (1 - downtime)) + 0.30, (2400 / value + 20) / 240 + 0.27
    assert (value, ours / 500) == (pytest.approx(months, abs=0.05), pytest.approx(theirs / 300))
