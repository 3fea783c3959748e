"""The page a person reads: charts, tables with their origins, what-if, and a summary."""

from collections.abc import Sequence
from pathlib import Path

from sweetspot.report.tables import Tables, write_tables


def draw_figures(tables: Tables, study_file: str | Path, files: Sequence[str | Path]) -> None:
    """Draw each `<figure>.svg` of `files`, with its PNG beside it.

    Raises UserError for a broken study.yaml, ValueError for a figure that is not in `charts.CHARTS`.
    """
    from altair.utils.schemapi import debug_mode

    from sweetspot.report import charts, draw
    from sweetspot.study.study import load_study

    facts = charts.Facts(tables, load_study(Path(study_file).parent).reference)
    for file in map(Path, files):
        if file.stem not in charts.CHARTS:
            raise ValueError(f"figure {file.stem!r} is unknown; expected one of {', '.join(charts.CHARTS)}")
        # Vega-Lite checks the specification when it draws; Altair's own check costs as much as the drawing.
        with debug_mode(False):
            draw.save(draw.svg_of(charts.CHARTS[file.stem](facts)), file)


def write_report(tables: Tables, study_file: str | Path, folder: str | Path, figures: Sequence[str | Path]) -> None:
    """Write index.html, summary.md, tables/*.csv and *.parquet into `folder`; the page holds the SVG files `figures`.

    Raises UserError for a broken study.yaml.
    """
    from sweetspot.files import write_whole
    from sweetspot.report.page import render_page
    from sweetspot.report.summary import render_summary
    from sweetspot.study.study import load_study

    study = load_study(Path(study_file).parent)
    target = Path(folder)
    drawn = {Path(file).stem: Path(file).read_text(encoding="utf-8") for file in figures}
    write_tables(tables, target / "tables")
    for name, text in (
        ("index.html", render_page(tables, study, drawn)),
        ("summary.md", render_summary(tables, study)),
    ):
        with write_whole(target / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
