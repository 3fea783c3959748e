"""The queue of the machines that a mix holds: the lab of five on paper, by Erlang's definition and by its events."""

import math
from fractions import Fraction

import numpy as np
import pytest
from month_tables import LabOfFive
from sweetspot.bills.queue import EVERYBODY, NOBODY, Kind, Stream, tail_of, waits
from sweetspot.report.worth_words import waiting_in_words

RESNET = 115_305_030 / 1301 / 3600  # 24.619 h on ours, less 3 % of speed on the box
BERT = 4_730_346 / 93 / 3600 / 0.97  # 14.566 h, all of them on the box
OURS = 0.96 * 30.5 * 24  # 702.72 h a month
FIRST = OURS / RESNET  # 28.5 jobs of ResNet-50 fill ours, which runs them for less
MEAN = (OURS + (58 - FIRST) * RESNET / 0.97) / 58  # 25.006 h of one of the 58 that are not urgent


def erlang_c(servers, load):
    """Its definition, summed in fractions."""
    load, terms = Fraction(load), [Fraction(1)]
    for number in range(1, servers + 1):
        terms.append(terms[-1] * load / number)
    tail = terms[-1] * servers / (servers - load)
    return float(tail / (sum(terms[:-1]) + tail))


def relaxed_of(hours, jobs, load):
    """Mean wait of who waits on five devices: mean / (5 - load), times half the mixture's second moment over mean^2."""
    mean = (jobs * hours + 40 * BERT) / (jobs + 40)
    square = (jobs * 2 * hours**2 + 40 * 2 * BERT**2) / (jobs + 40)
    return mean / (5 - load) * square / mean**2 / 2


def relaxed(load):
    return relaxed_of(MEAN, 58, load)


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    return held_of(LabOfFive(tmp_path_factory.mktemp("lab")).tables())


def held_of(tables):
    queue = tables["queue"]
    return queue[queue["held"].astype(bool)].set_index(["option", "workload"])


def test_the_five_devices_are_one_pool_by_hand(queue):
    load = (58 * MEAN + 40 * BERT) / OURS
    assert load == pytest.approx(2.893, abs=5e-4)
    row = queue.loc[("lab: best", "lab.resnet50")]
    assert (row["jobs_at_once"], row["per_month"]) == (5, pytest.approx(58.0))
    assert row["hours"] == pytest.approx(MEAN)
    assert row["utilisation"] == pytest.approx(load / 5)
    share = erlang_c(5, load)
    assert share == pytest.approx(0.21, abs=0.02)  # tables: 0.2362 at 3 Erlang on 5
    assert row["wait_hours"] == pytest.approx(share * relaxed(load))
    assert row["wait_hours_p90"] == pytest.approx(relaxed(load) * math.log(share / 0.1))
    assert row["hours_to_result"] == pytest.approx(MEAN + row["wait_hours"])
    other = queue.loc[("lab: best", "lab.bert")]
    assert other["wait_hours"] == row["wait_hours"]  # one queue
    assert other["hours_to_result"] == pytest.approx(BERT + row["wait_hours"])


def test_the_pool_by_its_events(queue):
    kinds = [Kind(58 / OURS, MEAN, 1.0, 1), Kind(40 / OURS, BERT, 1.0, 1)]
    seen = waits(5, kinds, 120_000)
    row = queue.loc[("lab: best", "lab.resnet50")]
    assert row["wait_hours"] == pytest.approx(np.mean(seen), rel=0.08)
    assert row["wait_hours_p90"] == pytest.approx(np.quantile(seen, 0.9), rel=0.1)


def test_the_ends_are_those_of_speeds_and_of_jobs(queue):
    """45 and 30 jobs and the fast ends of the speeds; 80 and 55 jobs and the slow ones."""
    row = queue.loc[("lab: best", "lab.resnet50")]
    assert row["wait_hours_low"] < row["wait_hours"] < row["wait_hours_high"]
    assert row["hours_to_result_low"] < row["hours_to_result"] < row["hours_to_result_high"]


def test_from_how_many_people_on_another_is_faster(tmp_path):
    """All that is rented takes 30 h for ResNet-50, and nothing is urgent: 60 and 40 jobs wait at home."""

    def slow(table):
        for row in table[1:]:
            if row[6] == "resnet50" and not row[1].startswith("rtx4090"):
                row[11:12], row[13:15] = [f"{115_305_030 / 30 / 3600:.6f}"], ["", ""]

    def calm(work):
        work["lab"]["people"] = 5
        del work["lab"]["jobs"][0]["within_hours"], work["lab"]["jobs"][0]["urgent_per_month"]

    lab = (
        LabOfFive(tmp_path).edit("workloads.yaml", calm).edit("prices/rent.yaml", lambda list_: list_["offers"].pop(0))
    )
    row = held_of(lab.edit_csv("throughput.csv", slow).tables()).loc[("lab: best", "lab.resnet50")]
    assert row["rival_hours"] == pytest.approx(30)
    # The wait grows with the load until it takes what 30 h leave.
    load, grown = row["utilisation"] * 5, row["slower_from_per_month"] / 60
    assert load == pytest.approx((60 * row["hours"] + 40 * BERT) / OURS)
    wait = erlang_c(5, grown * load) * relaxed_of(row["hours"], 60, grown * load)
    assert wait == pytest.approx(30 - row["hours"], rel=1e-3)
    assert row["slower_from_people"] == math.floor(grown * 5) + 1 > 5


def test_a_mix_that_fills_its_machines_lets_their_jobs_wait_without_end(tmp_path):
    """Twice the jobs: one box is the cheapest, full, the rest rented; with two boxes nine devices are 65 % busy."""

    def twice(work):
        for job in work["lab"]["jobs"]:
            job["per_month"] = {name: 2 * value for name, value in job["per_month"].items()}

    tables = LabOfFive(tmp_path).edit("workloads.yaml", twice).tables()
    queue = held_of(tables)
    best, two = (queue.loc[(f"lab: {mix}", "lab.bert")] for mix in ("best", "box-4"))
    assert best["overloaded"] and best["utilisation"] == pytest.approx(1.0)
    assert (two["jobs_at_once"], two["overloaded"]) == (9, False)
    # All 118 + 80 at home, on 9 devices: (118 x 24.62 + 80 x 14.13) x about 1 / 0.97 of 9 x 702.72.
    assert two["utilisation"] == pytest.approx((118 * RESNET / 0.975 + 80 * BERT) / 9 / OURS, rel=0.01)
    said = waiting_in_words(tables["queue"])
    assert any("pool of your RTX 4090 and office box with 4 RTX 4090 with" in one for one in said)


def test_tails():
    # Two devices half of the time: 1/3 wait, 10 h on average (tests/bills/test_queue.py).
    tail = tail_of([Stream(0.1, 10.0, 1.0, 2)])
    assert tail == (pytest.approx(1 / 3), pytest.approx(10.0), ())
    assert tail.beyond(np.array([-1.0, 0.0, 10.0])) == pytest.approx([1.0, 1 / 3, 1 / 3 / math.e])
    assert tail_of([]) == NOBODY and NOBODY.beyond(np.array([0.0, 5.0])).tolist() == [0.0, 0.0]
    assert tail_of([Stream(0.2, 10.0, 1.0, 2)]) == EVERYBODY
    assert EVERYBODY.beyond(np.array([1e6])).tolist() == [1.0]
    # Simulated where some take all: its own waits.
    both = tail_of([Stream(0.064, 5.0, 1.0, 4), Stream(0.016, 5.0, 1.0, 1)])
    late = both.beyond(np.array([-1.0, 0.0, both.seen[-1]]))
    assert late.tolist() == [1.0, pytest.approx(both.waits_at_all), 0.0]
    assert sum(wait > 2.0 for wait in both.seen) / len(both.seen) == pytest.approx(both.beyond(np.array([2.0]))[0])
