"""The answer over several models, and what stands beside it: prices left out, weak grounds, money in words."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from answer_options import option
from said_answers import answer, read
from sweetspot.decision.contenders import contenders
from sweetspot.decision.counted import money, times
from sweetspot.decision.said import Said
from sweetspot.decision.sentences import sentences


def models(*shares, reference_wins=()):
    """A CPU and a card on as many models: the CPU costs `share` x the card's 1 USD and takes twice its 1 h."""
    rows = []
    for place, share in enumerate(shares):
        model = f"m{place}"
        rows += [
            option("CPU", share, hours=2.0, model=model),
            option("Card", 1.0, hours=1.0, model=model),
            option("Fast", 4.0, hours=0.5, model=model),
        ]
    return rows


def test_different_winners_are_counted_and_the_range_of_their_cost_is_said():
    row = answer(*models(0.3, 0.5, 0.8, 1.25), reference="Card")
    first, second, _ = read(row)
    # 1 / 0.8 = 1.25 (printed half to even) to 1 / 0.3 = 3.33
    assert first == (
        "No machine is the cheapest on all 4 models. Take CPU on 3: 1.2 to 3.3 times cheaper than Card. On m3 take "
        "Card."
    )
    assert second == "On those 3 it takes 2.0 times as long. Fastest on all models is Fast."
    # least favourable to the card: m0, where the CPU costs 0.3 of it
    assert (row["model"], row["cost_share"], row["hours_share"]) == ("m0", pytest.approx(0.3), pytest.approx(2.0))


def test_one_winner_on_all_models_is_told_on_the_least_favourable():
    # against the card's 1 USD: 1 / 0.3 = 3.3 and 1 / 0.8 = 1.25, printed 1.2 (half to even)
    first, second, _ = read(answer(*models(0.3, 0.8), reference="CPU"))
    assert first == "Take CPU: at least 1.2 times cheaper than Card."
    assert second.startswith("That is on m1, the closest of 2 models, against Card.")


def test_a_rival_that_wins_on_all_models_is_up_to_so_much_cheaper():
    # held against the card, whose worst model is m0: 1 / 0.3 = 3.3
    first, second, _ = read(answer(*models(0.3, 0.8), reference="Card"))
    assert first == "Take CPU: up to 3.3 times cheaper than Card."
    assert second.startswith("That is on m0, the clearest of 2 models, against Card.")


def test_with_different_rivals_the_closest_is_called_the_next_and_named_beside():
    rows = [option(name, usd, model=model)
            for model, usds in (("hard", (10, 15, 40)), ("easy", (10, 50, 30)))
            for name, usd in zip(("Box", "One", "Other"), usds, strict=True)]  # fmt: skip
    first, second, _ = read(answer(*rows, reference="Box"))
    assert first == "Take Box: at least 1.5 times cheaper than the next."  # 15 / 10; 30 / 10 on easy, against Other
    assert second.startswith("That is on hard, the closest of 2 models, against One.")


def test_what_is_cheaper_at_prices_that_the_answer_leaves_out_is_said_last():
    cheap = option("Card (later)", 5, instance="later", in_answer=False, price_list="later")
    row = answer(option("Box", 10), option("Rival", 20), cheap, reference="Box")
    assert read(row)[2].endswith("Cheaper still, at prices that the answer leaves out: Card (later).")
    # What is cheapest there is named, by however weak a speed: the tables beside the sentence show it first.
    declared = option("Other", 4, in_answer=False, price_list="later", throughput_basis="equivalent")
    row = answer(option("Box", 10), option("Rival", 20), cheap, declared, reference="Box")
    assert read(row)[2].endswith("leaves out: Other. Its speed is declared equal to that of another machine.")
    assert row["winner"] == "box" and row["machines"] == 2
    # What is there already stands on a list of the answer: it is left out itself, and no price of it is.
    there = option("What is there", 1, in_answer=False, price_list="mine")
    row = answer(option("Box", 10, price_list="mine"), option("Rival", 20), there, reference="Box")
    assert "Cheaper still" not in read(row)[2]


def test_weak_grounds_are_told_with_titles_prices_apart_from_speeds():
    weak = option("Rival", 20, throughput_basis="equivalent", price_basis="stand_in")
    _, _, more = read(answer(option("Box", 10), weak, reference="Box"))
    assert "The speed of Box is published. That of Rival is taken from another machine." in more
    assert more.endswith("The price of Rival is derived, not published.")
    # What is the same of both is said once.
    ahead = [option(name, usd, throughput_basis="extrapolated") for name, usd in (("Box", 10), ("Rival", 20))]
    assert read(answer(*ahead, reference="Box"))[2].endswith("The speeds of Box and Rival are predictions.")


@pytest.mark.parametrize(
    ("value", "said"), [(161.2, "161"), (1234.5, "1,234"), (47.28, "47.3"), (0.5, "0.50"), (0.0106, "0.011")]
)
def test_money_as_people_print_it(value, said):
    assert money(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(6.58, "6.6"), (1.04, "1.04"), (0.3, "0.30"), (29.4, "29"), (1.0, "1.00"), (0.97, "0.97")]
)
def test_multiples_have_two_figures_and_three_beside_one(value, said):
    assert times(value) == said


def test_sentences_of_a_model_alone_name_it():
    found = contenders(pd.DataFrame([option("Box", 10), option("Rival", 20)]), None)
    row = {"model": "m", "counts": "train", "gain": 2.0, "gain_low": 2.0, "gain_high": 2.0, "p_cheaper": 1.0}
    row |= {"confidence": "clear", "days": np.nan, "model_title": "m"}
    first, _, _ = sentences([Said(row, replace(found, place=1))], several=True)
    assert first == "Take Box on m: 2.0 times cheaper than Rival."
