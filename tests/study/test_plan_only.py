"""A plan whose model nothing else trains: one job of its phases is priced, so that its options exist."""

import pytest
import yaml
from sweetspot.study.needs import load_needs
from sweetspot.study.workloads import load_workloads

PLAN = {
    "kind": "plan",
    "model": "vgg16",
    "instance": "box",
    "parallel": 1,
    "source": "this test",
    "gpu_memory_gib": 9.0,
}
ONE = {"name": "search", "jobs": 8, "hours": 3.0, "gpus_per_job": "one"}
ALL = {"name": "training", "jobs": 2, "hours": 50.0, "gpus_per_job": "all"}
JOB = {"kind": "training", "model": "vgg16", "samples": 10.0, "source": "this test"}
MONTHLY = {
    "kind": "monthly", "months": 12.0, "have": [], "source": "this test",
    "jobs": [{"name": "one", "model": "vgg16", "samples": 10.0, "per_month": 3, "devices_per_job": 1, "source": "-"}],
}  # fmt: skip


def read(tmp_path, **works):
    file = tmp_path / "workloads.yaml"
    file.write_text(yaml.safe_dump(works, sort_keys=False))
    return load_workloads(file), load_needs(file)


@pytest.mark.parametrize(
    ("phases", "jobs"),
    [
        ([ONE, ALL], {"project.training": (50.0, "all", None)}),  # of the whole machine, where a phase's jobs take it
        ([ONE], {"project.search": (3.0, 1, 1)}),
        ([ALL, ALL | {"name": "b"}], {"project.training": (50.0, "all", None), "project.b": (50.0, "all", None)}),
    ],
)  # fmt: skip
def test_one_job_of_a_phase_is_priced_by_its_hours_and_needs_the_plans_memory(tmp_path, phases, jobs):
    works, needs = read(tmp_path, project=PLAN | {"phases": phases})
    assert list(works) == ["project", *jobs] == list(needs)
    for name, (hours, devices, alone) in jobs.items():
        job = works[name]
        assert (job.kind, job.runs, job.hours, job.instance, job.model) == ("runs", 1, hours, "box", "vgg16")
        assert (job.devices_per_job, job.contention) == (devices, 0.0)
        assert (needs[name].gib(4), needs[name].devices) == (9.0, alone)


@pytest.mark.parametrize("other", [{"job": JOB}, {"lab": MONTHLY}])
def test_where_something_else_trains_its_model_nothing_is_added(tmp_path, other):
    works, needs = read(tmp_path, project=PLAN | {"phases": [ALL]}, **other)
    assert not {name for name in (*works, *needs) if name.startswith("project.")}


def test_a_job_of_another_model_does_not_stand_for_it(tmp_path):
    works, _ = read(tmp_path, project=PLAN | {"phases": [ALL]}, job=JOB | {"model": "resnet50"})
    assert "project.training" in works
