"""Projects planned on what each option offers: rounds, machines enough, possession and what never ends, on paper."""

import numpy as np
import pytest
from price_lists import cell, machines, planned, price_list
from sweetspot.bills.renting import job_rounds, next_machine_count
from sweetspot.study.instances import Instance

TOTAL = ["machines", "at_once", "hours", "usd", "jobs"]
OWN = {"capex": 3600.0, "months": 36.0, "kw": 1.0, "per_kwh": 0.5, "days_per_month": 10.0}


def plan(*phases, **keys):
    """Phases: name, jobs, hours, devices of a job."""
    named = [{"name": name, "jobs": jobs, "hours": hours, "gpus_per_job": gpus} for name, jobs, hours, gpus in phases]
    return {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 2, "phases": named} | keys


def by_phase(offer, *phases, **keys):
    prices = price_list({"instance": "x"} | offer)
    return planned(prices, [cell("x")], machines(prices), p=plan(*phases, **keys)).set_index("phase")


@pytest.mark.parametrize(
    ("jobs", "slots", "count", "longest", "together"),
    [
        (10, 4, 1, 3, 3),  # 4 + 4 + 2
        (10, 4, 2, 2, 4),  # five on each: 4 + 1
        (10, 4, 3, 1, 3),  # 4, 3, 3
        (10, 4, 9, 1, 3),  # three hold them all; six stand idle
        (9, 4, 2, 2, 3),  # five on one (4 + 1), four on the other
        (8, 4, 2, 1, 2),
        (1, 4, 5, 1, 1),
    ],
)
def test_rounds_of_jobs_dealt_out_evenly(jobs, slots, count, longest, together):
    assert [float(part) for part in job_rounds(jobs, slots, count)] == [longest, together]


@pytest.mark.parametrize(
    ("boxes", "hours", "most", "following", "short"),
    [
        (1.0, 100.0, 10.0, 1.0, False),  # one works 100 hours
        (1.0, 101.0, 10.0, 2.0, True),
        (2.0, 340.0, 10.0, 7.0, True),  # 680 hours of work
        (3.0, 101.0, 10.0, 4.0, True),  # 303 hours: four
        (2.0, 340.0, 5.0, 5.0, True),  # no more than there may be
        (5.0, 340.0, 5.0, 5.0, True),
        (6.0, 340.0, 5.0, 6.0, True),  # those that are there stay
        (2.0, np.inf, 10.0, 2.0, False),  # what never ends takes no more machines
    ],
)
def test_the_next_number_of_machines(boxes, hours, most, following, short):
    found, lacking = next_machine_count(np.array([boxes]), np.array([hours]), np.array([100.0]), most)
    assert (found.tolist(), lacking.tolist()) == ([following], [short])


def test_five_jobs_on_two_machines_are_three_and_two():
    offer = {"per_hour": 1.0, "billing": {"granularity": "hour", "minimum_s": 43_200.0}}
    rows = by_phase(offer, ("search", 5, 3.0, "all"), ("final", 1, 10.0, "all"))
    # nine hours and six, of which at least twelve each are billed: 24; then ten hours on one machine: 12
    assert rows.loc["search", TOTAL].to_list() == [2, 2, 9, 24, 5]
    assert rows.loc["final", TOTAL].to_list() == [1, 1, 10, 12, 1]
    assert rows.loc["total", ["machines", "hours", "usd", "jobs"]].to_list() == [2, 19, 36, 6]
    assert "possession" not in rows.index


def test_boxes_bought_queue_the_jobs_and_are_possessed_for_the_project():
    # 600 USD less than 6600 over 30 months, 10 of care and 60 of staff: 270 a month and box; 0.3 an hour of use
    own = {"capex": 6600.0, "months": 30.0, "residual": 600.0, "maintenance_per_month": 10.0, "kw": 1.0, "pue": 1.5,
           "per_kwh": 0.2, "days_per_month": 10.0, "boxes": 2, "staff_hours_per_month": 3.0,
           "staff_per_hour": 20.0}  # fmt: skip
    work = (("search", 5, 3.0, "all"), ("final", 1, 10.0, "all"))
    rows = by_phase({"purchase": "own", "own": own}, *work, months=12.0)
    assert rows.loc["possession", TOTAL].tolist() == pytest.approx([2, 0, 0, 2 * 12 * 270, 0])
    assert rows["plan_months"].tolist() == [12.0] * 4
    assert rows.loc["search", "usd"] == pytest.approx(0.3 * 15)
    assert rows.loc["total", "usd"] == pytest.approx(2 * 12 * 270 + 0.3 * 25)
    whole = by_phase({"purchase": "own", "own": own}, *work)
    assert whole.loc["possession", "usd"] == pytest.approx(2 * 30 * 270)  # as long as it is used


@pytest.mark.parametrize(
    ("jobs", "hours", "own", "boxes", "total"),
    [
        # 36 months of 10 days are 8,640 hours of planned use
        (8, 1080.0, {}, 1, 8640.0),
        # 29,400 h of 8,640: 3.4, so four: 98 jobs of 300 h are 25 rounds on four, 7,500 h, and 33 on three
        (98, 300.0, {}, 4, 7500.0),
        # 17,100 of 8,640 h are 1.98 machines; two do five rounds, 9,500 h; three do three
        (9, 1900.0, {}, 3, 5700.0),
        # 0.5 x 8,640 = 4,320 h: two machines for 8,640
        (8, 1080.0, {"downtime_share": 0.5}, 2, 4320.0),
    ],
)
def test_as_many_are_bought_as_do_the_work(jobs, hours, own, boxes, total):
    rows = by_phase({"purchase": "own", "own": OWN | own}, ("work", jobs, hours, "all"), parallel=1)
    assert rows.loc["possession", "machines"] == boxes
    assert rows.loc["total", ["machines", "hours", "status"]].tolist() == [boxes, total, "ok"]
    assert rows.loc["total", "usd"] == pytest.approx(boxes * 3600 + jobs * hours * 0.5)
    assert rows.loc[["work", "total"], "work_hours"].tolist() == [jobs * hours] * 2
    prices = price_list({"instance": "x", "purchase": "own", "own": OWN}, {"instance": "x", "per_hour": 1.0})
    both = plan(("work", 98, 300.0, "all"), ("last", 1, 9.0, "all"), parallel=1)
    rows = planned(prices, [cell("x")], machines(prices), p=both).set_index("phase")
    assert rows.loc[["possession"], "machines"].tolist() == [4]  # also with a phase of one job, and beside an offer


def test_jobs_of_one_device_fill_the_machine_at_the_speed_of_its_base():
    card = {"provider": "cloud", "gpu": "a card"}
    known = {
        "x": Instance(title="x", gpus=1, **card),
        "four": Instance(title="four", gpus=4, base_instance="x", **card),
        "alike": Instance(title="alike", gpus=4, equivalent_to="four", **card),
        "plain": Instance(title="plain", gpus=4, **card),
    }
    prices = price_list(*({"instance": name, "per_hour": 1.0} for name in ("four", "alike", "plain")))
    cells = [cell("x", 100.0), *(cell(name, 240.0, gpus=4) for name in ("four", "alike", "plain"))]
    rows = planned(prices, cells, known, p=plan(("search", 9, 3.0, "one"), ("few", 3, 3.0, "one")))
    few = rows[rows["phase"] == "few"].set_index("instance")
    assert few.loc["four", TOTAL].tolist() == [1, 3, 3, 3, 3]  # three fit on one machine
    rows = rows[rows["phase"] == "search"].set_index("instance")
    # 8 at once, the machines take 5 and 4 jobs: two rounds and one. A device does 100, or a quarter of 240 where no
    # base is declared: 3 h, and 5 h
    assert rows["at_once"].tolist() == [8.0] * 3
    assert rows["hours"].to_dict() == pytest.approx({"four": 6, "alike": 6, "plain": 10})
    assert rows["usd"].to_dict() == pytest.approx({"four": 9, "alike": 9, "plain": 15})


def test_a_search_on_ten_rented_machines_and_in_a_queue_on_four_cards():
    own = {"capex": 6500, "months": 30, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10}
    prices = price_list({"instance": "cloud", "per_hour": 2.0}, {"instance": "box", "purchase": "own", "own": own})
    known = machines(prices, box={"gpus": 4, "base_instance": "desk"}) | {
        "desk": Instance(title="desk", provider="own", gpu="a card", gpus=1)
    }
    cells = [cell("desk", 150), cell("cloud", 300), cell("box", 500, gpus=4)]
    project = plan(("search", 10, 24, "one"), ("training", 1, 100, "all"), instance="desk", parallel=10, months=30)
    rows = planned(prices, cells, known, project=project).set_index(["instance", "phase"])
    told = ["machines", "hours", "usd"]
    assert rows.loc[("cloud", "search"), told].tolist() == pytest.approx([10, 12, 10 * 12 * 2.0])
    # Four cards, each as fast as the desk's: three rounds of a day; 2 x 3 and 2 x 2 jobs on the one box, switched on
    assert rows.loc[("box", "search"), told].tolist() == pytest.approx([1, 72, 72 * 0.2])
    assert rows.loc[("box", "training"), "hours"] == pytest.approx(100 * 150 / 500)
    assert rows.loc[("box", "possession"), "usd"] == pytest.approx(6500)
    assert rows.loc[("box", "total"), ["hours", "usd"]].tolist() == pytest.approx([102, 6500 + 102 * 0.2])
    assert rows.loc[("cloud", "total"), "usd"] == pytest.approx(240 + 50 * 2.0)


YEAR = {"term_months": 12, "upfront": 1200, "per_month": 10, "per_hour": 0.1}


@pytest.mark.parametrize(
    ("deal", "keys", "work", "possession"),
    [
        # 1200 + 12 x 10 for the term, whatever is used of it; 5 hours of work at 0.1 each
        (YEAR | {"charged": "used"}, {"months": 20}, 0.5, 1320),
        (YEAR | {"charged": "always"}, {"months": 20}, 0.0, 1320 + 12 * 73.2),
        # renewed to the end of a project whose jobs arrive over its months: two terms of 12
        (YEAR | {"charged": "used"}, {"months": 20, "renewed": True}, 0.5, 2640),
        # a week is possessed once, and eight times in two months
        ({"term_months": 0.25, "upfront": 50.0}, {}, 0.0, 50),
        ({"term_months": 0.25, "upfront": 50.0}, {"months": 2.0, "renewed": True}, 0.0, 400),
    ],
)
def test_a_commitment_is_possessed_for_its_whole_terms(deal, keys, work, possession):
    rows = by_phase({"purchase": "committed", "commitment": deal}, ("training", 1, 5, "all"), parallel=4, **keys)
    expected = {"training": work, "possession": possession, "total": work + possession}
    assert rows["usd"].to_dict() == pytest.approx(expected)
    rows = by_phase({"purchase": "committed", "commitment": YEAR}, ("work", 8, 1000, "all"), parallel=1)
    assert rows.loc["possession", "machines"] == 1  # 8,000 of 8,784 hours


@pytest.mark.parametrize(
    ("offer", "phases", "keys", "status"),
    [
        ({"per_hour": 1.0}, [("a", 1, 1.0, "all")], {"instance": "unknown"}, {"a": "no figure", "total": "no figure"}),
        # e^5 for each restore
        ({"purchase": "spot", "per_hour": 1.0, "interruptions": {
            "per_hour": 10.0, "checkpoint_s": 60, "restore_s": 1800, "source": "x"}},
         [("a", 1, 0.01, "all"), ("b", 1, 30000, "all")], {}, {"b": "never finishes", "total": "never finishes"}),
        # a job longer than the project is done by no number of machines
        ({"purchase": "own", "own": OWN}, [("a", 3, 9000.0, "all")], {},
         {"a": "too slow", "possession": "too slow", "total": "too slow"}),
    ],
)  # fmt: skip
def test_what_cannot_be_done_says_so_in_its_total(offer, phases, keys, status):
    rows = by_phase(offer, *phases, **keys)
    wrong = rows[rows["status"] != "ok"]
    assert wrong["status"].to_dict() == status
    assert wrong[["hours", "usd"]].isna().all(axis=None)
