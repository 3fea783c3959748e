"""Whole rows of the verdict by hand: every column, ties, prices of the box, thresholds and words, on a few draws."""

import numpy as np
import pandas as pd
import pytest
from small_lab import same
from sweetspot.choice_kinds import BUY, CONTRACT, KEEP, RENT
from sweetspot.decision.verdict import COLUMNS, answer_work, first_to_find_out, verdict_table
from sweetspot.errors import UserError
from works import work

NO_ROWS = pd.DataFrame()
SPOT = {"stands": False, "why_not": "it can be interrupted"}


def rows_of(*works, answer=None, break_even=NO_ROWS, worth=None, **more):
    return verdict_table(works, answer or works[0].name, break_even, worth or {}, **more)


def verdict(one, **more):
    return rows_of(one, **more).iloc[0]


def box(price, slope=1.0, **more):
    return {"capex_usd": price, "usd_per_capex": slope} | more


def test_every_column_where_buying_is_held_against_two_clouds():
    """A box of 2,400 USD costs 3,000, renting 2,000; of four draws the ends are the least and the greatest."""
    one = work(
        ("spot", RENT, [10.0] * 4, SPOT),
        ("north", RENT, [2000, 1000, 3000, 2500]),
        ("south", RENT, [2100, 1200, 2700, 2000]),
        ("later", BUY, [2800, 5000, 3600, 5000], box(np.nan, 0.0)),
        ("box", BUY, [3000, 2800, 2400, 2600], box(2400.0, 0.5)),
        today={"north": [1500, 1000, 2000, 1600], "south": [1800, 1100, 1900, 2000]}, busy=8.0,
    )  # fmt: skip
    told = rows_of(one, worth={"plan": "speed"})
    assert list(told.columns) == COLUMNS
    expected = {
        "workload": "plan", "workload_title": "plan", "is_answer": True, "level": "commit", "confidence": "clear",
        "kind": "rent", "best": "north", "best_title": "North", "rival": "later", "rival_title": "Later",
        "rival_kind": "buy", "usd": 2000.0, "rival_usd": 2800.0, "usd_per_month": 2000 / 36, "months": 36.0,
        "ratio": 1.4, "ratio_low": 1.2, "ratio_high": 5.0, "p_cheaper": 1.0,
        # at today's rents: 1500 < 1800, 1000 < 1100, not 2000 < 1900, 1600 < 2000
        "take": "north", "take_title": "North", "take_kind": "rent", "take_rival": "south", "take_rival_title": "South",
        "take_ratio": 1.2, "take_p_cheaper": 0.75, "take_lead": None, "take_rival_lead": None, "machine": "north",
        # 3000 + 0.5 (price - 2400) = 2000: at 400 USD; the later purchase has no price of its own to ask for
        "box_title": "office box", "box_usd": 2400.0, "buy_below_usd": 400.0, "box_usd_low": 2400.0,
        "box_usd_high": 2400.0, "firm_price": True, "busy_days_per_month": 8.0, "find_out_first": "",
        "without_speed": [],
    }  # fmt: skip
    row = told.iloc[0]
    same(row.to_dict(), dict.fromkeys(row.index) | expected)


def test_where_nobody_else_does_it_there_is_no_rival_and_nothing_to_hold_against():
    row = verdict(work(("one", RENT, [5.0, 6.0]), cost="rounds"), worth={"plan": "speed"})
    assert (row["best"], row["best_title"], row["take"], row["usd"]) == ("one", "One", "one", 5.0)
    none = ["rival", "rival_title", "rival_kind", "rival_usd", "ratio", "ratio_low", "ratio_high", "p_cheaper",
            "take_rival", "take_ratio", "take_p_cheaper", "box_title", "box_usd", "buy_below_usd"]  # fmt: skip
    assert row[none].isna().all() and (row["confidence"], row["find_out_first"]) == ("clear", "")


def test_the_other_works_say_who_is_not_the_answer_and_what_has_no_way_has_no_row():
    def job(name, *choices):
        return work(*choices, name=name, model=name)

    close = job("close", ("one", RENT, [9, 11]), ("two", RENT, [10, 10]))
    never = job("never", ("spot", RENT, [1, 1], SPOT))
    found = rows_of(never, close, job("b", ("one", RENT, [1, 1])), answer="b", worth={"close": "speed", "b": "speed"})
    told = found[["workload", "is_answer", "find_out_first"]].to_numpy().tolist()
    assert told == [["b", True, ""], ["close", False, "speed"]]
    # Of a tie over the project it is said today what is the cheaper; buying is judged over the project.
    project = work(("box", BUY, [9, 11]), ("cloud", RENT, [10, 10]), today={"cloud": [1, 1]},
                   model="m")  # fmt: skip
    row = verdict(project, worth={"m": "price"})
    assert (row["ratio"], row["p_cheaper"]) == (pytest.approx(9 / 10), 0.5)
    assert (row["ratio_low"], row["ratio_high"]) == (pytest.approx(9 / 10), pytest.approx(11 / 10))
    assert (row["kind"], row["rival_kind"], row["take"]) == ("rent", "buy", "cloud")
    assert row["find_out_first"] == "price"


def listed(low, high, price=1000.0):
    return box(price, capex_usd_low=low, capex_usd_high=high)


def test_a_firm_price_is_held_against_the_one_that_decides():
    """The offer of 1,000 (980 to 1,020 by the rate of its currency) is below 1,100: buy. Where renting costs 1,050 it
    pays up to 950, less than what is asked: rent. The box is the cheaper one in two draws, in one draw of four.
    """
    draws = [1100, 1300, 1000, 1250]
    told = verdict(work(("box", BUY, draws, listed(980.0, 1020.0)), ("cloud", RENT, [1200] * 4)))
    assert told.best == told["take"] == "box" and told.rival == "cloud"
    told = verdict(work(("cloud", RENT, [1050] * 4), ("box", BUY, draws, listed(980.0, 1020.0))))
    assert told.best == told["take"] == "cloud" and told.buy_below_usd == pytest.approx(950)


def test_a_tie_names_what_commits_to_least_and_the_price_that_decides():
    """The box of 1,000 costs 1,100, renting 1,200; each USD of its price is one of the work: it pays up to 1,100."""
    told = verdict(work(("box", BUY, [1100, 1300, 1000, 1250], listed(720.0, 1480.0)), ("cloud", RENT, [1200] * 4)))
    assert told.confidence == "too close to call" and told.best == told["take"] == "cloud" and told.rival == "box"
    # Of four draws the box is the cheaper one in two.
    assert (told.ratio, told.p_cheaper) == (pytest.approx(1100 / 1200), 0.5)
    assert told.buy_below_usd == pytest.approx(1100)


@pytest.mark.parametrize(("cheaper", "dearer"), [(CONTRACT, RENT), (BUY, CONTRACT), (BUY, RENT)])
def test_of_two_too_close_to_call_the_less_binding_is_taken(cheaper, dearer):
    usd = [("first", cheaper, [9, 11], listed(1.0, 3.0)), ("second", dearer, [10, 10])]
    assert verdict(work(*usd)).best == "second"
    turned = [("second", dearer, [9, 11]), ("first", cheaper, [10, 10], listed(1.0, 3.0))]
    assert verdict(work(*turned)).best == "second"


def test_what_binds_nobody_is_judged_at_todays_prices_and_contracts_over_the_project():
    """Over the project south is cheaper in one draw of two; at today's rents north is in both. Of two contracts the
    second one is the cheaper today, which nobody who signs now gets for the whole project.
    """
    clouds = (("north", RENT, [100, 100]), ("south", RENT, [120, 80]), ("box", BUY, [500, 500]))
    told = verdict(work(*clouds, today={"south": [130, 110]}))
    assert told["take"] == "north" and told.take_p_cheaper == 1.0 and told.take_ratio == pytest.approx(1.3)
    assert told.ratio == pytest.approx(5.0)  # over the project: 500 / 100
    signed = (("year", CONTRACT, [100, 100]), ("term", CONTRACT, [150, 150]), ("cloud", RENT, [400, 400]))
    row = verdict(work(*signed, today={"term": [50, 50]}))
    assert (row["take"], row["take_rival"], row["take_ratio"], row["rival"]) == ("year", "term", 1.5, "cloud")
    assert pd.isna(row["box_title"]) and np.isnan(row["buy_below_usd"])  # nothing is for sale


def test_the_work_of_the_answer():
    plan, job = work(("one", RENT, [1, 1]), cost="rounds"), work(("one", RENT, [1, 1]), name="job", model="m")
    assert answer_work([job, plan], None) == "plan"
    assert answer_work([job, work(("one", RENT, [1, 1]), name="else")], None) == "job"
    assert answer_work([job, plan], "job") == "job"
    assert answer_work([], None) is None
    with pytest.raises(UserError, match=r"study\.yaml: work is 'nothing'; expected one of plan, job"):
        answer_work([job, plan], "nothing")


@pytest.mark.parametrize(("rented", "below"), [(899.0, np.nan), (900.0, np.nan), (900.5, 0.5), (2901.0, 2001.0)])
def test_the_price_at_which_buying_pays_is_none_at_or_below_nothing(rented, below):
    """1,000 of the box's 1,900 USD are its price: it pays up to what renting costs beyond 900."""
    both = [("cloud", RENT, [rented] * 2), ("box", BUY, [1900.0] * 2, box(1000.0))]
    row = verdict(work(*sorted(both, key=lambda choice: choice[2][0])))
    assert row["buy_below_usd"] == pytest.approx(below, nan_ok=True)


def test_the_box_that_is_asked_about_is_the_cheapest_that_may_be_bought():
    """Held against the cheapest of another kind, but not spot. Equal costs in every draw leave no price to ask for."""
    one = work(
        ("spot", RENT, [1, 1], SPOT), ("gone", BUY, [2, 2], box(50.0, 1.0, stands=False)),
        ("keep", KEEP, [100, 100]), ("cloud", RENT, [120, 120]), ("first", BUY, [150, 150], box(60.0)),
        ("second", BUY, [160, 160], box(70.0)),
    )  # fmt: skip
    row = verdict(one)
    assert (row["box_title"], row["box_usd"], row["buy_below_usd"]) == ("office first", 60.0, pytest.approx(60 - 50))
    assert (row["take"], row["take_rival"]) == ("keep", "cloud")
    same = verdict(work(("cloud", RENT, [10, 20]), ("box", BUY, [10, 20], box(5.0))))
    assert same["level"] == "machine" and pd.isna(same["rival"]) and pd.isna(same["box_title"])


FLAT, METERED = {"month_usd": 160.0}, {"month_usd": np.nan}


@pytest.mark.parametrize(("others", "months", "expected"), [
    ([("metered", METERED), ("dearer", METERED)], np.nan, (100.0, "Metered")),
    ([("metered", METERED | SPOT), ("dearer", METERED)], np.nan, (50.0, "Dearer")),  # not what can be taken away
    ([("metered", FLAT)], np.nan, (np.nan, None)),  # nobody serves by the job
    ([("metered", METERED)], 1.0, (np.nan, None)),  # a month is what is counted
    ([("metered", METERED)], 2.0, (100.0, "Metered")),
])  # fmt: skip
def test_from_how_many_jobs_a_machine_by_the_month_pays(others, months, expected):
    """A month of 160 against 1.60 and 3.20 a job."""
    prices = {"metered": 1.6, "dearer": 3.2}
    rest = [(name, RENT, [prices[name]] * 2, facts) for name, facts in others]
    row = verdict(work(("flat", RENT, [0.5] * 2, FLAT), *rest, months=months))
    assert row["from_jobs"] == pytest.approx(expected[0], nan_ok=True)
    assert row["by_hour_title"] == expected[1] or pd.isna(row["by_hour_title"])


def test_the_work_from_which_buying_pays_is_the_least_of_this_work():
    rows = pd.DataFrame(
        [("plan", "months", 1.2), ("plan", "jobs", 4.0), ("plan", "device_hours", 3.0), ("other", "jobs", 1.1)],
        columns=["workload", "quantity", "factor"],
    ).assign(planned=100.0, pays_until=np.nan, title="box")
    one = work(("cloud", RENT, [100] * 2), ("box", BUY, [300] * 2), cost="rounds")
    assert verdict(one, break_even=rows)["work_factor"] == 3.0
    assert np.isnan(verdict(one, break_even=rows[rows["workload"] == "other"])["work_factor"])


def test_days_from_which_buying_pays_are_those_of_this_model_and_this_pair():
    rows = pd.DataFrame(
        [("other", "box", "cloud", 1.0), ("m", "box", "third", 2.0), ("m", "box", "cloud", 7.0)],
        columns=["workload", "reference", "option", "break_even_value"],
    )
    pair = [("box", BUY, [100] * 2), ("cloud", RENT, [300] * 2)]
    assert verdict(work(*pair, model="m"), break_even=rows)["pays_from_days"] == 7.0
    assert np.isnan(verdict(work(*pair, model="m", cost="rounds"), break_even=rows)["pays_from_days"])
    rented = [("north", RENT, [100] * 2), ("cloud", RENT, [300] * 2)]
    assert np.isnan(verdict(work(*rented, model="m"), break_even=rows)["pays_from_days"])


def test_what_to_find_out_first_is_of_the_work_itself():
    """100 less 40 is 60, less than 60.5 for nothing; 0.5 is worth it, nothing is not; a low end above 0 is enough."""

    def learn(workload, figure, worth, low, cost=np.nan):
        return {"workload": workload, "figure": figure, "evppi_usd": worth, "evppi_usd_low": low,
                "cost_to_learn_usd": cost}  # fmt: skip

    rows = [
        learn("plan", "speed", 100.0, 90.0, 40.0), learn("plan", "price", 60.5, 0.5),
        learn("elsewhere", "rent", 900.0, 800.0), learn("m", "small", 0.5, 0.1), learn("n", "even", 40.0, 30.0, 40.0),
        learn("o", "unsure", 40.0, 0.0),
    ]  # fmt: skip
    assert first_to_find_out(pd.DataFrame(rows)) == {"plan": "price", "elsewhere": "rent", "m": "small"}


@pytest.mark.parametrize(("commitment", "decided"), [("nothing", False), ("contract", False), ("buy", True)])
def test_where_only_purchases_have_a_speed_it_is_not_decided(commitment, decided):
    names = pd.DataFrame([("North", commitment)], columns=["title", "commitment"])
    row = verdict(work(("box", BUY, [100, 110]), without_speed=names))
    assert (row["confidence"] != "not decided") == decided and len(row["without_speed"]) == (not decided)
