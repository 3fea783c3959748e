"""Charts to SVG files, with a caption each for Snakemake's own report."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sweetspot.files import write_whole
from sweetspot.report.charts import CHARTS, in_words

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.marks import Drawing
    from sweetspot.report.tables import Files

    Spec = dict[str, Any]

LOOK = {
    "font": "Arial, Helvetica, Liberation Sans, sans-serif",
    "background": "white",
    "padding": {"left": 44, "right": 12, "top": 4, "bottom": 4},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": "#e6e6e6",
        "labelLimit": 230,
        "labelSeparation": 8,
        "titlePadding": 8,
    },
    "legend": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelLimit": 230,
        "columnPadding": 22,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    },
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelOrient": "top", "labelAnchor": "start"},
    "view": {"stroke": "#ddd"},
}


class Engine:
    """Vega-Lite in a process of its own, which warms up while its caller still makes the specifications.

    Of its own, because it keeps Python's lock while it draws: beside it the caller could do nothing else. It ends with
    the block.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-P", str(Path(__file__).with_name("vega_engine.py"))]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8")

    def svgs(self, specs: Mapping[str, "Spec"]) -> dict[str, str]:
        """SVG text by name, once. Raises RuntimeError with the engine's last words where a specification is wrong."""
        asked = {"vega_lite": _vega_lite(), "charts": dict(specs)}
        drawn, complaint = self._process.communicate(json.dumps(asked))
        if self._process.returncode != 0:
            # After the message the engine lists the frames of its own machine code.
            found = [line for line in complaint.splitlines() if "Error" in line]
            raise RuntimeError(f"drawing {', '.join(specs)} failed: {(found or ['no message'])[-1].strip()}")
        return json.loads(drawn)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def draw_figures(
    tables: "Files",
    study_file: str | Path,
    figures: Sequence[str | Path],
    captions: Sequence[str | Path],
    machines: Mapping[str, str] | None = None,
) -> None:
    """Draw each `<chart>.svg` of `figures`, and write each `<chart>.rst` of `captions`.

    `tables`: files by name; `machines`: names for people by instance.

    Raises UserError for a broken study.yaml, ValueError for a chart that is not in `charts.CHARTS`.
    """
    files = {Path(file).stem: Path(file) for file in figures}
    for name in [*files, *(Path(caption).stem for caption in captions)]:
        if name not in CHARTS:
            raise ValueError(f"chart {name!r} is unknown; expected one of {', '.join(CHARTS)}")
    with Engine() as engine:
        from sweetspot.report.chart_data import MODELS, ChartData
        from sweetspot.report.in_currency import everywhere, money_of, shown_in
        from sweetspot.report.in_currency import in_words as currency_words
        from sweetspot.report.tables import read_tables
        from sweetspot.study.study import load_study

        study = load_study(Path(study_file).parent)
        money = money_of(study)
        data = ChartData(shown_in(read_tables(tables), money), study.reference, machines)
        # In every label of every chart, so that none can be forgotten.
        drawn = engine.svgs({name: everywhere(specification(CHARTS[name].draw(data)), money) for name in files})
    for name, file in files.items():
        _save(drawn[name], file)
    for caption in map(Path, captions):
        _save(currency_words(in_words(CHARTS[caption.stem].caption, data.unit, MODELS), money) + "\n", caption)


def specification(drawing: "Drawing") -> "Spec":
    """The drawing as Vega-Lite takes it: with the look that all charts share, and its data."""
    # Not validated here: Altair checks scales, axes and marks as they are made, and the tests whole charts.
    spec = drawing.chart.to_dict(validate=False) | {"config": LOOK}
    words = json.dumps(spec)
    return spec | {"datasets": {name: _records(rows, words) for name, rows in drawing.data.items()}}


def _vega_lite() -> str:
    """The Vega-Lite version of Altair's schema, as vl-convert names it (`6.4`)."""
    from altair import SCHEMA_VERSION

    return ".".join(SCHEMA_VERSION.split(".")[:2]).removeprefix("v")


def _records(rows: "pd.DataFrame", words: str) -> list[dict[str, object]]:
    """Rows with the columns that the chart speaks of; missing values are null."""
    drawn = rows[[name for name in rows.columns if name in words]]
    return json.loads(drawn.to_json(orient="records"))


def _save(text: str, file: Path) -> None:
    with write_whole(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
