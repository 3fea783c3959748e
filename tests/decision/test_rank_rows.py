"""Whole rows of ranks by hand, and where bills rank the options."""

import math

import numpy as np
import pandas as pd
import pytest
from answer_options import option
from decision_tables import drawn
from sweetspot.decision.analyses import ranks
from sweetspot.decision.options import bills_decide

ENDS = ("kwh", "kwh_low", "kwh_high", "kg_co2e", "kg_co2e_low", "kg_co2e_high")


def machine(name, usd, hours, **more):
    row = option(name, usd, hours, fixed_usd_per_month=0.0, variable_usd_per_hour=usd / hours, provider="p",
                 throughput_source="speeds", source="prices", as_of="2018-07-01", basis="published", batch_size=64,
                 gpus=1, precision="fp16", is_reference=False)  # fmt: skip
    none = dict.fromkeys((*ENDS, "power_source", "grid_source", "energy_lacks"), np.nan)
    return row | none | {"power_basis": None, "model_title": "The model"} | more


def test_a_place_has_its_figures_its_ends_and_its_energy():
    told = dict(zip(ENDS, (3.0, 2.0, 4.0, 0.3, 0.2, 0.4), strict=True))
    told |= {"power_basis": "measured", "power_source": "a meter", "grid_source": "ember", "energy_lacks": "cooling"}
    options = pd.DataFrame([machine("A", 10.0, 4.0, **told), machine("B", 8.0, 5.0, kg_co2e=0.1)])
    # 21 draws: 5 % and 95 % are the second and the last but one
    steps = [[low + step for step in range(21)] for low in (0, 100)]
    table = ranks(
        options, drawn(options, usd=dict(zip("ab", steps, strict=True)), hours=dict(zip("ba", steps, strict=True)))
    )
    assert table.index.tolist() == [0, 1] and table["option"].tolist() == ["b", "a"]
    row = table.iloc[1].to_dict()
    expected = told | {
        "option": "a", "title": "A", "instance": "a", "purchase": "on_demand", "price_list": "x", "provider": "p",
        "persistent": True, "model": "m", "model_title": "The model", "workload": "w", "batch_size": 64, "gpus": 1,
        "precision": "fp16", "usd_per_hour": 2.5, "in_answer": True, "images_per_s": 250.0, "images_per_usd": 3.6e5,
        "images_per_s_low": 250.0, "images_per_usd_high": 3.6e5, "hours": 4.0, "hours_low": 101.0, "hours_high": 119.0,
        "usd": 10.0, "usd_low": 1.0, "usd_high": 19.0, "rank": 2, "rank_hours": 1, "rank_carbon": 2,
        "basis": "published", "source": "speeds", "price_source": "prices", "as_of": "2018-07-01",
        "by_bills": False,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert set(table.columns) == {*expected, "images_per_s_high", "images_per_usd_low"}


def test_places_are_given_within_a_model_and_a_workload():
    options = pd.DataFrame([machine("A", 10.0, 4.0, model="z"), machine("B", 8.0, 5.0, model="z", workload="v"),
                            machine("A", 9.0, 5.0), machine("B", 30.0, 5.0, images_per_usd=9e5)])  # fmt: skip
    table = ranks(options, drawn(options))
    assert table[["model", "workload", "rank", "rank_hours"]].to_numpy().tolist() == [
        ["m", "w", 1, 1], ["m", "w", 2, 1], ["z", "v", 1, 1], ["z", "w", 1, 1]
    ]  # fmt: skip
    # of m the bills leave USD an image: 9 x 4e5 against 30 x 9e5; of z they are in proportion
    assert table["by_bills"].tolist() == [True, True, False, False]


def test_places_count_ties_once():
    options = pd.DataFrame([machine("A", 1.0, 9.0), machine("B", 2.0, 4.0, persistent=False), machine("C", 3.0, 5.0),
                            machine("D", 4.0, 2.0), machine("E", 4.0, 2.0)])  # fmt: skip
    table = ranks(options, drawn(options)).set_index("option")
    assert table["rank"].to_dict() == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 4}
    assert table["rank_hours"].to_dict() == {"d": 1, "e": 1, "b": 3, "c": 4, "a": 5}


@pytest.mark.parametrize(
    ("usd", "per_usd", "decide"),
    [((10, 20), (100, 50), False), ((10, 21), (100, 50), False), ((10, 21.5), (100, 50), True),
     ((10, math.nan), (100, 5), False), ((1, 1, 2), (100, 50, 25), True), ((1, 2), (100, 100), True),
     ((0, 10, 20), (math.nan, 36, 18), False)],
)  # fmt: skip
def test_bills_decide_where_they_leave_the_price_of_an_image_by_more_than_a_twentieth(usd, per_usd, decide):
    assert bills_decide(pd.DataFrame({"usd": usd, "images_per_usd": per_usd})) is decide
