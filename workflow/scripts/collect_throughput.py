"""Gather run files and published figures into one table, one row a cell."""

from pathlib import Path

from sweetspot.config import load_instances, load_study
from sweetspot.errors import exit_on_user_error
from sweetspot.files import write_parquet
from sweetspot.throughput.gather import gather_throughput


def main(runs: list[str], study: str, instances: list[str], output: str) -> None:
    """Write results/<study>/throughput.parquet."""
    folder = Path(study).parent
    declared = load_instances(*(Path(file) for file in instances))
    write_parquet(gather_throughput(runs, load_study(folder), declared, folder), output)


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            runs=list(snakemake.input.runs),
            study=snakemake.input.study,
            instances=list(snakemake.input.instances),
            output=snakemake.output[0],
        )
