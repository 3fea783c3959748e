"""Every stated turning point, put into the price list, the speeds or the work, turns the answer; a little less does
not. For all kinds of work, by the code that prices, not by the factors that found it.
"""

import pytest
from three_kinds import DISPATCH, KINDS, ROUNDS, SHARE, Market, best, hourly, named, own, price, put

# Certain shares of the price by age: what is put in then has no other draws.
CURVE = {"points": [[2.0, 0.83, 0.83, 0.83], [4.0, 0.59, 0.59, 0.59], [6.0, 0.29, 0.29, 0.29]], "share": 0.8}
FALLING = {"trend": {"kind": "drift", "change_per_year": -0.2}}
DOWN, RATE, SOLD = {"downtime_share": 0.1}, {"discount_rate": 0.1}, {"residual": CURVE}
# Beyond and short of a turning point, in it: by how much a search is exact. The issue asks for 1.5 %.
CLOSE = {SHARE: 1e-6, ROUNDS: 1e-6, DISPATCH: 1e-3}


def market(rent=6.0, trend=None, second=None, **box):
    """A box, perhaps a smaller one beside it, and two machines by the hour; each device has an error of its own."""
    boxes = [own(**box)] + ([] if second is None else [own("second", capex=20000.0, kw=0.9, **second)])
    rented = [hourly("rented", rent, **(trend or {})), hourly("dearer", rent * 7 / 6, **(trend or {}))]
    return Market((*boxes, *rented), {} if second is None else {"second": 60.0})


ALL = DOWN | RATE | SOLD
MARKETS = {
    "all of it": market(7.5, FALLING, ALL, **ALL),
    "nothing of it": market(),
    "downtime": market(second={}, **DOWN),
    "discount": market(5.0, second={}, **RATE),
    "resale curve": market(5.0, second=SOLD, **SOLD),
    "falling rents": market(7.0, FALLING),
}
ASKED = {"usd_per_hour", "rents", "capex_usd", "months", "days_per_month", "speed"}
# Of the dear kinds the quick tests put in one price, the months, the days, the resale value and the work.
FEW = {"rents", "capex_usd", "residual_usd", "months", "days_per_month", "jobs", "per_month"}
CASES = [
    *((kind, "all of it", kind == SHARE) for kind in KINDS),
    *(pytest.param(kind, name, True, marks=pytest.mark.slow) for kind in KINDS for name in MARKETS
      if (kind, name) != (SHARE, "all of it")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "every"), CASES)
def test_each_turns_the_answer_and_a_little_less_does_not(kind, name, every):
    made, close = MARKETS[name], CLOSE[kind]
    question, now = price(made, kind=kind).question(kind), best(made, kind)
    found = [(one, turn) for one, turns in question.turns.items()
             for turn in turns]  # fmt: skip
    assert {one.quantity for one, _ in found} >= ASKED - ({"days_per_month"} if name == "falling rents" else set())
    for assumption, turn in found if every else [pair for pair in found if pair[0].quantity in FEW]:
        beyond, short = (
            best(put(made, kind, assumption, turn.factor * (1 + part if turn.factor > 1 else 1 - part)), kind)
            for part in (close, -close)
        )
        assert (beyond, short) == (named(question, turn), now), (assumption.name, turn.factor)


@pytest.mark.parametrize(("terms", "months"), [(DOWN, 47.2), (RATE, 95.2), ({"downtime_share": 0.04}, 37.8)])
def test_what_was_said_too_late_or_too_early(terms, months):
    """Two boxes, the terms those of the first alone: 60.7, 87.9 and 39.3 months were said, of months that a day's hours
    or the rate of money stood still in.

    By hand, with downtime d: ((6500 - 900) / m + 20) / (240 (1 - d)) + 0.30 for 500 images/s is as dear as
    ((3300 - 900) / m + 20) / 240 + 0.27 for 300.
    """
    plain = {"months": 30.0, "maintenance_per_month": 20.0, "per_kwh": 0.30, "residual": 900.0}
    made = Market(
        (own(capex=6500.0, **plain, **terms), own("second", capex=3300.0, kw=0.9, **plain), hourly("rented", 3.06)),
        {"box": 500.0, "second": 300.0, "rented": 225.0},
    )
    question, now = price(made, kind=SHARE).question(SHARE), best(made, SHARE)
    (found,) = ((one, turns) for one, turns in question.turns.items()
                if one.quantity == "months")  # fmt: skip
    assumption, (turn,) = found
    value = turn.factor * assumption.value
    assert value == pytest.approx(months, abs=0.05)
    if "downtime_share" in terms:
        works = 240 * (1 - terms["downtime_share"])
        ours, theirs = (5600 / value + 20) / works + 0.30, (2400 / value + 20) / 240 + 0.27
        assert ours / 500 == pytest.approx(theirs / 300)
    assert {best(put(made, SHARE, assumption, turn.factor * part), SHARE) for part in (0.9999, 1.0001)} == {
        now, named(question, turn)
    }  # fmt: skip
