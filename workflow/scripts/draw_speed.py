"""Draw the figures of a study that prices cannot change."""

from collections.abc import Sequence

from sweetspot.errors import exit_on_user_error
from sweetspot.report import draw_figures
from sweetspot.report.tables import read_tables


def main(inputs: dict[str, Sequence[str]], study: str, figures: Sequence[str]) -> None:
    """Write each SVG of `figures` and the PNG beside it. `inputs`: files by the table's name."""
    draw_figures(read_tables(inputs), study, figures)


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            inputs={name: list(snakemake.input.get(name)) for name in ("speed", "scaling")},
            study=snakemake.input.study,
            figures=snakemake.output.figures,
        )
