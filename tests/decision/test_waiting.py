"""The wait for a shared machine, of workloads and of phases: sums on paper, and from when a rented one is faster."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, plan_rows, settings
from sweetspot.decision.compare import compare
from sweetspot.decision.options import build_options
from sweetspot.decision.waiting import QUEUE_COLUMNS, coming_to_options, queue_table
from sweetspot.errors import UserError
from sweetspot.report.worth_words import waiting_in_words
from sweetspot.study.needs import Demand, load_demands
from sweetspot.study.workloads import load_workloads

JOB = 94_720_000 / 498 / 3600  # 52.834 h on the box
SLOW = 94_720_000 / 225 / 3600  # 116.94 h on the rented machine
MONTH = 30.5 * 24


def demand(per_month=6.0, cv=1.0, people=None, runs=1, low=None, high=None):
    return Demand((per_month, low or per_month, high or per_month), cv, people, runs)


def queue(demands, **changes):
    found = compare(inputs(**changes), settings(), draws=200, demands=demands)["queue"]
    return found.set_index("option")


def test_one_job_at_a_time_by_hand():
    found = queue({"imagenet": demand(people=3)})
    box, other = found.loc[BOX], found.loc[RENTED]
    busy = 6 * JOB / MONTH  # 0.43307
    assert box["utilisation"] == pytest.approx(busy) == pytest.approx(0.43307, abs=1e-5)
    # M/M/1: hours x busy / (1 - busy) = 40.36; the tail hours / (1 - busy) x ln(busy / 0.1)
    assert box["wait_hours"] == pytest.approx(40.36, abs=0.01)
    assert box["wait_hours_p90"] == pytest.approx(JOB / (1 - busy) * math.log(busy / 0.1))
    assert box["hours_to_result"] == pytest.approx(JOB + 40.36, abs=0.01)
    # What is rented when needed waits for nobody.
    assert other[["wait_hours", "wait_hours_p90"]].tolist() == [0, 0]
    assert other["hours_to_result"] == pytest.approx(SLOW)
    assert math.isnan(other["utilisation"])
    # JOB / (1 - r) = SLOW at r = 0.5482: 1.2658 times today's six, and more than 3.797 people.
    assert (box["rival"], box["rival_hours"]) == (RENTED, pytest.approx(SLOW))
    assert box["slower_from_per_month"] == pytest.approx(6 * (1 - JOB / SLOW) / busy, rel=1e-5)
    assert box["slower_from_people"] == 4
    assert other[["rival", "slower_from_people"]].isna().all()


def test_a_held_machine_that_is_the_slower_one_without_a_queue_is_so_for_the_first_job_and_person():
    table = of_options(
        {"imagenet": demand(people=3)}, hours=lambda rows: rows["hours"].where(rows["option"] != BOX, 120.0)
    )
    box = table.loc[BOX]
    assert box["hours"] == 120 > SLOW
    assert (box["slower_from_per_month"], box["slower_from_people"]) == (0, 0)


def test_hours_that_are_all_alike_halve_the_wait():
    assert queue({"imagenet": demand(cv=0.0)}).loc[BOX, "wait_hours"] == pytest.approx(40.36 / 2, abs=0.01)


def test_the_ends_of_the_jobs_a_month_are_the_ends_of_the_wait():
    box = queue({"imagenet": demand(low=3.0, high=12.0)}).loc[BOX]
    half, double = 3 * JOB / MONTH, 12 * JOB / MONTH
    assert box["wait_hours_low"] == pytest.approx(JOB * half / (1 - half))
    assert box["hours_to_result_high"] == pytest.approx(JOB / (1 - double))  # 0.866 of the time
    more = queue({"imagenet": demand(high=14.0)}).loc[BOX]  # 1.01 of it
    assert math.isnan(more["hours_to_result_high"]) and not more["overloaded"]


def test_more_than_the_box_can_do_is_said_and_two_boxes_can():
    full = queue({"imagenet": demand(18.0, people=9)})
    assert full.loc[BOX, "overloaded"]
    assert full.loc[BOX, "utilisation"] == pytest.approx(18 * JOB / MONTH)  # 1.2992
    assert full.loc[BOX, ["wait_hours", "hours_to_result"]].isna().all()
    (said,) = waiting_in_words(full.reset_index())
    assert said == (
        "office-4x1080ti with 18 jobs a month of “imagenet” would be busy 130 % of the time: the queue grows without "
        "end. p3.2xlarge (117 h) is faster for your 9 people; for up to 3 it was not."
    )
    two = queue({"imagenet": demand(18.0)}, box_more={"boxes": 2.0}).loc[BOX]
    busy = 18 * JOB / MONTH / 2  # M/M/2: P = 2 r^2 / (1 + r)
    assert two["jobs_at_once"] == 2
    assert two["wait_hours"] == pytest.approx(2 * busy**2 / (1 + busy) * JOB / (2 * (1 - busy)))


def test_a_box_that_is_down_part_of_the_time_has_less_of_it():
    assert queue({"imagenet": demand()}, box_more={"downtime_share": 0.2}).loc[BOX, "utilisation"] == pytest.approx(
        6 * JOB / (0.8 * MONTH)
    )


def of_options(demands, **columns):
    """The table of the same market with columns as those of jobs side by side."""
    market = inputs()
    tables = (market.costs, market.offers, market.throughput, market.extrapolation)
    options = build_options(*tables, settings()).assign(**columns)
    return table_of(options, demands).set_index("option")


def table_of(options, demands):
    return queue_table(coming_to_options(options, pd.DataFrame(), inputs().offers, demands, 30.5))


def test_jobs_of_one_device_each_run_four_at_once():
    box = of_options({"imagenet": demand(40.0)}, jobs_at_once=4.0).loc[BOX]
    busy = 40 * JOB / MONTH / 4  # 0.7218: 2.887 of four; Erlang C by its sum
    load = 4 * busy
    tail = load**4 / 24 / (1 - busy)
    share = tail / (1 + load + load**2 / 2 + load**3 / 6 + tail)
    assert box["jobs_at_once"] == 4
    assert box["wait_hours"] == pytest.approx(share * JOB / (4 * (1 - busy)))


def test_runs_that_are_priced_as_one_bill_wait_one_by_one():
    # Six runs in the hours of the table, one after another: each a sixth.
    one = of_options({"imagenet": demand(36.0, runs=6)}).loc[BOX]
    assert one["hours"] == pytest.approx(JOB / 6)
    assert one["utilisation"] == pytest.approx(36 * JOB / 6 / MONTH)
    # Four side by side: two rounds.
    assert of_options({"imagenet": demand(36.0, runs=6)}, jobs_at_once=4.0).loc[BOX, "hours"] == pytest.approx(JOB / 2)


def test_all_workloads_of_a_machine_queue_together():
    market = inputs()
    options = build_options(market.costs, market.offers, market.throughput, market.extrapolation, settings())
    short = options.assign(workload="short", hours=options["hours"] / 10)
    every = pd.concat([options, short], ignore_index=True)
    both = table_of(every, {"imagenet": demand(5.0), "short": demand(50.0)})
    long, short = (both[(both["option"] == BOX) & (both["workload"] == name)].iloc[0] for name in ("imagenet", "short"))
    rate, busy = 55 / MONTH, 10 * JOB / MONTH
    # Pollaczek-Khinchine: arrivals x second moment / (2 (1 - busy)), the second moment of exponentials 2 h^2.
    square = (5 * 2 * JOB**2 + 50 * 2 * (JOB / 10) ** 2) / 55
    for row in (long, short):
        assert row["utilisation"] == pytest.approx(busy)
        assert row["wait_hours"] == pytest.approx(rate * square / (2 * (1 - busy)))
    assert short["hours_to_result"] == pytest.approx(JOB / 10 + short["wait_hours"])


def test_the_sentences():
    (said,) = waiting_in_words(queue({"imagenet": demand(people=3)}).reset_index())
    assert said == (
        "office-4x1080ti with 6 jobs a month of “imagenet” is busy 43 % of the time. A job waits 40.4 h on average, "
        "one in ten over 137 h. The result arrives after 93.2 h. p3.2xlarge (117 h) is faster from 4 people on (now "
        "3)."
    )
    (said,) = waiting_in_words(queue({"imagenet": demand(0.5)}).reset_index())
    assert "and fewer than one in ten waits at all" in said
    assert said.endswith("p3.2xlarge (117 h) is faster from 7.6 jobs a month on.")
    quick = queue({"imagenet": demand(people=1)}, rented=600.0).reset_index()
    assert waiting_in_words(quick)[0].endswith("p3.2xlarge (43.9 h) is faster even without a wait.")


def test_a_study_that_says_nothing_of_it_has_an_empty_table_and_no_sentence():
    found = compare(inputs(), settings(), draws=200)["queue"]
    assert list(found.columns) == list(QUEUE_COLUMNS) and found.empty
    assert waiting_in_words(found) == []
    assert waiting_in_words(pd.DataFrame()) == []


def test_what_a_workload_says_of_its_jobs(tmp_path):
    file = tmp_path / "workloads.yaml"
    file.write_text("""
search:
  kind: runs
  runs: 10
  hours: 24
  shared: {per_month: {value: 40, low: 30, high: 60}, hours_cv: 0.5, people: 5}
  source: this test
quiet: {kind: training, model: vgg16, samples: 1000, source: this test}
job: {kind: training, model: vgg16, samples: 1000, shared: {per_month: 2}, source: this test}
""")
    assert load_demands(file) == {
        "search": Demand((40, 30, 60), 0.5, 5, 10),
        "job": Demand((2, 2, 2), 1.0, None, 1),
    }
    assert load_workloads(file)["quiet"].shared is None
    assert load_demands(tmp_path / "none.yaml") == {}
    file.write_text(file.read_text().replace("hours_cv", "hour_cv"))
    for read in (load_demands, load_workloads):
        with pytest.raises(UserError, match=r"did you mean 'hours_cv'\?"):
            read(file)


# --- phases of plans --------------------------------------------------------------------------------------------------

WORK = """
project:
  kind: plan
  model: vgg16
  instance: office-4x1080ti
  parallel: 4
  phases:
    - name: search
      jobs: 20
      hours: 8
      gpus_per_job: one
      shared: {per_month: {value: 60, low: 40, high: 80}, people: 4}
    - {name: training, jobs: 2, hours: 30, shared: {per_month: 3, hours_cv: 0.5}}
    - {name: report, jobs: 1, hours: 1}
  source: x
alone: {kind: training, model: vgg16, samples: 1.0, shared: {per_month: 2}, source: x}
"""


def plan_row(options, option, phase, jobs, machines, hours, slots=1):
    """A row of results/<study>/plans as bills/plans.py makes it, on the cell of that option."""
    row = options.set_index("option").loc[option]
    cell = ("price_list", "instance", "purchase", "framework", "model", "batch_size", "gpus", "precision", "variant")
    made = {name: row[name] for name in cell} | {"plan": "project", "phase": phase, "jobs": jobs, "machines": machines}
    return made | {"hours": hours, "usd": 1.0, "status": "ok", "at_once": 1.0, "slots": float(slots)}


def planned(options):
    """20 jobs of 8 h on the box's 4 devices are 5 rounds; two of 30 h follow each other; rented: on 4 machines."""
    gpus = options.set_index("option")["gpus"]
    rows = [
        plan_row(options, BOX, "search", 20, 1, 40.0, gpus[BOX]),
        plan_row(options, BOX, "training", 2, 1, 60.0),
        plan_row(options, BOX, "possession", 0, 1, 0.0),
        plan_row(options, BOX, "total", 22, 1, 100.0),
        plan_row(options, RENTED, "search", 20, 4, 60.0, gpus[RENTED]),
    ]
    return plan_rows(rows)


@pytest.fixture
def demands():
    return {
        "project.search": Demand((60.0, 40.0, 80.0), 1.0, 4, 1),
        "project.training": Demand((3.0, 3.0, 3.0), 0.5, None, 1),
    }


def test_one_job_of_a_phase_by_hand(demands):
    options = compare(inputs(), settings(), draws=50)["options"]
    lines = coming_to_options(options, planned(options), inputs().offers, demands, 30.5)
    found = {(one.row["option"], one.row["workload"]): one for one, _ in lines}
    assert len(found) == 3  # possession and total are no phase
    box = found[BOX, "project.search"]
    gpus = int(box.row["gpus"])
    assert box.hours[0] == pytest.approx(40 / math.ceil(20 / gpus))
    assert box.servers == gpus
    # The ends are those of the speed.
    speed = box.row["images_per_s"]
    assert box.hours[1] == pytest.approx(box.hours[0] * speed / box.row["images_per_s_high"])
    assert box.hours[2] == pytest.approx(box.hours[0] * speed / box.row["images_per_s_low"])
    assert found[BOX, "project.training"].hours[0] == pytest.approx(30.0)  # two rounds of 60 h
    # Rented: 20 jobs on 4 machines, 5 each: of one device one after another.
    rented = found[RENTED, "project.search"]
    assert rented.hours[0] == pytest.approx(60 / math.ceil(5 / int(rented.row["gpus"])))


def test_phases_wait_in_one_queue_with_each_other_and_with_workloads(demands):
    options = compare(inputs(), settings(), draws=50)["options"]
    given = replace(inputs(), plans=planned(options))
    every = demands | {"imagenet": Demand((1.0, 1.0, 1.0), 1.0, None, 1)}
    rows = compare(given, settings(), draws=50, demands=every)["queue"].set_index(["option", "workload"])
    box = rows.loc[BOX]
    gpus = int(options.set_index("option").loc[BOX, "gpus"])
    search = 40 / math.ceil(20 / gpus)
    # 60 searches on all devices, 3 trainings of 30 h and one of imagenet, which take the whole box.
    assert box.loc["project.search", "utilisation"] == pytest.approx((60 * search / gpus + 3 * 30 + JOB) / MONTH)
    assert box["utilisation"].nunique() == 1 and box["wait_hours"].nunique() == 1
    assert box.loc["project.training", "hours_to_result"] == pytest.approx(30 + box["wait_hours"].iloc[0])
    assert box.loc["project.search", "per_month"] == 60
    assert rows.loc[(RENTED, "project.search"), "wait_hours"] == 0


def test_one_kind_of_phase_is_erlangs(demands):
    """Three trainings a month, 30 h each, half as spread as exponential: 90 of 732 h, Pollaczek and Khinchine."""
    options = compare(inputs(), settings(), draws=50)["options"]
    only = {"project.training": demands["project.training"]}
    queue = compare(replace(inputs(), plans=planned(options)), settings(), draws=50, demands=only)["queue"]
    busy = 90 / MONTH
    row = queue[queue["option"] == BOX].iloc[0]
    assert row["wait_hours"] == pytest.approx(busy / (1 - busy) * 30 * (1 + 0.25) / 2)


def test_what_a_phase_says_of_its_jobs(tmp_path):
    file = tmp_path / "workloads.yaml"
    file.write_text(WORK)
    assert load_workloads(file)["project"].phases[0].shared.people == 4
    assert load_demands(file) == {
        "project.search": Demand((60.0, 40.0, 80.0), 1.0, 4, 1),
        "project.training": Demand((3.0, 3.0, 3.0), 0.5, None, 1),
        "alone": Demand((2.0, 2.0, 2.0), 1.0, None, 1),
    }
    file.write_text(WORK.replace("hours_cv: 0.5", "hours_cv: -1"))
    with pytest.raises(UserError, match=r"project\.training\.shared.*hours_cv"):
        load_demands(file)
