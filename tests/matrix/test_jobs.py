"""What Snakemake is told of a run, for machines measured here, through Slurm and on Kubernetes."""

import inspect
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from sweetspot.matrix.invocation import load_invocation
from sweetspot.matrix.jobs import Jobs
from sweetspot.platforms import PLATFORMS
from sweetspot.study.config import Measure
from sweetspot.study.instances import Executor

ROOT = Path(__file__).parent.parent.parent
HERE = Executor(where="local", device="cpu")
CARD = Executor(where="local", device="gpu", expect_gpu="Tesla V100")
SLURM = Executor(where="slurm", device="gpu", partition="p3", gpu_model="v100", cpus=16, mem_mb=9000, runtime_min=45)
PODS = Executor(where="kubernetes", device="gpu", machine_type="p3.8xlarge", cpus=8)


class Wildcards(SimpleNamespace):
    """As Snakemake gives them: by attribute and by name, all text."""

    def __getitem__(self, name):
        return getattr(self, name)


def run(instance="a", gpus=1, **other):
    return Wildcards(instance=instance, gpus=str(gpus), **other)


def jobs(**executors):
    config = SimpleNamespace(measure_on=list(executors), measure=Measure())
    instances = {name: SimpleNamespace(measure=executor) for name, executor in executors.items()}
    return Jobs(SimpleNamespace(config=config, instances=instances))


def asked_of(executor, **cell):
    return {name: of(value, run(**cell)) for name, value in jobs(a=executor).resources().items()}


def of(value, wildcards):
    return value(wildcards) if callable(value) else value


def test_each_platform_is_asked_in_its_own_words():
    assert asked_of(HERE) == {"nodes": 1, "gpu": 0}
    assert asked_of(CARD, gpus=2) == {"nodes": 1, "gpu": 2}
    assert asked_of(SLURM, gpus=4) == {
        "nodes": 1, "slurm_partition": "p3", "gpu_model": "v100", "cpus_per_task": 16, "mem_mb": 9000, "runtime": 45,
        "gpu": 4,
    }  # fmt: skip
    assert of(jobs(a=SLURM).threads(), run()) == 1
    asked = asked_of(PODS)
    assert (asked["machine_type"], asked["mem_mb"]) == ("p3.8xlarge", 8000)
    assert "slurm_partition" not in asked
    assert of(jobs(a=PODS).threads(), run()) == 8
    both = jobs(a=HERE, b=SLURM)
    asked = both.resources()
    assert (asked["slurm_partition"](run("a")), asked["slurm_partition"](run("b"))) == (None, "p3")
    assert (of(asked["gpu"], run("a", 2)), of(asked["gpu"], run("b", 2))) == (0, 2)


@pytest.mark.parametrize("name", [name for name in PLATFORMS if name != "local"])
def test_every_platform_has_the_profile_and_the_extra_that_its_row_names(name):
    platform = PLATFORMS[name]
    profile = yaml.safe_load((ROOT / platform.profile / "profile.yaml").read_text())
    assert platform.plugin == f"snakemake-executor-plugin-{profile['executor']}"
    assert "code" not in profile["rerun-triggers"]  # a comment in a script repeats no measurement
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(re.match(rf"{platform.plugin}\b", needed) for needed in extras[platform.extra])


# As Snakemake records them of runs of protocol 2; another text would repeat every one of them.
RECORDED = {
    "--protocol 2 --warmup-steps 2 --min-steps 5 --min-seconds 20.0 --least-seconds 2.0 --least-seconds-power 10.0 "
    "--min-steps-slow 3 --target-half-width 0.03 --time-limit-s 1800 --no-xla",
    "--device cpu --where local",
}


def shipped(**measure):
    return load_invocation(ROOT / "config" / "config.yaml", {"measure": measure}, ROOT / "config")


WORDS = {"framework": "tensorflow", "model": "vgg16", "batch_size": "16", "precision": "fp32", "variant": "default"}
FIRST, SECOND = (run("workstation", run=number, **WORDS) for number in "12")


def test_the_parameters_of_a_run_are_those_recorded_of_runs_made_before():
    for measure in ({}, {"time_limit_s": 60}):
        made = Jobs(shipped(**measure))
        assert {made.protocol(FIRST), made.device()(FIRST)} == RECORDED
    assert jobs(a=CARD).device()(run()) == "--device gpu --where local"


def test_where_a_run_is_made_is_a_function_of_resources_which_snakemake_does_not_compare():
    both = jobs(a=CARD, b=SLURM)
    assert list(inspect.signature(both.location).parameters) == ["wildcards", "resources"]
    assert both.location(run("a"), None) == "--expect-gpu 'Tesla V100'"
    assert both.location(run("b"), None) == "--where slurm"
    assert Jobs(shipped()).location(run("workstation"), None) == ""
    assert Jobs(shipped(time_limit_s=60)).location(run("workstation"), None) == "--time-limit-s 60"


def test_a_run_refused_before_has_the_number_of_its_attempt_and_one_outside_the_plan_the_lowest_priority():
    path = "instance~workstation/framework~tensorflow/model~vgg16/batch_size~16/gpus~1/precision~fp32/variant~default"
    protocol = Jobs(shipped(), {f"results/benchmarks/{path}/run~1.parquet": 2}).protocol
    assert protocol(FIRST).endswith("--no-xla --attempt 2")
    assert protocol(SECOND).endswith("--no-xla")
    plan = load_invocation(ROOT / "config" / "config.yaml", {"runs": 1}, ROOT / "config")
    order = Jobs(plan).priority()
    cells = [{name: str(value) for name, value in cell._asdict().items()} for cell in plan.cells]
    assert sorted(order(Wildcards(run="1", **cell)) for cell in cells) == list(range(1, len(cells) + 1))
    assert order(Wildcards(run="7", **cells[0])) == 0
