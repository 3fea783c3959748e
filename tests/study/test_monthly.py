"""The work of months as a person writes it: what is refused, what is priced, what memory its jobs need."""

import copy

import pytest
import yaml
from sweetspot.errors import UserError
from sweetspot.study.memory import GIB
from sweetspot.study.needs import load_needs
from sweetspot.study.workloads import load_monthly, load_workloads

JOB = {"name": "runs", "model": "vgg16", "samples": 5.0, "per_month": 10, "devices_per_job": 1, "source": "x"}
WORK = {"kind": "monthly", "months": 36, "jobs": [JOB], "source": "x"}
URGENT = {"within_hours": 24, "urgent_per_month": 2}


def written(folder, job=None, **work):
    content = copy.deepcopy(WORK) | work
    content["jobs"] = [JOB | (job or {})] if "jobs" not in work else work["jobs"]
    content["jobs"] = [{key: value for key, value in one.items() if value is not None} for one in content["jobs"]]
    file = folder / "workloads.yaml"
    file.write_text(yaml.safe_dump({"lab": content}))
    return file


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"samples": None}, "either samples or hours"),
        ({"hours": 2.0}, "either samples or hours"),
        ({"samples": None, "hours": 2.0}, "hours and the instance"),
        ({"within_hours": 24}, "within_hours and urgent_per_month, both or none"),
        ({"urgent_per_month": 1}, "within_hours and urgent_per_month, both or none"),
        ({**URGENT, "urgent_per_month": 11}, "at most per_month, found 11 of 10"),
        ({**URGENT, "urgent_per_month": {"value": 2, "low": 0, "high": 4}}, "a low above 0"),
        ({"fallback": "next"}, "need_within_hours where fallback is given"),
        ({"need_within_hours": 4.0, "fallback": "hope"}, "hope"),
        ({"need_within_hours": -1.0}, "-1"),
        ({"urgent_devices_per_job": 4}, "urgent_per_month where urgent_devices_per_job is given"),
        ({"devices_per_job": 0}, "devices_per_job"),
        ({"devices_per_job": "some"}, "devices_per_job"),
        ({"devices_per_job": None}, "'lab.monthly.jobs[0].devices_per_job' is missing and needed"),
        ({"per_month": {"value": 10, "low": 12}}, "low <= value <= high"),
        ({"per_month": 0}, "a number above 0"),
    ],
)
def test_what_is_wrong_with_a_class_is_said(tmp_path, job, words):
    with pytest.raises(UserError) as told:
        load_workloads(written(tmp_path, job))
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ({"months": 0.5}, "months"),
        ({"months_alike": 1.5}, "months_alike"),
        ({"contention": 1.0}, "contention"),
        ({"jobs": []}, "jobs"),
        ({"jobs": [JOB, JOB]}, "a name once among jobs, found runs twice"),
    ],
)
def test_what_is_wrong_with_the_work_is_said(tmp_path, work, words):
    with pytest.raises(UserError) as told:
        load_workloads(written(tmp_path, **work))
    assert words in str(told.value)


def test_one_job_of_each_class_is_priced(tmp_path):
    jobs = [JOB | URGENT | {"urgent_devices_per_job": "all"}, JOB | URGENT | {"name": "others"}]
    file = written(tmp_path, jobs=jobs, contention=0.1)
    found = load_workloads(file)
    assert {name: work.devices_per_job for name, work in found.items()} == {
        "lab.runs": 1, "lab.runs.urgent": "all", "lab.others": 1,
    }  # fmt: skip
    assert {work.contention for work in found.values()} == {0.1}
    assert list(load_monthly(file)) == ["lab"]
    assert load_monthly(tmp_path / "none.yaml") == {}


def test_an_amount_without_a_range_is_its_own_range(tmp_path):
    job = load_monthly(written(tmp_path))["lab"].jobs[0]
    assert (job.per_month.value, *job.per_month.ends) == (10, 10, 10)


def test_each_class_needs_the_memory_of_the_devices_that_its_jobs_take(tmp_path):
    """1e9 parameters x 16 bytes, divided by the devices of a job: one, or all four."""
    rule = {"parameters": 1e9, "precision": "mixed", "optimizer": "adam", "sharding": "parameters"}
    job = {"memory": rule | {"activations_gib": 0.0, "source": "x"}, **URGENT, "urgent_devices_per_job": "all"}
    needs = load_needs(written(tmp_path, job))
    assert set(needs) == {"lab.runs", "lab.runs.urgent"}
    assert needs["lab.runs"].gib(4) * GIB == 16e9
    assert needs["lab.runs.urgent"].gib(4) * GIB == 4e9


def test_a_training_says_its_devices_too(tmp_path):
    file = tmp_path / "workloads.yaml"
    file.write_text("a: {kind: training, model: m, samples: 5.0, devices_per_job: 2, gpu_memory_gib: 3.0, source: s}")
    assert load_workloads(file)["a"].devices_per_job == 2
    assert load_needs(file)["a"].gib(8) == 3.0


def test_none_that_is_urgent_has_no_range_to_be_drawn(tmp_path):
    none = {"within_hours": 24, "urgent_per_month": {"value": 0, "low": 0, "high": 0}}
    assert load_monthly(written(tmp_path, none))["lab"].jobs[0].urgent_per_month.value == 0


@pytest.mark.parametrize("later", [[36], [12, 6], [6, 6], [40]])
def test_machines_come_by_ascending_months_within_the_work(tmp_path, later):
    with pytest.raises(UserError, match=r"by ascending months, all below 36, found"):
        load_monthly(written(tmp_path, buy_after_months=later))


def test_work_may_halve_from_month_to_month_and_no_more(tmp_path):
    assert load_monthly(written(tmp_path, {"growth_per_month": -0.5}))["lab"].jobs[0].growth_per_month.value == -0.5
    with pytest.raises(UserError, match="growth_per_month"):
        load_monthly(written(tmp_path, {"growth_per_month": -0.51}))
