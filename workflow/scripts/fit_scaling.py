"""Gather what is known about scaling: the study's efficiencies and their averages."""

from pathlib import Path

import pandas as pd
from sweetspot.config import load_instances
from sweetspot.errors import exit_on_user_error
from sweetspot.files import write_parquet
from sweetspot.scaling.evidence import average_efficiency, study_efficiency
from sweetspot.throughput.published import read_efficiency


def main(throughput: str, folder: str, instances: list[str], efficiency: str, averages: str) -> None:
    """Write efficiency.parquet and scaling/averages.parquet of the study in `folder`."""
    declared = load_instances(*(Path(file) for file in instances))
    printed = read_efficiency(Path(folder) / "efficiency.csv")
    table = study_efficiency(pd.read_parquet(throughput), printed, declared)
    write_parquet(table, efficiency)
    write_parquet(average_efficiency(table), averages)


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            throughput=snakemake.input.throughput,
            folder=snakemake.params.folder,
            instances=list(snakemake.input.instances),
            efficiency=snakemake.output.efficiency,
            averages=snakemake.output.averages,
        )
