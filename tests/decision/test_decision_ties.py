"""A box and a rental that cost the same to the last digit, jobs without a speed, and lists of one or two rivals."""

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
    plan_rows,
    settings,
    surface_of,
    tornado_of,
)  # fmt: skip
from sweetspot.decision.assumption import Moved
from sweetspot.decision.cost_rounds import priced_plans
from sweetspot.decision.options import CELL, OFFER, build_options
from sweetspot.decision.other_figures import found_contenders
from sweetspot.decision.simulate import simulate
from sweetspot.errors import UserError


def options_of(*entries, figures=()):
    costs, offers = pd.DataFrame([cost(*entry) for entry in entries]), pd.DataFrame([entry[0] for entry in entries])
    market = inputs()
    throughput = pd.concat([market.throughput, pd.DataFrame(list(figures))], ignore_index=True)
    return build_options(costs, offers, throughput, market.extrapolation, settings())


def tied():
    """1.125 USD for 3600 x 312.5 images either way: 240 USD a month / 240 h + 0.5 kW x 0.25 USD/kWh of the box."""
    entry = box_offer(kw=0.5, usd_per_kwh=0.25, capex_usd=7200.0)
    options = options_of((entry, 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1))
    options.loc[options["option"] == BOX, "images_per_s"] = 312.5
    options["images_per_usd"] = 1e6
    return options


def test_at_a_tie_the_surface_lets_the_rental_win_and_the_last_day_of_the_month_break_even():
    # a month of ten days: all of it is planned
    table = surface_of(tied(), 10.0).set_index(["days", "months", "usd_per_kwh"]).loc[(10.0, 30.0, 0.25)]
    assert (table["ratio"], table["winner"], table["break_even_days"]) == (1.0, RENTED, 10.0)
    # 1.00 + 0.125 USD a box hour is what the rental asks: it would pay above that, and does not at it
    assert table["condition"] == (
        f"Even used every day, {BOX} never pays for VGG-16: {RENTED} costs 3.06 USD an hour, it would pay above 3.06"
    )


def test_what_a_month_of_owning_is_made_of_moves_part_by_part():
    # (6500 - 500) / 30 + 100 of maintenance + 60 that the price list adds (staff): 360 USD a month
    entry = box_offer(residual_usd=500.0, maintenance_usd_per_month=100.0) | {"fixed_usd_per_month": 360.0}
    entry |= {"staff_usd_per_month": 60.0, "usd_per_hour": 360 / 240 + 0.2}
    (question,) = asked(options_of((entry, 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)))
    hour = 3.06 * 498 / 225  # what the rental takes for the work of a box hour
    for quantity, value, planned, fixed in (
        ("maintenance_usd_per_month", 130.0, 100.0, 390), ("residual_usd", 2000.0, 500.0, 310),
        ("months", 20.0, 30.0, 460), ("capex_usd", 3500.0, 6500.0, 260),
    ):  # fmt: skip
        (assumption,) = (one for one in question.assumptions if one.quantity == quantity)
        assert assumption.value == planned
        usd = question.at(assumption, [value / planned]).usd[:, 0]
        assert usd[1] / usd[0] == pytest.approx(hour / (fixed / 240 + 0.2)), quantity
    assert question.cost(Moved(1, {})).usd[1, 0] == pytest.approx(7200 * hour)


def test_all_rented_prices_are_one_assumption_where_there_are_two():
    third = offer("p2.xlarge", "on_demand", 2.0)
    entries = (box_offer(), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)
    for more, told in (((), False), (((third, 100.0, 1),), True)):
        rows = tornado_of(options_of(*entries, *more, figures=[figure("p2.xlarge", 100.0, 1)]))
        assert ("all rented prices" in set(rows["assumption"])) is told


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"headline_batch_size": 64}, "at batch 64;"),
        ({"headline_batch_size": {"vgg16": 64, "resnet50": 64}}, "at batch 64;"),
        ({"headline_batch_size": {"vgg16": 64, "resnet50": 32}}, r"at batch 64 \(vgg16\), 32 \(resnet50\);"),
        ({"headline_batch_size": "own"}, "at batch of its own figure;"),
    ],
)
def test_a_reference_without_a_figure_is_told_with_the_batch_asked_for(cells, said):
    asked = {"model": ["vgg16", "resnet50"], "batch_size": [32, 64], "precision": "fp16"} | cells
    market = inputs()
    with pytest.raises(UserError, match=f"reference 'nobody' has no priced figure {said} expected an offer"):
        build_options(market.costs, market.offers, market.throughput, market.extrapolation,
                      settings(cells=asked, reference="nobody"))  # fmt: skip


def test_a_possession_of_cents_moves_like_any_other():
    # half a USD a month, drawn as one: twice the 15 USD of the project
    options = options_of((box_offer(kw=0.0), 498.0, 4))
    options["fixed_usd_per_month"] = 0.5
    cell = options.iloc[0][[*OFFER, *CELL[1:]]].to_dict()
    rows = [{**cell, "phase": name, "hours": 10.0, "usd": usd}
            for name, usd in (("search", 0.0), ("possession", 15.0), ("total", 15.0))]  # fmt: skip
    draws = simulate(options, 1, 2)
    plans = plan_rows(rows)
    (plan,) = priced_plans(options, replace(draws, fixed=np.array([[0.5, 1.0]])), plans)
    assert plan.usd.tolist() == [[15.0, 30.0]]


def test_no_options_have_no_draws():
    draws = simulate(tied().head(0), 1, 7)
    arrays = [name for name in draws.__dataclass_fields__ if name not in ("figures", "rents")]
    assert {getattr(draws, name).shape for name in arrays} == {(0, 7)} and draws.figures == ()


def test_a_job_of_known_hours_takes_them_in_every_draw():
    # no model, no throughput: 10 h at 3.06 USD
    entry = offer(RENTED, "on_demand", 3.06)
    job = cost(entry, 225.0, 1, workload="nightly") | {"model": None, "batch_size": None, "images_per_usd": np.nan}
    market = inputs()
    costs = pd.DataFrame([*market.costs.to_dict("records"), job | {"hours": 10.0, "usd": 30.6}])
    options = build_options(costs, market.offers, market.throughput, market.extrapolation, settings())
    row = options.index[options["workload"] == "nightly"]
    draws = simulate(options, 1, 5)
    assert options.loc[row, "model"].tolist() == ["any"]
    assert draws.hours[row].tolist() == [[10.0] * 5]
    assert draws.usd[row] == pytest.approx(np.full((1, 5), 30.6))


def test_the_last_digit_of_a_gain_chooses_no_model():
    # twice the speed on another model: the same gain, but for the last digit of a float
    market, twice = inputs(), 2 * np.nextafter(225.0, 300.0)
    office, rented, _ = (dict(row) for _, row in market.offers.iterrows())
    both = {
        "costs": [cost(office, 996.0, 4, model="a"), cost(rented, 450.0, 1, model="a")],
        "throughput": [figure(RENTED, 450.0, 1, model="a"), figure(RENTED, twice, 1, model="b")],
    }
    both["costs"] += [cost(office, 996.0, 4, model="b"), cost(rented, twice, 1, model="b")]
    given = replace(market, **{name: pd.DataFrame(rows) for name, rows in both.items()})
    boxes = [market.extrapolation.assign(model=model, images_per_s=996.0) for model in "ab"]
    asked = {"model": ["a", "b"], "batch_size": [64], "precision": "fp16", "headline_batch_size": 64}
    given = replace(given, extrapolation=pd.concat(boxes, ignore_index=True))
    options = build_options(given.costs, given.offers, given.throughput, given.extrapolation, settings(cells=asked))
    gains = {model: one.gain for model, one in found_contenders(options).items()}
    assert list(gains) == ["a", "b"] and gains["b"] < gains["a"] == pytest.approx(gains["b"], rel=1e-12)
