"""What it takes to have the machine of the verdict, in sentences, and the chance to be in time: each by hand."""

import json
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sweetspot.availability.having_columns import with_having
from sweetspot.availability.having_words import having_in_words
from sweetspot.study.stock import load_availability

FACTS = load_availability(None, date(2026, 9, 19))
PLAIN = {"price_list": "clouds", "persistent": True, "in_answer": True, "hours": 6.0, "workload": "w", "nodes": np.nan,
         "gpus": 8, "gpu": "H100 SXM", "purchase": "on_demand", "capex_usd": np.nan, "usd": 100.0,
         **dict.fromkeys(("delivery_months", "delivery_months_low", "delivery_months_high"), np.nan)}  # fmt: skip


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


HAD = PLAIN | dict.fromkeys(("start_hours", "start_hours_low", "start_hours_high", "p_stock_any", "hours_to_result",
                             "hours_to_result_p90"), np.nan)  # fmt: skip
HAD |= {"p_stock": 0.25, "p_stock_low": 0.25, "p_stock_high": 0.25, "stock_wait_hours": 0.0, "sellers": "x"}
QUARTER = "M0 is to be had in 25 % of attempts."
SURE = {"p_stock": 1.0, "p_stock_low": 1.0, "p_stock_high": 1.0, "stock_wait_hours": 48.0}
OWN = {"purchase": "own", "start_hours": 336.0, "start_hours_low": 168.0, "start_hours_high": 504.0}


def b200(any_of, usd=300.0, **more):
    """Another machine, of which no one seller is known."""
    return {"gpu": "B200", "p_stock": np.nan, "p_stock_any": any_of, "usd": usd, **more}


def more_often(share, price):
    return f"More often there: 8 B200 at one of 1 seller, in {share} % of attempts, for {price} times the cost."


@pytest.mark.parametrize(
    ("taken", "others", "words"),
    [
        (SURE, [{}], ["M0 is to be had in over 99 % of attempts."]),
        ({"stock_wait_hours": 1.0}, [], ["M0 is to be had in 25 % of attempts, else after 1 h on average."]),
        ({"p_stock_high": 0.5, "stock_wait_hours": 47.0}, [],
         ["M0 is to be had in 25 % of attempts (25 to 50 %), else after 47 h on average."]),
        # 1 - 0.75^2 = 0.4375; (0.25 x 0.25 + 0.1875 x 0.5) / 0.4375 / 0.25
        ({"usd": 0.25}, [{"usd": 0.5}],
         [QUARTER, "If it is not: M1 costs 2.0 times as much.", "One of 2 offers whose stock is known is there in 44 % "
          "of attempts, the cheapest of them for 1.4 times the cost on average; else none is."]),
        ({}, [{"stock_event": "0"}, {"in_answer": False}, {"purchase": "spot"}, {"usd": np.nan}], [QUARTER]),
        ({"p_stock_any": 0.5, "sellers": "lambda, nebius", "gpus": 16, "nodes": 2.0}, [b200(0.9)],
         [QUARTER, "Who takes any of Lambda and Nebius gets 8 H100 SXM in 50 % of attempts."]),
        ({"p_stock_any": 0.5, "sellers": "nebius, gcp, lambda, verda"}, [],
         [QUARTER, "Who takes any of Nebius, Google Cloud, Lambda and Verda gets 8 H100 SXM in 50 % of attempts."]),
        ({"p_stock_any": 0.5, "sellers": "aws, gcp, lambda, nebius, x"}, [],
         [QUARTER, "Who takes any of 5 sellers gets 8 H100 SXM in 50 % of attempts."]),
        ({"p_stock_any": 0.25, "sellers": "lambda, nebius"}, [], [QUARTER]),
        ({"p_stock_any": 0.5, "sellers": "lambda"}, [], [QUARTER]),
        ({}, [b200(0.375)], [QUARTER, more_often(38, "3.0")]),  # 1.5 times as often
        ({}, [b200(0.374)], [QUARTER]),
        ({}, [b200(0.9, in_answer=False), b200(0.9, gpu="H100 SXM"), b200(0.9, np.nan)], [QUARTER]),
        ({}, [b200(0.5), b200(0.5, 200.0), b200(0.4, 150.0)], [QUARTER, more_often(50, "2.0")]),
        ({"hours_to_result": 12.0, "hours_to_result_p90": 48.0}, [],
         [QUARTER, "Counted from today, half of the results are there within 12 h, 90 % within 2 days."]),
        (OWN, [], ["Delivery of such a server takes about 2 weeks (1 to 3)."]),
        (OWN | {"start_hours": 85.0, "start_hours_high": 168.0}, [],
         ["Delivery of such a server takes about 1 week."]),
        (OWN | {"start_hours": 84.0}, [], []),  # half a week, which rounds to none
    ],
)  # fmt: skip
def test_what_is_said_of_what_to_take(taken, others, words):
    rows = [HAD | {"option": str(place), "title": f"M{place}", "stock_event": str(place)} | one
            for place, one in enumerate((taken, *others))]  # fmt: skip
    assert having_in_words(pd.DataFrame(rows), {"take": "0", "workload": "w"}) == words


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
