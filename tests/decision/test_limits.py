"""What a team allows itself up front, what that limit costs; and selling."""

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly, own
from small_lab import class_of, small_lab
from sweetspot.decision.analyses import tornado_rows
from sweetspot.decision.choice_table import choice_table
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.priced_works import works
from sweetspot.decision.sources import source_table
from sweetspot.decision.verdict import verdict_table

SIGNED = {"instance": "signed", "purchase": "reserved",
          "commitment": {"term_months": 12.0, "per_month": 800.0, "upfront": 1200.0}}  # fmt: skip
BOX = own()  # 1,090 a month for 200 hours, 36,000 of it up front


def lab(*offers, jobs=100.0, usd_per_unit=1.0, have=(), **limits):
    """200 hours of work a month, and what else `small_lab` makes."""
    made, *rest = small_lab(*offers, jobs=[class_of("a", jobs)], hours={"a": 2.0}, have=list(have), **limits)
    return made.within_budget(usd_per_unit), *rest


def table_of(made, options, drawn, settings):
    """The choices, their work and the verdict."""
    (work,) = works(options, drawn, [], [made], settings, {})
    told = verdict_table([work], "lab", pd.DataFrame(), {})
    return choice_table([work], ()).set_index("choice"), work, told.iloc[0] if len(told) else None


def test_what_is_paid_up_front_is_the_price_of_machines_and_the_upfront_part_of_contracts():
    made = lab(own(), own("old", capex=0.0), SIGNED, hourly(6.0), have=["old"])[0]
    names, up_front = [kind.name for kind in made.drawn.held], made.up_front
    at = {name: tuple(int(one == name) + (one == "old") for one in names) for name in names}
    assert up_front(at["box"]) == 36_000.0
    assert up_front(next(counts for name, counts in at.items() if "signed" in name)) == 1200.0
    assert up_front(made.drawn.owned) == 0.0  # what is there is paid for


@pytest.mark.parametrize(
    ("most", "rate", "boxes"), [(36_000.0, 1.0, 1), (30_000.0, 1.0, 0), (30_000.0, 1.25, 1), (30_000.0, 1.19, 0)]
)
def test_an_exact_limit_is_kept_and_counts_in_the_money_of_the_study(most, rate, boxes):
    """30,000 of a currency of 1.25 USD are 37,500."""
    made = lab(BOX, hourly(6.0), usd_per_unit=rate, at_most_up_front=most)[0]
    assert made.mixes[0].counts == (boxes,) and bool(made.limit_costs) == (boxes == 0)
    (limit,) = [limit["allowed"] for limit in made.limit_costs] or [most * rate]
    assert limit == most * rate


def test_a_box_beyond_the_money_up_front_is_not_the_answer_and_says_so():
    """The box costs 1,090 a month, 36,000 up front; rented it is 1,200, and 1.5 times as much on the next one, which
    it is held against, in the tornado too; the box is no way of the question.
    """
    made, *rest = lab(BOX, hourly(6.0), hourly(9.0) | {"instance": "dear"}, at_most_up_front=30_000.0)
    table, _, told = table_of(made, *rest)
    assert table.loc["box", ["why_not", "reasons"]].tolist() == [
        "limit", [{"limit": "at_most_up_front", "allowed": 30_000.0, "actual": 36_000.0}],
    ]  # fmt: skip
    assert table.loc[["box", "best"], "usd_per_month"].tolist() == pytest.approx([1090.0, 1200.0])
    assert table["alternative"].drop("box").tolist() == ["rented", "dear"]
    (limit,) = told["limit_costs"]
    assert (limit["limit"], limit["allowed"], limit["saved_usd"]) == ("at_most_up_front", 30_000.0, pytest.approx(110))
    assert (told["kind"], told["rival_title"], told["ratio"]) == ("rent", "all on dear", pytest.approx(1.5))
    question = monthly_problem(made)
    rows = pd.DataFrame(tornado_rows(question))
    assert rows["margin"].tolist() == [pytest.approx(1.5)] * len(rows) and rows["margin_high"].notna().all()
    assert "box" not in [choice.option for choice in question.choices]


def test_of_several_machines_as_many_as_the_money_reaches_for():
    """600 hours: three boxes would do all, two are paid for, 480 hours; the rest is rented. No case of the question
    buys more: at five times the work the way with the box has two of them.
    """
    made = lab(BOX, hourly(12.0), jobs=300.0, at_most_up_front=80_000.0)[0]
    assert made.mixes[0].counts == (2,)
    assert made.mixes[0].expected == pytest.approx(2 * 1050 + 480 * 0.2 + 120 * 12.0)
    (limit,) = made.limit_costs
    assert (limit["limit"], limit["allowed"], limit["actual"]) == ("at_most_up_front", 80_000.0, 108_000.0)
    assert limit["saved_usd"] == pytest.approx(3636.0 - 3270.0)  # three cost 3,150 and 120
    question = monthly_problem(lab(BOX, hourly(12.0), at_most_up_front=80_000.0)[0])
    jobs = next(one for one in question.parameters if one.quantity == "per_month")
    box = [choice.option for choice in question.choices].index("box")
    assert question.at(jobs, np.array([5.0])).counts[box, 0] == 2.0


def kept(rent, have=1, facts=None, draws=2, **terms):
    """A machine that is there: 240 hours, 50 of care, 0.2 an hour; it would bring 3,600."""
    as_of = terms.pop("as_of", None)
    old = own("old", **({"capex": 0.0, "sell_for": 3600.0} | terms)) | ({"as_of": as_of} if as_of else {})
    jobs = [class_of("a", 100.0)]
    return small_lab(old, hourly(rent), jobs=jobs, hours={"a": 2.0}, have=["old"] * have, facts=facts, draws=draws)


def of_month(made):
    """USD a month of each way, by its key."""
    return {one.key: one.expected for one in made.mixes}


def test_to_keep_a_machine_costs_what_it_would_bring():
    """50 of care, 3,600 / 36 given up, 40 of electricity; sold, 200 hours for 6 USD. Of two one is sold. Without a
    price nothing is, and a box for sale that names one costs as before: 1,050 a month.
    """
    made = kept(6.0)[0]
    assert of_month(made) == pytest.approx({"best": 190.0, "there": 190.0, "rented": 190.0, "sold": 1200.0})
    assert made.mixes[0].counts == (1,) and made.mixes[0].resold == {}
    assert float(made.mixes[0].at(made.central).usd[0]) == pytest.approx(190.0)
    two = kept(6.0, have=2)[0]
    assert two.mixes[0].counts == (1,) and of_month(two)["there"] == pytest.approx(340.0)
    best = source_table([two]).query("mix == 'best'").set_index("option").loc["old"]
    assert best["machines"] == 1
    none = kept(0.3, sell_for=None)[0]
    assert of_month(none) == pytest.approx({"best": 90.0, "there": 90.0, "rented": 90.0})
    bought = lab(own(sell_for=9000.0), hourly(6.0))[0]
    assert of_month(bought) == pytest.approx({"best": 1090.0, "box": 1090.0, "rented": 1200.0})


def test_where_renting_is_cheaper_than_its_care_and_price_it_is_sold():
    made, *rest = kept(0.3)
    assert of_month(made) == pytest.approx({"best": 60.0, "there": 190.0, "rented": 190.0, "sold": 60.0})
    assert made.mixes[0].counts == (0,) and made.mixes[0].resold == {"old": 1}
    table, _, told = table_of(made, *rest)
    assert table["title"].to_dict() == {
        "best": "1 × old sold, all on rented", "there": "what you have, alone", "rented": "rented beside your old",
    }  # fmt: skip
    assert table["kind"][["best", "there"]].tolist() == ["rent", "keep"]
    assert told.best == "best" and told.rival in ("there", "rented") and told.ratio == pytest.approx(190 / 60)


def test_from_which_price_it_is_sold():
    """Rented for 1 USD an hour it is 200 a month: kept, 90 and a 36th of its price; both alike at 3,960."""
    question = monthly_problem(kept(1.0)[0])
    (price,) = (one for one in question.parameters if one.quantity == "sell_for_usd")
    assert (price.name, price.value, price.unit) == ("selling price of old", 3600.0, "USD")
    (turn,) = question.turning_points[price]
    assert turn.factor * 3600.0 == pytest.approx(3960.0) and question.choices[turn.to].option in ("sold", "rented")
    assert question.title(turn.to, 0.0, None) == "1 × old sold, all on rented"


def test_its_price_may_have_a_range():
    made = kept(6.0, draws=1000, sell_for={"value": 3600.0, "low": 1800.0, "high": 5400.0})[0]
    brought = (made.mixes[0].done.usd - 90.0) * 36
    assert np.quantile(brought, [0.05, 0.5, 0.95]) == pytest.approx([1800.0, 3600.0, 5400.0], rel=0.06)
