"""What to find out first, and how long jobs wait: sentences from rows by hand."""

import math

import pandas as pd
import pytest
from sweetspot.report.worth_words import NOTHING, TOO_DEAR, waiting_in_words, worth_in_words

NAN = math.nan


def rows(*entries):
    names = ("figure", "quantity", "unit", "value", "evppi_usd", "evppi_usd_low", "evppi_usd_high", "cost_to_learn_usd",
             "turning_point")  # fmt: skip
    more = {"rests_on_it": 1, "model": "m", "project": "10 days of use a month for 30 months", "minutes_to_learn": 30.0}
    more |= {"learn_on_title": "Cloud, 1 x X", "title": "X"}
    return pd.DataFrame([dict(zip(names, entry, strict=True)) | more for entry in entries])


SPEED = ("speed of X", "speed", "images/s", 100.0, 912.0, 800.0, 1024.0, 3.0, 124.0)
OTHER = ("speed of Y", "speed", "images/s", 100.0, 700.0, 650.0, 750.0, 5.0, 80.0)
DAYS = ("days of use a month", "days_per_month", "days/month", 10.0, 2000.0, 1900.0, 2100.0, NAN, 13.7)
PRICE = ("price of X", "usd_per_hour", "USD/hour", 2.0, 1500.0, 1400.0, 1600.0, NAN, NAN)
DEAR = (*SPEED[:7], 1000.0, SPEED[8])
TIMING = "That takes 30 minutes on Cloud, 1 x X, about 3 USD."
NO_SPEED = "No speed is worth timing: none, known exactly, would save more than the timing costs."


def test_what_can_be_timed_is_measured_first():
    first = ["Measure the speed of X first.", TIMING,
             "Knowing that is worth up to 910 USD (800 to 1,000) over the project.",
             "The cheapest changes if it is 24 % faster."]  # fmt: skip
    assert worth_in_words(rows(SPEED)) == [*first, "No other figure is worth finding out."]
    assert worth_in_words(rows(OTHER, SPEED), "EUR")[1:] == [
        TIMING.replace("USD", "EUR"), "Knowing that is worth up to 910 EUR (800 to 1,000) over the project.", first[3],
        "After that, knowing the speed of Y is worth up to 700 EUR (650 to 750).",
        "That takes 30 minutes on Cloud, 1 x X, about 5 EUR.",
    ]  # fmt: skip


@pytest.mark.parametrize(("turning", "count", "said"), [
    (124.0, 2, "24 % faster, on both options that rest on it."), (80.0, 1, "20 % slower."),
    (80.0, 3, "20 % slower, on all 3 options that rest on it."), (100.0, 1, "0 % slower."),
])  # fmt: skip
def test_a_speed_turns_it_by_a_share_of_itself(turning, count, said):
    told = worth_in_words(rows((*SPEED[:8], turning)).assign(rests_on_it=count))
    assert told[3] == f"The cheapest changes if it is {said}"


def test_a_figure_that_nobody_can_time_comes_with_the_first_that_one_can():
    """What is timed on the machine itself has no place to be named; what nothing turns has no sentence on that."""
    first = ["Find out the days of use a month first.",
             "Knowing that is worth up to 2,000 USD (1,900 to 2,100) over the project.",
             "The cheapest changes at 13.7 days."]  # fmt: skip
    assert worth_in_words(rows(SPEED, OTHER, DAYS).assign(learn_on_title="X")) == [
        *first, "Of what can be timed, measure the speed of X first.", TIMING.replace(" on Cloud, 1 x X", ""),
        "Knowing it is worth up to 910 USD (800 to 1,000).", "The cheapest changes if it is 24 % faster.",
    ]  # fmt: skip
    untimed = [(*speed[:7], NAN, NAN) for speed in (SPEED, OTHER)]
    assert worth_in_words(rows(*untimed, DAYS)) == [
        *first, "Of the speeds the speed of X is worth most, up to 910 USD (800 to 1,000).", "Nobody here rents it out."
    ]  # fmt: skip
    assert worth_in_words(rows(untimed[1], DAYS))[3].startswith("Of the speeds the speed of Y is worth most, up to 700")
    assert worth_in_words(rows(PRICE)) == [
        "Find out the price of X first.", "Knowing that is worth up to 1,500 USD (1,400 to 1,600) over the project.",
        NO_SPEED,
    ]  # fmt: skip
    assert worth_in_words(rows(DEAR, DAYS)) == [*first, NO_SPEED]


def test_what_is_too_dear_or_worth_nothing_within_its_error_is_not_named():
    """Worth 912 +- 112 USD: at 911.5 of timing it is named, at 912 not."""
    nothing = (*SPEED[:5], 0.0, *SPEED[6:])
    assert worth_in_words(rows((*SPEED[:7], 911.5, NAN)))[0] == "Measure the speed of X first."
    assert worth_in_words(rows((*SPEED[:7], 912.0, NAN), nothing)) == [f"No {TOO_DEAR}"]
    assert worth_in_words(rows(nothing), on="VGG-16") == [f"On VGG-16 no {NOTHING}"]
    cents = (*DAYS[:4], 0.5, 0.4, 0.6, NAN, NAN)
    assert worth_in_words(rows((*cents[:7], 0.5, NAN))) == [f"No {TOO_DEAR}"]
    assert worth_in_words(rows(cents))[1] == "Knowing that is worth up to 0.5 USD (0.4 to 0.6) over the project."
    sure = (*DAYS[:4], 5.04, 5.02, 5.04, NAN, NAN)  # two figures: both ends print 5
    assert worth_in_words(rows(sure))[1] == "Knowing that is worth up to 5 USD over the project."
    assert worth_in_words(pd.DataFrame()) == []


QUEUE = {
    "title": "office box", "option": "box", "model": "net", "workload": "jobs", "held": True, "is_reference": False,
    "overloaded": False, "per_month": 6.0, "utilisation": 0.433, "wait_hours": 40.36, "wait_hours_p90": 137.0,
    "hours_to_result": 93.2, "rival": "cloud", "rival_title": "cloud box (spot)", "rival_hours": 117.0,
    "slower_from_per_month": 7.6, "slower_from_people": 4.0, "people": 3.0,
}  # fmt: skip
WAITS = ("The office box with 6 jobs a month of “jobs” is busy 43 % of the time. A job waits 40.4 h on average, one in "
         "ten over 137 h. The result arrives after 93.2 h.")  # fmt: skip
FULL = {"overloaded": True, "utilisation": 1.0, "people": 9.0, "slower_from_people": 4.0}


@pytest.mark.parametrize(("changes", "said"), [
    ({}, f"{WAITS} The cloud box (spot) (117 h) is faster from 4 people on (now 3)."),
    ({"people": 4.0}, f"{WAITS} The cloud box (spot) (117 h) is faster for your 4 people; for up to 3 it was not."),
    ({"people": 1.0, "slower_from_people": 1.0}, f"{WAITS} The cloud box (spot) (117 h) is faster for your 1 person."),
    ({"people": 2.0, "slower_from_people": 2.0},
     f"{WAITS} The cloud box (spot) (117 h) is faster for your 2 people; for up to 1 it was not."),
    ({"slower_from_people": NAN}, f"{WAITS} The cloud box (spot) (117 h) is faster from 7.6 jobs a month on."),
    ({"slower_from_per_month": 0.5, "slower_from_people": NAN},
     f"{WAITS} The cloud box (spot) (117 h) is faster from 0.5 jobs a month on."),
    ({"slower_from_per_month": 0.0}, f"{WAITS} The cloud box (spot) (117 h) is faster even without a wait."),
    ({"slower_from_per_month": NAN}, f"{WAITS} The cloud box (spot) (117 h) is faster even without a wait."),
    ({"rival": None, "rival_title": None}, WAITS),
    ({"rival_hours": NAN}, WAITS),
    ({"wait_hours_p90": 0.5, "rival": None}, WAITS.replace("137 h", "0.5 h")),
    ({"wait_hours_p90": 0.0, "rival": None},
     WAITS.replace("one in ten over 137 h", "and fewer than one in ten waits at all")),
    (FULL | {"rival": None}, "The office box with 6 jobs a month of “jobs” would be busy 100 % of the time: the queue "
                             "grows without end."),
    (FULL | {"utilisation": 0.99}, "The office box with 6 jobs a month of “jobs” cannot keep up: the queue grows "
                                   "without end. The cloud box (spot) (117 h) is faster for your 9 people; for up to "
                                   "3 it was not."),
])  # fmt: skip
def test_a_wait_in_words(changes, said):
    assert waiting_in_words(pd.DataFrame([QUEUE | changes])) == [said]


def test_of_each_work_the_three_are_told_that_are_asked_about_first():
    """The reference, then what keeps up, then the sooner result, then by name; what is rented has no wait."""
    made = [("b", 5.0), ("a", 5.0), ("late", 9.0), ("full", 1.0), ("asked", 99.0), ("rented", 1.0)]
    table = pd.DataFrame([QUEUE | {"title": name, "option": name, "hours_to_result": hours} for name, hours in made])
    table = table.assign(overloaded=table["option"] == "full", is_reference=table["option"] == "asked")
    table["held"] = table["option"] != "rented"
    other = table.head(1).assign(workload="else")
    first = [sentence.split(" with ")[0] for sentence in waiting_in_words(pd.concat([table, other]))]
    assert first == ["asked", "a", "b", "b"]
    assert [told.split(" with ")[0] for told in waiting_in_words(table[table["option"].isin(["full", "late"])])] == [
        "late", "full"
    ]  # fmt: skip
    assert waiting_in_words(table.tail(1)) == waiting_in_words(pd.DataFrame()) == []
