"""What it takes to have the machine of the verdict, in sentences, and the chance to be in time: each by hand."""

import json
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sweetspot.availability.having_columns import with_having
from sweetspot.availability.having_words import _long, having_in_words
from sweetspot.study.stock import load_availability

FACTS = load_availability(None, date(2026, 9, 19))
PLAIN = {"price_list": "clouds", "persistent": True, "in_answer": True, "hours": 6.0, "workload": "w", "nodes": np.nan,
         "gpus": 8, "gpu": "H100 SXM", "purchase": "on_demand", "capex_usd": np.nan, "usd": 100.0}  # fmt: skip


def said(taken, *others, workload="w"):
    rows = [
        PLAIN | {"option": str(place), "title": f"Machine {place}"} | one for place, one in enumerate((taken, *others))
    ]
    options = with_having(pd.DataFrame(rows), FACTS, 30.5)
    return having_in_words(options, {"take": "0", "workload": workload})


def test_a_machine_seldom_to_be_had_is_told_with_its_sellers_and_with_what_is_there_more_often():
    b300, h100 = {"gpu": "B300 SXM", "title": "B"}, {"usd": 230.0}
    told = said(b300 | {"provider": "nebius"}, h100 | {"provider": "hyperstack"}, h100 | {"provider": "lambda"})
    assert told[:4] == [
        "B is to be had in 13 % of attempts (2 to 13 %), else after 5 days on average.",
        "If it is not: Machine 1 costs 2.3 times as much.",
        # 1 - 0.87 x 0.67 x 0.93; (0.13 x 100 + (0.87 x 0.33 + 0.87 x 0.67 x 0.07) x 230) / 0.458 / 100
        "One of 3 offers whose stock is known is there in 46 % of attempts, the cheapest of them for 1.9 times the "
        "cost on average; else none is.",
        # 1 - 0.67 x 0.93
        "More often there: 8 H100 SXM at one of 2 sellers, in 38 % of attempts, for 2.3 times the cost.",
    ]
    assert told[4].startswith("Counted from today, half of the results are there within ") and len(told) == 5


def test_one_other_machine_is_enough_and_two_days_are_told_in_days():
    told = said({"provider": "nebius", "gpu": "B300 SXM"}, {"provider": "hyperstack", "usd": 230.0})
    assert told[-2] == "More often there: 8 H100 SXM at one of 1 seller, in 33 % of attempts, for 2.3 times the cost."
    assert [_long(hours) for hours in (47.0, 48.0)] == ["47 h", "2 days"]


def test_a_machine_of_which_nothing_is_known_is_no_fallback():
    told = said({"provider": "lambda"}, {"provider": "aws", "usd": 150.0}, {"provider": "hyperstack", "usd": 230.0})
    assert told[1] == "If it is not: Machine 2 costs 2.3 times as much."


def test_a_block_is_a_fallback_from_its_date_on_and_costs_are_those_of_the_work(tmp_path):
    file = tmp_path / "availability.yaml"
    file.write_text(json.dumps({"facts": [{"quantity": "start_days", "price_list": "blocks", "low": 0, "high": 56,
                                           "as_of": "2026", "source": "ours"}]}))  # fmt: skip
    rows = [PLAIN | {"option": "0", "title": "L", "provider": "lambda"},
            PLAIN | {"option": "1", "title": "Block", "provider": "aws", "price_list": "blocks"}]  # fmt: skip
    options = with_having(pd.DataFrame(rows), load_availability(file, date(2026, 9, 19)), 30.5)
    told = having_in_words(options, {"take": "0", "workload": "plan"}, {"0": 1000.0, "1": 1900.0})
    assert told[1:] == ["If it is not: Block costs 1.9 times as much, from a date at most 56 days ahead."]
    assert having_in_words(options, {"take": "1", "workload": "plan"})[0].startswith(
        "Block begins on a date, at most 56"
    )


def test_beside_what_is_free_nothing_is_held_and_a_work_without_its_cost_is_told_by_one_job():
    free = said({"provider": "lambda", "usd": 0.0}, {"provider": "hyperstack"})
    assert [one.split(" gets ")[0] for one in free[:2]] == [
        "Machine 0 is to be had in 7 % of attempts, else after 4.8 days on average.",
        "Who takes any of Hyperstack and Lambda",
    ]
    rows = [PLAIN | {"option": str(place), "title": f"M{place}", "provider": name, "usd": 100.0 * (place + 1)}
            for place, name in enumerate(("lambda", "hyperstack"))]  # fmt: skip
    options = with_having(pd.DataFrame(rows), FACTS, 30.5)
    told = having_in_words(options, {"take": "0", "workload": "lab"}, {"best": 5.0})
    assert told[1] == "If it is not: M1 costs 2.0 times as much."


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        ({"provider": "aws", "title": "AWS p5"}, ["How often AWS p5 is to be had is not published."]),
        ({"provider": "aws", "purchase": "reserved"}, []),
        ({"provider": "own", "purchase": "own", "capex_usd": 3e5, "title": "server"},
         ["Delivery of such a server takes about 40 weeks (8 to 70)."]),
        ({"provider": "own", "purchase": "own", "capex_usd": 0.0}, []),
        ({"provider": "aws", "gpu": "V100", "title": "AWS p3"}, ["How often AWS p3 is to be had is not published."]),
        ({"provider": "somebody", "gpu": "V100"}, []),
    ],
)  # fmt: skip
def test_what_is_not_published_is_said_and_what_is_not_known_is_not(taken, words):
    assert said(taken, workload="another work") == words
