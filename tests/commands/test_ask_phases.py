"""`sweetspot ask` of a plan of phases at another use or with more jobs: that of a study that says so.

Asked of the files of a made study: tests/workflow/test_one_answer.py.
"""

import pandas as pd
import pytest
from decision_tables import study
from phase_plans import WORK, compared, given, hourly, own
from sweetspot.commands.reevaluate import RequestedUse, StudyInputs, reevaluate
from sweetspot.study.settings import Settings

RANGED = {"value": 6.0, "low": 4.0, "high": 9.0}
DRAWS = 400
FIGURES = ["counts", "hours", "usd", "usd_low", "usd_high", "p_cheaper"]


@pytest.fixture(scope="module")
def small():
    """The page's tables of a box, a rented machine and the plan WORK, and what asks for it at other values."""
    found, (facts, offers) = compared(own(), hourly(RANGED), draws=DRAWS), given(own(), hourly(RANGED))

    def case(**wanted):
        known = StudyInputs(found["options"], Settings.of(study(reference="box")), offers, phases=facts)
        return reevaluate(known, RequestedUse(**wanted), DRAWS)

    return found, case


def plan(found):
    """The choices of the plan."""
    return found["choices"][found["choices"]["cost"] == "rounds"].set_index("choice")


@pytest.mark.parametrize(
    ("wanted", "box", "jobs"), [({"jobs_factor": 1.5}, {}, 5400), ({"days": 5.0}, {"days_per_month": 5.0}, 3600)]
)
def test_more_jobs_or_fewer_days_are_those_of_a_study_that_says_so(small, wanted, box, jobs):
    """5,400 jobs of two hours, or five days a month, take two boxes."""
    found, case = small
    work = {"phases": [WORK["phases"][0] | {"jobs": jobs}]}
    own_table = plan(compared(own(**box), hourly(RANGED), work=work, draws=DRAWS))
    pd.testing.assert_frame_equal(plan(case(**wanted))[FIGURES], own_table[FIGURES], rtol=1e-9, check_dtype=False)
    assert own_table.loc["box", "counts"] == 2.0 != plan(found).loc["box", "counts"]


def test_asked_for_nothing_else_it_is_the_pages_and_jobs_are_whole_ones(small):
    """Of 3,600 jobs of two hours: one job; a little more than one is two."""
    found, case = small
    pd.testing.assert_frame_equal(plan(found)[FIGURES], plan(case())[FIGURES], rtol=1e-12, check_dtype=False)
    for factor, hours in ((1 / 3600, 2.0), (1.00001 / 3600, 4.0)):
        assert plan(case(jobs_factor=factor)).loc["rented", "hours"] == pytest.approx(hours)
