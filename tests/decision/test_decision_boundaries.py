"""Where the decision turns: ties, ends that are exactly met, draws that reach the money. Arithmetic stands beside."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from answer_options import option
from decision_tables import (
    BOX,
    RENTED,
    box_offer,
    cost,
    figure,
    inputs,
    offer,
    plan_rows,
    settings,
    surface_of,
    tornado_of,
)
from sweetspot.decision.breakeven import break_even, utilisation
from sweetspot.decision.cost_rounds import priced_plans
from sweetspot.decision.options import build_options
from sweetspot.decision.other_figures import bills_decide, contenders
from sweetspot.decision.ranks import frontier
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.draws import spread

NO_TORNADO = pd.DataFrame(columns=["model", "assumption", "flip_factor", "flip_value", "unit"])


def options_of(*entries, figures=None, box=(498.0, 440.0, 560.0)):
    """Options of (offer, images/s, devices); the small market of `decision_tables` where none is given."""
    market = inputs(box=box)
    costs = pd.DataFrame([cost(*entry) for entry in entries]) if entries else market.costs
    offers = pd.DataFrame([entry[0] for entry in entries]) if entries else market.offers
    throughput = pd.DataFrame(figures) if figures else market.throughput
    return build_options(costs, offers, throughput, market.extrapolation, settings())


def drawn(options, **changes):
    """Draws at the central figures, some of them replaced: by the name of a field, {option: values}."""
    count = max([len(values) for rows in changes.values() for values in rows.values()], default=1)
    columns = {"fixed": "fixed_usd_per_month", "variable": "variable_usd_per_hour", "days": "days_per_month"}

    def field(name):
        rows = zip(options["option"], options[columns.get(name, name)], strict=True)
        return np.array([changes.get(name, {}).get(which, [value] * count) for which, value in rows], float)

    return Draws(**{name: field(name) for name in Draws.__dataclass_fields__ if name not in ("figures", "rents")})


@cache
def pair():
    """A box whose electricity is free, and one rental; made once."""
    return options_of((box_offer(kw=0.0), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1))


def exact(**box):
    """A box at 1 image/s and 0 USD an hour of electricity, against a rival that asks 1 USD for each of its hours."""
    own = {"images_per_s": 1.0, "variable_usd_per_hour": 0.0, "fixed_usd_per_month": 732.0, **box}
    options = pair().copy()
    for name, value in own.items():
        options.loc[options["option"] == BOX, name] = value
    options.loc[options["option"] == RENTED, "images_per_usd"] = 3600.0
    return options


# --- break-even -----------------------------------------------------------------------------------------------------


def test_the_last_day_of_the_month_still_pays():
    # 732 USD a month / (24 x 1 USD) = 30.5 days: the whole month, in all draws
    row = break_even(exact(), drawn(exact()), 30.5).iloc[0]
    assert (row["days"], row["days_low"], row["p_pays"]) == (30.5, 30.5, 1.0)
    assert row["verdict"] == "from 30.5 days a month (30.5 to 30.5); does not pay at the planned use of 10"
    # 240 USD: 10 days, which are planned
    tenth = exact(fixed_usd_per_month=240.0)
    assert break_even(tenth, drawn(tenth), 30.5)["verdict"][0].endswith("; pays at the planned use of 10")


def test_free_electricity_has_no_price_at_which_it_would_be_too_dear():
    for box in ({"kw": 0.0, "usd_per_kwh": 0.2}, {"kw": 1.0, "usd_per_kwh": 0.0}):
        entries = (box_offer(**box), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)
        options = options_of(*entries)
        assert math.isnan(break_even(options, drawn(options), 30.5)["never_above_usd_per_kwh"][0])


def test_no_length_of_project_pays_where_the_rest_takes_all_the_room():
    # 10 days: 240 h x 1 USD = 240 USD of room a month; 600 USD over 30 months are 20 of the 260 fixed: 240 remain
    options = exact(fixed_usd_per_month=260.0, capex_usd=600.0)
    assert math.isnan(break_even(options, drawn(options), 30.5)["months_needed"][0])
    # half a dollar less of the rest: 600 / 0.5
    options = exact(fixed_usd_per_month=259.5, capex_usd=600.0)
    assert break_even(options, drawn(options), 30.5)["months_needed"][0] == pytest.approx(1200.0)


def test_the_curve_takes_a_thousand_draws():
    # fixed sums of 100, 101, ... USD: of the first thousand the 51st and the 950th are 150 and 1049 USD
    options = exact()
    curve = utilisation(options, drawn(options, fixed={BOX: 100.0 + np.arange(1500)}), 30.5)
    day = curve[curve["days"] == 10].iloc[0]
    assert (day["gain_low"], day["gain_high"]) == pytest.approx((240 / 1049, 240 / 150))


def test_the_chance_of_the_front_is_a_share_of_a_thousand_draws():
    # in 500 of the first thousand draws the slower machine is cheaper than the faster one; later draws do not count
    options = exact()
    usd = {BOX: [2.0] * 500 + [0.5] * 1000, RENTED: [1.0] * 1500}
    hours = {BOX: [3.0] * 1500, RENTED: [1.0] * 1500}
    table = frontier(options, drawn(options, usd=usd, hours=hours)).set_index("option")
    assert table["p_on_front"].to_dict() == {BOX: 0.5, RENTED: 1.0}


def test_machines_slower_than_an_image_a_second_take_part():
    # every speed a thousandth: hours and sums a thousandfold, all that compares machines as before
    slow = [(box_offer(), 0.498, 4), (offer(RENTED, "on_demand", 3.06), 0.225, 1)]
    market = inputs(box=(0.498, 0.44, 0.56))
    costs, offers = pd.DataFrame([cost(*entry) for entry in slow]), pd.DataFrame([entry[0] for entry in slow])
    figures = pd.DataFrame([figure(RENTED, 0.225, 1)])
    options = build_options(costs, offers, figures, market.extrapolation, settings())
    assert options.set_index("option")["is_reference"].to_dict() == {BOX: True, RENTED: False}
    found = break_even(options, drawn(options), 30.5).iloc[0]
    hour = 3.06 * 498 / 225
    assert found["days"] == pytest.approx(6500 / 30 / 24 / (hour - 0.2))
    assert len(surface_of(options)) and len(tornado_of(options))


# --- tornado --------------------------------------------------------------------------------------------------------


def tied(**box):
    """A box and a rival that both take 1 USD for a million images: 1.125 USD for 3600 x 312.5 of them.

    The box: 240 USD a month / 240 h + 0.5 kW x 0.25 USD/kWh.
    """
    entry = box_offer(kw=0.5, usd_per_kwh=0.25, capex_usd=7200.0, **box)
    options = options_of((entry, 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1))
    options.loc[options["option"] == BOX, "images_per_s"] = 312.5
    options["images_per_usd"] = 1e6
    return tornado_of(options)


def test_a_tie_turns_nothing_and_the_least_beyond_it_does():
    price = tied(capex_usd_low=3600.0, capex_usd_high=7200.0).loc[f"price of {BOX}"]
    assert (price["margin"], price["margin_high"]) == (1.0, 1.0)
    # 3600: 120 / 240 + 0.125 = 0.625 USD an hour
    assert price["margin_low"] == pytest.approx(1.125 / 0.625)
    assert (price["best"], price["winner_low"], price["winner_high"], price["flips"]) == (BOX, BOX, BOX, False)
    price = tied(capex_usd_low=7200.0, capex_usd_high=14_400.0).loc[f"price of {BOX}"]
    assert (price["winner_low"], price["winner_high"], price["flips"]) == (BOX, RENTED, True)
    assert price["flip_factor"] == pytest.approx(1.0, abs=1e-7)


def test_declared_ends_that_are_one_are_no_range():
    price = tied(capex_usd_low=7200.0, capex_usd_high=7200.0).loc[f"price of {BOX}"]
    assert (price["low"], price["high"], price["range_basis"]) == (5760.0, 8640.0, "assumed")


def test_a_turn_beyond_a_factor_of_five_is_not_looked_for():
    # the rented work of a box hour: p x 498 / 225; the box 1.102778 an hour: it turns at p = 0.498243 USD
    for price, found in ((0.498243 * 4.99, True), (0.498243 * 5.01, False)):
        options = options_of((box_offer(), 498.0, 4), (offer(RENTED, "on_demand", price), 225.0, 1))
        row = tornado_of(options).loc[f"price of {RENTED}"]
        assert math.isnan(row["flip_value"]) is not found
        assert row["flip_value"] == pytest.approx(0.498243, rel=1e-5) or not found


# --- draws ----------------------------------------------------------------------------------------------------------


def test_an_interval_that_begins_or_ends_at_its_value_varies_to_the_other_side():
    # 90 %: the ends lie 1.644854 standard deviations out
    ends = np.array([-1.644854, 1.644854])
    assert spread(100.0, 100.0, 200.0, 0.90, ends) == pytest.approx([100, 200], rel=1e-5)
    assert spread(100.0, 50.0, 100.0, 0.90, ends) == pytest.approx([50, 100], rel=1e-5)


def test_one_degree_of_freedom_has_its_own_t():
    # t(0.95, 1) = tan(0.45 pi) = 6.313752
    assert spread(100.0, 50.0, 200.0, 0.90, np.array([6.313752]), freedom=1) == pytest.approx([200], rel=1e-5)


def test_what_is_drawn_of_a_machine_that_nobody_interrupts():
    options = options_of((offer(RENTED, "on_demand", 3.06), 225.0, 1), (box_offer(), 498.0, 4))
    draws = simulate(options, 1, 3)
    place = options.index[options["option"] == RENTED]
    assert draws.variable[place].tolist() == [[3.06] * 3]


def test_a_machine_drawn_at_half_the_speed_takes_twice_the_hours():
    # hours x images/s are the images of the job, in every draw
    options = options_of()
    draws = simulate(options, 1, 20)
    images = draws.hours * draws.images_per_s * 3600
    assert images == pytest.approx(np.full((3, 20), 94_720_000.0))
    assert draws.images_per_s.std(axis=1).min() > 1


def test_an_interval_with_one_end_is_none():
    entries = (box_offer(), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)
    one = options_of(*entries, figures=[figure(RENTED, 225.0, 1, low=220.0)]).set_index("option").loc[RENTED]
    assert one["assumed_interval"]
    assert (one["images_per_s_low"], one["images_per_s_high"]) == pytest.approx((225 / 1.29, 225 * 1.29))


def test_boxes_of_one_price_list_pay_one_price_of_electricity():
    tariff = {"usd_per_kwh_low": 0.1, "usd_per_kwh_high": 0.4}
    entries = [(box_offer(price_list="own", **tariff) | {"instance": name}, 498.0, 4) for name in (BOX, "other")]
    one, other = simulate(options_of(*entries), 1, 50).variable
    assert one.tolist() == other.tolist() and len(set(one)) == 50


# --- phases --------------------------------------------------------------------------------------------------------


def test_a_plan_s_draws_take_the_speed_the_power_and_the_possession_drawn():
    options = options_of()
    named = ["price_list", "instance", "purchase", "framework", "model", "batch_size", "gpus", "precision", "variant"]
    cells = options.set_index("option")[named[:-1]].assign(variant="default").to_dict("index")
    rows = [
        {**cells[BOX], "phase": "search", "hours": 100.0, "usd": 20.0},
        {**cells[BOX], "phase": "training", "hours": 300.0, "usd": 60.0},
        {**cells[BOX], "phase": "possession", "hours": 0.0, "usd": 6500.0},
        {**cells[BOX], "phase": "total", "hours": 400.0, "usd": 6580.0},
        {**cells[RENTED], "phase": "search", "hours": 50.0, "usd": 2000.0},
        {**cells[RENTED], "phase": "training", "hours": 0.0, "usd": 0.0},
        {**cells[RENTED], "phase": "possession", "hours": 0.0, "usd": 90.0},
        {**cells[RENTED], "phase": "total", "hours": 50.0, "usd": 2090.0},
    ]
    plans = plan_rows(rows)
    # draw 2: the box at half its speed and dearer electricity, x 1.5; draw 3: possession x 3; the rental's price x 1.2
    draws = drawn(
        options,
        images_per_s={BOX: [498.0, 249.0, 498.0]},
        variable={BOX: [0.2, 0.3, 0.2], RENTED: [3.06, 3.672, 3.06]},
        fixed={BOX: [6500 / 30, 6500 / 30, 6500 / 10]},
    )
    (plan,) = priced_plans(options, draws, plans)
    found = dict(zip(plan.table["option"], plan.usd, strict=True))
    assert found[BOX] == pytest.approx([80 + 6500, 80 * 2 * 1.5 + 6500, 80 + 3 * 6500])
    assert found[RENTED] == pytest.approx([2090, 1.2 * 2090, 2090])  # what a rental commits to moves with its price
    # 24 h x 10 days x 30 months
    assert plan.table.set_index("option")["planned_hours"].dropna().to_dict() == {BOX: 7200.0}


def test_free_power_does_not_move_a_plan():
    options = options_of((box_offer(kw=0.0), 498.0, 4))
    cell = options.iloc[0][["price_list", "instance", "purchase", "framework", "model", "batch_size", "gpus",
                            "precision"]].to_dict()  # fmt: skip
    rows = [{**cell, "phase": name, "hours": 10.0, "usd": 5.0} for name in ("search", "total")]
    plans = plan_rows(rows)
    (plan,) = priced_plans(options, drawn(options), plans)
    assert plan.usd.tolist() == [[5.0]]


# --- contenders -----------------------------------------------------------------------------------------------------


def of(*rows, reference):
    table = pd.DataFrame(list(rows))
    own = table[table["title"] == reference].rename_axis("row").reset_index().to_dict("records")[0]
    return contenders(table, own)


def test_at_equal_cost_the_reference_is_the_cheapest_and_another_price_list_is_no_rival():
    found = of(option("Rival", 10), option("Box", 10), option("Dear", 20),
               option("Later", 5, in_answer=False, price_list="later"), reference="Box")  # fmt: skip
    assert (found.reference["title"], found.alternative["title"], found.gain) == ("Box", "Rival", 1.0)
    assert [row["title"] for row in found.every] == ["Rival", "Box", "Dear"]


@pytest.mark.parametrize(
    ("usd", "per_usd", "decide"),
    [((10, 20), (100, 50), False), ((10, 21), (100, 50), False), ((10, 21.5), (100, 50), True),
     ((10, math.nan), (100, 5), False)],
)  # fmt: skip
def test_bills_decide_where_they_leave_the_price_of_an_image_by_more_than_a_twentieth(usd, per_usd, decide):
    assert bills_decide(pd.DataFrame({"usd": usd, "images_per_usd": per_usd})) is decide
