"""What turns the answers of the shipped studies, written into their files and decided anew, does turn them."""

import pandas as pd
import pytest
from replanned import Replanned

pytestmark = pytest.mark.slow
# A little less does not turn it; at the point itself it does, but for the minutes that bills are rounded to.
CLOSE, AT = 0.015, 0.005
# Of many a few: every so many of each kind of figure of a plan, and of all points of single jobs.
STUDIES = {"parkopedia-2018": (12, 160), "office-box-2026": (12, 90), "eight-gpus-2026": (48, 800),
           "lab-of-five": (12, 160), "fine-tune-2026": (12, 1), "start-up-2026": (6, 80),
           "initialized-2017": (1, 1)}  # fmt: skip


def sampled(points: pd.DataFrame, of_plans: int, of_jobs: int) -> pd.DataFrame:
    """Every so many of each kind of figure, the nearest of it among them."""
    # A path of rents stands in no file as one number.
    points = points[points["quantity"] != "rent_factor"]
    of_job = points["model"].notna()
    plans, jobs = points[~of_job], points[of_job]
    return pd.concat([plans[plans.groupby("quantity").cumcount() % of_plans == 0], jobs[::of_jobs]])


@pytest.mark.parametrize("name", STUDIES)
def test_each_turning_point_put_into_the_files_turns_the_answer_and_less_does_not(name, study_results, tmp_path):
    study = Replanned(study_results(name), tmp_path)
    asked, planned, wrong = sampled(study.points, *STUDIES[name]), {}, []
    for point in asked.to_dict("records"):
        work = point["workload"], point["model"]
        best = planned[work] = planned.get(work) or study.best(point | {"quantity": "months"})
        towards = 1 if point["side"] == "above" else -1
        short = max(-CLOSE, -abs(1 - 1 / point["factor"]))  # no further back than what is planned
        before, after = (study.best(point, point["factor"] * (1 + towards * part)) for part in (short, AT))
        if before != best or after == best:
            wrong.append((*work, point["assumption"], point["side"], point["factor"], best, before, after))
    assert len(asked) >= min(5, len(study.points)) > 0 and wrong == []
