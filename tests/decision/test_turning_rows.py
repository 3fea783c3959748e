"""Whole rows of break-even days, of the surface, of the tornado, of turning points and of what pays, by hand."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, asked, box_offer, cost, figure, inputs, offer, settings, surface_of
from sweetspot.decision.assumption import all_of
from sweetspot.decision.breakeven import Month, break_even, crossing, utilisation
from sweetspot.decision.compare import compare, together
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import Draws
from sweetspot.decision.turning import (
    PAYS,
    TORNADO,
    TURNING,
    Apart,
    Held,
    pays_rows,
    stretch,
    tornado_rows,
    turning_rows,
)
from sweetspot.study.memory import Needs
from sweetspot.study.needs import Need

HOUR = 3.06 * 498 / 225  # USD that p3.2xlarge asks for the work of one box hour: 6.7728
FIXED = 6500 / 30


def options_of(*entries, models=("vgg16",)):
    """Options of (offer, images/s, devices), of figures published for each machine and model."""
    costs = [cost(*entry, model=model) for entry in entries for model in models]
    figures = [figure(entry["instance"], rate, gpus, model=model) for entry, rate, gpus in entries for model in models]
    known = replace(settings(), batch_sizes=dict.fromkeys(models, 64))
    led = inputs().extrapolation.iloc[:0]
    return build_options(
        pd.DataFrame(costs), pd.DataFrame([entry[0] for entry in entries]), pd.DataFrame(figures), led, known
    )


def second(**terms):
    """Another box, at 400 images/s."""
    return box_offer(**terms) | {"instance": "second"}, 400.0, 4


def drawn(options, **changes):
    """Draws at the central figures, some of them replaced: by the name of a field, {option: values}."""
    count = max([len(values) for rows in changes.values() for values in rows.values()], default=1)
    columns = {"fixed": "fixed_usd_per_month", "variable": "variable_usd_per_hour", "days": "days_per_month"}

    def field(name):
        rows = zip(options["option"], options[columns.get(name, name)], strict=True)
        return np.array([changes.get(name, {}).get(which, [value] * count) for which, value in rows], float)

    return Draws(**{name: field(name) for name in Draws.__dataclass_fields__ if name not in ("figures", "rents")})


TWO = (box_offer(), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)


# --- break-even -----------------------------------------------------------------------------------------------------


def test_a_row_of_days_by_hand():
    options = options_of(*TWO)
    row = break_even(options, drawn(options, fixed={BOX: [100 + 10 * step for step in range(21)]}), 30.5).iloc[0]
    expected = {
        "workload": "vgg16", "model": "vgg16", "title": BOX, "quantity": "days_per_month", "unit": "days/month",
        "assumption": "days of use a month", "planned": 10.0, "reference": BOX, "option": RENTED, "instance": RENTED,
        "purchase": "on_demand", "price_list": "on_demand", "persistent": True, "basis": "published", "p_pays": 1.0,
        "p_cheaper": 1.0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    days = [fixed / 24 / (HOUR - 0.2) for fixed in (FIXED, 110, 290)]
    assert row[["days", "days_low", "days_high"]].tolist() == pytest.approx(days)
    assert row[["pays_from", "pays_from_low", "pays_from_high"]].tolist() == pytest.approx(days)
    assert row["gain_at_use"] == pytest.approx(HOUR / (FIXED / 240 + 0.2))


def test_a_row_against_another_box_by_hand():
    # the second for the work of 498 images/s: 1.245 x 100 USD a month and 1.245 x 0.3 an hour
    options = options_of(TWO[0], second(capex_usd=3000.0, kw=1.5))
    draws = drawn(options, fixed={"second": [90 + step for step in range(21)]})
    row = break_even(options, draws, 30.5).iloc[0]
    ends = [(FIXED - 1.245 * fixed) / 24 / (1.245 * 0.3 - 0.2) for fixed in (100, 109, 91)]
    assert row[["days", "days_low", "days_high"]].tolist() == pytest.approx(ends)
    gain = (124.5 / 240 + 0.3735) / (FIXED / 240 + 0.2)
    assert (row["gain_at_use"], row["p_cheaper"], row["p_pays"]) == (pytest.approx(gain), 0.0, 1.0)
    assert row[["never_below_usd_per_hour", "never_above_usd_per_kwh"]].isna().all()
    # half of that costs less an hour than the box: never
    assert row[["twice_as_cheap_days", "twice_low", "twice_high"]].isna().all()
    curve = utilisation(options, draws, 30.5).set_index("days").loc[10.0]
    assert curve["gain"] == pytest.approx(gain)
    assert [curve["gain_low"], curve["gain_high"]] == pytest.approx(
        [(1.245 * fixed / 240 + 0.3735) / (FIXED / 240 + 0.2) for fixed in (91, 109)]
    )


@pytest.mark.parametrize(
    ("box", "rival", "factor", "days"),
    [
        (Month(240.0, 0.0), Month(0.0, 1.0), 1.0, 10.0),
        (Month(240.0, 0.0), Month(240.0, 2.0), 2.0, 5.0),  # half the rival's month and hour: 120 / (24 x 1)
        (Month(0.0, 2.0), Month(240.0, 1.0), 1.0, 0.0),  # on ten days both take 2 USD an hour: it reaches the planned
        (Month(1.0, 2.0), Month(240.0, 1.0), 1.0, math.inf),
        (Month(100.0, 1.0), Month(100.0, 1.0), 1.0, 0.0),  # the same machine
        (Month(101.0, 1.0), Month(100.0, 1.0), 1.0, math.inf),
        (Month(100.0, 1.0), Month(101.0, 1.0), 1.0, 0.0),
        (Month(100.0, 1.0), Month(101.0, 2.0), 1.0, 0.0),  # cheaper on all days
    ],
)
def test_days_from_which_a_box_costs_no_more(box, rival, factor, days):
    assert float(crossing(box, rival, 10.0, factor)) == pytest.approx(days)


# --- months ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("months", "beyond", "needed"),
    [
        (30.0, 12.5, 13), (30.0, 47.5, 48), (1.0, 12.5, 13), (0.5, 12.5, 13), (30.0, -1.0, 1), (700.0, 599.9, 600),
        (30.0, 599.9, 600), (30.0, 600.9, None),  # nobody plans for more than 600 months
    ],
)  # fmt: skip
def test_months_from_which_a_dear_box_of_little_power_pays(months, beyond, needed):
    """240 h a month x 0.05 USD are 12 USD a month: so many times that dearer, `beyond` months are needed."""
    box = box_offer(capex_usd=1000.0 + 12.0 * beyond, months=months)
    options = options_of((box, 498.0, 4), (*second(capex_usd=1000.0, kw=1.25, months=months)[:1], 498.0, 4))
    found = break_even(options, drawn(options), 30.5)["months_needed"][0]
    assert found == needed or (needed is None and math.isnan(found))


def test_a_box_that_pays_in_short_projects_alone_pays_from_the_first_month():
    # 18 USD cheaper, and 12 a month dearer: up to a month and a half
    box = box_offer(capex_usd=1000.0, kw=1.25, months=1.0)
    options = options_of((box, 498.0, 4), (*second(capex_usd=1018.0, months=1.0)[:1], 498.0, 4))
    assert break_even(options, drawn(options), 30.5)["months_needed"][0] == 1.0


def test_months_needed_where_money_has_a_rate_or_the_box_stands_still():
    """The annuity of 6500 USD at 10 % a year; and a month of 220 USD that nine hours of ten bear."""
    rate = 1.1 ** (1 / 12) - 1
    annuity = {months: 6500 * rate / (1 - (1 + rate) ** -months) for months in range(1, 601)}
    box = box_offer(discount_rate=0.1) | {"fixed_usd_per_month": annuity[30]}
    options = options_of((box, 498.0, 4), (offer(RENTED, "on_demand", 0.3), 225.0, 1))
    room = 240 * (0.3 * 498 / 225 - 0.2)
    needed = min(months for months, usd in annuity.items() if usd <= room)
    assert break_even(options, drawn(options), 30.5)["months_needed"][0] == needed > 30
    still = box_offer(downtime_share=0.1, residual_usd=500.0, maintenance_usd_per_month=20.0)
    options = options_of((still | {"fixed_usd_per_month": 220.0}, 498.0, 4), TWO[1])
    assert break_even(options, drawn(options), 30.5)["months_needed"][0] == pytest.approx(
        6000 / 0.9 / (240 * (HOUR - 0.2) - 20 / 0.9)
    )


# --- surface --------------------------------------------------------------------------------------------------------


def test_a_surface_is_of_a_model_and_the_cheapest_that_is_rented():
    rented = [(offer(name, "on_demand", usd), 225.0, 1) for name, usd in ((RENTED, 3.06), ("near", 2.5))]
    table = surface_of(options_of(TWO[0], *rented, models=("vgg16", "alex")))
    assert table.index.tolist() == list(range(len(table)))
    assert table[["reference", "rival", "model"]].drop_duplicates().to_numpy().tolist() == [
        [BOX, "near", "alex"], [BOX, "near", "vgg16"]
    ]  # fmt: skip
    one = table[table["model"] == "alex"].set_index(["days", "months", "usd_per_kwh"]).loc[(10.0, 30.0, 0.2)]
    assert one["ratio"] == pytest.approx(2.5 * 498 / 225 / (FIXED / 240 + 0.2)) and one["winner"] == BOX
    assert one["break_even_days"] == pytest.approx(FIXED / 24 / (2.5 * 498 / 225 - 0.2))
    both = utilisation(options_of(*TWO, models=("vgg16", "alex")), drawn(options_of(*TWO, models=("vgg16", "alex"))), 2)
    assert both["model"].tolist() == ["alex"] * 2 + ["vgg16"] * 2 and both["days"].tolist() == [1, 2] * 2


def test_a_tie_is_not_won_by_the_box():
    # both take 1 USD for a million images: 240 USD a month / 240 h + 0.5 kW x 0.25 USD are 1.125 for 3600 x 312.5
    entry = box_offer(kw=0.5, usd_per_kwh=0.25, capex_usd=7200.0)
    options = options_of((entry, 312.5, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)).assign(images_per_usd=1e6)
    row = surface_of(options).set_index(["days", "months", "usd_per_kwh"]).loc[(10.0, 30.0, 0.25)]
    assert (row["ratio"], row["winner"]) == (1.0, RENTED)


def test_electricity_of_the_room_counts_where_a_box_never_pays():
    # 1 kW at 1.5: 0.3 USD an hour, 0.29599 of the month on all days: 0.59599 / 6.7728 x 3.06; (6.7728 - 0.29599) / 1.5
    usd = {"variable_usd_per_hour": 0.3, "energy_usd_per_hour": 0.3, "usd_per_hour": FIXED / 240 + 0.3}
    text = surface_of(options_of((box_offer(pue=1.5) | usd, 498.0, 4), TWO[1]))["condition"].iloc[0]
    assert "costs 0.269 USD an hour or less (now 3.06)" in text
    assert "electricity costs more than 4.32 USD/kWh (now 0.2)" in text


# --- tornado and turning points -------------------------------------------------------------------------------------


def question(price, **box):
    (found,) = asked(options_of((box_offer(**box), 498.0, 4), (offer(RENTED, "on_demand", price), 225.0, 1)))
    return found


def same(row, expected):
    numbers = {name: value for name, value in expected.items() if isinstance(value, float)}
    assert {name: row[name] for name in numbers} == {name: pytest.approx(value) for name, value in numbers.items()}
    rest = {name: value for name, value in expected.items() if name not in numbers}
    assert {name: row[name] for name in rest} == rest


ABOUT = {"workload": "vgg16", "model": "vgg16", "model_title": "VGG-16"}
PRICE = {"assumption": f"price of {BOX}", "quantity": "capex_usd", "subject": BOX, "unit": "USD", "value": 6500.0}
# 7200 hours of the box: at 0.75 USD renting is 7200 x 0.75 x 498 / 225 = 11,952 USD, the box 6500 + 1440 = 7940
RENT = 7200 * 0.75 * 498 / 225


def test_a_row_of_the_tornado_by_hand():
    rows = {row["assumption"]: row for row in tornado_rows(question(0.75))}
    row = rows[f"price of {BOX}"]
    assert set(row) == set(TORNADO)
    same(row, ABOUT | PRICE | {
        "low": 5200.0, "high": 7800.0, "range_basis": "assumed", "best": BOX, "best_title": BOX, "rival": RENTED,
        "rival_title": RENTED, "margin": RENT / 7940, "margin_low": RENT / 6640, "margin_high": RENT / 9240,
        "swing": RENT / 6640 - RENT / 9240, "usd": 7940.0, "usd_low": 6640.0, "usd_high": 9240.0,
        "usd_per_month": 7940 / 30, "usd_per_month_low": 6640 / 30, "usd_per_month_high": 9240 / 30,
        "winner_low": BOX, "winner_high": BOX, "flips": False, "flip_value": RENT - 1440,
        "flip_factor": (RENT - 1440) / 6500,
        "text": "the cheapest option changes at 10,512 USD (+62 %), outside its range",
    })  # fmt: skip
    assert rows["days of use a month"]["subject"] is None


def test_a_turning_point_by_hand():
    rows = turning_rows(question(0.75, capex_usd_low=6000.0, capex_usd_high=12_000.0))
    assert all(set(row) == set(TURNING) for row in rows)
    apart = [abs(math.log(row["factor"])) for row in rows]
    assert apart == sorted(apart) and len(rows) > 4
    named = {row["assumption"]: row for row in rows}
    same(named[f"price of {BOX}"], ABOUT | PRICE | {
        "best_title": BOX, "side": "above", "turning_value": RENT - 1440, "factor": (RENT - 1440) / 6500,
        "inside_range": True, "to_title": RENTED, "boxes": 0, "rented": RENTED, "usd": RENT, "usd_per_month": RENT / 30,
        "text": f"price of {BOX} above 10,512 USD: {RENTED}",
    })  # fmt: skip
    # the rent: 7940 / 11,952 of it, below its range of 20 %
    same(named[f"price of {RENTED}"], {
        "side": "below", "factor": 7940 / RENT, "turning_value": 0.75 * 7940 / RENT, "inside_range": False,
        "to_title": RENTED, "usd": 7940.0, "unit": "USD/hour", "quantity": "usd_per_hour", "subject": RENTED,
    })  # fmt: skip
    lower = {row["assumption"]: row for row in turning_rows(question(0.75, capex_usd_low=11_000.0,
                                                                     capex_usd_high=12_000.0))}  # fmt: skip
    assert lower[f"price of {BOX}"]["inside_range"] is False


def test_a_turn_to_a_box_says_how_many():
    # at 0.45 USD renting is 7171.2 USD; the box is the cheaper from 7940 / 7171.2 of the rent on
    rented = 7200 * 0.45 * 498 / 225
    row = next(row for row in turning_rows(question(0.45)) if row["assumption"] == f"price of {RENTED}")
    same(row, {
        "best_title": RENTED, "side": "above", "factor": 7940 / rented, "inside_range": True, "to_title": BOX,
        "boxes": 1, "rented": None, "usd": 7940.0, "usd_per_month": 7940 / 30,
    })  # fmt: skip


# --- what pays ------------------------------------------------------------------------------------------------------

FACTORS = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
STILL = np.zeros(5, bool)


def held(apart, drawn, exact=None, most=math.inf):
    lines = Apart(FACTORS, np.array([apart], float), np.array(drawn, float), FACTORS, STILL, STILL)
    about = all_of("jobs", "jobs")._replace(most=most)
    return Held("box", "Office box", about, "jobs of all", "per_month", 200.0, "jobs", lines, 0.75, exact)


def test_a_row_of_what_pays_by_hand():
    # as planned from half way between 1 and 2; of 21 draws the second and the last but one end the interval
    drawn = [[3, 2, 1, -share / (1 - share), -9] for share in np.linspace(0.1, 0.9, 21)]
    (row,) = pays_rows("lab", [held([3, 2, 1, -1, -3], drawn, lambda factor, begins: factor + 0.01 * begins)])
    assert set(row) == set(PAYS)
    same(row, {
        "workload": "lab", "model": None, "reference": "box", "title": "Office box", "quantity": "per_month",
        "subject": None, "assumption": "jobs of all", "unit": "jobs", "planned": 200.0, "pays_from": 302.0,
        "pays_from_low": 200 * (1 + 1 - 0.86), "pays_from_high": 200 * (1 + 1 - 0.14), "factor": 1.51, "p_pays": 0.75,
        "text": "Office box pays from 302 jobs on; 200 are planned",
    })  # fmt: skip
    assert math.isnan(row["pays_until"])


@pytest.mark.parametrize(
    ("apart", "most", "numbers", "text"),
    [
        ([-1, -2, -3, -4, -5], math.inf, (0.0, None), "pays from less than 40 jobs on"),
        ([1, 1, 1, 1, 1], math.inf, (None, None), "pays at no number up to 1,000 jobs"),
        ([1, 1, 1, 1, 1], 500.0, (None, None), "pays at no number up to 500 jobs"),
        ([1, -1, -1, 1, 1], math.inf, (80.0, 240.0), "pays from 80 to 240 jobs; 200 are planned"),
        ([-1, -1, 1, 1, 1], math.inf, (0.0, 120.0), "pays from less than 40 to 120 jobs; 200 are planned"),
    ],
)
def test_what_pays_from_the_least_on_at_nothing_or_up_to_some_number(apart, most, numbers, text):
    """Nothing is made exact where there is no factor, or none but 0; the 0.375 of a straight line is 0.4, an end at 1
    is 1.2, one at a half 0.6.
    """
    exact = {(0.375, True): 0.4, (1.0, False): 1.2, (0.5, False): 0.6}
    (row,) = pays_rows("lab", [held(apart, [apart], lambda *asked: exact[asked], most)])
    found = tuple(None if math.isnan(row[name]) else row[name] for name in ("pays_from", "pays_until"))
    assert found == numbers and text in row["text"]
    assert found[0] is None or row["factor"] == numbers[0] / 200
    assert found[0] is not None or math.isnan(row["factor"])


@pytest.mark.parametrize(
    ("apart", "jumps", "expected"),
    [
        ([1, -1, -2, -3, -4], (), (0.375, math.inf)),  # half way between the two least
        ([1, -1, -2, -3, -4], (1,), (0.5, math.inf)),
        ([1, -3, -2, -3, 1], (), (0.3125, 2.0)),
        ([-1, -2, -3, 1, 2], (), (0.0, 1.0)),
        ([-1, 1, -3, -4, -5], (), (0.625, math.inf)),  # the stretch that the plan lies in
        ([3, 2, 1, 1, -1], (), (3.0, math.inf)),
        ([3, 2, 1, 1, 0], (), (4.0, math.inf)),
        ([3, 2, 1, 0.5, 0.25], (), (math.inf, math.inf)),
    ],
)
def test_stretches_at_the_ends(apart, jumps, expected):
    found, until = stretch(np.array([apart, [-5.0] * 5]), FACTORS, np.isin(np.arange(5), jumps))
    assert (found[0], until[0]) == pytest.approx(expected) and (found[1], until[1]) == (0.0, math.inf)


# --- all tables -----------------------------------------------------------------------------------------------------


def test_of_empty_tables_the_first_gives_the_columns():
    empty, other = pd.DataFrame(columns=["a"]), pd.DataFrame(columns=["b"])
    assert together([empty, other]).columns.tolist() == ["a"]
    assert together([empty, pd.DataFrame({"b": [1]}), pd.DataFrame({"b": [2]})]).to_dict("list") == {"b": [1, 2]}


def test_the_verdict_names_what_is_worth_most_to_know():
    found = compare(inputs(price_p3=0.50), settings())
    worth = found["worth_knowing"]
    net = (worth["evppi_usd"] - worth["cost_to_learn_usd"].fillna(0.0))[worth["evppi_usd_low"] > 0]
    assert net.max() > 0
    assert found["verdict"]["find_out_first"].tolist() == [worth.loc[net.idxmax(), "figure"]]


def test_what_does_not_fit_stands_last_and_among_the_options_alone():
    known = replace(settings(), gpu_memory_gib={RENTED: 16.0, BOX: 24.0})
    needs = {"imagenet": Need(Needs(gpu_memory_gib=20.0), None)}
    found = compare(inputs(), known, 50, needs=needs)
    assert found["options"]["option"].tolist() == [BOX, f"{RENTED} (spot)", RENTED]
    assert found["options"]["fits"].tolist() == [True, False, False] and found["options"].index.tolist() == [0, 1, 2]
    assert found["ranks"]["option"].tolist() == [BOX] and found["choices"]["choice"].tolist() == [BOX]
    assert found["tornado"].empty and found["left_out"].empty
