"""Rows of the tornado, of turning points and of what pays, by hand; ties, and what is not looked for."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, asked, box_offer, offer, options_of
from small_lab import same
from sweetspot.decision.analyses import pays_rows, stretch, tornado_rows, turning_rows
from sweetspot.decision.decision_problem import BreakEvenCase, all_of
from sweetspot.declared_tables import columns_of

INF = math.inf


def options(price, **box):
    return options_of((box_offer(**box), 498.0, 4), (offer(RENTED, "on_demand", price), 225.0, 1))


def tornado_of(table):
    """Return the rows of the tornado by the name of the assumption."""
    rows = [row for one in asked(table) for row in tornado_rows(one)]
    return pd.DataFrame(rows).set_index("assumption", drop=False)


def question(price, **box):
    (found,) = asked(options(price, **box))
    return found


ABOUT = {"workload": "vgg16", "model": "vgg16"}
PRICE = {"assumption": f"price of {BOX}", "quantity": "capex_usd", "subject": BOX, "unit": "USD", "value": 6500.0}
# 7200 hours of the box: at 0.75 USD renting is 7200 x 0.75 x 498 / 225 = 11,952 USD, the box 6500 + 1440 = 7940
RENT = 7200 * 0.75 * 498 / 225


def test_a_row_of_the_tornado_by_hand():
    rows = {row["assumption"]: row for row in tornado_rows(question(0.75))}
    row = rows[f"price of {BOX}"]
    assert set(row) == set(columns_of("tornado"))
    same(row, ABOUT | PRICE | {
        "low": 5200.0, "high": 7800.0, "range_basis": "assumed", "best_title": BOX,
        "rival_title": RENTED,
        "margin": RENT / 7940, "margin_low": RENT / 6640, "margin_high": RENT / 9240,
        "usd": 7940.0, "usd_low": 6640.0, "usd_high": 9240.0,
        "flip_value": RENT - 1440,
        "flip_factor": (RENT - 1440) / 6500,
    })  # fmt: skip
    assert rows["days of use a month"]["subject"] is None
    swings = [round(abs(row["margin_high"] - row["margin_low"]), 9) for row in rows.values()]
    assert swings == sorted(swings, reverse=True) and len(set(swings)) > 3


def test_a_turning_point_by_hand():
    rows = turning_rows(question(0.75, capex_usd_low=6000.0, capex_usd_high=12_000.0))
    assert all(set(row) == set(columns_of("turning_points")) for row in rows)
    apart = [round(abs(math.log(row["factor"])), 6) for row in rows]
    assert apart == sorted(apart) and len(rows) > 4
    named = {row["assumption"]: row for row in rows}
    same(named[f"price of {BOX}"], ABOUT | PRICE | {
        "side": "above", "turning_value": RENT - 1440, "factor": (RENT - 1440) / 6500,
        "to_title": RENTED,
    })  # fmt: skip
    # the rent: 7940 / 11,952 of it, below its range of 20 %
    same(named[f"price of {RENTED}"], {
        "side": "below", "factor": 7940 / RENT, "turning_value": 0.75 * 7940 / RENT,
        "to_title": RENTED, "unit": "USD/hour", "quantity": "usd_per_hour", "subject": RENTED,
    })  # fmt: skip


def tied(**box):
    """A box and a rival that both take 1 USD for a million images: 1.125 USD for 3600 x 312.5 of them.

    The box: 240 USD a month / 240 h + 0.5 kW x 0.25 USD/kWh.
    """
    made = options(3.06, kw=0.5, usd_per_kwh=0.25, capex_usd=7200.0, **box)
    made.loc[made["option"] == BOX, "images_per_s"] = 312.5
    return tornado_of(made.assign(images_per_usd=1e6)).loc[f"price of {BOX}"]


def test_a_tie_turns_nothing_and_the_least_beyond_it_does():
    price = tied(capex_usd_low=3600.0, capex_usd_high=7200.0)
    assert (price["margin"], price["margin_high"]) == (1.0, 1.0)
    # 3600: 120 / 240 + 0.125 = 0.625 USD an hour
    assert (price["margin_low"], price["best_title"]) == (pytest.approx(1.125 / 0.625), BOX)
    price = tied(capex_usd_low=7200.0, capex_usd_high=14_400.0)
    assert price["margin_high"] < 1 and price["flip_factor"] == pytest.approx(1.0, abs=1e-7)
    price = tied(capex_usd_low=7200.0, capex_usd_high=7200.0)  # declared ends that are one are no range
    assert (price["low"], price["high"], price["range_basis"]) == (5760.0, 8640.0, "assumed")


FACTORS = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
STILL = np.zeros(5, bool)


@pytest.mark.parametrize(("apart", "jumps", "expected"), [
    ([3, 2, 1, -1, -3], (), (1.5, INF)),  # from +1 at 1.0 to -1 at 2.0: half way
    ([3, 1, -1, -2, -3], (), (0.75, INF)),  # it pays as planned: where that stretch begins
    ([-1, -2, -3, -4, -5], (), (0.0, INF)),  # from the least factor on
    ([3, 0, -1, -2, -3], (), (0.5, INF)),  # what costs the same pays
    ([3, 2, 1, 1, 0], (), (4.0, INF)),
    ([3, 2, 1, 2, 3], (), (INF, INF)),  # at none
    ([3, 1, -1, -2, 1], (), (0.75, 2.0)),  # and with more it is the dearer again
    ([-1, 1, 2, -1, 1], (), (0.0, 0.25)),  # not as planned: the first stretch
    ([-1, -2, -3, 1, 2], (), (0.0, 1.0)),
    ([-1, 1, -3, -4, -5], (), (0.625, INF)),  # the stretch that the plan lies in
    ([3, 2, 1, -1, -3], (3,), (2.0, INF)),  # a further machine is needed there: no straight line leads to it
    ([1, -1, -2, -3, -4], (), (0.375, INF)),  # half way between the two least
    ([1, -1, -2, -3, -4], (1,), (0.5, INF)),
    ([1, -3, -2, -3, 1], (), (0.3125, 2.0)),
    ([INF, INF, INF, -1, -3], (), (2.0, INF)),
])  # fmt: skip
def test_the_stretch_in_which_it_pays(apart, jumps, expected):
    found, until = stretch(np.array([apart, [-5.0] * 5]), FACTORS, np.cumsum(np.isin(np.arange(5), jumps)))
    assert (found[0], until[0]) == pytest.approx(expected) and (found[1], until[1]) == (0.0, INF)


def test_a_row_of_what_pays_by_hand():
    # As planned it is 1 USD too dear in each draw, and pays from half way between 1 and 2 on; of 21 draws the second
    # and the last but one end the interval.
    drawn = np.array([[3, 2, 1, -share / (1 - share), -9] for share in np.linspace(0.1, 0.9, 21)])
    parameter = replace(all_of("jobs of all", "per_month"), value=200.0, unit="jobs")
    usd, places = np.array([3.0, 2, 1, -1, -3]), np.arange(5)
    case = BreakEvenCase("box", "Office box", parameter, FACTORS, usd, STILL, drawn, places)
    (row,) = pays_rows("lab", [case])
    assert set(row) < set(columns_of("break_even"))
    same(row, {
        "workload": "lab", "reference": "box", "title": "Office box", "quantity": "per_month",
        "subject": None, "assumption": "jobs of all", "unit": "jobs", "planned": 200.0, "break_even_value": 300.0,
        "break_even_low": 200 * (1 + 1 - 0.86), "break_even_high": 200 * (1 + 1 - 0.14), "factor": 1.5, "p_pays": 0.0,
    })  # fmt: skip
    assert math.isnan(row["pays_until"])
