"""What it takes to have the machine of the verdict, in sentences, and the chance to be in time: each by hand."""

from datetime import date

import numpy as np
import pandas as pd
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


def test_a_machine_of_which_nothing_is_known_is_no_fallback():
    told = said({"provider": "lambda"}, {"provider": "aws", "usd": 150.0}, {"provider": "hyperstack", "usd": 230.0})
    assert told[1] == "If it is not: Machine 2 costs 2.3 times as much."
