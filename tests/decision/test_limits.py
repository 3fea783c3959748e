"""What a team allows itself up front, a month and in waiting: what breaks a limit, and what the limit costs."""

import math

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly, own
from small_lab import class_of, small_lab
from sweetspot.decision.choice_table import choice_table, works
from sweetspot.decision.cost_dispatch import dispatch_question
from sweetspot.decision.pose import by_the_month, limited, mean_wait, most_of, up_front
from sweetspot.decision.turning import tornado_rows
from sweetspot.decision.verdict import verdict_table
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.search import BEST, Mix

SIGNED = {"instance": "signed", "purchase": "reserved",
          "commitment": {"term_months": 12.0, "per_month": 800.0, "upfront": 1200.0}}  # fmt: skip


def lab(*offers, jobs=100.0, usd_per_unit=1.0, have=(), **limits):
    """200 hours of work a month, and what else `small_lab` makes."""
    made, *rest = small_lab(*offers, jobs=[class_of("a", jobs)], hours={"a": 2.0}, have=list(have), **limits)
    return limited(made, usd_per_unit), *rest


def table_of(made, options, drawn, settings):
    (work,) = works(options, drawn, [], [made], settings)
    return choice_table([work], ()).set_index("choice"), work


def of(made, *counts):
    return Mix(BEST, "", dispatch(made.drawn, counts))


def test_what_is_paid_up_front_is_the_price_of_machines_and_the_upfront_part_of_contracts():
    made = lab(own(), own("old", capex=0.0), SIGNED, hourly(6.0), have=["old"])[0]
    names = [kind.name for kind in made.drawn.held]
    at = {name: tuple(int(one == name) + (one == "old") for one in names) for name in names}
    assert up_front(made, at["box"]) == 36_000.0
    assert up_front(made, next(counts for name, counts in at.items() if "signed" in name)) == 1200.0
    assert up_front(made, made.drawn.there) == 0.0  # what is there is paid for


def test_what_is_paid_a_month_is_all_but_the_price_of_machines():
    """50 of care and 40 of electricity, and 60 hours of 260 for 6 USD; what is there would sell for 3,600."""
    made = lab(own(), hourly(6.0), jobs=130.0)[0]
    assert by_the_month(made, of(made, 1)) == pytest.approx(50 + 240 * 0.2 + 20 * 6.0)
    assert by_the_month(made, of(made, 0)) == pytest.approx(260 * 6.0)
    there = lab(own("old", capex=0.0, sell_for=3600.0), hourly(6.0), have=["old"])[0]
    assert by_the_month(there, of(there, 1)) == pytest.approx(90.0)


def test_care_of_what_comes_later_is_paid_from_then():
    box = own() | {"available_from_weeks": 18 * 30.5 / 7}
    made = lab(box, hourly(6.0))[0]
    assert by_the_month(made, of(made, 1)) == pytest.approx((50 + 40) / 2 + 1200 / 2)


def test_jobs_wait_for_what_is_held_alone():
    """One server, 200 of its hours in a month of 732 (it works 240 of them): at random and with hours as spread as
    exponential ones (M/M/1) jobs wait rho / (1 - rho) times two hours, ten.
    """
    made = lab(own(), hourly(6.0))[0]
    assert mean_wait(made, of(made, 1)) == pytest.approx(5 * 2.0)
    assert mean_wait(made, of(made, 0)) == 0.0


def test_limits_of_money_are_in_the_studys_own():
    made = lab(own(), hourly(6.0), at_most_up_front=30_000.0, mean_wait_at_most=8.0)[0]
    assert most_of(made, 1.25) == {"at_most_up_front": 37_500.0, "mean_wait_at_most": 8.0}


def test_a_box_beyond_the_money_up_front_is_not_the_answer_and_says_so():
    """The box costs 1,090 a month, 36,000 up front; rented it is 1,200."""
    made, options, drawn, settings = lab(own(), hourly(6.0), at_most_up_front=30_000.0)
    table, work = table_of(made, options, drawn, settings)
    assert table.loc["box", ["why_not", "why_not_rule"]].tolist() == [
        "costs 36,000 USD up front, more than the 30,000 USD allowed", "limit",
    ]  # fmt: skip
    assert table.loc["box", "usd_per_month"] == pytest.approx(1090.0) and table["is_best"].to_dict()["best"]
    assert table.loc["best", "usd_per_month"] == pytest.approx(1200.0)
    told = verdict_table([work], "lab", pd.DataFrame(), {}).iloc[0]
    assert "Without the limit of 30,000 USD up front it costs 110 USD less a month." in told["thresholds"]
    assert told["kind"] == "rent" and told["take"] == "best"


def test_an_exact_limit_is_kept():
    made = lab(own(), hourly(6.0), at_most_up_front=36_000.0)[0]
    assert made.mixes[0].counts == (1,) and made.limits == ()


def test_the_limit_counts_in_the_money_of_the_study():
    """30,000 of a currency of 1.25 USD are 37,500."""
    assert lab(own(), hourly(6.0), usd_per_unit=1.25, at_most_up_front=30_000.0)[0].mixes[0].counts == (1,)
    assert lab(own(), hourly(6.0), usd_per_unit=1.19, at_most_up_front=30_000.0)[0].mixes[0].counts == (0,)


def test_of_several_machines_as_many_as_the_money_reaches_for():
    """600 hours: three boxes would do all, two are paid for, 480 hours; the rest is rented."""
    made = lab(own(), hourly(12.0), jobs=300.0, at_most_up_front=80_000.0)[0]
    assert made.mixes[0].counts == (2,)
    assert made.mixes[0].expected == pytest.approx(2 * 1050 + 480 * 0.2 + 120 * 12.0)
    ((limit, less),) = made.limits
    assert (limit.limit, limit.most, limit.found) == ("at_most_up_front", 80_000.0, 108_000.0)
    assert less == pytest.approx(3636.0 - 3270.0)  # three cost 3,150 and 120


def test_what_may_be_paid_a_month():
    """Rented for 5 USD it is 1,000 a month and less than the box's 1,090, of which 90 are paid by the month."""
    made, options, drawn, settings = lab(own(), hourly(5.0), at_most_a_month=500.0)
    table, _ = table_of(made, options, drawn, settings)
    assert made.mixes[0].counts == (1,)
    assert table.loc["rented", "why_not"] == "costs 1,000 USD a month, more than the 500 USD allowed"
    ((limit, less),) = made.limits
    assert limit.found == pytest.approx(1000.0) and less == pytest.approx(90.0)


def test_to_wait_less_some_of_the_work_is_rented_sooner():
    """One server, jobs of two hours: full to a share r of its 240 hours they wait 2 r / (1 - r) hours, 10 at 200 of
    them, 7.5 at 79 % (8.0 at 80 %: not below it by rounding). The other 10.4 hours are rented for 9 USD; all of it is
    1,800 there, two boxes are 2,140.
    """
    made, options, drawn, settings = lab(own(), hourly(9.0), mean_wait_at_most=7.9)
    table, work = table_of(made, options, drawn, settings)
    assert made.mixes[0].counts == (1,) and made.mixes[0].filled == 0.79
    assert made.mixes[0].expected == pytest.approx(1050 + 189.6 * 0.2 + 10.4 * 9.0)
    assert mean_wait(made, made.mixes[0]) == pytest.approx(2 * 0.79 / 0.21)
    ((limit, less),) = made.limits
    assert limit.found == pytest.approx(10.0) and less == pytest.approx(10.4 * (9.0 - 0.2))
    assert table.loc["best", "used_at_most"] == 0.79 and math.isnan(table.loc["rented", "used_at_most"])
    assert "use them 79 % of the time at most" in work.limits[0]


def test_where_nothing_can_be_rented_waiting_takes_a_second_machine():
    made = lab(own(), mean_wait_at_most=8.0)[0]
    assert made.mixes[0].counts == (2,) and made.mixes[0].filled == 1.0


def test_to_wait_less_takes_a_second_machine_where_that_is_cheaper_than_renting():
    """At most half an hour: one box may be full to 20 %, 48 of 200 hours, and the rest is 1,824 at 12 USD; two boxes,
    41.7 % full, cost 2,140, and jobs wait 2 r^2 / (1 - r^2) = 0.42 hours (M/M/2).
    """
    made = lab(own(), hourly(12.0), mean_wait_at_most=0.5)[0]
    assert made.mixes[0].counts == (2,) and made.mixes[0].expected == pytest.approx(2140.0)


def test_every_case_of_the_question_rents_as_soon():
    """1.5 times the jobs: the box is full to 79 % as planned, and 110.4 of 300 hours are rented."""
    made = lab(own(), hourly(9.0), mean_wait_at_most=7.9)[0]
    question = dispatch_question(made)
    jobs = next(one for one in question.assumptions if one.quantity == "per_month")
    costs = question.at(jobs, np.array([1.0, 1.5]))
    one = 1050 + 189.6 * 0.2
    assert costs.usd[0] / made.work.months == pytest.approx([one + 10.4 * 9.0, one + 110.4 * 9.0], rel=1e-3)


def test_two_limits_that_leave_no_way_do_not_count_and_say_so():
    """A box of 36,000 or 1,000 a month: neither 30,000 up front nor 500 a month leave a way."""
    made, options, drawn, settings = lab(own(), hourly(5.0), at_most_up_front=30_000.0, at_most_a_month=500.0)
    table, work = table_of(made, options, drawn, settings)
    assert made.mixes[0].expected == pytest.approx(1000.0) and table["why_not"].isna().all()
    assert [limit.limit for limit, _ in made.limits] == ["at_most_a_month"] and math.isnan(made.limits[0][1])
    assert work.limits == ("No choice keeps the limit of 500 USD a month.",)


def test_no_case_of_the_question_buys_more_than_the_money_reaches_for():
    """At five times the work the way with the box has two of them, as many as are paid for."""
    made = lab(own(), hourly(12.0), at_most_up_front=80_000.0)[0]
    question = dispatch_question(made)
    jobs = next(one for one in question.assumptions if one.quantity == "per_month")
    costs = question.at(jobs, np.array([5.0]))
    box = [choice.option for choice in question.choices].index("box")
    assert costs.counts[box, 0] == 2.0


def test_what_breaks_a_limit_is_no_way_of_the_question():
    question = dispatch_question(lab(own(), hourly(6.0), at_most_up_front=30_000.0)[0])
    assert "box" not in [choice.option for choice in question.choices]


def test_what_is_rented_alone_is_begun_with_by_its_own_name():
    made, options, drawn, settings = lab(own(), hourly(2.0), hourly(2.5) | {"instance": "other"})
    _, work = table_of(made, options, drawn, settings)
    told = verdict_table([work], "lab", pd.DataFrame(), {}).iloc[0]
    assert told["do_this"].startswith("Start with rented")


def test_where_nothing_else_is_left_rentals_are_held_against_each_other():
    """The box is beyond the limit: 6 USD an hour against 9, 1.5 times as much, in the tornado too."""
    offers = own(), hourly(6.0), hourly(9.0) | {"instance": "dear"}
    made, options, drawn, settings = lab(*offers, at_most_up_front=30_000.0)
    rows = pd.DataFrame(tornado_rows(dispatch_question(made)))
    assert rows["margin"].tolist() == [pytest.approx(1.5)] * len(rows) and rows["swing"].notna().all()
    table, work = table_of(made, options, drawn, settings)
    assert table["alternative"].drop("box").tolist() == ["rented", "dear"]
    told = verdict_table([work], "lab", pd.DataFrame(), {}).iloc[0]
    assert told["sentence"] == "Rent rented. dear costs 1.5 times as much."
