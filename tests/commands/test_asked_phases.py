"""A plan of phases at another use or with more jobs: that of a study that says so, to the last digit."""

import pandas as pd
import pytest
from decision_tables import study
from phase_plans import WORK, compared, given, hourly, own
from sweetspot.commands.asked import Case, Given, Wanted
from sweetspot.study.settings import Settings

DRAWS = 400
RANGED = {"value": 6.0, "low": 4.0, "high": 9.0}


def case(found, facts, offers, **wanted):
    """The plan at other values."""
    given_ = Given(found["options"], Settings.of(study(reference="box")), offers, phased=facts)
    return Case(given_, Wanted(**wanted), DRAWS)


def anew(*rows, **wanted):
    """The plan asked anew of the comparison of these offers."""
    found = compared(*rows)
    asked = case(found, *given(*rows), **wanted)
    if not wanted:
        words = ["sentence", "do_this"]
        assert asked.tables["verdict"][words].iloc[0].tolist() == found["verdict"][words].iloc[0].tolist()
    return plan(found), plan(asked.tables)


def plan(found):
    """The choices of the plan."""
    return found["choices"][found["choices"]["cost"] == "rounds"].drop(columns="device_hours")


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=1e-12, check_dtype=False)


def test_asked_for_nothing_else_it_is_the_pages_buying_later_among_it():
    page, asked = anew(own(), hourly(RANGED))
    same(page, asked)
    assert asked["after_months"].notna().any()


def test_fewer_days_are_those_of_a_price_list_that_says_so_and_take_more_machines():
    """7,200 h: ten days a month have 8,640 h in 36 months; five have 4,320, so two boxes are bought."""
    page, asked = anew(own(), hourly(RANGED), days=5.0)
    same(plan(compared(own(days_per_month=5.0), hourly(RANGED))), asked)
    boxes = [table.set_index("choice").loc["box", "counts"] for table in (page, asked)]
    assert boxes == [1.0, 2.0]


def test_more_jobs_are_those_of_a_study_that_has_as_many():
    """1.5 times 3,600 jobs are 5,400: 10,800 h, more than the 8,640 of one box."""
    _, asked = anew(own(), hourly(RANGED), jobs=1.5)
    phases = [WORK["phases"][0] | {"jobs": 5400}]
    same(plan(compared(own(), hourly(RANGED), work={"phases": phases})), asked)
    assert asked.set_index("choice").loc["box", "counts"] == 2.0


@pytest.mark.parametrize(("factor", "hours"), [(0.5, 3600.0), (1 / 3600, 2.0), (1.00001 / 3600, 4.0)])
def test_jobs_are_whole_ones(factor, hours):
    """Half of 3,600 jobs of two hours; one job; a little more than one is two."""
    _, asked = anew(own(), hourly(RANGED), jobs=factor)
    assert asked.set_index("choice").loc["rented", "hours"] == pytest.approx(hours)


def test_asking_changes_nothing_that_it_was_given():
    """Asked of five days first, and then of the study's own, the second answer is the page's."""
    found, (facts, offers) = compared(own(), hourly(RANGED)), given(own(), hourly(RANGED))
    assert len(case(found, facts, offers, days=5.0, jobs=2.0).tables["verdict"])
    same(plan(found), plan(case(found, facts, offers).tables))
