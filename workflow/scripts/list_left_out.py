"""Write down which runs the budget leaves out."""

from typing import Any

from sweetspot.declared_tables import write_table
from sweetspot.matrix.schedule import skipped_table


def main(runs: list[dict[str, Any]], budget: str, output: str) -> None:
    """Write results/<study>/left_out.parquet."""
    write_table(skipped_table(runs, budget), output, "not_measured")


if "snakemake" in globals():
    main(snakemake.params.runs, snakemake.params.budget, snakemake.output[0])
