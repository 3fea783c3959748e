"""Render results/<study>/report/ from the tables of a study."""

from collections.abc import Sequence

from sweetspot.errors import exit_on_user_error
from sweetspot.report import write_report
from sweetspot.report.tables import read_tables


def main(inputs: dict[str, Sequence[str]], study: str, folder: str, figures: Sequence[str]) -> None:
    """Write the page and what lies beside it into `folder`. `inputs`: files by the table's name."""
    write_report(read_tables(inputs), study, folder, figures)


if "snakemake" in globals():
    from pathlib import Path

    TABLES = ("throughput", "efficiency", "extrapolation", "scaling", "costs", "offers", "bills", "cash_flow",
              "price_lint", "comparison")  # fmt: skip
    with exit_on_user_error():
        main(
            inputs={
                name: [snakemake.input[name]] if isinstance(snakemake.input[name], str) else list(snakemake.input[name])
                for name in TABLES
            },
            study=snakemake.input.study,
            folder=str(Path(snakemake.output.html).parent),
            figures=[Path(file).stem for file in snakemake.output.figures],
        )
