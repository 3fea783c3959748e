"""What turns the answers of the shipped studies, written into their files and decided anew, does turn them."""

import pandas as pd
import pytest
from replanned import Replanned

pytestmark = pytest.mark.slow
# A little less does not turn it; at the point itself it does, but for the minutes that bills are rounded to.
CLOSE, AT = 0.015, 0.005
# Of many a few of each kind of figure: every so many of a plan, and of single jobs.
STUDIES = {"parkopedia-2018": (3, 12), "office-box-2026": (2, 40), "eight-gpus-2026": (12, 80), "lab-of-five": (3, 16),
           "fine-tune-2026": (6, 1), "start-up-2026": (3, 16), "initialized-2017": (1, 1)}  # fmt: skip


def sampled(points: pd.DataFrame, of_plans: int, of_jobs: int) -> pd.DataFrame:
    """Every so many of each kind of figure, the nearest of it among them."""
    # A path of rents stands in no file as one number.
    points = points[points["quantity"] != "rent_factor"]
    every = points["model"].isna().map({True: of_plans, False: of_jobs})
    return points[points.groupby([points["model"].isna(), "quantity"]).cumcount() % every == 0]


@pytest.mark.parametrize("name", STUDIES)
def test_each_turning_point_put_into_the_files_turns_the_answer_and_less_does_not(name, tmp_path):
    study = Replanned(name, tmp_path)
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
