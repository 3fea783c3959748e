"""Numbers in words at the ends of their ranges, and what the answer says where it counts models, ties and bills."""

import numpy as np
import pandas as pd
import pytest
from answer_options import box, option, spot
from sweetspot.decision.contenders import contenders
from sweetspot.decision.counted import counted, listed, money, times
from sweetspot.decision.other_figures import span_in_words
from sweetspot.decision.phases import PricedPhase
from sweetspot.decision.recommend import recommend
from sweetspot.decision.said import Said
from sweetspot.decision.sentences import sentences

SURE = {"gain_low": 2.0, "gain_high": 2.0, "p_cheaper": 1.0, "confidence": "clear", "days": np.nan, "counts": "train"}
TIE = {"gain_low": 0.8, "gain_high": 1.5, "p_cheaper": 0.6, "confidence": "too close to call"}


def said(*rows, reference=None, **more):
    """One model of its own: the options, and the row of the headline that they make."""
    table = pd.DataFrame(list(rows))
    own = None
    if reference:
        own = table[table["title"] == reference].rename_axis("row").reset_index().to_dict("records")[0]
    who = contenders(table, own)
    gain = who.alternative["usd"] / who.reference["usd"] if who.alternative else np.nan
    return Said({**SURE, "model": rows[0]["model"], "gain": gain, **more}, who)


@pytest.mark.parametrize(
    ("value", "said"),
    [(100, "100"), (99.94, "99.9"), (10, "10.0"), (9.994, "9.99"), (0.1, "0.10"), (0.0994, "0.099"), (1.0, "1.00")],
)  # fmt: skip
def test_money_at_its_bounds(value, said):
    assert money(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(10, "10"), (9.94, "9.9"), (1.12, "1.1"), (1.09, "1.09"), (1.5, "1.5"), (0.88, "0.88"), (2, "2.0")],
)
def test_multiples_at_their_bounds(value, said):
    assert times(value) == said


def test_counts_and_lists_as_people_write_them():
    assert [counted(amount, "bill", "bills") for amount in (1, 2, 1200)] == ["1 bill", "2 bills", "1,200 bills"]
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_a_gain_of_exactly_one_is_told_with_its_own_interval():
    first, _, _ = sentences([said(option("Box", 10), option("Rival", 10), reference="Box", **TIE)], several=False)
    assert first == (
        "Too close to call: Box costs about as much as Rival (1.00 times cheaper, 0.80 to 1.5), a chance of about 3 in "
        "5 (60 %)."
    )


def test_a_loss_is_told_with_its_interval_and_probability_turned_over():
    # the box is cheaper by 0.5 (0.4 to 0.8), probability 0.02: the rival by 2 (1 / 0.8 = 1.25 to 1 / 0.4 = 2.5), 98 %
    more = {"gain_low": 0.4, "gain_high": 0.8, "p_cheaper": 0.02}
    first, _, _ = sentences([said(option("Box", 20), option("Rival", 10), reference="Box", **more)], several=False)
    assert first == "Take Rival: 2.0 times cheaper than Box (1.2 to 2.5), a chance of about 49 in 50 (98 %)."


def test_thirty_days_are_day_and_night():
    for days, told in ((30.0, "use day and night"), (29.9, "29.9 days of use a month")):
        one = said(box("Box", 10, days_per_month=days), option("Rival", 20), reference="Box", days=3.0,
                   days_low=2.0, days_high=4.0)  # fmt: skip
        first, second, _ = sentences([one], several=False)
        assert first.endswith(" Owning pays from 3.0 days of use a month.")
        assert second.endswith(
            f" This counts {told} for 30 months, with electricity at 0.2 USD/kWh. The 3.0 days may be 2.0 to 4.0."
        )


@pytest.mark.parametrize(("days", "only"), [(10.0, ""), (10.1, "only ")])
def test_more_days_than_are_planned_are_said_to_be_needed(days, only):
    more = {"days": days, "days_low": 2.0, "days_high": 20.0}
    first, _, _ = sentences([said(box("Box", 20), option("Rival", 20), reference="Box", **more)], several=False)
    assert first.endswith(f" Owning pays {only}from {days:.1f} days of use a month.")


def test_an_owned_machine_without_a_rival_has_no_condition_and_no_place():
    one = said(box("Box", 10), reference="Box")
    assert sentences([one], several=False) == (
        "Only Box can be judged: 10.0 USD. Nothing else has both a price and a speed.",
        "",
        [],
    )


def test_one_machine_as_two_offers_has_no_place_in_speed():
    rows = option("Card", 10), option("Card (reserved)", 8, instance="card", purchase="reserved")
    first, second, _ = sentences([said(*rows, reference="Card")], several=False)
    assert first == "Take Card (reserved): 1.2 times cheaper than Card." and second == ""


def two_models(share, other, *ties):
    """A CPU against a card of 1 USD on two to four models, at these shares of its cost; on `ties` nobody can tell."""
    found = []
    for place, usd in enumerate((share, other, 2.0, 2.0)[: max(2, len(ties))]):
        rows = option("CPU", usd, hours=3.0, model=f"m{place}"), option("Card", 1.0, hours=1.0, model=f"m{place}")
        found.append(said(*rows, reference="Card", **(TIE if place in ties else {})))
    return found


def test_half_of_the_models_too_close_leave_the_answer_and_more_do_not():
    # m0 goes to the CPU, the rest to the card: 2 of 4 are half, 3 of 4 are not; a tie counts for nobody
    first, second, more = sentences(two_models(0.5, 2.0, 1, 2, 9, 9), several=False)
    assert first == (
        "No machine is the cheapest on all 4 models. Take Card on 1: 2.0 times cheaper than CPU. On m0 take CPU. "
        "Too close to call on m1 and m2."
    )
    # 1 h against 3 h
    assert second == "On m3 it takes 0.33 of the time. Fastest on all models is Card."
    assert more == ["Card is number 1 of 2 machines in speed."]
    first, second, _ = sentences(two_models(0.5, 2.0, 1, 2, 3, 9), several=False)
    assert first == (
        "Too close to call on 3 of 4 models. Card looks the cheapest on 3: 2.0 times cheaper than CPU. On m0 CPU looks "
        "the cheapest."
    )
    assert second.endswith("Too close to call on m1, m2 and m3.")
    # The card's only win is a tie: then nobody but the CPU is named, on the models where it is sure.
    first, _, _ = sentences(two_models(0.5, 2.0, 1), several=False)
    assert first == "Take CPU on 1 of 2 models: 2.0 times cheaper than Card. Too close to call on m1."


def test_different_losers_are_called_the_next_and_different_fastest_counted():
    def one(model, *rows):
        return said(*(option(*row[:2], hours=row[2], model=model) for row in rows))

    models = [
        one("m0", ("A", 1.0, 4.0), ("B", 2.0, 1.0)),
        one("m1", ("A", 1.0, 4.0), ("C", 4.0, 2.0)),
        one("m2", ("B", 1.0, 1.0), ("A", 3.0, 4.0)),
    ]
    first, second, _ = sentences(models, several=False)
    assert first == (
        "No machine is the cheapest on all 3 models. Take A on 2: 2.0 to 4.0 times cheaper than the next. On m2 take B."
    )
    # 4 h against 2 h and 1 h; B is the fastest on m0 and m2
    assert second == "On those 2 it takes 2.0 to 4.0 times as long. Fastest on 2 of 3 models is B."


def test_the_cheapest_that_can_be_taken_away_is_counted_over_models():
    def one(model, usd):
        rows = option("Box", 10, model=model), option("Rival", 20, model=model), spot("Card (spot)", usd, model=model)
        return said(*rows, reference="Box")

    three = one("m0", 15), one("m1", 8), one("m2", 5)
    for models, often in ((three, "2 of 3"), (three[:2], "1 of 2")):
        _, second, _ = sentences(models, several=False)
        assert second.endswith(
            f"Cheapest of all on {often} models is Card (spot), which can be taken away. It takes 10 h for 8.00 USD on "
            "m1, against 10 h for 10.0 USD. It is also the fastest."
        )


def test_what_is_left_out_is_counted_over_models():
    def one(model, *names):
        left = [option(name, 5, model=model, in_answer=False, price_list="old") for name in names]
        return said(option("Box", 10, model=model), option("Rival", 20, model=model), *left, reference="Box")

    for models, told in (
        ([one("m0", "Old"), one("m1", "New"), one("m2", "New")], "Cheaper still on 2 of 3 models, at prices"),
        ([one("m0"), one("m1", "New")], "Cheaper still on 1 of 2 models, at prices"),
        ([one("m0", "New")], "Cheaper still, at prices"),
    ):
        _, _, more = sentences(models, several=False)
        assert more[-1] == f"{told} that the answer leaves out: New."


def test_a_month_of_one_training_is_as_much_as_so_many_bills():
    # 40 / 20 = 2 bills; 20 / 20 = 1
    for month, often in ((40.0, "2 bills"), (20.0, "1 bill")):
        one = said(option("Server", 2, month_usd=month), option("Card", 20, hours=5.0))
        first, second, _ = sentences([one], several=False)
        assert first.endswith(f"It pays from {often} a month; for fewer, take Card.")
        assert second == f"Fastest is Card: 5 h for 20.0 USD. A month of Server costs {month:.1f} USD, used or not."


def test_published_and_measured_speeds_are_no_weak_ground():
    one = said(option("Box", 10, throughput_basis="measured"), option("Rival", 20), reference="Box")
    assert not any("speed of" in sentence for sentence in sentences([one], several=False)[2])


@pytest.mark.parametrize(
    ("gains", "winners", "told"),
    [((1.0, 2.0), ("Box", "Box"), "Box is still the cheaper on m, by 1.00 to 2.0 times."),
     ((0.5, 0.8), ("R", "R"), "R is still the cheaper on m, by 1.2 to 2.0 times."),
     ((0.5, 0.8), ("R", "S"), "a rival is still the cheaper on m, by 1.2 to 2.0 times.")],
)  # fmt: skip
def test_a_range_that_ends_at_a_tie_or_below_it(gains, winners, told):
    rows = {"model": "m", "device": None, "gain": gains, "winner": winners, "winner_title": winners}
    table = pd.DataFrame(rows | {"alternative_figure": "as used", "alternative_title": "R"})
    assert span_in_words(table, "m") == f"With other published figures, {told}"


def reason(*rows, **columns):
    """Why the first of (title, usd, hours, USD an hour) is recommended."""
    table = pd.DataFrame(rows, columns=["title", "usd", "hours", "usd_per_hour"])
    table = table.assign(**({"option": table["title"], "persistent": True} | columns))
    drawn = table[["usd"]].to_numpy(float)
    tornado = pd.DataFrame(columns=["model", "assumption", "flip_factor", "flip_value", "unit"])
    return recommend([PricedPhase("p", "s", table, drawn, ("m",))], tornado)["reason"][0]


def test_hours_that_differ_by_a_thousandth_say_nothing():
    assert reason(("A", 10.0, 1.0, 2.0), ("B", 15.0, 1.001, 2.0)) == "10 USD; B costs 1.50 times as much"


def test_what_can_be_taken_away_at_the_same_price_is_not_called_cheaper():
    rows = ("A", 10.0, 1.0, 2.0), ("B", 15.0, 1.0, 2.0), ("C", 10.0, 1.0, 2.0)
    said = reason(*rows, persistent=[True, True, False])
    assert said.endswith("; C, which can be taken away, costs 0 % more")


def test_a_dear_hour_that_does_the_work_for_less_is_told():
    # 3 / 2 = 1.5 times the hour, 15 / 10 = 1.50 times the work
    assert reason(("A", 10.0, 10.0, 3.0), ("B", 15.0, 10.0, 2.0)) == (
        "10 USD; B costs 1.50 times as much; its hour costs 1.5 times that of B, the cheapest hour, whose work costs "
        "1.50 times as much"
    )
    # a tenth more is not worth a word, nor are hours within a thousandth
    assert reason(("A", 10.0, 10.0, 2.2), ("B", 15.0, 10.005, 2.0)) == "10 USD; B costs 1.50 times as much"
    # hours apart by 1.5 in a thousand are
    assert reason(("A", 10.0, 10.0, 2.0), ("B", 15.0, 10.015, 2.0)).startswith("10 USD and 10 h; B costs 1.50 times")
    assert "planned use" not in reason(("A", 10.0, 10.0, 2.0), ("B", 15.0, 10.0, 2.0), planned_hours=0.0)
    assert reason(("A", 10.0, 10.0, 2.0), ("B", 15.0, 10.0, 2.0), planned_hours=0.5).endswith(
        "the 0.5 hours of its planned use"
    )
