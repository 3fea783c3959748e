"""Phases of a plan whose jobs come month after month to a shared machine: sums on paper."""

import math
from dataclasses import replace

import pytest
from decision_tables import BOX, RENTED, inputs, plan_rows, settings
from sweetspot.decision.compare import compare
from sweetspot.decision.waiting import phase_rows
from sweetspot.errors import UserError
from sweetspot.study.sharing import Demand, load_demands
from sweetspot.study.workloads import load_workloads

JOB = 94_720_000 / 498 / 3600  # 52.834 h of the workload imagenet on the box
MONTH = 30.5 * 24
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


def plan_row(options, option, phase, jobs, machines, hours):
    """A row of results/<study>/plans as bills/plans.py makes it, on the cell of that option."""
    row = options.set_index("option").loc[option]
    cell = ("price_list", "instance", "purchase", "framework", "model", "batch_size", "gpus", "precision", "variant")
    made = {name: row[name] for name in cell} | {"plan": "project", "phase": phase, "jobs": jobs, "machines": machines}
    return made | {"hours": hours, "usd": 1.0, "status": "ok", "at_once": 1.0}


def planned(options):
    """20 jobs of 8 h on the box's 4 devices are 5 rounds; two of 30 h follow each other; rented: on 4 machines."""
    rows = [
        plan_row(options, BOX, "search", 20, 1, 40.0),
        plan_row(options, BOX, "training", 2, 1, 60.0),
        plan_row(options, BOX, "possession", 0, 1, 0.0),
        plan_row(options, BOX, "total", 22, 1, 100.0),
        plan_row(options, RENTED, "search", 20, 4, 60.0),
    ]
    return plan_rows(rows)


@pytest.fixture
def demands():
    return {
        "project.search": Demand((60.0, 40.0, 80.0), 1.0, 4, 1, "one"),
        "project.training": Demand((3.0, 3.0, 3.0), 0.5, None, 1, "all"),
    }


def test_one_job_of_a_phase_by_hand(demands):
    options = compare(inputs(), settings(), draws=50)["options"]
    rows = phase_rows(options, planned(options), demands)
    found = rows[rows["workload"].isin(demands)].set_index(["option", "workload"])
    assert len(found) == 3  # possession and total are no phase
    box = found.loc[(BOX, "project.search")]
    gpus = int(box["gpus"])
    assert box["hours"] == pytest.approx(40 / math.ceil(20 / gpus))
    assert box["jobs_at_once"] == gpus
    # The ends are those of the speed.
    assert box["hours_low"] == pytest.approx(box["hours"] * box["images_per_s"] / box["images_per_s_high"])
    assert found.loc[(BOX, "project.training"), "hours"] == pytest.approx(30.0)  # two rounds of 60 h
    # Rented: 20 jobs on 4 machines, 5 each: of one device one after another.
    rented = found.loc[(RENTED, "project.search")]
    assert rented["hours"] == pytest.approx(60 / math.ceil(5 / int(rented["gpus"])))


def test_phases_wait_in_one_queue_with_each_other_and_with_workloads(demands):
    options = compare(inputs(), settings(), draws=50)["options"]
    given = replace(inputs(), plans=planned(options))
    queue = compare(given, settings(), draws=50, demands=demands | {"imagenet": Demand((1.0, 1.0, 1.0), 1.0, None, 1)})
    rows = queue["queue"].set_index(["option", "workload"])
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
        "project.search": Demand((60.0, 40.0, 80.0), 1.0, 4, 1, "one"),
        "project.training": Demand((3.0, 3.0, 3.0), 0.5, None, 1, "all"),
        "alone": Demand((2.0, 2.0, 2.0), 1.0, None, 1),
    }
    file.write_text(WORK.replace("hours_cv: 0.5", "hours_cv: -1"))
    with pytest.raises(UserError, match=r"project\.training\.shared.*hours_cv"):
        load_demands(file)
