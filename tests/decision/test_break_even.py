"""From how many days, and months, a box pays: whole rows on drawn values that stand in the test."""

import math

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, drawn, offer, options_of
from sweetspot.decision.shared_machine_problem import break_even_days, break_even_rows
from three_kinds import Market, hourly, own, price

HOUR = 3.06 * 498 / 225  # USD that p3.2xlarge asks for the work of one box hour: 6.7728
FIXED = 6500 / 30
TWO = (box_offer(), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)
STEPS = [100 + 10 * step for step in range(21)]  # of 21 draws the 5 % and 95 % are the second and the last but one


def second(rate=400.0, **terms):
    """Another box."""
    return box_offer(**terms) | {"instance": "second"}, rate, 4


def row_of(*entries, price_p3=3.06, **changes):
    """The first row of days, in draws that are given; against what is rented, unless offers are given."""
    entries = entries or (TWO[0], (offer(RENTED, "on_demand", price_p3), 225.0, 1))
    options = options_of(*entries)
    return pd.Series(break_even_rows(options, drawn(options, **changes), 30.5)[0])


def test_a_row_of_days_by_hand():
    row = row_of(fixed={BOX: STEPS})
    expected = {
        "workload": "vgg16", "model": "vgg16", "quantity": "days_per_month", "reference": BOX, "option": RENTED,
        "p_pays": 1.0, "planned": 10.0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    days = [fixed / 24 / (HOUR - 0.2) for fixed in (FIXED, 110, 290)]
    assert row[["days", "days_low", "days_high"]].tolist() == pytest.approx(days)
    assert row[["break_even_value", "break_even_low", "break_even_high"]].tolist() == pytest.approx(days)


def test_the_share_of_draws_in_which_the_box_ever_pays():
    # 720 USD a month: 30 / 6.5728 = 4.6 days; 24,000: 152 days, beyond the month
    assert row_of(fixed={BOX: [720, 720, 24_000, 24_000]})["p_pays"] == 0.5


def exact(**box):
    """A box at 1 image/s and 0 USD an hour of electricity, against a rival that asks 1 USD for each of its hours."""
    options = options_of((box_offer(kw=0.0), 498.0, 4), TWO[1])
    own = {"images_per_s": 1.0, "variable_usd_per_hour": 0.0, "fixed_usd_per_month": 732.0, **box}
    for name, value in own.items():
        options.loc[options["option"] == BOX, name] = value
    options.loc[options["option"] == RENTED, "images_per_usd"] = 3600.0
    return options


def test_the_last_day_of_the_month_still_pays():
    # 732 USD a month / (24 x 1 USD) = 30.5 days: the whole month, in all draws
    (row,) = break_even_rows(exact(), drawn(exact()), 30.5)
    assert (row["days"], row["days_low"], row["p_pays"]) == (30.5, 30.5, 1.0)


def test_a_row_against_another_box_by_hand():
    # the second for the work of 498 images/s: 1.245 x 100 USD a month and 1.245 x 0.3 an hour
    options = options_of(TWO[0], second(capex_usd=3000.0, kw=1.5))
    draws = drawn(options, fixed={"second": [90 + step for step in range(21)]})
    row = pd.Series(break_even_rows(options, draws, 30.5)[0])
    ends = [(FIXED - 1.245 * fixed) / 24 / (1.245 * 0.3 - 0.2) for fixed in (100, 109, 91)]
    assert row[["days", "days_low", "days_high", "p_pays"]].tolist() == pytest.approx([*ends, 1.0])


@pytest.mark.parametrize(("extra_usd", "saving", "days"), [
    (240.0, 1.0, 10.0), (-240.0, -1.0, 0.0),  # of the second: on ten days both cost the same
    (-239.0, -1.0, math.inf), (0.0, 0.0, 0.0), (1.0, 0.0, math.inf), (-1.0, 0.0, 0.0),
    (-1.0, 1.0, 0.0),  # cheaper on all days
])  # fmt: skip
def test_days_from_which_a_box_costs_no_more(extra_usd, saving, days):
    assert float(break_even_days(*map(np.array, (extra_usd, saving, 10.0)))) == pytest.approx(days)


def signed(usd):
    """A contract by the month."""
    terms = {"term_months": 12.0, "per_month": usd}
    return {"instance": "signed", "purchase": "reserved", "commitment": terms, "days_per_month": 10.0}


@pytest.mark.parametrize(("month", "days"), [(1200.0, 0.0), (1020.0, None)])
def test_beside_a_contract_a_box_pays_on_the_days_planned_or_on_none(month, days):
    """1,050 and 48 USD of running in ten days; on more days the box costs more and the contract does not."""
    made = price(Market((own(), hourly("rented", 6.0), signed(month))))
    table = pd.DataFrame(break_even_rows(made.options, made.draws, 30.5)).set_index("option")
    row = table.loc["signed (reserved)"]
    assert (None if np.isnan(row["days"]) else row["days"], row["p_pays"]) == (days, days == 0.0)
    assert table.loc["rented", "days"] == pytest.approx(1050 / (24 * 5.8))
