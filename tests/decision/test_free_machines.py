"""A machine that costs nothing, spent on long ago and with power that others pay, takes part like any other."""

import numpy as np
import pandas as pd
import pytest
from answer_options import option
from decision_tables import BOX, inputs, settings
from sweetspot.decision.options import build_options
from sweetspot.decision.other_figures import bills_decide, contenders
from sweetspot.decision.simulate import simulate
from sweetspot.errors import UserError

BOUGHT = ("usd_per_hour", "fixed_usd_per_month", "variable_usd_per_hour", "energy_usd_per_hour", "capex_usd", "kw")


def options(**changes):
    """The small market with the box for nothing, as bills write it: images for nothing have no number a dollar."""
    tables = inputs()
    costs, offers = (table.copy() for table in (tables.costs, tables.offers))
    costs.loc[costs["instance"] == BOX, ["usd", "usd_per_hour", "images_per_usd"]] = [0.0, 0.0, np.nan]
    offers.loc[offers["instance"] == BOX, list(BOUGHT)] = 0.0
    return build_options(costs, offers, tables.throughput, tables.extrapolation, settings(**changes))


def test_it_is_an_option_at_no_cost_in_every_draw():
    table = options(reference=None)
    own = table[table["instance"] == BOX]
    assert own[["usd", "usd_per_hour"]].to_numpy().tolist() == [[0.0, 0.0]]
    drawn = simulate(table, seed=1, draws=50)
    assert (drawn.usd[own.index[0]] == 0).all()
    assert np.isfinite(drawn.hours[own.index[0]]).all()
    found = contenders(table, None)
    assert found.reference["instance"] == BOX
    assert [row["usd"] for row in found.every] == sorted(table["usd"])


def test_what_is_asked_about_must_cost_something():
    with pytest.raises(UserError, match="reference 'office-4x1080ti' costs nothing; expected a machine with"):
        options()


def test_it_does_not_say_how_bills_go():
    free = option("Free", 1.0) | {"usd": 0.0, "images_per_usd": np.nan}
    rows = pd.DataFrame([free, option("A", 10.0), option("B", 20.0)])
    assert not bills_decide(rows)
    assert [row["title"] for row in contenders(rows, None).every] == ["Free", "A", "B"]
    dear = pd.concat([rows, pd.DataFrame([option("Whole hours", 30.0, images_per_usd=9e5)])])
    assert bills_decide(dear)
