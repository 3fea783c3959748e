"""Charts to SVG files, with a caption each for Snakemake's own report."""

import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.report.charts import CHARTS, in_words

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.marks import Drawing
    from sweetspot.report.tables import Files

    Spec = dict[str, Any]

# The engine lays charts out in Arial. Where a reader has neither that nor its likes, the font of most Linux machines is
# a sixth wider and titles would leave the page: its condensed form is as wide as Arial.
FONTS = "Arial, Helvetica, Liberation Sans, DejaVu Sans Condensed, sans-serif"
LOOK = {
    "font": FONTS,
    "background": "white",
    "padding": {"left": 8, "right": 12, "top": 4, "bottom": 4},
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


SOURCES, SOURCE = ("source", "price_source"), 160  # columns of text, and characters of each that a tooltip has
TITLE, KEY = 62, 76  # characters a line
KEY_LOOK = {"subtitleFontSize": 12, "subtitleFontWeight": "normal", "subtitleColor": "#555", "subtitlePadding": 5}
TITLE_LOOK = {"anchor": "start", "frame": "bounds", "fontSize": 14, "fontWeight": "bold", "offset": 10}


ENDED = "figures: the engine that draws needs memory, and no limit of addresses (ulimit -v)"


class Made(NamedTuple):
    """SVG and compiled specification (Vega) by chart, and the script that draws these in a browser, if asked for."""

    svg: dict[str, str]
    vega: dict[str, "Spec"]
    bundle: str


class Engine:
    """Vega-Lite in a process of its own, which warms up while its caller still makes the specifications.

    Of its own, because it keeps Python's lock while it draws: beside it the caller could do nothing else. It ends with
    the block.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-P", str(Path(__file__).with_name("vega_engine.py"))]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8")

    def draw(self, specs: Mapping[str, "Spec"], bundle: bool = False) -> Made:
        """The pictures and compiled specifications by name, once; with `bundle` the script that draws the latter.

        Raises RuntimeError with the engine's last words where a specification is wrong, UserError where it was ended
        (it takes some 10 GB of addresses, of which it uses little: `ulimit -v`).
        """
        asked = {"vega_lite": _vega_lite(), "charts": dict(specs), "bundle": bundle}
        drawn, complaint = self._process.communicate(json.dumps(asked))
        if self._process.returncode != 0:
            # After the message the engine lists the frames of its own machine code.
            found = [line for line in complaint.splitlines() if "Error" in line]
            if not found or self._process.returncode < 0:
                raise UserError(f"{ENDED}: it {_end(self._process.returncode)} while drawing {', '.join(specs)}")
            raise RuntimeError(f"drawing {', '.join(specs)} failed: {found[-1].strip()}")
        return Made(**json.loads(drawn))

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
    bundle: str | Path | None = None,
) -> None:
    """Draw each `<chart>.svg` of `figures`, and write each `<chart>.rst` of `captions`.

    Beside each SVG stands its specification, `<chart>.vg.json`, which the page draws anew with tooltips; `bundle`:
    where the script that does so is written. `tables`: files by name; `machines`: names for people by instance.

    Raises UserError for a broken study.yaml, ValueError for a chart that is not in `charts.CHARTS`.
    """
    files = {Path(file).stem: Path(file) for file in figures}
    for name in [*files, *(Path(caption).stem for caption in captions)]:
        if name not in CHARTS:
            raise ValueError(f"chart {name!r} is unknown; expected one of {', '.join(CHARTS)}")
    with Engine() as engine:
        from altair.utils.schemapi import debug_mode

        from sweetspot.report.chart_data import MODELS, ChartData
        from sweetspot.report.in_currency import everywhere, money_of, shown_in
        from sweetspot.report.in_currency import in_words as currency_words
        from sweetspot.report.tables import read_tables
        from sweetspot.study.study import load_study

        study = load_study(Path(study_file).parent)
        money = money_of(study)
        data = ChartData(shown_in(read_tables(tables), money), study.reference, machines, study.model_title)
        # In every label of every chart, so that none can be forgotten. Altair's own checks are for the tests: they take
        # a sixth of the time.
        with debug_mode(False):
            specs = {name: everywhere(specification(CHARTS[name].draw(data)), money) for name in files}
        made = engine.draw(specs, bundle is not None)
    for name, file in files.items():
        _save(made.svg[name], file)
        _save(json.dumps(made.vega[name], separators=(",", ":")), spec_beside(file))
    if bundle is not None:
        _save(made.bundle, Path(bundle))
    for caption in map(Path, captions):
        _save(currency_words(in_words(CHARTS[caption.stem].caption, data.unit, MODELS), money) + "\n", caption)


def _end(code: int) -> str:
    """How a process ended, by its exit code."""
    return f"ended with code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def spec_beside(figure: Path) -> Path:
    """Where the specification of a figure lies."""
    return figure.with_suffix(".vg.json")


def specification(drawing: "Drawing") -> "Spec":
    """The drawing as Vega-Lite takes it: with the look that all charts share, and its data."""
    # Not validated here: the tests do that.
    spec = drawing.chart.to_dict(validate=False) | {"config": LOOK}
    words = json.dumps(spec)  # without titles: what they happen to say asks for no column
    title = textwrap.wrap(drawing.says.replace(" %", "\u00a0%"), TITLE)
    if title:
        spec["title"] = {"text": title, **TITLE_LOOK}
        if drawing.key:
            spec["title"] |= {"subtitle": textwrap.wrap(drawing.key, KEY), **KEY_LOOK}
    return spec | {"datasets": {name: _records(rows, words) for name, rows in drawing.data.items()}}


def _vega_lite() -> str:
    """The Vega-Lite version of Altair's schema, as vl-convert names it (`6.4`)."""
    from altair import SCHEMA_VERSION

    return ".".join(SCHEMA_VERSION.split(".")[:2]).removeprefix("v")


def _records(rows: "pd.DataFrame", words: str) -> list[dict[str, object]]:
    """Rows with the columns that the chart speaks of; missing values are null."""
    drawn = rows[[name for name in rows.columns if name in words]]
    if "price_source" in drawn.columns:  # the chain of the speed's source stands before it, and has a line of its own
        drawn = drawn.assign(price_source=drawn["price_source"].str.rsplit(" ; ", n=1).str[-1])
    # A tooltip has the beginning of a source; the table of origins has all of it.
    drawn = drawn.assign(**{name: drawn[name].str.slice(0, SOURCE) for name in SOURCES if name in drawn.columns})
    return json.loads(drawn.to_json(orient="records"))


def _save(text: str, file: Path) -> None:
    with write_whole(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
