"""Projects to measure the workflow on: a large matrix, a trivial one of as many jobs, and a small real one."""

import itertools
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "tests" / "support")]

from project_copy import copy_project, edit  # noqa: E402
from sweetspot.cells import run_path  # noqa: E402
from sweetspot.frameworks import BUILDERS  # noqa: E402
from sweetspot.harness.facts import machine_facts  # noqa: E402
from sweetspot.harness.request import parse_request  # noqa: E402
from sweetspot.harness.runfile import write_run  # noqa: E402
from sweetspot.harness.step_times import Interval  # noqa: E402

MODELS, GPUS = sorted(BUILDERS["tensorflow"])[:20], (1, 2, 4, 8)


def big_project(folder: Path, cells: int) -> Path:
    """A copy of the project whose matrix has `cells` cells of one run each."""
    project = copy_project(folder / "big")
    batches = cells // (len(MODELS) * len(GPUS))
    config = project / "config" / "config.yaml"
    edit(config, "model: [inception3, resnet50, vgg16]", f"model: [{', '.join(MODELS)}]")
    edit(config, "batch_size: [16] ", f"batch_size: [{', '.join(str(n + 1) for n in range(batches))}] ")
    edit(config, "gpus: [1]", f"gpus: {list(GPUS)}")
    edit(config, "runs: 2", "runs: 1")
    return project


def trivial_project(folder: Path, jobs: int) -> Path:
    """A workflow of as many jobs that do nothing: what Snakemake itself costs."""
    project = folder / "trivial"
    project.mkdir()
    (project / "Snakefile").write_text(
        'rule all:\n    input: "all.txt"\n'
        'rule one:\n    output: "runs/{number}.txt"\n    shell: "touch {output}"\n'
        f'rule collect:\n    input: [f"runs/{{n}}.txt" for n in range({jobs})]\n'
        '    output: "all.txt"\n    shell: "touch {output}"\n'
    )
    return project


def fake_runs(project: Path, cells: int, steps: int) -> list[str]:
    """A run file for every cell of the big project's matrix, by the harness's own writer and with this machine's facts.

    Steps of one second, a little different each.
    """
    timed = [Interval(seconds) for seconds in (1 + np.random.default_rng(1).random(steps) / 100).tolist()]
    flags = "--instance workstation --framework tensorflow --model vgg16 --batch-size 1 --gpus 1 --precision fp32"
    request = parse_request([*flags.split(), "--variant", "default", "--run", "1", "--output", "unused"])
    facts = machine_facts(request, sys.argv)
    files = []
    batches = cells // (len(MODELS) * len(GPUS))
    for model, gpus, batch in itertools.product(MODELS, GPUS, range(1, batches + 1)):
        cell = request.cell._replace(model=model, batch_size=batch, gpus=gpus)
        path = project / "results" / "benchmarks" / f"{run_path(cell, 1)}.parquet"
        write_run(request._replace(cell=cell, output=str(path)), timed, facts)
        files.append(str(path))
    return files


def small_project(folder: Path) -> Path:
    """The default study with a network that measures in seconds."""
    project = copy_project(folder / "small")
    edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(project / "config" / "config.yaml", "min_seconds: 20", "min_seconds: 1")
    return project


def done_trivial(project: Path, jobs: int) -> None:
    """Everything the trivial workflow makes, so that its next invocation has nothing to do."""
    (project / "runs").mkdir()
    for number in range(jobs):
        (project / "runs" / f"{number}.txt").touch()
    (project / "all.txt").touch()
