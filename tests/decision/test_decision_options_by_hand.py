"""Options, simulated terms, the surface, the tornado, phases and warnings, with the arithmetic beside them."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decision_tables import (
    BOX,
    RENTED,
    asked,
    box_offer,
    cost,
    figure,
    inputs,
    offer,
    only,
    settings,
    surface_of,
    tornado_of,
)  # fmt: skip
from sweetspot.bills.rates import or_zero, possession
from sweetspot.bills.renting import makespan, overhead
from sweetspot.decision.offers_left_out import warning_table
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate

HOUR = 3.06 * 498 / 225  # USD that p3.2xlarge asks for the work of one box hour: 6.7728
FIXED = 6500 / 30


def options_of(market=None, **changes):
    market = market or inputs()
    return build_options(market.costs, market.offers, market.throughput, market.extrapolation, settings(**changes))


def market_of(*entries, **columns):
    """The small market with other offers: (offer, images/s, devices)."""
    market = inputs()
    costs = pd.DataFrame([cost(*entry) for entry in entries]).assign(**columns)
    return replace(market, costs=costs, offers=pd.DataFrame([entry[0] for entry in entries]))


# --- options --------------------------------------------------------------------------------------------------------


def test_of_several_cells_of_an_offer_the_precision_asked_then_the_framework_then_the_best_counts():
    market, entry = inputs(), offer(RENTED, "on_demand", 3.06)
    rows = [
        cost(entry, 900.0, 1) | {"precision": "fp32"},
        cost(entry, 800.0, 1) | {"framework": "jax"},
        cost(entry, 225.0, 1),
        cost(entry, 300.0, 1) | {"gpus": 2},
        cost(entry, 999.0, 1) | {"batch_size": 32},
        cost(entry, 999.0, 1) | {"status": "oom"},
    ]

    def chosen(*places):
        found = replace(market, costs=pd.DataFrame([rows[place] for place in places]), offers=pd.DataFrame([entry]))
        return options_of(found, reference=None)["images_per_usd"].tolist()

    def per_usd(rate):
        return [pytest.approx(rate * 3600 / 3.06)]

    assert chosen(0, 1, 2, 3, 4, 5) == per_usd(300)
    assert chosen(0, 1, 2) == per_usd(225)
    assert chosen(0, 1) == per_usd(800)
    assert chosen(0, 4, 5) == per_usd(900)


def test_a_machine_offered_in_two_ways_or_lists_is_named_by_what_differs():
    entries = [offer(RENTED, "on_demand", 3.0), offer(RENTED, "on_demand", 2.0, price_list="other"),
               offer(RENTED, "spot", 1.0), offer("p2.xlarge", "reserved", 0.5)]  # fmt: skip
    found = options_of(market_of(*((entry, 225.0, 1) for entry in entries)), reference=None)
    assert sorted(found["option"]) == [
        "p2.xlarge (reserved)", "p3.2xlarge (spot)", "p3.2xlarge [on_demand]", "p3.2xlarge [other]"
    ]  # fmt: skip
    assert found.set_index("option")["persistent"].to_dict() == {
        "p2.xlarge (reserved)": True, "p3.2xlarge (spot)": False, "p3.2xlarge [on_demand]": True,
        "p3.2xlarge [other]": True,
    }  # fmt: skip
    accepted = options_of(market_of((entries[2], 225.0, 1)), reference=None, accepts_interruptions=True)
    assert accepted["persistent"].tolist() == [True]


# --- simulated terms ------------------------------------------------------------------------------------------------


def test_interruptions_drawn_lengthen_by_daly_against_the_central_ones():
    taken = {"interruptions_per_hour": 0.5, "interruptions_per_hour_low": 0.5, "interruptions_per_hour_high": 0.5000001}
    taken |= {"checkpoint_s": 360.0, "restore_s": 720.0, "wait_s": 1800.0, "every_s": 3600.0}
    factor = float(overhead(0.5, 0.1, 0.2, 1.0))
    exact = pd.DataFrame([figure(RENTED, 225.0, 1, 225.0, 225.0)])
    market = market_of((offer(RENTED, "spot", 1.0, spot_overhead=factor, **taken), 225.0, 1))
    options = options_of(replace(market, throughput=exact), reference=None)
    draws = simulate(options, 1, 5)
    assert draws.variable == pytest.approx(np.full((1, 5), factor), rel=1e-5)
    assert draws.hours == pytest.approx(np.full((1, 5), options["hours"][0]), rel=1e-5)
    # a range from half to twice as many
    wide = taken | {"interruptions_per_hour_low": 0.25, "interruptions_per_hour_high": 1.0}
    market = market_of((offer(RENTED, "spot", 1.0, spot_overhead=factor, **wide), 225.0, 1))
    options = options_of(replace(market, throughput=exact), reference=None)
    draws = simulate(options, 1, 2000)
    often = np.sort(draws.variable[0])[[100, 1899]]  # close to the 5 % and 95 % ends: 0.25 and 1 an hour
    assert often == pytest.approx([float(overhead(end, 0.1, 0.2, 1.0)) for end in (0.25, 1.0)], rel=0.05)
    longer = np.sort(draws.hours[0])[[100, 1899]] / options["hours"][0]
    stretch = [
        float(overhead(end, 0.1, 0.2, 1.0)) / factor * float(makespan(1.0, end, 0.5) / makespan(1.0, 0.5, 0.5))
        for end in (0.25, 1.0)
    ]
    assert longer == pytest.approx(stretch, rel=0.05)


def test_a_number_that_is_not_there_is_nothing():
    assert [or_zero(value) for value in (None, math.nan, 2)] == [0, 0, 2]


def test_possession_at_another_price_and_length():
    row = {"capex_usd": 3250.0, "months": 10.0, "residual_usd": 500.0, "maintenance_usd_per_month": 10.0,
           "staff_usd_per_month": 5.0, "discount_rate": 0.0}  # fmt: skip
    twice = {"capex_usd": 2.0, "months": 2.0}
    assert possession(row, lambda name: twice.get(name, 1.0)) == pytest.approx(6000 / 20 + 15)


def test_what_is_drawn_of_a_box_is_what_its_hour_is_made_of():
    ranges = {
        "days_per_month_low": 5.0,
        "days_per_month_high": 20.0,
        "capex_usd_low": 3250.0,
        "capex_usd_high": 13_000.0,
    }
    options = options_of(market_of((box_offer(**ranges), 498.0, 4)))
    draws = simulate(options, 1, 500)
    assert draws.usd / options["usd"][0] * draws.images_per_s / 498 == pytest.approx(
        (draws.fixed / (24 * draws.days) + draws.variable) / (FIXED / 240 + 0.2)
    )
    assert draws.usd * draws.images_per_usd == pytest.approx(
        np.full((1, 500), options["usd"][0] * options["images_per_usd"][0])
    )
    assert np.corrcoef(draws.fixed[0], draws.days[0])[0, 1] == pytest.approx(0, abs=0.2)
    assert np.sort(draws.fixed[0])[[25, 474]] == pytest.approx([FIXED / 2, FIXED * 2], rel=0.15)


def test_figures_share_an_error_by_device_prediction_or_not_at_all():
    names = ("a", "b", "c", "d")
    entries = [(offer(name, "on_demand", 1.0), 100.0 + place, 1) for place, name in enumerate(names)]
    figures = [figure("a", 100.0, 1), figure("b", 101.0, 1), figure("c", 102.0, 1, gpu="other"),
               figure("d", 103.0, 1, 90.0, 110.0)]  # fmt: skip
    market = replace(market_of(*entries), throughput=pd.DataFrame(figures))
    market.costs.loc[2, "gpu"] = "other"
    options = options_of(market, reference=None)
    noise = np.log(simulate(options, 1, 400).images_per_s)
    noise = dict(zip(options["option"], noise - noise.mean(axis=1, keepdims=True), strict=True))
    assert noise["a"] == pytest.approx(noise["b"])  # one device, no interval of their own
    for one, other in (("a", "c"), ("a", "d"), ("c", "d")):
        assert abs(np.corrcoef(noise[one], noise[other])[0, 1]) < 0.2


# --- surface and tornado --------------------------------------------------------------------------------------------


def test_the_surface_by_its_axes():
    table = surface_of(options_of())
    assert sorted(set(table["days"])) == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30.5]
    assert sorted(set(table["months"])) == pytest.approx([3.0 * tenth for tenth in range(1, 21)])
    assert sorted(set(table["usd_per_kwh"])) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.6])
    for row in table.iloc[::97].itertuples():
        ratio = HOUR / (6500 / row.months / (24 * row.days) + row.usd_per_kwh)
        assert row.ratio == pytest.approx(ratio)
        assert row.winner == (BOX if ratio > 1 else RENTED)
        days = 6500 / row.months / 24 / (HOUR - row.usd_per_kwh)
        assert row.break_even_days == pytest.approx(days) if days <= 30.5 else math.isnan(row.break_even_days)
    odd = market_of((box_offer(days_per_month=7.0), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1))
    assert 7.0 in set(surface_of(options_of(odd))["days"])
    short = surface_of(options_of(), 24.0)
    assert max(short["days"]) == 24.0


def test_where_power_is_free_only_the_rivals_price_could_make_the_box_lose():
    free = market_of((box_offer(kw=0.0), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1))
    condition = surface_of(options_of(free))["condition"].iloc[0]
    # 216.667 / 732 = 0.296 an hour of the box: x 225 / 498
    assert condition.endswith(f"if {RENTED} costs {FIXED / 732 * 225 / 498:.3g} USD an hour or less (now 3.06)")


def test_the_cheapest_persistent_rival_is_the_one_that_counts():
    entries = [(box_offer(), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)]
    entries += [(offer("x", "spot", 0.1), 225.0, 1), (offer("y", "on_demand", 2.0), 200.0, 1)]
    entries += [(offer("z", "reserved", 4.0), 500.0, 1)]
    market = market_of(*entries)
    figures = [figure(name, rate, 1) for name, rate in ((RENTED, 225.0), ("x", 225.0), ("y", 200.0), ("z", 500.0))]
    options = options_of(replace(market, throughput=pd.DataFrame(figures)))
    (question,) = asked(options)
    # USD a million images: z 1e6 / (500 x 3600) x 4 = 2.222; y 2.778; p3 3.778; x, which can be taken away, 0.123
    assert [one.option for one in question.choices] == [BOX, "z (reserved)", "y", RENTED]
    box, hour = FIXED / 240 + 0.2, 3600.0 * 498
    images = 7200 * hour  # of ten days a month for thirty months
    assert question.usd == pytest.approx([7200 * box, images / 1e6 * 20 / 9, images / 7.2e5 * 2, images / 8.1e5 * 3.06])
    rows = tornado_of(options)
    assert rows["margin"].to_numpy() == pytest.approx(4 * 498 / 500 / box)
    days = next(one for one in question.assumptions if one.quantity == "days_per_month")
    usd = question.at(days, [2.0]).usd[:, 0]
    assert usd[1] / usd[0] == pytest.approx(4 * 498 / 500 / (FIXED / 480 + 0.2))
    every = rows.loc["all rented prices"]
    assert (every["low"], every["high"], every["value"]) == pytest.approx((0.8, 1.2, 1))
    assert every["flip_value"] == pytest.approx(box / (4 * 498 / 500))
    dear = next(one for one in question.assumptions if one.subject == "z (reserved)")
    assert rows.loc[dear.name, "flip_value"] == pytest.approx(4 * box / (4 * 498 / 500), rel=1e-6)
    # z dearer than y by the image: then y is the one that the box is held against
    usd = question.at(dear, [2.0]).usd[:, 0]
    assert usd[2] / usd[0] == pytest.approx(2.0 * 498 / 200 / box) and usd[1] > usd[2]


def test_a_tornados_row_by_hand():
    rows = tornado_of(options_of())
    box = FIXED / 240 + 0.2
    power = rows.loc[f"power of {BOX}"]
    assert (power["low"], power["high"], power["unit"]) == (0.8, 1.2, "kW")
    assert (power["margin_low"], power["margin_high"]) == pytest.approx((HOUR / (box - 0.04), HOUR / (box + 0.04)))
    assert power["swing"] == pytest.approx(HOUR / (box - 0.04) - HOUR / (box + 0.04))
    assert math.isnan(power["flip_factor"])  # (HOUR - FIXED / 240) / 0.2: 29 times as much, and 5 is looked at
    assert power["text"] == "no value within a factor of 5 changes the cheapest option"
    assert f"resale value of {BOX}" not in rows.index  # there is none
    assert rows["swing"].is_monotonic_decreasing
    speed = rows.loc["speed of card on VGG-16"]  # a factor of all published figures of that device
    assert (speed["range_basis"], speed["value"], speed["low"]) == ("assumed", 1.0, pytest.approx(1 / 1.29))
    own = rows.loc[f"speed of {BOX} on VGG-16"]  # predicted: an error of its own
    assert own["range_basis"] == "interval" and (own["low"], own["high"]) == pytest.approx((440 / 498, 560 / 498))
    # more days of use than the month has are none: the range ends with it
    days = {"days_per_month": 28.0, "days_per_month_low": 20.0, "days_per_month_high": 40.0}
    full = market_of((box_offer(**days), 498.0, 4), (offer(RENTED, "on_demand", 0.22), 225.0, 1))
    row = tornado_of(options_of(full)).loc["days of use a month"]
    assert (row["high"], row["range_basis"]) == (30.5, "declared")
    # 0.48693 an hour of its work: 216.667 / 24 / 0.28693 = 31.46 days, more than the month has
    assert math.isnan(row["flip_value"]) and row["text"].startswith("no value within")


# --- warnings -------------------------------------------------------------------------------------------------------


def warned(*bases, assumed=False):
    options = pd.DataFrame(
        {"instance": f"i{place}", "model": "vgg16", "batch_size": 64, "assumed_interval": assumed,
         "throughput_basis": basis, "images_per_s": 100.0, "images_per_s_high": 129.0}
        for place, basis in enumerate(bases)
    )  # fmt: skip
    none = pd.DataFrame(columns=["instance", "model", "batch_size", "status", "warnings"])
    return warning_table(only(throughput=none), options, settings(), {})


@pytest.mark.parametrize(
    ("bases", "told"),
    [(["measured", "published"], True), (["measured", "measured"], False), (["published", "stand_in"], False),
     (["measured", None], False), ([None], False)],
)  # fmt: skip
def test_figures_measured_here_beside_those_of_others_are_a_mixed_protocol(bases, told):
    table = warned(*bases)
    assert table["rule"].tolist() == ["mixed_protocol"] * told
    if told:
        assert (table["model"][0], table["batch_size"][0], table["scope"][0]) == ("vgg16", 64, "comparison")


def test_an_assumed_interval_is_told_with_its_factor_once_a_machine():
    table = warned("published", "published", assumed=True)
    assert table["rule"].tolist() == ["no_interval"] * 2
    assert set(table["message"]) == {"a factor of 1.29 is assumed for what is published"}
