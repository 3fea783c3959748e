"""Whole rows of ranks and fronts, and of what other figures would make of the answer, by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from answer_options import option, spot
from sweetspot.decision.other_figures import (
    COLUMNS,
    Contenders,
    bills_decide,
    contenders,
    cost,
    found_contenders,
    other_figures,
)
from sweetspot.decision.ranks import ENERGY, frontier, pairs, ranks
from sweetspot.decision.simulate import Draws

ENDS = ("kwh", "kwh_low", "kwh_high", "kg_co2e", "kg_co2e_low", "kg_co2e_high")


def machine(name, usd, hours, **more):
    row = option(name, usd, hours, fixed_usd_per_month=0.0, variable_usd_per_hour=usd / hours, provider="p",
                 throughput_source="speeds", source="prices", as_of="2018-07-01", basis="published", batch_size=64,
                 gpus=1, precision="fp16", is_reference=False)  # fmt: skip
    return row | dict.fromkeys(ENERGY, np.nan) | {"power_basis": None, "model_title": "The model"} | more


def drawn(options, **values):
    """Draws by the name of a figure, a list an option; what is not given stands at its value."""
    count = max([len(row) for rows in values.values() for row in rows], default=1)

    def field(name):
        central = options[name].to_numpy(float) if name in options.columns else np.zeros(len(options))
        return np.array(values.get(name, [[value] * count for value in central]), float)

    return Draws(*(field(name) for name in list(Draws.__dataclass_fields__)[:7]))


def test_a_place_has_its_figures_its_ends_and_its_energy():
    told = dict(zip(ENDS, (3.0, 2.0, 4.0, 0.3, 0.2, 0.4), strict=True))
    told |= {"power_basis": "measured", "power_source": "a meter", "grid_source": "ember", "energy_lacks": "cooling"}
    options = pd.DataFrame([machine("A", 10.0, 4.0, **told), machine("B", 8.0, 5.0, kg_co2e=0.1)])
    # 21 draws: 5 % and 95 % are the second and the last but one
    steps = [[low + step for step in range(21)] for low in (0, 100)]
    table = ranks(options, drawn(options, usd=steps, hours=steps[::-1]))
    assert table.index.tolist() == [0, 1] and table["option"].tolist() == ["b", "a"]
    row = table.iloc[1].to_dict()
    expected = told | {
        "option": "a", "title": "A", "instance": "a", "purchase": "on_demand", "price_list": "x", "provider": "p",
        "persistent": True, "model": "m", "model_title": "The model", "workload": "w", "batch_size": 64, "gpus": 1,
        "precision": "fp16", "usd_per_hour": 2.5, "in_answer": True, "images_per_s": 250.0, "images_per_usd": 3.6e5,
        "images_per_s_low": 250.0, "images_per_usd_high": 3.6e5, "hours": 4.0, "hours_low": 101.0, "hours_high": 119.0,
        "usd": 10.0, "usd_low": 1.0, "usd_high": 19.0, "rank": 2, "rank_hours": 1, "rank_persistent": 2,
        "rank_hours_persistent": 1, "rank_carbon": 2, "basis": "published", "source": "speeds", "price_source":
        "prices", "as_of": "2018-07-01", "p_cheapest": 1.0, "by_bills": False,
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
    both = pairs(options, drawn(options))
    assert both[["model", "a", "b"]].to_numpy().tolist() == [
        ["m", "a", "b"], ["m", "b", "a"], ["z", "a", "b"], ["z", "b", "a"]
    ]  # fmt: skip
    assert both.index.tolist() == [0, 1, 2, 3] and both["p_cheaper"].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert both["p_faster"].tolist() == [0.5, 0.5, 1.0, 0.0]


def test_every_pair_of_four_has_its_chance():
    options = pd.DataFrame([machine(name, 10.0, 4.0) for name in "ABCD"])
    # of four draws a is above b in three, c in two (and even in one), d in one; b and c: 3 < 5, 3 < 4, 3 = 3, 2 > 0
    perf = [[4, 4, 4, 1], [3, 3, 3, 2], [5, 4, 3, 0], [5, 5, 5, 0]]
    found = pairs(options, drawn(options, images_per_usd=perf, images_per_s=perf[::-1]))
    chance = {"ab": 3 / 4, "ac": 2.5 / 4, "ad": 1 / 4, "bc": 1.5 / 4, "bd": 1 / 4, "cd": 1 / 4}
    chance |= {pair[::-1]: 1 - share for pair, share in chance.items()}
    assert dict(zip(found["a"] + found["b"], found["p_cheaper"], strict=True)) == chance
    mirrored = dict(zip("abcd", "dcba", strict=True))
    speeds = {mirrored[one] + mirrored[other]: share for (one, other), share in chance.items()}
    assert dict(zip(found["a"] + found["b"], found["p_faster"], strict=True)) == speeds


def test_a_front_names_who_beats_whom_by_money_risk_and_carbon():
    predicted = {"throughput_basis": "extrapolated"}
    taken = {"purchase": "spot", "persistent": False}
    # z is beaten by y alone, which adds a risk; c by b, and by a too, which costs less; d by all in time and USD
    options = pd.DataFrame(
        [
            machine("Z", 9.0, 9.0, model="later"), machine("Y", 8.0, 8.0, model="later", kg_co2e=1.0, **taken),
            machine("D", 40.0, 40.0, kwh=9.0, kg_co2e=1.0, power_basis="declared", **predicted, **taken),
            machine("C", 30.0, 30.0, kg_co2e=5.0), machine("B", 20.0, 20.0, kg_co2e=4.0, **predicted),
            machine("A", 10.0, 25.0, kg_co2e=6.0),
        ]
    )  # fmt: skip
    found = frontier(options, drawn(options))
    assert found.index.tolist() == list(range(6)) and found["option"].tolist() == ["y", "z", "a", "b", "c", "d"]
    beaten = found.set_index("option").astype(object).where(lambda table: table.notna(), None)
    assert beaten["dominated_by"].to_dict() == {"y": None, "z": "y", "a": None, "b": None, "c": "a", "d": "a"}
    with_risk = {"y": None, "z": None, "a": None, "b": None, "c": "a", "d": "a"}
    assert beaten["dominated_by_with_risk"].to_dict() == with_risk
    with_carbon = {"y": None, "z": None, "a": None, "b": None, "c": "b", "d": None}
    assert beaten["dominated_by_with_carbon"].to_dict() == with_carbon
    assert beaten["on_front"].to_dict() == dict(zip("yzabcd", (True, False, True, True, False, False), strict=True))
    assert beaten["on_front_with_risk"].tolist() == [True, True, True, True, False, False]
    assert beaten["on_front_with_carbon"].tolist() == [True, None, True, True, False, True]
    assert beaten["interruptible"].tolist() == [True, False, False, False, False, True]
    assert beaten["estimated"].tolist() == [False, False, False, True, False, True]
    last = {"model": "m", "workload": "w", "instance": "d", "purchase": "spot", "persistent": False, "hours": 40.0,
            "usd": 40.0, "risk": "interruption and extrapolated", "p_on_front": 0.0, "basis": "published",
            "kwh": 9.0, "kg_co2e": 1.0, "power_basis": "declared"}  # fmt: skip
    assert {name: beaten.loc["d", name] for name in last} == last


@pytest.mark.parametrize(
    ("usd", "hours", "chance"),
    [
        ((1, 3, 9, 9), (2, 2, 5, 6), (1, 0, 0, 0)),  # as fast and dearer; then slower and as dear
        ((5, 3, 4, 3), (1, 2, 3, 4), (1, 1, 0, 0)),  # cheaper than the first alone is not enough, nor as cheap
        ((1, 2, 2, 9), (1, 3, 3, 4), (1, 0, 0, 0)),  # two alike that something beats
        ((9, 2, 2, 1), (1, 3, 3, 4), (1, 1, 1, 1)),
    ],
)
def test_four_machines_are_on_the_front_or_not(usd, hours, chance):
    options = pd.DataFrame([machine(name, *pair) for name, pair in zip("ABCD", zip(usd, hours, strict=True),
                                                                      strict=True)])  # fmt: skip
    found = frontier(options, drawn(options)).set_index("option")["p_on_front"]
    assert found[list("abcd")].tolist() == list(chance)


# --- who contends ---------------------------------------------------------------------------------------------------


def test_a_dollar_is_a_price_like_others():
    assert (cost({"usd": 1.0, "images_per_usd": 4.0}, False), cost({"usd": 1.0, "images_per_usd": 4.0}, True)) == (
        0.25,
        1,
    )
    assert (cost({"usd": 0.0, "images_per_usd": math.nan}, False), cost({"usd": 2.0, "images_per_usd": 4.0}, True)) == (
        0,
        2,
    )
    assert bills_decide(pd.DataFrame({"usd": [1.0, 1.0, 2.0], "images_per_usd": [100.0, 50.0, 25.0]}))
    assert bills_decide(pd.DataFrame({"usd": [1.0, 2.0], "images_per_usd": [100.0, 100.0]}))


def test_without_a_reference_the_cheapest_that_stays_is_asked_about_and_models_go_by_their_gain():
    def rows(model, *usd):
        names = ("Spot", "One", "Two", "Three")
        made = [spot(names[0], 1.0, model=model), *(option(name, each, model=model) for name, each in
                                                    zip(names[1:], usd, strict=False))]  # fmt: skip
        return pd.DataFrame(made).assign(is_reference=False)

    tables = [rows("wide", 20.0, 10.0, 30.0), rows("near", 10.0, 11.0), rows("alone", 5.0),
              rows("none", 5.0).assign(in_answer=False)]  # fmt: skip
    found = found_contenders(pd.concat(tables, ignore_index=True))
    assert list(found) == ["alone", "near", "wide"]
    told = {model: (one.reference["title"], one.alternative["title"], one.gain) for model, one in found.items()}
    assert told["wide"] == ("Two", "One", pytest.approx(2.0)) and told["near"] == ("One", "Two", pytest.approx(1.1))
    assert told["alone"] == ("One", "Spot", pytest.approx(0.2))
    lonely = contenders(rows("m", 5.0).iloc[1:], None)
    assert (lonely.alternative, lonely.gain, len(lonely.every)) == (None, math.inf, 1)
    assert contenders(tables[3], None) is None


# --- other figures --------------------------------------------------------------------------------------------------

CARD = {"gpu": "V100", "gpus": 1, "stand_in_gpu": "V100-32GB", "stand_in_framework": "tensorflow",
        "stand_in_batch_size": 384, "stand_in_precision": "fp16", "throughput_basis": "stand_in"}  # fmt: skip
USED = {"gpu": "V100-32GB", "batch_size": 384.0, "framework_version": "2.2", "images_per_s": 1200.0}
SLOW = {"gpu": "V100", "batch_size": 64.0, "framework_version": "1.9", "images_per_s": 600.0, "dataset": "real"}


def figures(*rows):
    common = {"gpus": 1, "framework": "tensorflow", "model": "m", "precision": "fp16", "dataset": "synthetic"}
    return pd.DataFrame([common | {"source": f"paper {place}"} | row for place, row in enumerate(rows)])


def contending(*rows):
    table = pd.DataFrame(list(rows))
    return {"m": contenders(table, table.iloc[[0]].rename_axis("row").reset_index().to_dict("records")[0])}


def test_a_row_of_another_figure_by_hand():
    form = option("Form", 30, **CARD | {"gpu": "V100-32GB", "instance": "form"})
    market = contending(option("Box", 10), option("Card", 12, **CARD), form, spot("Spot", 8, **CARD))
    table = other_figures(market, figures(USED, SLOW))
    assert list(table.columns) == list(COLUMNS)
    named = {"model": "m", "device": "V100", "alternative": "card", "alternative_title": "Card", "rival": "card"}
    named |= {"alternative_figure": "as used", "rival_title": "Card", "winner": "box", "winner_title": "Box"}
    least = {"cheapest_of_all": "spot", "cheapest_of_all_title": "Spot"}
    used = USED | {"dataset": "synthetic", "figure_source": "paper 0", "as_used": True}
    slow = SLOW | {"figure_source": "paper 1", "as_used": False}
    # the box at 10 USD; half the speed is twice the money: card 12 and 24, spot 8 and 16
    expected = [named | least | used | {"gain": 1.2, "gain_of_all": 0.8}]
    expected.append(named | least | slow | {"gain": 2.4, "gain_of_all": 1.6})
    found = [{name: row[name] for name in COLUMNS} for row in table.to_dict("records")]
    for row, told in zip(found, expected, strict=True):
        assert {name: row[name] for name in COLUMNS if not name.startswith("gain")} == {
            name: told[name] for name in COLUMNS if not name.startswith("gain")
        }
        assert (row["gain"], row["gain_of_all"]) == pytest.approx((told["gain"], told["gain_of_all"]))


def test_of_rivals_that_rest_on_others_figures_one_that_stays_comes_before_one_that_does_not():
    other = CARD | {"gpu": "P100", "stand_in_gpu": "P100", "stand_in_batch_size": 64}
    market = contending(option("Box", 10), option("Plain", 11), option("Card", 20, **CARD), spot("Taken", 5, **other))
    old = [{"gpu": "P100", "batch_size": size, "images_per_s": rate} for size, rate in ((64.0, 500.0), (32.0, 400.0))]
    table = other_figures(market, figures(USED, SLOW, *old))
    assert table["device"].tolist() == ["V100"] * 2 and table["gain"].tolist() == pytest.approx([1.1, 1.1])


def test_what_costs_as_much_leaves_the_reference_the_winner():
    table = other_figures(contending(option("Box", 10), option("Card", 5, **CARD)), figures(USED, SLOW))
    assert table["gain"].tolist() == [0.5, 1.0] and table["winner"].tolist() == ["card", "box"]


def test_gains_are_of_an_image_where_bills_are_nearly_in_proportion():
    # 4 % more images a dollar than the bill says: 10 USD for 3.6e6 images, 20 for 3.744e6
    rows = option("Box", 10), option("Card", 20, **CARD | {"images_per_usd": 3.744e6 / 20})
    table = other_figures(contending(*rows), figures(USED, SLOW))
    assert table["gain"].tolist() == pytest.approx([2 / 1.04, 4 / 1.04])


def test_where_nobody_stays_the_cheapest_that_can_be_taken_away_is_the_rival():
    taken = spot("Near", 12, **CARD), spot("Far", 15, **CARD | {"instance": "far"})
    table = other_figures(contending(option("Box", 10), *taken), figures(USED, SLOW))
    assert table[["rival", "cheapest_of_all"]].to_numpy().tolist() == [["near", "near"]] * 2
    assert table["gain"].tolist() == pytest.approx([1.2, 2.4])


def test_an_alternative_that_cannot_be_left_out_is_not_and_bills_or_no_rival_say_nothing():
    # the TPU is the only other machine: without it nothing is left; box and TPU rest on one figure, so they move alike
    tpu = CARD | {"gpu": "TPU", "gpus": 4, "images_per_s": 1200.0}
    market = contending(option("Box", 10, **CARD), option("TPU", 14, **tpu))
    table = other_figures(market, figures(USED, SLOW))
    assert table["alternative_figure"].tolist() == ["as used"] * 2
    assert table["gain"].tolist() == pytest.approx([1.4, 1.4])
    one = market["m"]
    silent = {"bills": Contenders(one.reference, one.alternative, one.every, True),
              "alone": Contenders(one.reference, None, one.every[:1], False)}  # fmt: skip
    assert other_figures(silent, figures(USED, SLOW)).empty
