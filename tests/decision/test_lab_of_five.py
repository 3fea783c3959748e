"""The lab of five: its README's hand calculation, what would turn its plan, who waits, and what edits of it do."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from month_tables import LabOfFive
from sweetspot.errors import UserError

# By hand, as in config/studies/lab-of-five/README.md. The box takes 3 % longer than ours for each job.
RESNET = 115_305_030 / 1301 / 3600  # 24.619 h on one RTX 4090
BERT = 4_730_346 / 93 / 3600  # 14.129 h
OURS = 0.96 * 30.5 * 24  # 702.72 h a month
FIRST = OURS / RESNET  # of the 58 jobs of ResNet-50 that nobody hurries, those that ours does
EUR = 1.1378
RUNNING = 0.55 * 0.30 * EUR  # USD of an hour of one RTX 4090
CAPEX, CARE = 14_900 / 36 * EUR, 87 * EUR  # USD a month
A100 = 115_305_030 / 1582 / 3600  # 20.246 h, in time
H100 = 115_305_030 / 2786 / 3600  # 11.496 h
MINUTE = 0.69 / 60
URGENT = 2 * np.ceil(A100 * 60) * 1.59 / 60


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return LabOfFive(tmp_path_factory.mktemp("lab")).tables()


@pytest.fixture(scope="module")
def sure(tmp_path_factory):
    """The tables where all draws are one, with the analyses."""
    return LabOfFive(tmp_path_factory.mktemp("sure")).certain().tables(4, turning=True)


def edited(where, change, file="workloads.yaml"):
    """The tables of a lab of whose file something is changed."""
    return LabOfFive(where).edit(file, change).tables()


def mixes(tables):
    """The choices of the lab by their key."""
    return tables["choices"].set_index("choice")


def central(tables, mix):
    return mixes(tables).loc[mix, "usd_per_month_central"]


def rented(hours, count, price=1.0):
    """USD of `count` jobs on RunPod, billed by the minute, at a factor of its price."""
    return count * np.ceil(hours * 60) * MINUTE * price


def box(capex=CAPEX, running=RUNNING):
    """USD a month with the box."""
    rest = 58 * RESNET + 40 * BERT - OURS
    return OURS * RUNNING + capex + CARE + rest / 0.97 * running + URGENT


def cloud(price=1.0):
    """USD a month with RunPod's RTX 4090 instead."""
    return OURS * RUNNING + rented(RESNET, 58 - FIRST, price) + rented(BERT, 40, price) + URGENT


def without_deadline(work):
    job = work["lab"]["jobs"][0]
    del job["within_hours"], job["urgent_per_month"]


def test_the_hand_calculation_without_deadlines(tmp_path):
    tables = edited(tmp_path, without_deadline)
    work = 60 * RESNET + 40 * BERT
    assert work == pytest.approx(2042.3, abs=0.05)
    rest = work - OURS
    bought = CAPEX + CARE + rest / 0.97 * RUNNING
    assert bought == pytest.approx(829.18, abs=0.01)
    assert central(tables, "best") == pytest.approx(OURS * RUNNING + bought, abs=0.01)
    # A job of ResNet-50 rents at 0.69040 USD an hour of work, one of BERT at 0.69022: ours takes ResNet-50 first.
    beside = rented(RESNET, 60 - FIRST) + rented(BERT, 40)
    assert beside == pytest.approx(rest * 0.69, rel=0.001) and beside == pytest.approx(924.8, abs=0.1)
    assert central(tables, "runpod-1x4090") == pytest.approx(OURS * RUNNING + beside, abs=0.01)
    alone = mixes(tables).loc["there"]
    assert alone["why_not"] == "cannot" and pd.isna(alone["main_rented"])


def test_the_hand_calculation_with_two_urgent_runs(lab):
    assert pytest.approx(64.40, abs=0.01) == URGENT and box() == pytest.approx(1015.97, abs=0.01)
    assert central(lab, "best") == pytest.approx(box(), abs=0.01)
    assert central(lab, "runpod-1x4090") == pytest.approx(cloud(), abs=0.01)
    # An urgent run: 20.25 h on one A100 for 32.20 USD; RunPod's and our own RTX 4090 take 24.6 h.
    (due,) = lab["deadlines"].to_dict("records")
    assert (due["class"], due["within_hours"], due["option"]) == ("resnet50", 24.0, "runpod-1xa100-sxm")
    assert (due["hours"], due["usd"]) == (pytest.approx(A100), pytest.approx(URGENT / 2))


def test_what_is_there_needs_an_offer(tmp_path):
    with pytest.raises(UserError, match=r"lab\.have names 'rtx4090-2'; expected a machine with an offer `own`"):
        edited(tmp_path, lambda work: work["lab"]["have"].append("rtx4090-2"))


def row(table, assumption):
    (found,) = (one for _, one in table[table["assumption"] == assumption].iterrows())
    return found


def test_the_tornado_by_hand(sure):
    """Margins and money at either end of the ranges, each with the others as planned."""
    tornado = sure["tornado"]
    rent = row(tornado, "price of RunPod with 1 RTX 4090")
    assert rent["range_basis"] == "assumed"
    for end, factor in (("low", 0.8), ("high", 1.2)):
        assert rent[end] == pytest.approx(0.69 * factor)
        assert rent[f"margin_{end}"] == pytest.approx(cloud(factor) / box(), rel=1e-5)
        assert rent[f"usd_{end}"] == pytest.approx(36 * box(), rel=1e-5)
        paid = row(tornado, "price of the office box with 4 RTX 4090")
        assert paid[f"margin_{end}"] == pytest.approx(cloud() / box(capex=CAPEX * factor), rel=1e-5)
        longer = row(tornado, "length of the project")
        assert longer[f"usd_{end}"] == pytest.approx(36 * factor * box(capex=CAPEX / factor), rel=1e-5)
    power = row(tornado, "power of the office box with 4 RTX 4090")
    assert power["usd_high"] == pytest.approx(36 * box(running=RUNNING * 1.2), rel=1e-5)
    # At 0.8 of its power the box runs cheaper than ours (0.8 / 0.97 < 1), and has hours enough for all of it.
    every = (58 * RESNET + 40 * BERT) / 0.97 * RUNNING * 0.8
    assert power["usd_low"] == pytest.approx(36 * (CAPEX + CARE + every + URGENT), rel=1e-5)
    assert rent["margin"] == pytest.approx(cloud() / box(), rel=1e-5)
    assert rent["margin_high"] - rent["margin_low"] == pytest.approx((cloud(1.2) - cloud(0.8)) / box(), rel=1e-5)
    assert rent["margin_low"] < 1
    # Jobs side by side on eight devices have the figure, and the error, of one device.
    speeds = tornado.query("quantity == 'speed'")["subject"]
    assert not speeds.str.contains("|8|", regex=False).any()


def test_the_turning_points_by_hand(sure):
    """Where the box costs what RunPod does: in the rent, the price of the box, its power and its months."""
    points = sure["turning_points"]
    apart = cloud() - box()
    power = (58 * RESNET + 40 * BERT - OURS) / 0.97 * RUNNING
    expected = {
        "price of RunPod with 1 RTX 4090": 0.69 * (1 - apart / (cloud() - OURS * RUNNING - URGENT)),
        "price of the office box with 4 RTX 4090": 14_900 * EUR * (1 + apart / CAPEX),
        "maintenance of the office box with 4 RTX 4090": CARE + apart,
        "power of the office box with 4 RTX 4090": 2.2 * (1 + apart / power),
        "length of the project": 36 / (1 + apart / CAPEX),
    }
    for assumption, value in expected.items():
        found = row(points, assumption)
        assert found["turning_value"] == pytest.approx(value, rel=2e-4)
        assert found["to_title"] == "RunPod with 1 RTX 4090 beside what you have"
    pays = row(sure["break_even"], "length of the project")
    assert pays["break_even_value"] == pytest.approx(36 / (1 + apart / CAPEX), rel=2e-4)
    assert pays["break_even_low"] == pytest.approx(pays["break_even_high"])
    # Each job of BERT fewer saves the box 14.1 h of electricity, and the cloud their rent.
    saved = np.ceil(BERT * 60) * MINUTE - BERT / 0.97 * RUNNING
    found = sure["break_even"].set_index("subject").loc["bert"]
    assert found["break_even_value"] == pytest.approx(40 - apart / saved, rel=3e-4)


def test_a_quicker_device_is_in_time_itself(sure):
    """24.6 h on one RTX 4090; 20 % faster 20.5 h: the urgent runs stay at home, no A100 is rented for 64 USD.

    Four side by side in the box are one of them at 0.97, so they are quicker too. Ours then does 34.3 runs in its
    hours, the box the others.
    """
    faster = row(sure["tornado"], "speed of RTX 4090 on ResNet-50")
    assert (faster["low"], faster["high"]) == pytest.approx((0.8, 1.2))
    rest = (60 - 1.2 * FIRST) * RESNET / 1.2 + 40 * BERT
    month = OURS * RUNNING + CAPEX + CARE + rest / 0.97 * RUNNING
    assert faster["usd_high"] == pytest.approx(36 * month, rel=1e-5)


def erlang_c(servers, load):
    """Its definition, summed in fractions: the share that waits. Tables: 0.2362 at 3 Erlang on five."""
    terms = [Fraction(load) ** number / math.factorial(number) for number in range(servers + 1)]
    tail = terms[-1] * servers / (servers - Fraction(load))
    return float(tail / (sum(terms[:-1]) + tail))


def relaxed(load, hours, bert=BERT / 0.97):
    """Mean wait of who waits on five devices: mean / (5 - load), times half the mixture's second moment over mean^2."""
    mean = (58 * hours + 40 * bert) / 98
    square = 2 * (58 * hours**2 + 40 * bert**2) / 98
    return mean / (5 - load) * square / mean**2 / 2


MEAN = (OURS + (58 - FIRST) * RESNET / 0.97) / 58  # 25.006 h of one of the 58 that are not urgent


def test_the_five_devices_are_one_pool_by_hand(lab):
    queue = lab["queue"].set_index(["option", "workload"])
    load = (58 * MEAN + 40 * BERT / 0.97) / OURS
    assert load == pytest.approx(2.893, abs=5e-4)
    row = queue.loc[("lab: best", "lab.resnet50")]
    assert row["per_month"] == pytest.approx(58.0)
    assert (row["hours"], row["utilisation"]) == pytest.approx((MEAN, load / 5))
    share, wait = erlang_c(5, load), relaxed(load, MEAN)
    assert (share, row["wait_hours"]) == (pytest.approx(0.21, abs=0.02), pytest.approx(share * wait))
    assert row["wait_hours_p90"] == pytest.approx(wait * math.log(share / 0.1))
    assert row["hours_to_result"] == pytest.approx(MEAN + row["wait_hours"])
    other = queue.loc[("lab: best", "lab.bert")]
    assert other["wait_hours"] == row["wait_hours"]  # one queue
    assert other["hours_to_result"] == pytest.approx(BERT / 0.97 + row["wait_hours"])
