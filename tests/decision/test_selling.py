"""What is there and may be sold: to keep it costs what it would bring; counted by hand."""

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly, own
from small_lab import class_of, posed, small_lab
from sweetspot.decision.choice_table import choice_table, works
from sweetspot.decision.cost_dispatch import dispatch_question
from sweetspot.decision.sources import source_table
from sweetspot.decision.verdict import verdict_table
from sweetspot.errors import UserError


def lab(rent, have=1, **terms):
    """200 hours of work a month; a machine that is there: 240 hours, 50 of care, 0.2 an hour; it would bring 3,600."""
    old = own("old", **({"capex": 0.0, "sell_for": 3600.0} | terms))
    return small_lab(old, hourly(rent), jobs=[class_of("a", 100.0)], hours={"a": 2.0}, have=["old"] * have)


def of_month(made):
    """USD a month of each way, by its key."""
    return {one.key: one.expected for one in made.mixes}


def test_to_keep_a_machine_costs_what_it_would_bring():
    """50 of care, 3,600 / 36 given up, 40 of electricity; sold, 200 hours for 6 USD."""
    made = lab(6.0)[0]
    assert of_month(made) == pytest.approx({"best": 190.0, "there": 190.0, "rented": 190.0, "sold": 1200.0})
    assert made.mixes[0].counts == (1,) and made.mixes[0].sold == {}
    assert float(made.mixes[0].at(made.central).usd[0]) == pytest.approx(190.0)


def test_where_renting_is_cheaper_than_its_care_and_price_it_is_sold():
    made, options, drawn, settings = lab(0.3)
    assert of_month(made) == pytest.approx({"best": 60.0, "there": 190.0, "rented": 190.0, "sold": 60.0})
    assert made.mixes[0].counts == (0,) and made.mixes[0].sold == {"old": 1}
    (work,) = works(options, drawn, [], [made], settings)
    table = choice_table([work], ()).set_index("choice")
    assert table["title"].to_dict() == {
        "best": "1 × old sold, all on rented", "there": "what you have, alone", "rented": "rented beside your old",
    }  # fmt: skip
    assert table[["kind", "sold"]].to_dict("index")["best"] == {"kind": "rent", "sold": 1.0}
    assert table["kind"]["there"] == "keep"
    told = verdict_table([work], "lab", pd.DataFrame(), {}).iloc[0]
    assert told.best == "best" and told.rival in ("there", "rented") and told.ratio == pytest.approx(190 / 60)


def test_of_two_one_is_sold_where_one_is_enough():
    made = lab(6.0, have=2)[0]
    assert made.mixes[0].counts == (1,) and made.mixes[0].expected == pytest.approx(190.0)
    assert of_month(made)["there"] == pytest.approx(340.0)
    rows = source_table([made])
    best = rows[rows["mix"] == "best"].set_index("option")
    assert best.loc["old", ["machines", "fixed_usd_per_month", "usd_per_month"]].tolist() == pytest.approx(
        [1, 150, 190]
    )


def test_nothing_is_sold_that_has_no_price_and_nothing_that_is_for_sale():
    """A box for sale that names such a price costs as before: 1,050 a month."""
    assert of_month(lab(0.3, sell_for=None)[0]) == pytest.approx({"best": 90.0, "there": 90.0, "rented": 90.0})
    made = posed(own(sell_for=9000.0), hourly(6.0), jobs=[class_of("a", 100.0)], hours={"a": 2.0})
    assert of_month(made) == pytest.approx({"best": 1090.0, "box": 1090.0, "rented": 1200.0})


def test_from_which_price_it_is_sold():
    """Rented for 1 USD an hour it is 200 a month: kept, 90 and a 36th of its price; both alike at 3,960."""
    question = dispatch_question(lab(1.0)[0])
    (price,) = (one for one in question.assumptions if one.quantity == "sell_for_usd")
    assert (price.name, price.value, price.unit) == ("what old would sell for", 3600.0, "USD")
    (turn,) = question.turns[price]
    assert turn.factor * 3600.0 == pytest.approx(3960.0) and question.choices[turn.to].option in ("sold", "rented")
    assert question.title(turn.to, 0.0, None) == "1 × old sold, all on rented"


def test_its_price_may_have_a_range():
    old = own("old", capex=0.0, sell_for={"value": 3600.0, "low": 1800.0, "high": 5400.0})
    made = posed(old, hourly(6.0), jobs=[class_of("a", 100.0)], hours={"a": 2.0}, have=["old"], draws=1000)
    brought = (made.mixes[0].done.usd - 90.0) * 36
    assert np.quantile(brought, [0.05, 0.5, 0.95]) == pytest.approx([1800.0, 3600.0, 5400.0], rel=0.06)


def test_its_price_may_follow_its_age():
    """Paid 9,000; four years after it came out a gaming device brings 40 % of it (33 to 71 %): 3,600 as above."""
    aged = {"paid": 9000.0, "curve": "gaming", "age_years": 4.0}
    made, options, *_ = lab(6.0, sell_for=aged)
    assert float(made.mixes[0].at(made.central).usd[0]) == pytest.approx(190.0)
    names = ["sell_for_usd", "sell_for_usd_low", "sell_for_usd_high"]
    (old,) = options[options["option"] == "old"][names].to_dict("records")
    assert list(old.values()) == pytest.approx([3600.0, 2970.0, 6390.0])
    # Of a box its devices are the half: 9,000 x 0.5 x (0.61 + 0.40) / 2 half a year before.
    made, options, *_ = lab(6.0, sell_for={**aged, "share": 0.5, "age_years": 3.5})
    assert options.set_index("option").loc["old", "sell_for_usd"] == pytest.approx(2272.5)


def test_its_age_follows_from_its_device_where_it_is_not_said():
    """The GTX 1080 Ti came out in March 2017: of the 15th of that month four years are over on 2021-03-15, near enough
    to the day (0.9993 of them by years of 365.25 days) for 40 % of the price.
    """
    aged = {"paid": 9000.0, "curve": "gaming"}
    old = own("old", capex=0.0, months=36.0, sell_for=aged) | {"as_of": "2021-03-15"}
    facts = {"old": {"gpu": "GTX 1080 Ti"}}
    jobs = [class_of("a", 100.0)]
    options = small_lab(old, hourly(6.0), jobs=jobs, hours={"a": 2.0}, have=["old"], facts=facts)[1]
    assert options.set_index("option").loc["old", "sell_for_usd"] == pytest.approx(3600.0, rel=1e-3)
    with pytest.raises(UserError, match=r"offer 'old': own\.sell_for has a curve and no age; expected age_years: when"):
        small_lab(old, hourly(6.0), jobs=jobs, hours={"a": 2.0}, have=["old"], facts={"old": {"gpu": "X1"}})
