"""Write down which runs the budget leaves out."""

from typing import Any

from sweetspot.files import write_parquet
from sweetspot.matrix.schedule import skipped_table


def main(runs: list[dict[str, Any]], budget: str, output: str) -> None:
    """Write results/<study>/left_out.parquet."""
    write_parquet(skipped_table(runs, budget), output)


if "snakemake" in globals():
    main(snakemake.params.runs, snakemake.params.budget, snakemake.output[0])
