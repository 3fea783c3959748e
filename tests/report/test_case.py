"""What the page's program is given, of tables of a few rows: which machines have sliders, from where to where."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from decision_tables import study
from sweetspot.report import case
from sweetspot.report.case import (
    _ahead,
    _box,
    _choice,
    _number,
    _numbered,
    _offers,
    _rent,
    _rounds,
    _shares,
    _worked,
    page_case,
)
from sweetspot.report.case_controls import controls

NONE = float("nan")


@pytest.mark.parametrize(("value", "told"), [
    (None, None), (NONE, None), (float("inf"), None), (1.0, 1), (0.1 + 0.2, 0.3), (1 / 3, 0.333333333333),
    (999_999_999_999.0, 999_999_999_999), (1e12, 1e12), (np.float64(2.5), 2.5),
])  # fmt: skip
def test_a_figure_of_the_program_has_twelve_digits(value, told):
    assert _number(value) == told and isinstance(_number(value), type(told))


def machines(*rows, **columns):
    return pd.DataFrame(rows, columns=["option", "purchase"]).assign(**columns)


def test_the_rent_with_a_slider_is_the_first_that_stays_else_the_first():
    rows = machines(("own", "own"), ("spot", "spot"), ("a", "on_demand"), ("b", "on_demand"))
    assert (_rent(rows), _rent(rows.head(2)), _rent(rows.head(1))) == ("a", "spot", None)


def test_the_machine_with_a_slider_is_the_reference_where_it_is_for_sale():
    rows = machines(("rent", "on_demand"), ("a", "own"), ("b", "own"), ("c", "own"))
    assert (_box(rows, None), _box(rows, "b"), _box(rows, "rent"), _box(rows.head(1), "b")) == ("a", "b", "a", None)
    assert _box(rows.assign(taken=[True, False, True, True]), "a") == "b"


def test_hours_without_interruptions_are_those_of_a_machine_that_stays():
    """2 jobs at once of 100 images/s take 20 h where one of 50/s takes 20; the spot machine waits: 5 of its 25 h."""
    kinds = ["on_demand", "own", "spot"]
    rows = pd.DataFrame({"option": ["two", "one", "spot"], "workload": "w", "model": "m", "purchase": kinds,
                         "hours": [20.0, 20.0, 25.0], "images_per_s": [100.0, 50.0, 50.0]})  # fmt: skip
    at_once = pd.DataFrame(
        {"option": ["two", "two", "one", "spot"], "workload": "w", "jobs_at_once": [2.0, 2.0, 1.0, NONE]}
    )
    made = _worked(rows, at_once).set_index("option")
    assert made["slots"].dropna().to_dict() == {"two": 2.0} and made["work"].dropna().to_dict() == {"spot": 20.0}
    plain = _worked(rows, at_once.drop(columns="jobs_at_once"))
    assert plain["slots"].isna().all() and plain["work"].dropna().tolist() == [20.0]


def test_jobs_of_one_model_that_the_answer_may_take():
    row = {"workload": "w", "model": "resnet50", "option": "a", "purchase": "on_demand", "images_per_s": 10.0,
           "usd": 2.0, "hours": 3.0,
           "images_per_usd": 5.0, "in_answer": True}  # fmt: skip
    rows = [row, row | {"option": "dear", "usd": 9.0}, row | {"option": "cheap", "usd": 1.0},
            row | {"option": "out", "in_answer": False},
            row | {"option": "slow", "images_per_s": 0.0}, row | {"option": "free", "usd": NONE},
            row | {"option": "none", "images_per_usd": NONE}]  # fmt: skip
    tables = {
        "ranks": pd.DataFrame(rows),
        "options": pd.DataFrame({"option": ["a"], "workload": "w", "model": "resnet50"}),
    }
    (work,) = _shares(tables, study(reference=None))
    assert [one["option"] for one in work["options"]] == ["a", "dear", "cheap"] and work["rent"] == "cheap"
    assert (work["cost"], work["reference"], work["box"]) == ("share", None, None)


def test_a_plan_of_phases_is_its_jobs_and_what_each_machine_takes():
    row = {"option": "a", "alternative": "A", "taken": True, "purchase": "on_demand", "ownership_usd": 9.0,
           "machines": 2.0,
           "least": 1.0, "room_hours": NONE, "jobs": 30.0, "slots": 2.0, "job_hours": 4.0, "usd": 5.0}  # fmt: skip
    rows = pd.DataFrame([row, row | {"jobs": 6.0, "usd": 7.0}, row | {"option": "b", "purchase": "own", "jobs": 99.0},
                         row | {"option": "out", "taken": False}])  # fmt: skip
    choices = pd.DataFrame({"choice": ["a", "b"], "hours": [72.0, NONE]})
    made = _rounds(rows, rows.drop_duplicates("option"), 12.0, choices)
    assert (made["rent"], made["jobs"]) == ("a", 3)  # 36 jobs of the first machine over 12 months
    (only,) = made["options"]  # of what takes nobody knows how long there is nothing to move
    assert only == {"option": "a", "alternative": "A", "taken": True, "hours": 72, "held": 9, "machines": 2, "least": 1,
                    "room": None, "phases": [[30, 2, 4, 5], [6, 2, 4, 7]]}  # fmt: skip
    assert _rounds(rows, rows, None, choices)["jobs"] == 36
    assert _rounds(rows, rows, 12.0, choices.head(0))["options"] == []


@pytest.mark.parametrize(("row", "told"), [
    ({"purchase": "own", "residual_points": [{"years": 1, "kept": 0.5}]}, {"resale": [[1.0, 0.5]]}),
    ({"purchase": "own", "residual_points": None}, {"resale": []}),
    ({"purchase": "own", "residual_points": NONE}, {"resale": []}), ({"purchase": "own"}, {"resale": []}),
])  # fmt: skip
def test_the_curve_of_resale_of_a_machine_owned(row, told):
    assert _ahead(row) == told


def test_a_choice_says_what_it_binds_to_and_whether_it_stands():
    row = {
        "choice": "a",
        "title": "A",
        "commitment": "buy",
        "kind": "mix",
        "usd": 5,
        "why_not_rule": None,
    }
    told = _choice(row)
    assert told == {"choice": "a", "title": "A", "commitment": "buy", "verb": "Buy", "kind": "buy",
                    "costs": "Buying costs", "rank": 2,
                    "usd": 5.0, "stands": True, "spot": False}  # fmt: skip
    spot = _choice(row | {"kind": "rent", "commitment": "nothing", "why_not_rule": "interruptible"})
    assert (spot["rank"], spot["stands"], spot["spot"]) == (0, False, True)
    assert _choice(row | {"kind": "contract", "commitment": "contract", "why_not_rule": "limit"})["rank"] == 1


def test_options_are_numbers_of_offers():
    work = {
        "options": [{"option": "a", "usd": None}, {"option": "gone"}],
        "reference": "a",
        "box": None,
        "rent": "gone",
    }
    assert _numbered(work, {"b": 0, "a": 1}) == {
        "options": [{"option": "a", "offer": 1}],
        "reference": 1,
        "box": None,
        "rent": None,
    }
    assert _numbered(work, {}) == {}


def test_an_offer_has_the_figures_of_its_kind():
    options = pd.DataFrame([{"price_list": "p", "instance": name, "purchase": kind, "option": name,
    "title": "office box of 4"}
                            for name, kind in (("box", "own"), ("spot", "spot"), ("other", "on_demand"))])  # fmt: skip
    offers = options.drop(columns=["option", "title"]).assign(
        provider="us", usd_per_hour=2.0, capex_usd=9.0, kw=0.0, wait_s=5.0
    )
    offers = pd.concat([offers, offers.head(1).assign(usd_per_hour=9.0)])  # a list has each once: the first counts
    box, spot = _offers({"options": options, "offers": offers}, ["box", "spot"])
    assert (box["name"], box["capex_usd"], box["kw"], box["usd_per_hour"], box["resale"]) == (
        "the office box of 4",
        9,
        0,
        2,
        [],
    )
    assert spot["wait_s"] == 5 and "capex_usd" not in spot and "rent_change" in spot
    assert _offers({"options": options}, ["box"]) == _offers({"offers": offers}, ["box"]) == []


def asked_case(
    monkeypatch, *rows, level="commit", cost="rounds", box="box", rent="cloud", boxes=("box", "cloud", "late")
):
    """The page's case of a plan on three machines, with these choices."""
    options = [{"option": name} for name in boxes]
    work = {"workload": "w", "title": "W", "cost": cost, "box": box, "rent": rent, "options": options}
    monkeypatch.setattr(case, "_plans", lambda _: iter([work | {"workload": "x"}, work]))
    monkeypatch.setattr(case, "_shares", lambda *_: [])
    monkeypatch.setattr(case, "_offers", lambda _, used: [{"option": name, "purchase": "own"} for name in used])
    monkeypatch.setattr(case, "controls", lambda *_, **__: [])
    tables = {
        "choices": pd.DataFrame(rows),
        "options": pd.DataFrame({"option": ["cloud"], "p_stock": [0.5], "p_stock_all": [NONE]}),
    }
    return page_case(tables, study(), SimpleNamespace(workload="w", level=level, work_factor=1.5))


def plan(name, kind, commitment, **more):
    row = {"workload": "w", "choice": name, "title": name, "kind": kind, "commitment": commitment,
           "usd": 5.0, "cost": "rounds",
           "why_not_rule": None, "mix": None, "source": None, "is_best": kind == "buy",
           "is_rival": kind == "rent"}  # fmt: skip
    return row | more


def test_the_case_of_the_page_is_of_a_purchase_and_a_rent_that_stand(monkeypatch):
    buy, rent = plan("box", "buy", "buy"), plan("cloud", "rent", "nothing")
    made = asked_case(
        monkeypatch, buy, rent, plan("none", "rent", "nothing"), plan("x", "buy", "buy", workload="x", is_best=False)
    )
    assert [(one["choice"], one.get("had")) for one in made["choices"]] == [("box", None), ("cloud", 0.5)]
    assert (made["ratio"], made["pays"], made["works"][0]["workload"]) == (["nothing", "buy"], 1.5, "w")
    assert (made["works"][0]["box"], made["works"][0]["rent"]) == (0, 1)
    assert asked_case(monkeypatch, buy, rent, level="machine") == {}
    assert asked_case(monkeypatch, buy) == asked_case(monkeypatch, buy, rent | {"why_not_rule": "limit"}) == {}
    assert asked_case(monkeypatch, buy, rent, rent=None) == {}  # no price to move
    late = asked_case(monkeypatch, plan("late", "buy", "buy"), buy, rent)  # the purchase that the verdict is about
    assert late["works"][0]["box"] == 2


BOX = {"option": "box", "name": "the box", "purchase": "own", "provider": "us", "capex_usd": 1000.0, "resale": [],
       "residual_usd": 300.0,
       "days_per_month": 20.0, "months": 36.0, "kw": 1.0, "usd_per_kwh": 0.25}  # fmt: skip
HIRE = {
    "option": "cloud",
    "name": "Cloud",
    "purchase": "on_demand",
    "provider": "c",
    "usd_per_hour": 3.0,
    "rent_change": None,
}
SHARE = {"cost": "share", "box": "box", "rent": "cloud", "reference": "box"}


def told(work, offers, short=True, hours=True):
    made = controls(work, offers, study(month_days=30), "EUR", hours, short)
    return {one["key"]: (one["label"], one.get("ends"), one.get("value"), one.get("more", False)) for one in made}


def test_controls_of_a_job():
    found = told(SHARE, [BOX, HIRE])
    assert found == {
        "within": ("finish within", None, None, False),
        "days": ("days of use a month", [1, 30, 0.5], 20.0, False),
        "jobs a week": ("or jobs a week", None, None, False),
        "months": ("months of the project", [3, 72, 1], 36.0, False),
        "price": ("price of the machine, EUR", [300, 3000, 10], 1000.0, False),
        "hourly": ("rent, EUR an hour", [0.15, 9.0, 0.01], 3.0, False),
    }
    full = told(SHARE, [BOX, HIRE], short=False)
    assert full["kwh"] == ("electricity, EUR/kWh", [0, 1, 0.01], 0.25, False) and full["hourly"][3] is True
    assert full["spend"][0] == "spend at most" and full["price"][0] == "price of the box, EUR"
    assert "kwh" not in told(SHARE, [BOX | {"kw": None}, HIRE], short=False)
    assert "within" not in told(SHARE, [BOX, HIRE], hours=False) and "jobs a week" not in told(
        SHARE | {"reference": "cloud"}, [BOX, HIRE]
    )
    assert "days" not in told(SHARE | {"box": None}, [BOX, HIRE]) and "price" not in told(
        SHARE | {"box": None}, [BOX, HIRE]
    )
    assert told(SHARE, [BOX, HIRE | {"purchase": "spot"}])["interruptible"][0] == "interruptible machines allowed"


def test_the_price_of_a_machine_is_not_below_what_it_is_sold_for():
    low = told(SHARE, [BOX | {"residual_usd": None}, HIRE])["price"][1]
    sold = told(SHARE, [BOX | {"resale": [[1, 0.5]]}, HIRE])["price"][1]
    assert low == sold == [200, 3000, 10]  # a fifth; a curve falls with the price
    two = [BOX, BOX | {"option": "b", "capex_usd": 20.0}, HIRE]
    assert told(SHARE, two)["price"][0] == "price of the box, EUR"
    assert told(SHARE | {"box": "b"}, [BOX, BOX | {"option": "b", "name": "B", "capex_usd": 20.0}])["price"][1] == [
        300,
        60,
        1,
    ]


def test_controls_of_plans():
    phases = told({"cost": "rounds", "jobs": 30.0, "months": 12.0, "box": "box", "rent": "cloud"}, [BOX, HIRE])
    assert phases["jobs"] == ("jobs a month", [1.5, 180.0, 0.1], 30.0, False) and phases["days"][3] is True
    assert phases["months"][0] == "months of the project" and "within" in phases
    assert told({"cost": "rounds", "jobs": 30.0, "months": None}, [BOX])["jobs"][0] == "jobs"
