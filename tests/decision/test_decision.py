"""The decision on small tables; expected values are worked on paper in the comments."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decision_tables import SAMPLES, inputs, settings
from hypothesis import given
from hypothesis import strategies as st
from sweetspot.bills.owning import crossing_days
from sweetspot.decision.compare import compare
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate
from sweetspot.draws import spread, stream
from sweetspot.errors import UserError


def tables(**changes):
    return inputs(**changes)


def options_of(found):
    return build_options(found.costs, found.offers, found.throughput, found.extrapolation, settings())


def row(table, **keys):
    found = table
    for name, value in keys.items():
        found = found[found[name] == value]
    assert len(found) == 1, (keys, len(found))
    return found.iloc[0]


def test_break_even_against_p3_2xlarge_on_vgg16_is_the_day_worked_on_paper():
    # box 498 images/s, 6500/30 = 216.667 USD a month, 1.0 kW x 0.20 = 0.20 USD/h; p3.2xlarge 225 images/s at 3.06.
    # The rented work of one box hour: 3.06 x 498 / 225 = 6.7728 USD.
    # d* = 216.667 / (24 x (6.7728 - 0.20)) = 216.667 / 157.747 = 1.3735 days
    # twice as cheap: 216.667 / (24 x (3.3864 - 0.20)) = 216.667 / 76.474 = 2.8332 days
    # gain at 10 days: 6.7728 / 1.10278 = 6.1416
    found = compare(tables(), settings())["break_even"]
    against = row(found, option="p3.2xlarge", model="vgg16")
    assert against["days"] == pytest.approx(1.3735, abs=2e-4)
    assert against["twice_as_cheap_days"] == pytest.approx(2.8332, abs=2e-4)
    assert against["gain_at_use"] == pytest.approx(6.1416, abs=2e-4)


def test_a_rival_cheaper_than_the_box_s_electricity_is_never_beaten():
    # 0.09 x 498 / 225 = 0.199 USD < 0.20 USD of electricity for the same hour
    found = compare(tables(price_p3=0.09), settings())["break_even"]
    against = row(found, option="p3.2xlarge", model="vgg16")
    assert np.isnan(against["days"]) and np.isnan(against["twice_as_cheap_days"])
    assert against["verdict"] == "never"


def test_a_break_even_beyond_the_month_is_never():
    # bracket 0.49 - 0.20 = 0.29: 216.667 / (24 x 0.29) = 31.13 days > 30.5
    assert crossing_days(6500 / 30, 0.20, 0.49) == pytest.approx(31.13, abs=0.005)
    price = 0.49 * 225 / 498
    assert np.isnan(row(compare(tables(price_p3=price), settings())["break_even"], option="p3.2xlarge")["days"])


@pytest.mark.parametrize(("month", "days"), [(30.5, [*range(1, 31), 30.5]), (31.0, list(range(1, 32)))])
def test_the_curve_of_use_goes_from_the_first_day_to_the_whole_month(month, days):
    # at d days a box hour costs 216.667 / (24 d) + 0.20 USD against 6.7728: 0.7333 on 1 day, 13.655 on 30.5 days
    curve = compare(tables(), settings(month_days=month))["utilisation"]
    curve = curve[curve["option"] == "p3.2xlarge"]
    assert curve["days"].tolist() == days
    assert curve["gain"].tolist() == pytest.approx([6.7728 / (6500 / 30 / 24 / day + 0.20) for day in days])
    assert curve["gain"].iloc[0] == pytest.approx(0.7340, abs=1e-4)


@given(
    fixed=st.floats(1, 1e5), variable=st.floats(0, 10), rival=st.floats(0.01, 100), factor=st.sampled_from([1.0, 2.0])
)
def test_the_break_even_day_separates_cheaper_from_dearer(fixed, variable, rival, factor):
    day = float(crossing_days(fixed, variable, rival, factor))

    def hour(days):
        return fixed / (24 * days) + variable

    if np.isinf(day):
        assert hour(1e12) >= rival / factor * (1 - 1e-9)
    else:
        assert hour(day * 1.001) <= rival / factor * (1 + 1e-9)
        assert hour(day * 0.999) >= rival / factor * (1 - 1e-9)


def test_ranks_order_by_money_and_by_time():
    found = compare(tables(), settings())["ranks"]
    # images per USD: box 498 x 3600 / 1.10278 = 1.626 M; spot 225 x 3600 / 1.11 = 0.730 M; on demand 0.265 M
    order = found[found["model"] == "vgg16"].sort_values("rank")["option"].tolist()
    assert order == ["office-4x1080ti", "p3.2xlarge (spot)", "p3.2xlarge"]
    assert row(found, option="p3.2xlarge")["rank_persistent"] == 2


def test_an_interval_comes_back_from_its_own_draws():
    # the 5 % and 95 % points of a log-normal with median 500 and 90 % interval [400, 600] are 400 and 600
    draws = spread(500.0, 400.0, 600.0, 0.90, stream(1, "x").standard_normal(200_000))
    assert np.quantile(draws, [0.05, 0.5, 0.95]) == pytest.approx([400, 500, 600], rel=0.005)


def test_the_same_seed_gives_the_same_draws_and_a_new_offer_changes_none():
    options = options_of(tables())
    first, again = simulate(options, 7), simulate(options, 7)
    assert np.array_equal(first.usd, again.usd)
    fewer = options[options["purchase"] != "spot"].reset_index(drop=True)
    kept = options.index[options["purchase"] != "spot"]
    assert np.array_equal(simulate(fewer, 7).usd, first.usd[kept])


def test_spot_and_on_demand_of_one_machine_share_their_throughput():
    # the same machine, 1.11 against 3.06 USD: cheaper in every draw however uncertain its throughput
    found = compare(tables(), settings())["pairs"]
    pair = row(found, a="p3.2xlarge (spot)", b="p3.2xlarge")
    assert pair["p_cheaper"] == 1.0 and pair["p_faster"] == 0.5


def test_without_prices_the_tables_are_empty():
    market = tables()
    bare = replace(market, costs=market.costs.iloc[:0], offers=market.offers.iloc[:0])
    found = compare(bare, settings())
    assert all(found[name].empty for name in found if name != "warnings")


def test_one_machine_alone_has_a_cost_and_no_rival():
    # a study of one's own may begin with the machine that is there and nothing else
    market = tables()
    alone = replace(market, costs=market.costs.iloc[:1], offers=market.offers.iloc[:1])
    found = compare(alone, settings())
    assert len(found["ranks"]) == 1 and found["ranks"]["usd"][0] == pytest.approx(
        SAMPLES / 498 / 3600 * 1.102778, rel=1e-5
    )
    assert all(
        found[name].empty for name in ("break_even", "utilisation", "surface", "tornado", "other_figures", "pairs")
    )
    assert found["verdict"]["do_this"].tolist() == ["Nothing else does this work."]


@pytest.mark.parametrize(
    ("titles", "said"), [({}, "VGG-16"), ({"imagenet": "ImageNet, 90 epochs"}, "ImageNet, 90 epochs")]
)
def test_a_work_is_called_by_its_title_else_by_that_of_its_model(titles, said):
    found = compare(tables(), settings(), titles=titles)
    assert set(found["choices"]["workload_title"]) == set(found["verdict"]["workload_title"]) == {said}


def test_a_reference_that_is_rented_has_no_break_even():
    found = compare(tables(), settings(reference="p3.2xlarge"))
    assert found["break_even"].empty and found["tornado"].empty
    verdict = found["verdict"].iloc[0]
    assert (verdict["best"], verdict["rival"]) == ("office-4x1080ti", "p3.2xlarge")


def test_a_reference_without_a_price_is_named():
    with pytest.raises(UserError, match="reference 'other-box' has no priced figure at batch 64"):
        compare(tables(), settings(reference="other-box"))


@pytest.mark.slow
def test_ten_thousand_other_cells_change_nothing():
    market = tables()
    crowd = pd.concat([market.throughput.assign(instance="workstation", variant=f"v{n}") for n in range(3000)])
    crowded = tables(throughput=pd.concat([market.throughput, crowd], ignore_index=True))
    assert compare(crowded, settings())["ranks"].equals(compare(market, settings())["ranks"])


def test_starting_is_quick_nothing_heavy_is_imported():
    heavy = {"scipy", "altair", "pydantic", "tensorflow", "polars"}
    code = "import sys, sweetspot.decision.compare, sweetspot.report.rank_changes; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())
