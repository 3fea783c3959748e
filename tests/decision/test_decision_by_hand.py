"""Break-even, front, ranks and changes on drawn values that stand in the test, not in a simulation."""

import math

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, figure, inputs, offer, settings
from sweetspot.decision.breakeven import Month, break_even, utilisation
from sweetspot.decision.options import build_options
from sweetspot.decision.ranks import ENERGY, frontier, pairs, ranks
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.draws import interval, spread

HOUR = 3.06 * 498 / 225  # USD that p3.2xlarge asks for the work of one box hour: 6.7728
FIXED = 6500 / 30
ENDS = ["images_per_s_low", "images_per_s_high"]


def options_of(market=None, **changes):
    market = market or inputs()
    return build_options(market.costs, market.offers, market.throughput, market.extrapolation, settings(**changes))


def drawn(options, usd=None, hours=None, **rows):
    """Draws of so many columns as given; what is not given stands at its central value."""
    count = len(
        next(iter([*(usd or {}).values(), *(hours or {}).values(), *(next(iter(v.values())) for v in rows.values())]))
    )

    def column(name, given):
        return np.array([(given or {}).get(option, [value] * count) for option, value in
                         zip(options["option"], options[name], strict=True)], float)  # fmt: skip

    named = {"fixed": "fixed_usd_per_month", "variable": "variable_usd_per_hour", "days": "days_per_month"}
    figures = {name: column(named.get(name, name), rows.get(name)) for name in
               ("images_per_s", "fixed", "variable", "days", "images_per_usd")}  # fmt: skip
    return Draws(**figures, usd=column("usd", usd), hours=column("hours", hours))


# --- break-even -----------------------------------------------------------------------------------------------------


def test_each_end_of_a_break_even_is_a_draw_of_its_own():
    options = options_of()
    # 21 draws of the fixed sum, 100 to 300 USD in steps of 10: the 5 % and 95 % are the second and the last but one
    draws = drawn(options, fixed={BOX: [100 + 10 * step for step in range(21)]})
    row = break_even(options, draws, 30.5).set_index("option").loc[RENTED]
    assert (row["days"], row["twice_as_cheap_days"]) == pytest.approx(
        (FIXED / 24 / (HOUR - 0.2), FIXED / 24 / (HOUR / 2 - 0.2))
    )
    assert (row["days_low"], row["days_high"]) == pytest.approx([fixed / 24 / (HOUR - 0.2) for fixed in (110, 290)])
    assert (row["twice_low"], row["twice_high"]) == pytest.approx(
        [fixed / 24 / (HOUR / 2 - 0.2) for fixed in (110, 290)]
    )
    # 1 box hour at full use: 216.667 / 732 + 0.2; the rental that costs as much for the same work
    assert row["never_below_usd_per_hour"] == pytest.approx((FIXED / 732 + 0.2) * 225 / 498)
    assert row["never_above_usd_per_kwh"] == pytest.approx(HOUR - FIXED / 732)  # 1 kW
    assert row["months_needed"] == pytest.approx(6500 / (240 * (HOUR - 0.2)))
    assert row["verdict"] == "from 1.4 days a month (0.7 to 1.8); pays at the planned use of 10"


def test_the_share_of_draws_in_which_the_box_is_cheaper_and_in_which_it_ever_pays():
    options = options_of()
    centre = options.set_index("option")["images_per_usd"]
    # gain 2, 1.1, 1 (a tie: half), 0.5; and 720 USD a month: 30 / 6.5728 = 4.6 days; 24,000: 152 days, beyond the month
    images = {BOX: [centre[RENTED] * gain for gain in (2, 1.1, 1, 0.5)]}
    draws = drawn(options, images_per_usd=images, fixed={BOX: [720, 720, 24_000, 24_000]})
    row = break_even(options, draws, 30.5).set_index("option").loc[RENTED]
    assert (row["p_cheaper"], row["p_pays"]) == (0.625, 0.5)
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((0.5, 2))
    assert row["verdict"] == "from 1.4 days a month (4.6 to never); pays at the planned use of 10"


def test_a_box_pays_late_or_not_at_its_planned_use_or_in_some_draws_alone():
    # at 0.3 USD the rented work costs 0.664: 216.667 / 24 / 0.464 = 19.456 days; planned are 10
    options = options_of(inputs(price_p3=0.3))
    row = break_even(options, drawn(options, fixed={BOX: [FIXED] * 3}), 30.5).set_index("option").loc[RENTED]
    assert row["verdict"] == "from 19.5 days a month (19.5 to 19.5); does not pay at the planned use of 10"
    assert row["months_needed"] == pytest.approx(6500 / (240 * 0.464))
    # at 0.22: 0.48693 - 0.2: 31.46 days, never at the centre; at half the fixed sum 15.73
    options = options_of(inputs(price_p3=0.22))
    row = break_even(options, drawn(options, fixed={BOX: [FIXED / 2, FIXED, FIXED]}), 30.5).set_index("option")
    assert row.loc[RENTED, "verdict"] == "never at the central figures; from 15.7 days a month at the lowest"
    assert math.isnan(row.loc[RENTED, "days"])
    assert row.loc[RENTED, "p_pays"] == pytest.approx(1 / 3)


def test_the_part_of_the_fixed_cost_that_a_longer_project_does_not_lower():
    # 100 USD of maintenance beside (6500 - 500) / 30: 6000 / (240 (6.7728 - 0.2) - 100)
    box = box_offer(residual_usd=500.0, maintenance_usd_per_month=100.0) | {"fixed_usd_per_month": 300.0}
    market = inputs()
    market = type(market)(**{**vars(market), "offers": pd.DataFrame([box, offer(RENTED, "on_demand", 3.06)])})
    options = options_of(market)
    row = break_even(options, drawn(options, fixed={BOX: [300.0] * 3}), 30.5).iloc[0]
    assert row["months_needed"] == pytest.approx(6000 / (240 * (HOUR - 0.2) - 100))


def test_the_curve_of_use_has_the_ends_of_its_draws():
    options = options_of()
    draws = drawn(options, fixed={BOX: [100 + 10 * step for step in range(21)]})
    curve = utilisation(options, draws, 30.5)
    day = curve[(curve["option"] == RENTED) & (curve["days"] == 10)].iloc[0]
    assert day["gain"] == pytest.approx(HOUR / (FIXED / 240 + 0.2))
    assert (day["gain_low"], day["gain_high"]) == pytest.approx([HOUR / (fixed / 240 + 0.2) for fixed in (290, 110)])


# --- front, ranks, pairs --------------------------------------------------------------------------------------------


def plain(**machines):
    """Options of machines: (USD, hours, persistent, basis); the first is the cheapest."""
    rows = [
        {"option": name, "instance": name, "purchase": "on_demand" if kept else "spot", "persistent": kept, "usd": usd,
         "hours": hours, "model": "m", "workload": "w", "throughput_basis": basis, "basis": basis,
         "images_per_s": 100 / hours, "images_per_usd": 100 / usd, "in_answer": True, "usd_per_hour": usd / hours,
         "throughput_source": "s", "source": "p", "as_of": "2018-07-01", "price_list": "l", "provider": "x",
         "batch_size": 1, "gpus": 1, "precision": "fp32", "fixed_usd_per_month": 0.0, "days_per_month": np.nan,
         "variable_usd_per_hour": usd / hours, **dict.fromkeys(ENERGY, None), "kg_co2e": np.nan}
        for name, (usd, hours, kept, basis) in machines.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


FOUR = plain(
    a=(1.0, 9.0, True, "published"), b=(2.0, 4.0, False, "published"), c=(3.0, 5.0, True, "published"),
    d=(4.0, 2.0, True, "extrapolated"),
)  # fmt: skip


def test_the_front_and_who_pushes_an_option_off_it():
    table = frontier(FOUR, drawn(FOUR, usd={"a": [1.0]})).set_index("option")
    assert table["on_front"].to_dict() == {"a": True, "b": True, "c": False, "d": True}
    assert table.loc["c", "dominated_by"] == "b"  # cheaper and faster, but it can be taken away
    assert table["on_front_with_risk"].all()
    assert table["risk"].to_dict() == {"a": "none", "b": "interruption", "c": "none", "d": "extrapolated"}
    both = frontier(plain(x=(1.0, 1.0, False, "extrapolated")), drawn(FOUR.head(1), usd={"a": [1.0]}))
    assert both["risk"].tolist() == ["interruption and extrapolated"]


def test_carbon_is_a_third_objective_where_it_is_known():
    # c is dearer and slower than b, but emits a third; d is not known: it has no place and takes none from others
    options = FOUR.assign(kg_co2e=[5.0, 3.0, 1.0, np.nan])
    rows = frontier(options, drawn(options, usd={"a": [1.0]})).set_index("option")
    assert rows["on_front"].to_dict() == {"a": True, "b": True, "c": False, "d": True}
    assert rows["on_front_with_carbon"].drop("d").to_dict() == {"a": True, "b": True, "c": True}
    assert pd.isna(rows.loc["d", "on_front_with_carbon"])
    # as much carbon as b: beaten by it again
    same = frontier(options.assign(kg_co2e=[5.0, 3.0, 3.0, np.nan]), drawn(options, usd={"a": [1.0]}))
    row = same.set_index("option").loc["c"]
    assert (row["on_front_with_carbon"], row["dominated_by_with_carbon"]) == (False, "b")
    places = ranks(options, drawn(options, usd={"a": [1.0]})).set_index("option")["rank_carbon"]
    assert places.drop("d").to_dict() == {"a": 3, "b": 2, "c": 1}
    assert pd.isna(places["d"])


def test_the_chance_of_the_front_counts_draws_in_which_nothing_faster_is_as_cheap():
    # USD in five draws; hours stay at 9, 4, 5 and 2. c is on the front where it costs less than b and d: draws 2 and 3
    usd = {"a": [1, 1, 1, 5, 2], "b": [2, 2, 4, 2, 2], "c": [3, 1.5, 3, 3, 2], "d": [4, 4, 4, 4, 2]}
    table = frontier(FOUR, drawn(FOUR, usd=usd)).set_index("option")
    # a: where it is the cheapest of all: 1, 2, 3 (equal USD but slower is not on it); b: unless d is as cheap: 1, 2, 4
    # (draw 3: 4 against 4; draw 5: 2 against 2); d is always the fastest
    assert table["p_on_front"].to_dict() == pytest.approx({"a": 0.6, "b": 0.6, "c": 0.4, "d": 1.0})
    twins = plain(x=(1.0, 2.0, True, "published"), y=(1.0, 2.0, True, "published"))
    found = frontier(twins, drawn(twins, usd={"x": [1.0, 2.0]}))
    assert found["p_on_front"].tolist() == [0.5, 1.0]
    assert found.index.tolist() == [0, 1]
    behind = plain(x=(1.0, 2.0, True, "s"), y=(1.0, 2.0, True, "s"), z=(9.0, 1.0, True, "s"))  # z is faster and dearer
    assert frontier(behind, drawn(behind, usd={"x": [1.0]}))["p_on_front"].tolist() == [1.0, 1.0, 1.0]


def test_places_count_ties_once_and_leave_out_what_can_be_taken_away():
    usd = {"a": [1, 1, 1, 5, 2], "b": [2, 2, 4, 2, 1], "c": [3, 0.5, 3, 3, 2], "d": [4, 4, 4, 4, 2]}
    table = ranks(FOUR, drawn(FOUR, usd=usd)).set_index("option")
    assert table["rank"].to_dict() == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert table["rank_hours"].to_dict() == {"a": 4, "b": 2, "c": 3, "d": 1}
    assert table["rank_persistent"].dropna().to_dict() == {"a": 1, "c": 2, "d": 3}
    assert table["rank_hours_persistent"].dropna().to_dict() == {"a": 3, "c": 2, "d": 1}
    # among a, c and d: a in draws 1 and 3, c in 2 and 4, and in 5 all three, which cost the same
    assert table["p_cheapest"].dropna().to_dict() == pytest.approx({"a": 0.6, "c": 0.6, "d": 0.2})
    equal = plain(x=(1.0, 2.0, True, "s"), y=(1.0, 1.0, True, "s"), z=(3.0, 1.0, True, "s"))
    places = ranks(equal, drawn(equal, usd={"x": [1.0]})).set_index("option")
    assert places["rank"].to_dict() == {"x": 1, "y": 1, "z": 3}


def test_a_pair_is_won_by_more_images_and_a_tie_is_half_won():
    two = plain(x=(1.0, 1.0, True, "s"), y=(2.0, 2.0, True, "s"))
    draws = drawn(two, images_per_usd={"x": [1, 3, 2, 5], "y": [2, 1, 2, 1]}, images_per_s={"x": [1] * 4, "y": [2] * 4})
    table = pairs(two, draws).set_index(["a", "b"])
    assert table.loc[("x", "y"), ["p_cheaper", "p_faster"]].to_list() == [0.625, 0.0]
    assert table.loc[("y", "x"), ["p_cheaper", "p_faster"]].to_list() == [0.375, 1.0]


# --- simulation -----------------------------------------------------------------------------------------------------


def test_an_interval_is_two_of_the_draws_in_order():
    draws = np.array([float(value) for value in range(100, -1, -1)])
    assert interval(draws) == (5.0, 95.0)
    assert interval(draws, 0.5) == (25.0, 75.0)
    assert interval(np.array([[3.0, 1.0, math.inf]])) == ([1.0], [math.inf])


def test_draws_by_the_noise_that_makes_them():
    # 90 %: 1.644854 standard deviations to an end; below with the spread of the low end, above with the high one's
    noise = np.array([-1.644854, 0.0, 1.644854, 0.822427])
    found = spread(100.0, 50.0, 400.0, 0.90, noise)
    assert found == pytest.approx([50, 100, 400, 200], rel=1e-5)
    # three runs, 95 %: t(0.975, 2) = 4.302653
    assert spread(100.0, 50.0, 200.0, 0.95, np.array([4.302653]), freedom=2) == pytest.approx([200], rel=1e-5)
    assert spread(100.0, 50.0, 200.0, 0.90, np.array([100.0, -100.0])) == pytest.approx([1000, 10])  # at most tenfold
    for low, high in ((math.nan, 200.0), (0.0, 200.0), (120.0, 200.0), (50.0, 90.0)):
        assert spread(100.0, low, high, 0.90, noise).tolist() == [100.0] * 4


def test_a_figure_without_an_interval_has_that_of_its_kind():
    market = inputs(throughput=pd.DataFrame([figure(RENTED, 225.0, 1, basis="stand_in")]))
    rows = options_of(market).set_index("option")
    assert rows.loc[RENTED, ["images_per_s_low", "images_per_s_high"]].to_list() == pytest.approx(
        [225 / 1.56, 225 * 1.56]
    )
    assert bool(rows.loc[RENTED, "assumed_interval"])
    assert rows.loc[RENTED, "level"] == 0.9
    assert rows.loc[BOX, ["images_per_s_low", "images_per_s_high", "level"]].to_list() == [440, 560, 0.9]
    rows = options_of(inputs()).set_index("option")
    assert rows.loc[RENTED, ["images_per_s_low", "images_per_s_high"]].to_list() == pytest.approx(
        [225 / 1.29, 225 * 1.29]
    )
    given = inputs(throughput=pd.DataFrame([figure(RENTED, 225.0, 1, 200.0, 250.0, basis="measured", runs=3)]))
    row = options_of(given).set_index("option").loc[RENTED]
    assert (row["images_per_s_low"], row["level"], bool(row["assumed_interval"])) == (200.0, 0.95, False)


def test_central_draws_are_the_table_itself():
    market = inputs(box=(498.0, 498.0, 498.0), throughput=pd.DataFrame([figure(RENTED, 225.0, 1, 225.0, 225.0)]))
    options = options_of(market)
    draws = simulate(options, 1, 3)
    for name in ("usd", "hours", "images_per_usd", "images_per_s"):
        assert getattr(draws, name) == pytest.approx(np.repeat(options[name].to_numpy(float)[:, None], 3, axis=1))
    own = options.index[options["purchase"] == "own"]
    assert draws.fixed[own] == pytest.approx(np.full((1, 3), FIXED))
    assert draws.days[own] == pytest.approx(np.full((1, 3), 10.0))
    assert np.isnan(draws.days[options.index[options["purchase"] != "own"]]).all()


def test_an_owned_rival_bears_its_month_on_other_days_too():
    """1,728 USD a month and 4 an hour: 6 + 4 USD an hour on twelve days (288 h), 12 + 4 on six, 3 + 4 on 24."""
    assert [Month(1728.0, 4.0).at(days) for days in (6.0, 12.0, 24.0)] == [16.0, 10.0, 7.0]
    assert Month(0.0, 10.0).at(6.0) == 10.0
