"""What the evidence says beside its tables: which rows are picked, and their numbers. Wording is not tested."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, inputs, settings, study
from report_tables import evidence, small_tables
from sweetspot.decision.compare import compare
from sweetspot.report import evidence_text

NAN = math.nan


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


WORTH = "figure title quantity unit value evppi_usd evppi_usd_low evppi_usd_high cost_to_learn_usd"


def worth(figure, usd, cost=NAN, low=1.0, turning=NAN):
    facts = frame(WORTH, (figure, "Box", "speed", "images/s", 100.0, usd, low, usd + 20, cost))
    return facts.assign(turning_point=turning, learn_on_title="Box")


def test_what_to_find_out_first_is_worth_most_net_of_the_timing():
    """100 - 60 = 40 is less than 90 - 5 = 85; a turn at 150 of 100 images/s is 50 % faster."""
    lines = evidence_text.worth_in_words(pd.concat([worth("a", 100.0, 60.0), worth("b", 90.0, 5.0, turning=150.0)]))
    assert "the b first" in lines[0] and "half an hour, about 5 USD" in lines[1] and "90 USD (1 to 110)" in lines[2]
    assert "50 % faster." in lines[3] and "the a is worth" in lines[4]


@pytest.mark.parametrize(("low", "cost"), [(0.0, 1.0), (1.0, 200.0)])
def test_nothing_is_worth_finding_out_within_its_error_or_below_its_cost(low, cost):
    assert evidence_text.worth_in_words(worth("a", 100.0, cost, low), model="Net")[0].startswith("On Net no")


SITES = {"sites": [{"provider": "own", "g_per_kwh": {"value": 400, "as_of": "2018", "source": "a grid"}}]}
NAMES = "option title usd kwh kg_co2e kg_co2e_low kg_co2e_high power_basis energy_lacks provider persistent in_answer"
# 350 kWh at 50 g/kWh are 17.5 kg, 52.8 kWh at 400 g/kWh 21.1 kg.
BOXED = ("box", "office box", 58.0, 52.8, 21.12, 10.6, 42.3, "measured", None, "own", True, True)
CLOUD = ("cloud", "Cloud", 350.0, 350.0, 17.5, 8.77, 35.1, "estimated", None, "aws", True, True)
SPOT = ("spot", "Spot", 20.0, 1.0, 0.1, 0.1, 0.1, "estimated", None, "aws", False, True)


def energy(*rows, **changes):
    ranks = pd.DataFrame(rows, columns=NAMES.split()).assign(model="vgg16", workload="w", **changes)
    choices = pd.DataFrame([{"workload": "w", "model": "vgg16"}])
    return {"ranks": ranks, "verdict": pd.DataFrame([{"workload": "w"}]), "choices": choices}


def test_the_cleanest_stands_beside_the_cheapest_and_what_can_be_interrupted_counts_for_nothing():
    text = evidence_text.energy(energy(CLOUD, BOXED, SPOT), study(energy=SITES))[0]
    assert "Cloud emits least: 17.5 kg CO2e from 350 kWh at 50 g/kWh (8.77 to 35.1 kg" in text
    assert "21.1 kg CO2e from 52.8 kWh at 400 g/kWh, and the ranges overlap" in text


@pytest.mark.parametrize(("basis", "sign"), [("measured", "● "), ("declared", "")])
def test_measured_declared_and_estimated_energy_never_look_alike(basis, sign):
    """1 kWh an hour for 94,720,000 images at 498 images/s, 52.8 hours, on the box; 3 kWh on what is rented."""
    given = inputs()
    own = given.costs["instance"] == BOX
    costs = given.costs.assign(
        kwh=own.map({True: 1.0, False: 3.0}) * given.costs["hours"],
        power_basis=own.map({True: basis, False: "estimated"}),
    )
    costs = costs.assign(kwh_low=costs["kwh"] / 2, kwh_high=costs["kwh"] * 2, kg_co2e=NAN)
    costs = costs.assign(kg_co2e_low=NAN, kg_co2e_high=NAN)
    offers = given.offers.assign(power_source="a sheet", grid_source=None, energy_lacks=None)
    page = evidence(small_tables(replace(given, costs=costs, offers=offers)))
    assert f'<td>{sign}<a class="n {basis} power"' in page and ">52.8</a>" in page
    assert '<td>≈ <a class="n estimated power"' in page


def test_speeds_are_told_in_the_study_s_unit_and_models_by_their_titles():
    """Were the unit or the title lost where a sentence is made, the page would have images and a key instead."""
    market = inputs(1.53)
    market = replace(market, throughput=market.throughput.assign(unit="relative"))
    found = compare(market, settings(titles={"vgg16": "The old net"}), draws=200)
    speeds = found["tornado"][found["tornado"]["quantity"] == "speed"]
    assert len(speeds) == 2 and set(speeds["unit"]) == {"times the plan"}
    worth = found["worth_knowing"].set_index("quantity")["unit"]
    assert worth[["speed"]].unique().tolist() == ["relative units/s"]
