"""What being in time costs: in the lab of five, by class, with speeds and numbers that are certain; of single jobs."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from answer_options import option, spot
from month_tables import LabOfFive
from sweetspot.bills.queue import EVERYBODY, Queue, Tail
from sweetspot.decision.deadlines import job_deadlines
from sweetspot.report.answer_file import by_deadline

RESNET = 115_305_030 / 1301 / 3600  # 24.619 h on an RTX 4090
BOX = RESNET / 0.97
BERT = 4_730_346 / 93 / 3600 / 0.97
A100 = 115_305_030 / 1582 / 3600  # 20.246 h
H100 = 115_305_030 / 2786 / 3600  # 11.496 h
OURS = 0.96 * 30.5 * 24
RUNNING = 0.55 * 0.30 * 1.1378  # USD of an hour of one RTX 4090
FIRST = OURS / RESNET  # of the 58 ordinary jobs, those that ours does


def certain(lab):
    """Every speed, price and number as its central figure: all draws are one."""

    def speeds(table):
        for row in table[1:]:
            row[13] = row[14] = row[11]

    def plain(value):
        if isinstance(value, dict):
            return value["value"] if "low" in value else {name: plain(one) for name, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value

    def flat(content):
        content.update({name: plain(value) for name, value in content.items()})

    for name in ("workloads.yaml", "prices/rent.yaml", "prices/ours.yaml"):
        lab.edit(name, flat)
    return lab.edit_csv("throughput.csv", speeds)


@pytest.fixture(scope="module")
def sure(tmp_path_factory):
    """The tables where all draws are one."""
    return certain(LabOfFive(tmp_path_factory.mktemp("sure"))).tables(50)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return LabOfFive(tmp_path_factory.mktemp("lab")).tables()


def at(tables, job, hours):
    """What holds for a class within so many hours."""
    steps = tables["deadlines"]
    return steps[(steps["class"] == job) & (steps["within_hours"] <= hours)].iloc[-1]


def test_the_cheapest_in_time_by_hand(sure):
    """H100 from 11.5 h on, A100 from 20.2, an RTX 4090 rented from 24.6, and our own when its wait of 2.2 h is over."""
    steps = sure["deadlines"]
    assert steps[steps["class"] == "resnet50"]["within_hours"].min() == pytest.approx(H100)
    told = [(hours, at(sure, "resnet50", hours)) for hours in (12.0, 21.0, 24.7, 27.0)]
    assert [row["option"] for _, row in told] == [
        "runpod-1xh100-sxm",
        "runpod-1xa100-sxm",
        "runpod-1x4090",
        "rtx4090-1",
    ]
    usd = [math.ceil(H100 * 60) / 60 * 3.49, math.ceil(A100 * 60) / 60 * 1.59, math.ceil(RESNET * 60) / 60 * 0.69]
    assert [row["usd"] for _, row in told] == pytest.approx([*usd, RESNET * RUNNING])
    # An ordinary job costs its running at home, on ours, which is not slowed by neighbours.
    assert [row["usd_extra"] for _, row in told] == pytest.approx([value - RESNET * RUNNING for value in usd] + [0.0])
    assert told[0][1]["p_in_time"] == 1.0 and told[0][1]["wait_hours"] == 0.0


def test_the_share_in_time_counts_the_wait_by_hand(sure):
    """Of 58 jobs ours does 28.5 in 24.6 h, the box 29.5 in 25.4. The pool is 57.9 % full: as if 60 % (levels of 5 %).

    Of five devices with 3 Erlang 0.2362 wait (tables); the wait of those is the mixture's, over 2 devices.
    """
    mean = (OURS + (58 - FIRST) * BOX + 40 * BERT) / 98
    hours = (OURS + (58 - FIRST) * BOX) / 58
    square = 2 * (58 * hours**2 + 40 * BERT**2) / 98
    relaxed = mean / 2 * square / mean**2 / 2
    terms = [Fraction(3**number, math.factorial(number)) for number in range(6)]
    share = terms[5] * 5 / 2 / (sum(terms[:5]) + terms[5] * 5 / 2)
    assert float(share) == pytest.approx(0.2362, abs=5e-5)

    def done(limit):
        early = [count * (1 - float(share) * math.exp(-(limit - took) / relaxed)) if limit >= took else 0.0
                 for count, took in ((FIRST, RESNET), (58 - FIRST, BOX))]  # fmt: skip
        return sum(early) / 58

    steps = sure["deadlines"]
    for row in steps[steps["class"] == "resnet50"].itertuples():
        assert row.share_in_time == pytest.approx(done(row.within_hours), abs=1e-6), row.within_hours
    assert done(24.0) == 0 and 0.35 < done(25.0) < 0.4 and 0.75 < done(26.0) < 0.85
    assert steps[steps["is_asked"]]["share_in_time"].tolist() == [0.0]  # of 24 h
    home = at(sure, "resnet50", 30.0)
    within = home["within_hours"] - RESNET
    assert home["p_in_time"] == pytest.approx(1 - float(share) * math.exp(-within / relaxed))


def test_a_longer_deadline_never_costs_more_and_more_jobs_make_it(lab):
    for _, steps in lab["deadlines"].groupby("class"):
        assert steps["within_hours"].is_monotonic_increasing
        assert (np.diff(steps["usd"]) <= 1e-9).all()
        assert (np.diff(steps["share_in_time"]) >= 0).all()
        assert len(steps) > 20 and steps["share_in_time"].iloc[-1] > 0.95


def test_the_deadlines_of_the_study_are_marked(lab):
    rows = lab["deadlines"]
    due = rows[rows["is_asked"]]
    assert due[["workload", "class", "within_hours", "per_month"]].to_numpy().tolist() == [["lab", "resnet50", 24.0, 2]]
    assert rows.groupby("class")["per_month"].unique().map(list).to_dict() == {"resnet50": [2.0], "bert": [0.0]}


def test_a_full_pool_has_nobody_in_time(tmp_path):
    """Nothing bought and nothing for sale: ours is always full, so what waits there is late, what is rented is not."""

    def none(prices):
        del prices["offers"][1]

    lab = certain(LabOfFive(tmp_path)).edit("prices/ours.yaml", none)
    study = lab.folder / "study.yaml"
    study.write_text(study.read_text().replace("reference: box-4", "reference: runpod-1x4090"))
    tables = lab.tables(50)
    step = at(tables, "resnet50", 60.0)
    # Of 58 jobs the 28.5 on ours wait without end; the other 29.5 are rented and done in 24.6 h.
    assert step["share_in_time"] == pytest.approx((58 - FIRST) / 58)
    assert step["option"] == "runpod-1x4090"  # not ours, however long one waits


def test_the_answer_for_programs_has_the_steps(lab):
    told = by_deadline(lab)
    assert [(one.workload, one.job) for one in told] == [("lab", "resnet50"), ("lab", "bert")]
    rows = lab["deadlines"]
    assert len(told[0].steps) == (rows["class"] == "resnet50").sum()
    step = next(one for one in told[0].steps if one.within_hours == 24.0)
    assert (step.option, step.usd) == ("runpod-1xa100-sxm", pytest.approx(math.ceil(A100 * 60) / 60 * 1.59))
    assert by_deadline({}) == []


def test_who_is_in_time_by_levels_on_paper():
    """Two draws of two months, one of which is full. Half of the jobs wait, 4 h on average; 4 h to spare, or none."""
    queue = Queue(2.0, [Tail(0.5, 4.0), EVERYBODY], np.array([[0, 1], [0, 0]]))
    early = queue.in_time(np.array([4.0, -1.0]))
    assert early == pytest.approx(np.array([[1 - 0.5 / math.e, 0.0], [0.0, 0.0]]))
    # Of those with nothing to spare half do not wait at all; where it is full all do.
    assert queue.in_time(np.array([0.0, 0.0])).tolist() == [[0.5, 0.0], [0.5, 0.5]]


# --- of single jobs -------------------------------------------------------------------------------------------------


def test_a_deadline_keeps_what_ends_in_time_and_counts_late_draws_as_no_choice():
    rows = [spot("Taken", 1, hours=2.0), option("Slow", 2, hours=4.0), option("Fast", 3, hours=2.0)]
    few = {name: np.array([[row[name]] * 3 for row in rows], float) for name in ("usd", "hours")}
    few["hours"][2] = [1.0, 2.0, 2.5]
    found = job_deadlines(pd.DataFrame(rows), SimpleNamespace(**few), [4.0, 2.0, 1.5])
    assert found["within_hours"].tolist() == [1.5, 2.0, 4.0] and found["workload"].eq("w").all()
    late, two, four = found.to_dict("records")
    assert late["status"] == late["verdict"] == "none can: the fastest, Fast, takes 2 h for 3 USD"
    assert isinstance(late["option"], float)  # none: what can be taken away is no answer
    assert (two["option"], two["usd"], two["status"]) == ("fast", 3, "ok")
    assert two["p_cheapest"] == two["p_in_time"] == pytest.approx(2 / 3)  # in the third draw it is late
    assert (two["hours_low"], two["hours_high"]) == (1.0, 2.5)
    assert (four["option"], four["runner_up"], four["margin"]) == ("slow", "fast", 1.5)
    assert (four["margin_low"], four["margin_high"]) == (1.5, 1.5)
    assert (four["p_cheapest"], four["confidence"], four["verdict"]) == (1.0, "clear", "Slow")
