"""Where prices turn a plan of phases: by hand, and in which direction."""

import numpy as np
import pytest
from sweetspot.decision.plan_prices import price_turns


def box(**changes):
    row = {"title": "office box", "purchase": "own", "price_list": "office", "capex_usd": 9000.0, "residual_usd": 0.0,
           "maintenance_usd_per_month": 50.0, "staff_usd_per_month": 0.0, "discount_rate": 0.0, "months": 30.0,
           "kw": 1.0, "usd_per_kwh": 0.2, "usd_per_hour": 1.0}  # fmt: skip
    return row | changes


def rent(title, price):
    return {"title": title, "purchase": "on_demand", "price_list": "cloud", "usd_per_hour": price}


# The box: 30 x (9000 / 30 + 50) = 10,500 USD of possession, of which 9,000 the purchase; 1,500 of electricity.
ROWS = [box(), rent("Cloud A", 0.5), rent("Cloud B", 0.6)]
RUNNING, HELD = np.array([1500.0, 15_000.0, 18_000.0]), np.array([10_500.0, 0.0, 0.0])


def turns(rows=ROWS, running=RUNNING, held=HELD, taken=None):
    found = price_turns(rows, running, held, np.ones(len(rows), bool) if taken is None else np.array(taken))
    return {turn.name: (turn.value, rows[turn.to]["title"]) for turn in found}


def test_by_hand():
    """The box is 3,000 USD cheaper than Cloud A: 12,000 against 15,000 (and 18,000)."""
    assert turns() == {
        "price of Cloud A": (pytest.approx(0.5 * 12 / 15), "Cloud A"),
        "price of Cloud B": (pytest.approx(0.6 * 12 / 18), "Cloud B"),
        "price of the office box": (pytest.approx(9000 + 3000), "Cloud A"),
        "maintenance of the office box": (pytest.approx(50 * (1 + 3000 / 1500)), "Cloud A"),
        "power of the office box": (pytest.approx(1.0 * (1 + 3000 / 1500)), "Cloud A"),
        "electricity price": (pytest.approx(0.2 * (1 + 3000 / 1500)), "Cloud A"),
    }


def test_put_into_the_costs_each_turns_the_cheapest_and_not_sooner():
    """Each price a thousandth beyond its turning point: another is the cheapest, on this side nobody."""
    for turn in price_turns(ROWS, RUNNING, HELD, np.ones(3, bool)):
        for beyond in (1e-3, -1e-3):
            factor = turn.factor * (1 + beyond if turn.factor > 1 else 1 - beyond)
            running, held = RUNNING.copy(), HELD.copy()
            if turn.name in ("price of Cloud A", "price of Cloud B"):
                running[1 if turn.name.endswith("A") else 2] *= factor
            elif turn.name in ("power of the office box", "electricity price"):
                running[0] *= factor
            else:
                part = 9000.0 if turn.name.startswith("price") else 1500.0
                held[0] += part * (factor - 1)
            assert int((running + held).argmin()) == (turn.to if beyond > 0 else 0), turn.name


def test_a_rented_winner_is_left_for_the_next_where_it_gets_dearer():
    """Cloud A at 10,000 USD, the box at 12,000: 1.2 times its price, and never the price of anything dearer."""
    found = turns(running=np.array([1500.0, 10_000.0, 18_000.0]))
    assert found["price of Cloud A"] == (pytest.approx(0.5 * 1.2), "office box")
    assert found["price of the office box"] == (pytest.approx(9000 - 2000), "office box")
    assert found["price of Cloud B"] == (pytest.approx(0.6 * 10 / 18), "Cloud B")


def test_a_dearer_rival_never_helps_itself():
    """Rivals turn the plan below their price, the best above its own."""
    for turn in price_turns(ROWS, RUNNING, HELD, np.ones(3, bool)):
        assert (turn.factor < 1) == turn.name.startswith("price of Cloud"), turn.name


def test_what_can_be_taken_away_turns_nothing():
    assert turns(taken=[True, False, True])["price of the office box"] == (pytest.approx(9000 + 6000), "Cloud B")


def test_two_boxes_of_a_list_pay_one_tariff():
    """Twice the power and 1,300 USD less of possession: the second is the cheaper where a kWh is."""
    rows = [box(), box(title="second box", kw=2.0)]
    running, held = np.array([1500.0, 3000.0]), np.array([10_500.0, 9200.0])
    # 10,500 + 1,500 f = 9,200 + 3,000 f at f = 0.8667
    assert turns(rows, running, held)["electricity price"] == (pytest.approx(0.2 * 1300 / 1500), "second box")
