"""Render results/<study>/report/ from the tables of a study."""

from collections.abc import Sequence

from sweetspot.errors import exit_on_user_error
from sweetspot.report import draw_figures, write_report
from sweetspot.report.tables import read_tables


def main(
    inputs: dict[str, Sequence[str]], study: str, folder: str, figures: Sequence[str], drawn: Sequence[str]
) -> None:
    """Draw `figures`, and write the page with them and those `drawn` before. `inputs`: files by the table's name."""
    tables = read_tables(inputs)
    draw_figures(tables, study, figures)
    write_report(tables, study, folder, [*drawn, *figures])


if "snakemake" in globals():
    from pathlib import Path

    TABLES = ("speed", "scaling", "costs", "offers", "bills", "cash_flow", "price_lint", "comparison")
    with exit_on_user_error():
        main(
            inputs={name: list(snakemake.input.get(name)) for name in TABLES},
            study=snakemake.input.study,
            folder=str(Path(snakemake.output.html).parent),
            figures=snakemake.output.figures,
            drawn=snakemake.input.drawn,
        )
