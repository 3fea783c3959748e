"""What is said of a plan of phases, on tables made for it: nothing but the table decides the words."""

import itertools
import re

import pandas as pd
import pytest
from phase_tables import BOX, CLOUD, CLOUDS, QUICK, SPOT, TITLES, box, option, plan_options
from readability import EASY, LONGEST, grade, sentences, words
from sweetspot.decision.phase_words import phases_in_words

TIE = "too close to call"
THREE = {"title": f"3 × {TITLES[BOX]}", "machines": 3.0}


def said(*rows, reference=None, **sure):
    return phases_in_words(plan_options(*rows, **sure), "USD", reference)


def test_an_owned_box_that_wins():
    """32,000 / 8,000 = 4.0 (0.6 and 1.5 times that); 40,000 / 8,000 = 5; 6,500 of the 8,000 are its months."""
    assert said(box(), *CLOUDS, reference=BOX) == [
        "Take the office box with 4 GTX: 4.0 times cheaper than Cloud with 1 V100 over 30 months "
        "(2.4 to 6.0), a chance of about 29 in 30 (97 %).",
        "The project costs 8,000 USD with it (6,400 to 10,000).",
        "Of that 6,500 USD are due, used or not.",
        "It needs 7,000 of its 7,200 planned hours.",
        "The next is Cloud with 1 V100: 1,300 hours for 32,000 USD.",
        "Fastest is Cloud with 8 V100: 200 hours for 5.0 times the money.",
        "Cheapest of those that can be taken away is Cloud with 1 V100 (spot): 1,300 hours for 12,000 USD.",
    ]


def test_a_rented_machine_that_wins_says_what_the_box_costs_that_was_asked_about():
    """It has no planned hours and nothing that is due; 44,000 / 32,000 = 1.375."""
    told = said(box(usd=44_000.0), *CLOUDS[1:], reference=BOX)
    assert told[0].startswith("Take Cloud with 1 V100: 1.2 times cheaper than Cloud with 8 V100 over")
    assert told[1:] == [
        "The project costs 32,000 USD with it (25,600 to 40,000).",
        "The work takes 1,300 hours.",
        "The next is Cloud with 8 V100: 200 hours for 40,000 USD.",
        "Nothing is faster.",
        "The office box with 4 GTX costs 38 % more money: 7,000 hours for 44,000 USD.",
    ]


def test_too_close_is_said_first_and_takes_nobody():
    told = said(box(usd=31_900.0), CLOUDS[1], probability=0.52, confidence=TIE)
    start = "Too close to call: the office box with 4 GTX costs about as much as Cloud with 1 V100 over 30 months ("
    assert told[0].startswith(start)
    assert "Take" not in told[0]


def test_the_only_one_that_cannot_be_taken_away_is_held_against_nobody():
    told = said(box(), CLOUDS[0])
    assert told[0] == "Take the office box with 4 GTX: 8,000 USD. Nothing else does it and cannot be taken away."
    assert told[-1].startswith("Cheapest of those that can be taken away is Cloud with 1 V100 (spot)")
    assert "times cheaper" not in told[0]


def test_one_option_alone():
    told = said(box())
    assert told[0] == "Take the office box with 4 GTX: 8,000 USD. Nothing else here does the work."
    assert not any("taken away" in one or "faster" in one for one in told)


def test_where_all_can_be_taken_away_it_is_said_and_the_cheapest_taken():
    rows = [row | {"persistent": False} for row in CLOUDS]
    told = said(*rows)
    assert told[0].startswith("Take Cloud with 1 V100 (spot): 2.7 times cheaper than Cloud with 1 V100 over")
    assert told[-1] == "Like all here, it can be taken away while it works."
    assert not any(one.startswith("Cheapest of those") for one in told)


def test_nothing_is_said_of_a_study_without_a_plan_and_a_plan_that_nobody_does():
    assert phases_in_words(plan_options(box()).head(0)) == []
    nobody = plan_options(box()).assign(is_best=False, usd=float("nan"))
    assert phases_in_words(nobody) == ["Nothing here does the work of project."]


def test_several_boxes_are_spoken_of_as_several():
    told = said(box(**THREE), *CLOUDS)
    assert told[0].startswith("Take 3 × office box with 4 GTX:")
    assert "The project costs 8,000 USD with them (6,400 to 10,000)." in told
    assert "Each needs 7,000 of its 7,200 planned hours." in told


def test_a_cheaper_one_that_can_be_taken_away_is_named_but_never_taken():
    told = said(box(), option(SPOT, 4000.0, 1300.0, persistent=False), *CLOUDS[1:])
    assert told[0].startswith("Take the office box")
    assert "Cheapest of those that can be taken away is Cloud with 1 V100 (spot): 1,300 hours for 4,000 USD." in told


@pytest.mark.parametrize(("hours", "words"), [(100.0, "Nothing is faster."), (7000.0, "Fastest is Cloud with 8 V100")])
def test_of_the_fastest_only_those_count_that_the_answer_may_take(hours, words):
    """A spot machine that is the fastest is not said to be: the answer may not take it."""
    spot = option(SPOT, 12_000.0, 50.0, persistent=False)
    assert any(one.startswith(words) for one in said(box(hours=hours), spot, *CLOUDS[1:]))


def test_where_all_take_as_long_nobody_is_the_fastest():
    rows = [box(hours=700.0), *(row | {"hours": 700.0} for row in CLOUDS)]
    assert not any("astest" in one or "faster" in one for one in said(*rows))


def test_a_second_plan_is_named_and_use_and_cause_are_of_the_first():
    first, second = plan_options(box(), *CLOUDS), plan_options(box(), *CLOUDS).assign(workload="two-years")
    both = pd.concat([first, second], ignore_index=True)
    told = phases_in_words(both, use="It pays from 25 % of that work.", hangs="Most hangs on its speed.")
    assert told[0].endswith("It pays from 25 % of that work. Most hangs on its speed.")
    assert sum(one.startswith("Two years: Take the office box") for one in told) == 1
    assert sum("Most hangs" in one for one in told) == 1


OUTCOMES = [
    dict(zip(("rows", "sure"), one, strict=True))
    for one in itertools.product(
        (
            (box(), *CLOUDS), (box(usd=45_000.0), *CLOUDS), (box(**THREE), *CLOUDS), (box(), CLOUDS[0]), (box(),),
            tuple(row | {"persistent": False} for row in CLOUDS), CLOUDS,
            (box(months=None), *(row | {"months": None} for row in CLOUDS)),
        ),
        ((0.999, "clear"), (0.86, "likely"), (0.5, TIE)),
    )
]  # fmt: skip


def test_whatever_the_outcome_no_sentence_stands_twice_and_all_are_easy_to_read():
    for one in OUTCOMES:
        probability, confidence = one["sure"]
        table = plan_options(*one["rows"], probability=probability, confidence=confidence)
        told = phases_in_words(table, "USD", BOX, hangs="Most hangs on the other's price.")
        assert len(told) == len(set(told))
        assert len(told[0].split()) <= 45
        assert grade(" ".join(told), TITLES.values()) <= EASY, told
        assert max(len(words(sentence)) for sentence in sentences(" ".join(told))) <= LONGEST
        assert "nan" not in " ".join(told) and "None" not in " ".join(told)


def test_whatever_the_outcome_the_cheaper_is_taken_and_no_key_is_read():
    for one in OUTCOMES:
        table = plan_options(*one["rows"])
        told = phases_in_words(table, "USD", BOX)
        kept = table[table["persistent"]] if table["persistent"].any() else table
        cheapest = kept.loc[kept["usd"].idxmin(), "title"]
        assert re.match(rf"Take (the )?{re.escape(cheapest)}:", told[0])
        for key in (BOX, "price_list", "own"):
            assert key not in " ".join(told)
    assert {CLOUD, QUICK} & {row["option"] for row in CLOUDS}


def test_money_is_called_by_the_currency_of_the_table():
    told = phases_in_words(plan_options(box(), *CLOUDS), "EUR")
    assert "The project costs 8,000 EUR with it (6,400 to 10,000)." in told
    assert "USD" not in " ".join(told)
