"""The verdict: two levels, ties, thresholds and words, on works of a few draws that can be checked by hand."""

import numpy as np
import pandas as pd
import pytest
from sweetspot.decision.choice_table import choice_table
from sweetspot.decision.verdict import answer_work, first_to_find_out, verdict_table
from sweetspot.decision_words import BUY, CONTRACT, KEEP, MIX, RENT
from sweetspot.errors import UserError
from sweetspot.wording import words_of
from works import work

NO_ROWS = pd.DataFrame()


def verdict(one, break_even=NO_ROWS, **more):
    return verdict_table([one], one.name, break_even, {}, **more).iloc[0]


def test_a_tie_between_sellers_never_reaches_whether_to_commit():
    """Two clouds change places in half of the draws; buying costs 300 against 120 in all: 2.5 times."""
    told = verdict(
        work(
            ("north", RENT, [120, 90, 140, 100]),
            ("south", RENT, [121, 95, 130, 90]),
            ("box", BUY, [300, 290, 310, 300]),
        )
    )
    assert (told.level, told.best, told.rival) == ("commit", "north", "box")
    assert told.ratio == pytest.approx(2.5) and told.p_cheaper == 1.0 and told.confidence == "clear"
    assert (told.usd, told.rival_usd, told.usd_per_month) == (120.0, 300.0, pytest.approx(120 / 36))
    assert told.sentence == "Rent by the hour. Buying costs 2.5 times as much."
    assert told.take_p_cheaper == 0.5  # 120 < 121 and 90 < 95, not 140 < 130 nor 100 < 90
    assert told.do_this == "Start with North or South: both cost about the same today. Compare again every quarter."


def test_what_binds_nobody_is_judged_at_todays_prices():
    """Over the project south is cheaper in one draw of two; at today's rents north is in both."""
    clouds = (("north", RENT, [100, 100]), ("south", RENT, [120, 80]), ("box", BUY, [500, 500]))
    told = verdict(work(*clouds, today={"south": [130, 110]}))
    assert told["take"] == "north" and told.take_p_cheaper == 1.0 and told.take_ratio == pytest.approx(1.3)
    assert told.do_this == "Start with North, the cheapest today (over 99 %). Compare again every quarter."
    assert told.ratio == pytest.approx(5.0)  # over the project: 500 / 100


def test_a_tie_names_what_commits_to_least_and_the_price_that_decides():
    """The box of 1,000 costs 1,100, renting 1,200; each USD of its price is one of the work: it pays up to 1,100."""
    box = {"capex_usd": 1000.0, "usd_per_capex": 1.0}
    told = verdict(work(("box", BUY, [1100, 1300, 1000, 1250], box), ("cloud", RENT, [1200, 1200, 1200, 1200])))
    assert told.confidence == "too close to call" and told.best == "box" and told["take"] == "cloud"
    assert told.sentence == "Rent by the hour for now. Buying costs about the same over 36 months."
    assert told.do_this == "Start with Cloud. Buy on a firm offer below 1,100 USD."
    assert told.buy_below_usd == pytest.approx(1100)
    # at 750 it costs 850, 1050, 750, 1000: always less; at 1,200: 1,300, 1,500, 1,200, 1,450: one tie, counted half
    assert told.box_prices_usd == [750.0, 875.0, 1000.0, 1200.0]
    assert told.p_at_box_prices == [1.0, 1.0, 0.5, 0.125]


@pytest.mark.parametrize(
    ("kind", "usd", "rival", "sentence"),
    [
        (BUY, 100, (RENT, 400), "Buy. Renting costs 4.0 times as much."),
        (MIX, 100, (RENT, 400), "Buy. Renting costs 4.0 times as much."),
        (CONTRACT, 100, (RENT, 150), "Sign the contract. Renting costs 1.5 times as much."),
        (KEEP, 100, (BUY, 300), "Keep what you have. Buying costs 3.0 times as much."),
        (RENT, 100, (CONTRACT, 300), "Rent by the hour. A contract costs 3.0 times as much."),
    ],
)
def test_each_kind_has_its_verb(kind, usd, rival, sentence):
    told = verdict(work(("one", kind, [usd] * 4), ("other", rival[0], [rival[1]] * 4)))
    assert told.sentence == sentence


def test_probably_is_said_of_what_is_likely_only():
    """Nine draws of ten: likely, from 80 % on."""
    told = verdict(work(("one", RENT, [100] * 10), ("other", BUY, [150] * 9 + [90])))
    assert told.sentence == "Rent by the hour. Buying probably costs 1.5 times as much."


def test_where_nothing_binds_the_machine_is_the_verdict():
    told = verdict(work(("one", RENT, [1.0] * 4), ("other", RENT, [3.2] * 4), months=np.nan))
    assert told.level == "machine" and told.sentence == "Rent One. Other costs 3.2 times as much."
    assert told.ratio == told.take_ratio == pytest.approx(3.2)


def test_a_machine_paid_by_the_month_says_from_how_many_jobs_it_pays():
    """A month of 160 against 1.60 a run: 100 runs."""
    month, hour = {"month_usd": 160.0}, {"month_usd": np.nan}
    one = work(("flat", RENT, [0.5] * 4, month), ("metered", RENT, [1.6] * 4, hour), months=np.nan)
    assert verdict(one, words=words_of("run")).do_this == "It pays from 100 runs a month. For fewer take Metered."


def test_equal_in_every_draw_is_no_rival_and_what_cannot_be_taken_is_no_answer():
    spot = {"stands": False, "why_not": "it can be interrupted"}
    one = work(
        ("spot", RENT, [50, 50], spot),
        ("one", RENT, [100, 110]),
        ("twin", RENT, [100, 110]),
        ("other", RENT, [150, 160]),
    )
    table = choice_table([one], ()).set_index("choice")
    assert table.index[table["is_best"]].tolist() == ["one"] and table.index[table["is_rival"]].tolist() == ["other"]
    assert table.loc["spot", "ratio"] == 0.5 and table.loc["spot", "why_not"] == "it can be interrupted"
    assert np.isnan(table.loc["spot", "p_cheapest"])
    assert table.loc["one", "p_cheapest"] == table.loc["twin", "p_cheapest"] == 1.0
    assert table["usd_per_month"]["one"] == pytest.approx(100 / 36)
    assert table["p_cheaper"]["spot"] == 1.0 and table["p_cheaper"]["other"] == 0.0


def test_twenty_outcomes_are_the_middles_of_twentieths():
    """Draws 1 to 20: each is the middle of its twentieth."""
    table = choice_table([work(("one", RENT, [10.5, *range(1, 20), 20][1:], {"usd": 10.0}))], ())
    assert table["usd_outcomes"].iloc[0] == list(range(1, 21))


def test_offers_in_hand_stand_out():
    one = work(("one", RENT, [1, 1]), ("box", BUY, [2, 2]))
    assert choice_table([one], ["box"]).set_index("choice")["in_hand"].to_dict() == {"one": False, "box": True}
    assert choice_table([one], ()).set_index("choice")["in_hand"].all()


def test_more_work_turns_it():
    rows = pd.DataFrame(
        [
            {"workload": "plan", "quantity": "jobs", "factor": 3.58},
            {"workload": "plan", "quantity": "months", "factor": 2.0},
        ]
    ).assign(planned=100.0, pays_until=np.nan, title="box")
    told = verdict(work(("one", RENT, [100] * 4), ("box", BUY, [250] * 4)), rows)
    assert told.work_factor == pytest.approx(3.58)
    assert told.thresholds == ["Buying pays with 3.6 times as much work."]


@pytest.mark.parametrize("words", ["sentence", "do_this"])
def test_long_names_stay_within_the_words(words):
    long = "a machine with a very long name that goes on and on for many words"
    one = work(("one", RENT, [100] * 4, {"title": long}), ("other", RENT, [300] * 4, {"title": long}), months=np.nan)
    assert len(verdict(one)[words].split()) <= 20


def test_the_work_of_the_answer():
    plan, job = work(("one", RENT, [1, 1]), cost="rounds"), work(("one", RENT, [1, 1]), name="job", model="m")
    assert answer_work([job, plan], None, "m") == "plan"
    assert answer_work([work(("one", RENT, [1, 1]), name="else"), job], None, "m") == "job"
    assert answer_work([job, plan], "job", None) == "job"
    assert answer_work([], None, None) is None
    with pytest.raises(UserError, match=r"study\.yaml: work is 'nothing'; expected one of job, plan"):
        answer_work([job, plan], "nothing", None)


def test_what_to_find_out_first_is_worth_more_than_it_costs():
    """100 worth 40 to learn leaves 60, 70 for nothing leaves 70; 500 within its error is worth nothing known."""
    rows = pd.DataFrame(
        {"workload": "plan", "model": None, "figure": ["speed", "price", "noise"], "evppi_usd": [100.0, 70.0, 500.0],
         "evppi_usd_low": [90.0, 60.0, 0.0], "cost_to_learn_usd": [40.0, np.nan, np.nan]}
    )  # fmt: skip
    one = work(("one", RENT, [1, 1]), cost="rounds")
    assert first_to_find_out([one], rows) == {"plan": "price"}


@pytest.mark.parametrize(
    ("cloud", "limit", "said"),
    [(599.0, 499.0, False), (601.0, 501.0, True), (2099.0, 1999.0, True), (2101.0, 2001.0, False)],
)
def test_a_price_beyond_twice_or_below_half_of_the_machines_is_not_said(cloud, limit, said):
    """The box of 1,000 costs 1,100, a USD more for each of its price: it pays up to 100 below what renting costs."""
    box = ("box", BUY, [1100.0] * 4, {"capex_usd": 1000.0, "usd_per_capex": 1.0})
    both = sorted([box, ("cloud", RENT, [cloud] * 4)], key=lambda one: one[2][0])
    told = verdict(work(*both))
    assert told.buy_below_usd == pytest.approx(limit)
    words = " ".join([told.do_this, *told.thresholds])
    assert (f"{limit:,.0f} USD" in words) == said


def test_where_nothing_binds_the_answer_says_for_which_other_works_it_holds():
    def job(name, *sellers):
        return work(*((seller, RENT, [usd] * 2) for seller, usd in sellers), name=name)

    vgg, resnet = job("vgg", ("north", 10), ("south", 20)), job("resnet", ("south", 5), ("north", 9))
    bert = job("bert", ("north", 7), ("south", 8))
    told = verdict_table([resnet, vgg, bert], "vgg", NO_ROWS, {}).set_index("workload")
    assert told.loc["vgg", "thresholds"] == [
        "This is about “vgg”. The same machine is cheapest for 2 of the 3 works; for resnet it is South."
    ]
    assert told.loc["resnet", "thresholds"] == told.loc["bert", "thresholds"] == []
    assert list(told.index) == ["vgg", "resnet", "bert"] and list(told["is_answer"]) == [True, False, False]
    alike = verdict_table([vgg, bert], "vgg", NO_ROWS, {}).iloc[0]
    assert alike["thresholds"] == ["This is about “vgg”. The same machine is cheapest for both works."]
    bound = work(("north", RENT, [10, 10]), ("box", BUY, [90, 90]), name="plan")
    assert verdict_table([bound, vgg], "plan", NO_ROWS, {}).iloc[0]["thresholds"] == []
