"""The three figures that the answer hangs on, in sentences; sums by hand."""

import pandas as pd
from sweetspot.decision_words import FACTOR
from sweetspot.report.phrases import causes

ANSWER = {"verdict": pd.DataFrame([{"workload": "w"}]), "choices": pd.DataFrame([{"workload": "w", "model": "m"}])}
COLUMNS = ["model", "assumption", "quantity", "unit", "value", "low", "high", "flip_value"]


def told(*rows):
    return causes(ANSWER | {"tornado": pd.DataFrame(rows, columns=COLUMNS)})


def test_the_first_three_of_the_answers_model_are_told_with_range_and_turn():
    days = ("m", "days of use a month", "days_per_month", "days/month", 20.0, 8.0, 30.0, 13.7)
    speed = ("m", "speed of the box", "images_per_s", "images/s", 0.0002, 0.0001, 0.0003, 0.00025)
    rents = ("m", "all rented prices", "usd_per_hour", FACTOR, 1.0, 0.8, 1.2, None)
    other = ("other", "price of the box", "capex_usd", "USD", 1.0, 1.0, 1.0, 1.0)
    fourth = ("m", "electricity price", "usd_per_kwh", "USD/kWh", 0.2, 0.1, 0.3, None)
    assert told(other, days, speed, rents, fourth) == [
        "Days of use a month (20 days, from 8 to 30): the cheapest changes at 13.7.",
        "Speed of the box (−50 % to +50 %): the cheapest changes at +25 %.",  # 0.00025 / 0.0002 = 1.25
        "All rented prices (−20 % to +20 %): no value changes the cheapest.",
    ]


def test_without_an_answer_or_an_owned_machine_nothing_is_told():
    assert causes({}) == [] == causes(ANSWER | {"tornado": pd.DataFrame(columns=COLUMNS)})
