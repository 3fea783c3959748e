"""What the evidence says of a plan, in sentences made of a few rows by hand."""

import math

import pandas as pd
import pytest
from sweetspot.report.plan_turning import (
    leading_work,
    paying_in_words,
    plan_is_done,
    plan_worth_in_words,
    turning_in_words,
)
from sweetspot.wording import DISPATCH, ROUNDS, SHARE

NAN = math.nan
NEVER = "No single figure, changed by a factor of 5, would change it."


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


def plan(cost, done=True):
    """The choices of a plan `lab` beside a job."""
    return {"choices": frame("workload cost is_best", ("job", SHARE, True), ("lab", cost, False), ("lab", cost, done))}


def points(*rows):
    """Turning points of (workload, assumption, what it turns to), the nearest first; one more is a job's."""
    made = [(work, None, name, f"{name} below 5", to) for work, name, to in rows]
    names = "workload model assumption condition to_title"
    return {"turning_points": frame(names, ("lab", "m", "job's", "no", "no"), *made)}


def test_the_plan_that_leads_and_whether_anything_does_it():
    both = {"choices": pd.concat([plan(ROUNDS)["choices"], plan(DISPATCH)["choices"].assign(workload="months")])}
    assert [leading_work(tables) for tables in (both, plan(ROUNDS), {})] == ["months", "lab", None]
    assert plan_is_done(plan(ROUNDS)) and not plan_is_done(plan(ROUNDS, done=False)) and not plan_is_done({})
    assert [leading_work({"choices": plan(ROUNDS)["choices"].head(rows)}) for rows in (1, 2)] == [None, "lab"]


def test_the_four_nearest_figures_turn_it_each_named_once_by_what_it_turns_to():
    rows = [("lab", "rent", "box"), ("other", "x", "X"), ("lab", "rent", "far"), ("lab", "work", "big box"),
            ("lab", "price", "box"), ("lab", "months", "big box"), ("lab", "fifth", "box")]  # fmt: skip
    assert turning_in_words(plan(DISPATCH) | points(*rows)) == (
        "What would change it, the nearest first: rent below 5. Or price below 5. Then: box. Or work below 5. Or "
        "months below 5. Then: big box."
    )
    assert turning_in_words(plan(ROUNDS) | points(*rows[:1], *rows[3:4])) == (
        "What would change it, the nearest first: rent below 5. Then box is the cheapest. Or work below 5. Then the "
        "big box is the cheapest."
    )


@pytest.mark.parametrize(("tables", "said"), [
    (plan(DISPATCH) | points(), NEVER),
    (plan(ROUNDS) | points(), ""),  # nobody looked
    (plan(ROUNDS) | points() | {"tornado": frame("model", (None,))}, NEVER),
    (plan(ROUNDS) | points() | {"tornado": frame("model", ("m",))}, ""),
    (plan(DISPATCH) | {"turning_points": pd.DataFrame()}, NEVER),
    (plan(DISPATCH), ""),
    (plan(DISPATCH, done=False) | points(("lab", "rent", "Box")), ""),
    (points(("lab", "rent", "Box")), ""),
])  # fmt: skip
def test_what_nothing_changes_and_what_was_not_looked_for(tables, said):
    assert turning_in_words(tables) == said


PAYS = "quantity planned unit pays_from pays_from_low pays_from_high pays_until"
WORK = ("device_hours", 1000.0, "device-hours/month", 850.0, 700.0, 1100.0, NAN)
MONTHS = ("months", 30.0, "months", 24.0, 20.0, NAN, NAN)
JOBS = ("jobs", 7000.0, "hours of work", 1700.0, 0.0, NAN, NAN)
DAYS = ("days_per_month", 10.0, "days", 2.5, 1.0, 3.0, NAN)


def paying(cost, *rows, **changes):
    table = frame(PAYS, *rows).assign(workload="lab", title="office box", model=None)
    for quantity, values in changes.items():
        table.loc[table["quantity"] == quantity, list(values)] = list(values.values())
    return paying_in_words(plan(cost) | {"break_even": table})


@pytest.mark.parametrize(("changes", "said"), [
    ({}, "The office box pays from 850 device-hours a month (700 to 1,100, 90 %); you plan 1,000. It pays if you use "
         "it for 24 months or more; you plan 30."),
    ({"device_hours": {"pays_from_low": 0.0, "pays_from_high": NAN}, "months": {"pays_from": NAN}},
     "The office box pays from 850 device-hours a month (under 200 to never, 90 %); you plan 1,000."),
    ({"device_hours": {"pays_from": NAN}, "months": {"pays_from": NAN}},
     "The office box does not pay with five times the 1,000 device-hours a month."),
    ({"device_hours": {"pays_from_low": 0.5}},
     "The office box pays from 850 device-hours a month (0.5 to 1,100, 90 %); you plan 1,000. "
     "It pays if you use it for 24 months or more; you plan 30."),
])  # fmt: skip
def test_from_when_a_machine_pays_beside_what_is_there(changes, said):
    assert paying(DISPATCH, WORK, MONTHS, **changes) == [said]


def test_months_alone_name_the_machine_and_nothing_known_says_nothing():
    assert paying(DISPATCH, MONTHS) == ["The office box pays if you use it for 24 months or more; you plan 30."]
    assert paying(DISPATCH, DAYS) == paying_in_words({}) == []
    both = frame(PAYS, JOBS, WORK, WORK).assign(workload=["lab", "year", "year"], model=None)
    both["title"] = ["Box", "office box", "big box"]
    assert [told.split(" pays")[0] for told in paying_in_words(plan(ROUNDS) | {"break_even": both})] == [
        "The office box", "The big box", "Box"
    ]  # fmt: skip


PAID = "The office box pays from 1,700 hours of work (under 1,400 to never); you plan 7,000."
BELOW = "Below 2.5 days of use a month it does not pay: the work then takes more machines. You plan 10 days."


@pytest.mark.parametrize(("changes", "said"), [
    ({}, [f"{PAID} {BELOW}"]),
    ({"jobs": {"pays_until": 8050.0}},
     [f"{PAID} Beyond 8,050 it does not pay: that takes one machine more. {BELOW}"]),
    ({"jobs": {"pays_from": 0.0, "pays_from_high": 2000.0}, "days_per_month": {"pays_from": NAN}},
     ["The office box pays from a fifth of the work (under 1,400 to 2,000); you plan 7,000."]),
    ({"jobs": {"pays_from": 0.5, "pays_from_low": NAN}, "days_per_month": {"pays_from": 0.0}},
     ["The office box pays from 0.5 hours of work (never); you plan 7,000."]),
    ({"days_per_month": {"pays_from": 0.5}}, [f"{PAID} {BELOW.replace('2.5', '0.5')}"]),
    ({"jobs": {"pays_from_high": 0.0}, "days_per_month": {"pays_from": NAN}}, [PAID.replace(" to never", "")]),
    ({"jobs": {"pays_from": NAN}}, []),
])  # fmt: skip
def test_from_when_a_machine_pays_against_renting(changes, said):
    assert paying(ROUNDS, JOBS, DAYS, **changes) == said


def test_without_days_the_work_is_told_alone_and_without_work_nothing():
    assert paying(ROUNDS, JOBS) == [PAID] and paying(ROUNDS, DAYS) == []


def test_what_to_find_out_first_is_that_of_the_plan_which_leads():
    names = ("workload model figure title quantity unit evppi_usd evppi_usd_low evppi_usd_high cost_to_learn_usd "
             "turning_point")  # fmt: skip
    row = ("RunPod", "usd_per_hour", "USD/hour", 400.0, 400.0, 400.0, NAN, NAN)
    worth = frame(names, ("lab", None, "price of RunPod", *row), ("other", None, "x", *row), ("lab", "m", "y", *row))
    assert plan_worth_in_words(plan(DISPATCH) | {"worth_knowing": worth}, "EUR") == [
        "Find out the price of RunPod first.", "Knowing that is worth up to 400 EUR over the project.",
        "No speed is worth timing: none, known exactly, would save more than the timing costs.",
    ]  # fmt: skip
    assert plan_worth_in_words({"worth_knowing": worth}) == plan_worth_in_words(plan(DISPATCH)) == []
