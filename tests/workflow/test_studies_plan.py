"""What turns the plans of the shipped studies, put into their files and priced anew, does turn them."""

import pandas as pd
import pytest
from replanned import Replanned

pytestmark = pytest.mark.slow
CLOSE = 0.015
# Of many a few of each kind: every figure of the box, and every eighth of the rented machines.
STUDIES = {"parkopedia-2018": 1, "office-box-2026": 1, "eight-gpus-2026": 8}


def sampled(points: pd.DataFrame, every: int) -> pd.DataFrame:
    """Every so many of each kind of figure, the nearest of it among them."""
    # A path of rents stands in no file as one number.
    points = points[points["quantity"] != "rent_factor"]
    return points[points.groupby("quantity").cumcount() % every == 0]


@pytest.mark.parametrize("name", STUDIES)
def test_each_turning_point_put_into_the_files_turns_the_plan_and_less_does_not(name, tmp_path):
    plan = Replanned(name, tmp_path)
    asked = sampled(plan.points, STUDIES[name])
    options = plan.tables.comparison["choices"]
    options = options[options["cost"] == "rounds"]
    best = options[options["is_best"].astype(bool)]["alternative"].iloc[0]
    wrong = []
    for point in asked.to_dict("records"):
        towards = 1 if point["side"] == "above" else -1
        before, after = (plan.best(point, point["factor"] * (1 + towards * part)) for part in (-CLOSE, CLOSE))
        if before != best or after == best:
            wrong.append((point["assumption"], point["side"], point["factor"], before, after))
    assert len(asked) >= 9 and wrong == []
