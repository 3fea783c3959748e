"""Work as a person writes it: which jobs are priced, what memory they need, how often they come."""

import json

import pytest
from study_entries import PLAN as BARE_PLAN
from sweetspot.study.instances import GIB
from sweetspot.study.open_models import cell_work, memory_need, open_model
from sweetspot.study.workloads import load_monthly, load_needs, load_titles, load_workloads

JOB = {"name": "runs", "model": "vgg16", "samples": 5.0, "per_month": 10, "devices_per_job": 1, "source": "x"}
URGENT = {"within_hours": 24, "urgent_per_month": 2}
# 1e9 parameters x 16 bytes, divided by the devices of a job
RULE = {"sharded_memory_gib": 16e9 / GIB}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "workloads.yaml"


def written(file, **works):
    file.write_text(json.dumps(works))  # which YAML reads too
    return load_workloads(file), load_needs(file)


def month(*jobs, **work):
    return {"kind": "monthly", "months": 36, "jobs": list(jobs), "source": "x"} | work


def test_one_job_of_each_class_is_priced(file):
    found, _ = written(
        file, lab=month(JOB | URGENT | {"title": "T"}, JOB | {"name": "others", "devices_per_job": "all"})
    )
    assert [work.title for work in found.values()] == ["T", "others"]
    assert {name: work.devices_per_job for name, work in found.items()} == {"lab.runs": 1, "lab.others": "all"}
    assert {work.contention for work in found.values()} == {0.03}
    known = {key: value for key, value in JOB.items() if key != "samples"} | {"hours": 3.0, "instance": "box"}
    (one,) = written(file, lab=month(known))[0].values()
    assert (one.kind, one.runs, one.hours, one.instance) == ("runs", 1, 3, "box")
    written(file, lab=month(JOB | URGENT))
    assert list(load_monthly(file)) == ["lab"]
    assert load_monthly(file.with_name("none.yaml")) == {}
    assert load_monthly(file)["lab"].jobs[0].per_month.ends == (10, 10)  # without a range it is its own


def test_works_keep_their_order_devices_titles_and_needs(file):
    _, needs = written(file, lab=month(JOB | RULE, JOB | RULE | {"name": "others", "devices_per_job": "all"}))
    assert {name: need.gib(4) * GIB for name, need in needs.items()} == {"lab.runs": 16e9, "lab.others": 4e9}
    run = {"kind": "runs", "runs": 2, "hours": 1.5, "source": "s"}
    training = {"kind": "training", "model": "m", "samples": 5.0, "source": "s"}
    works, needs = written(file, b=run, a=training | {"devices_per_job": 2, "gpu_memory_gib": 3.0})
    assert list(works) == ["b", "a"]
    assert (works["b"].runs, works["b"].hours, works["a"].samples, works["a"].devices_per_job) == (2, 1.5, 5, 2)
    assert needs["a"].gib(8) == 3.0 and needs["b"].gib(8) is None
    assert load_titles(file) == {}
    written(file, lab=month(JOB | {"title": "Runs"}, JOB | {"name": "others"}, title="Lab"))
    assert load_titles(file) == {"lab": "Lab", "lab.runs": "Runs", "lab.others": "others"}


PLAN = BARE_PLAN | {"model": "vgg16", "instance": "box", "gpu_memory_gib": 9.0}
ONE = {"name": "search", "jobs": 8, "hours": 3.0, "gpus_per_job": "one"}
ALL = {"name": "training", "jobs": 2, "hours": 50.0, "gpus_per_job": "all"}


@pytest.mark.parametrize(
    ("phases", "jobs"),
    [
        ([ONE, ALL], {"project.training": (50.0, "all", None)}),  # of the whole machine, where a phase's jobs take it
        ([ONE], {"project.search": (3.0, 1, 1)}),
        ([ALL, ALL | {"name": "b"}], {"project.training": (50.0, "all", None), "project.b": (50.0, "all", None)}),
    ],
)  # fmt: skip
def test_one_job_of_a_phase_is_priced_by_its_hours_and_needs_the_plans_memory(file, phases, jobs):
    works, needs = written(file, project=PLAN | {"phases": phases})
    assert list(works) == ["project", *jobs] == list(needs)
    for name, (hours, devices, alone) in jobs.items():
        job = works[name]
        assert (job.kind, job.runs, job.hours, job.instance, job.model) == ("runs", 1, hours, "box", "vgg16")
        assert (job.devices_per_job, job.contention) == (devices, 0.0)
        assert (needs[name].gib(4), needs[name].devices) == (9.0, alone)


def test_a_phase_stands_for_a_plan_whose_model_nothing_else_trains(file):
    training = {"kind": "training", "model": "vgg16", "samples": 10.0, "source": "this test"}
    for other in (training, month(JOB)):
        works, needs = written(file, project=PLAN | {"phases": [ALL]}, other=other)
        assert not {name for name in (*works, *needs) if name.startswith("project.")}
    works, _ = written(file, project=PLAN | {"phases": [ALL]}, other=training | {"model": "resnet50"})
    assert "project.training" in works


TOKENS = {"model": "Llama-3.1-8B", "method": "lora", "tokens": 3000, "sequence": 4096, "source": "x"}
CLASS = {"name": "a", "per_month": 2, "devices_per_job": "all"}


def test_a_need_follows_tokens_unless_it_is_stated(file):
    jobs, needs = written(file, m=month(CLASS | TOKENS))
    assert (jobs["m.a"].model, jobs["m.a"].samples) == ("llama-3.1-8b.lora.4096", 3000.0)
    expected = memory_need(open_model("llama-3.1-8b"), "lora", 4096).gib(4)
    assert jobs["m.a"].gib(4) == needs["m.a"].gib(4) == expected
    jobs, needs = written(file, m=month(CLASS | TOKENS | {"gpu_memory_gib": 30.0}))
    assert jobs["m.a"].sharded_memory_gib is None and needs["m.a"].gib(8) == jobs["m.a"].gpu_memory_gib == 30


@pytest.mark.parametrize("name", ["resnet50", "phi-2.lora", "phi-2.lora.x", "llama-9.lora.2048", "phi-2.dpo.2048"])
def test_other_models_are_no_work_by_tokens(name):
    assert cell_work(name) is None
    assert cell_work("llama-3.1-8b.lora.4096") == (open_model("llama-3.1-8b"), "lora", 4096)
