"""The page a person reads: charts, tables with their origins, what-if, and a summary."""

from collections.abc import Sequence
from pathlib import Path

from sweetspot.report.tables import Tables, write_tables


def write_report(tables: Tables, study_file: str | Path, folder: str | Path, figures: Sequence[str]) -> None:
    """Write index.html, summary.md, figures/*.svg and *.png, tables/*.csv and *.parquet into `folder`.

    `figures`: names of `charts.CHARTS`. Raises UserError for a broken study.yaml, ValueError for an unknown figure.
    """
    from altair.utils.schemapi import debug_mode

    from sweetspot.config import load_study
    from sweetspot.files import write_whole
    from sweetspot.report import charts, draw
    from sweetspot.report.page import render_page
    from sweetspot.report.summary import render_summary

    study = load_study(Path(study_file).parent)
    target = Path(folder)
    facts = charts.Facts(tables, study.reference)
    drawn = {}
    for name in figures:
        if name not in charts.CHARTS:
            raise ValueError(f"figure {name!r} is unknown; expected one of {', '.join(charts.CHARTS)}")
        # Vega-Lite checks the specification when it draws; Altair's own check costs as much as the drawing.
        with debug_mode(False):
            drawn[name] = draw.svg_of(charts.CHARTS[name](facts))
        draw.save(drawn[name], target / "figures", name)
    write_tables(tables, target / "tables")
    for name, text in (
        ("index.html", render_page(tables, study, drawn)),
        ("summary.md", render_summary(tables, study)),
    ):
        with write_whole(target / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
