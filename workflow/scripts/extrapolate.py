"""Validate the methods on device families and publishers left out, and estimate the machines nobody has measured."""

from pathlib import Path
from typing import Any

from sweetspot.declared_tables import write_table
from sweetspot.files import read_parquet
from sweetspot.scaling.targets import extrapolate_study
from sweetspot.study.instances import load_instances
from sweetspot.study.study import StudyCells, Target
from sweetspot.throughput.time_to_target import read_times


def main(
    inputs: dict[str, Any],
    targets: list[Target],
    question: StudyCells,
    method: str,
    out: dict[str, str],
) -> None:
    """Write extrapolation.parquet, and scaling/validation.parquet."""
    tables = {name: read_parquet(inputs[name]) for name in ("throughput", "efficiency", "averages", "evidence")}
    declared = load_instances(*(Path(file) for file in inputs["instances"]))
    times = [read_times(Path(file)) for file in inputs["times"]]  # the study's, then those of the pool
    extrapolated = extrapolate_study(tables, declared, targets, question, method, times)
    for name, table in extrapolated.items():
        write_table(table, out[name])


if "snakemake" in globals():
    main(
        inputs={
            **dict(snakemake.input.items()),
            "instances": list(snakemake.input.instances),
            "times": list(snakemake.input.times),
        },
        targets=[Target(**target) for target in snakemake.params.targets],
        question=StudyCells(**snakemake.params.question),
        method=snakemake.params.method,
        out=dict(snakemake.output.items()),
    )
