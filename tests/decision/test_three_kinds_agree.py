"""One piece of work, asked three ways, has one answer: as often as the use of a box allows, as a phase that fills its
room, and as so many jobs a month. 36 months of 240 hours.
"""

import numpy as np
import pytest
from sweetspot.bills.owning import fixed_per_month
from sweetspot.decision.breakeven import break_even
from sweetspot.decision.turning import pays_rows
from sweetspot.decision.worth_knowing import worth_rows
from three_kinds import DISPATCH, KINDS, ROUNDS, SHARE, Market, hourly, own, price

CURVE = {"points": [[2.0, 0.83, 0.83, 0.83], [4.0, 0.59, 0.59, 0.59], [6.0, 0.29, 0.29, 0.29]], "share": 0.8}
RATE, DOWN, FALLING = 0.1, 0.1, {"trend": {"kind": "drift", "change_per_year": -0.2}}
TERMS = {
    "nothing of it": ({}, {}),
    "downtime": ({"downtime_share": DOWN}, {}),
    "discount, resale curve and falling rents": ({"discount_rate": RATE, "residual": CURVE}, FALLING),
}
EXACT = {SHARE: 1e-9, ROUNDS: 1e-9, DISPATCH: 1e-9}  # of a turning point, by the search
# Days, jobs and the box's own speed ask for a second box of rounds, and for rent beside the box of dispatch.
ALIKE = ("usd_per_hour", "rent_factor", "capex_usd", "residual_usd", "maintenance_usd_per_month", "kw", "usd_per_kwh")


def filled(name, rent=6.0):
    """A market whose work fills one box to its last hour of use."""
    box, trend = TERMS[name]
    return Market((own(**box), hourly("rented", rent, **trend)), jobs=120.0 * (1 - box.get("downtime_share", 0.0)))


@pytest.fixture(scope="module", params=TERMS)
def asked(request):
    made = price(filled(request.param))
    return request.param, made, {SHARE: made.share(), ROUNDS: made.rounds(), DISPATCH: made.dispatch()}


def questions(asked):
    return {kind: getattr(one, "question", one) for kind, one in asked[2].items()}


def test_they_cost_what_the_bills_say(asked):
    """By hand: the months of possession, and 240 hours of each but for the tenth in which the box is broken."""
    name, falls = asked[0], asked[0].startswith("discount")
    hours, kept = 240.0 * 36 * (1 - (DOWN if name == "downtime" else 0.0)), 36_000 * 0.8 * (0.83 + 0.59) / 2
    rate = 1.1 ** (1 / 12) - 1
    month = 36_000 / 36 if not falls else (36_000 - kept / 1.1**3) * rate / (1 - 1 / 1.1**3)
    assert month == pytest.approx(
        fixed_per_month({"capex": 36_000, "residual": kept * falls, "months": 36.0, "maintenance": 0, "staff": 0},
                        RATE * falls)
    )  # fmt: skip
    rent = 6.0 * (np.mean(0.8 ** (np.arange(36) / 12)) if falls else 1.0)
    for kind, question in questions(asked).items():
        assert [one.option for one in question.choices[:2]] == ["box", "rented"]
        expected = [36 * (month + 50) + 0.2 * hours, rent * hours]
        assert question.usd[:2] == pytest.approx(expected, rel=1e-9), kind
        assert question.drawn[:2].mean(axis=1) == pytest.approx(expected, rel=1e-9), kind


def test_they_turn_at_the_same_prices_speeds_and_months(asked):
    name, found = asked[0], {}
    for kind, question in questions(asked).items():
        for one, turns in question.turns.items():
            months = one.quantity == "months" and not (kind == ROUNDS and "falling" in name)  # a plan's rents stay
            if one.quantity in ALIKE or months or (one.quantity == "speed" and "rented" in one.subject):
                found.setdefault(one.name, {})[kind] = [turn.factor for turn in turns]
    assert len(found) >= 7 and {len(kinds) for kinds in found.values()} <= {2, 3}
    assert sum(bool(kinds[SHARE]) for kinds in found.values()) >= 4
    for assumption, kinds in found.items():
        for kind, factors in kinds.items():
            assert factors == pytest.approx(kinds[SHARE], rel=EXACT[kind]), (assumption, kind)


def test_owning_pays_from_the_same_share_of_the_work(asked):
    """Days over those planned, jobs over those planned: the month of possession over what an hour gains."""
    name, made, kinds = asked
    days = break_even(made.options, made.draws, 30.5).set_index("option").loc["rented"]
    rounds = pays_rows("work", kinds[ROUNDS].held(kinds[ROUNDS]))
    months = pays_rows("lab", kinds[DISPATCH].held(kinds[DISPATCH]))
    factors = {
        SHARE: days["days"] / 10.0,
        ROUNDS: next(row["factor"] for row in rounds if row["quantity"] == "jobs"),
        DISPATCH: next(row["factor"] for row in months if row["quantity"] == "device_hours"),
    }
    for kind in KINDS:
        assert factors[kind] == pytest.approx(factors[SHARE], rel=max(EXACT[kind], 1e-9)), kind
    if "curve" not in name:  # with one, months of a job are whole ones
        length = next(row["pays_from"] for row in months if row["quantity"] == "months")
        assert length == pytest.approx(days["months_needed"], rel=EXACT[DISPATCH])


def test_the_rent_is_worth_the_same_to_know(asked):
    made = price(filled(asked[0], {"value": 5.0, "low": 3.5, "high": 7.0}), 1000)
    found = {
        kind: next(row for row in worth_rows(question, made.draws, {}) if row["quantity"] == "usd_per_hour")
        for kind, question in zip(KINDS, (made.share(), made.rounds(), made.dispatch()), strict=True)
    }
    assert found[SHARE]["evppi_usd"] > 100
    for name in ("evppi_usd", "evppi_se_usd", "evppi_alone_usd", "project_usd"):
        assert [row[name] for row in found.values()] == pytest.approx([found[SHARE][name]] * 3, rel=1e-9), name
