"""Validate every method on device families left out, and estimate the machines nobody has measured."""

import os
from pathlib import Path
from typing import Any

# Small matrices: threads cost more than they give, 15 CPU-seconds of validation instead of 2 on a busy machine.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from sweetspot.errors import exit_on_user_error  # noqa: E402
from sweetspot.files import read_parquet, write_parquet  # noqa: E402
from sweetspot.scaling.run import run  # noqa: E402
from sweetspot.study.instances import load_instances  # noqa: E402
from sweetspot.study.study import Question, Target  # noqa: E402
from sweetspot.throughput.time_to_target import read_times  # noqa: E402


def main(inputs: dict[str, Any], targets: list[Target], question: Question, method: str, out: dict[str, str]) -> None:
    """Write extrapolation.parquet, and in scaling/: curve, validation and explain.parquet."""
    tables = {name: read_parquet(inputs[name]) for name in ("throughput", "efficiency", "averages", "evidence")}
    declared = load_instances(*(Path(file) for file in inputs["instances"]))
    times = read_times(Path(inputs["times"])) if inputs["times"] else None
    for name, table in run(tables, declared, targets, question, method, times).items():
        write_parquet(table, out[name])


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            inputs={
                **dict(snakemake.input.items()),
                "instances": list(snakemake.input.instances),
                "times": next(iter(snakemake.input.times), None),
            },
            targets=[Target(**target) for target in snakemake.params.targets],
            question=Question(**snakemake.params.question),
            method=snakemake.params.method,
            out=dict(snakemake.output.items()),
        )
