"""Charts as specifications that a browser draws, with a caption each for Snakemake's own report."""

import base64
import json
import signal
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.report import alt, pd
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.marks import Drawing
from sweetspot.report.tables import Files, in_words, money_of, read_tables, shown_in
from sweetspot.study.study import load_study

Spec = dict[str, Any]

# The engine lays charts out in Arial. Where a reader has neither that nor its likes, the font of most Linux machines is
# a sixth wider and titles would leave the page: its condensed form is as wide as Arial.
FONTS = "Arial, Helvetica, Liberation Sans, DejaVu Sans Condensed, sans-serif"
SMALL = {"labelFontSize": 12, "titleFontSize": 12}
LOOK = {
    "font": FONTS,
    "background": "white",
    "padding": {"left": 8, "right": 12, "top": 4, "bottom": 4},
    "axis": {
        **SMALL, "titleFontWeight": "normal", "gridColor": "#e6e6e6", "labelLimit": 230, "labelSeparation": 8,
        "titlePadding": 8,
    },
    "legend": {**SMALL, "labelLimit": 230, "columnPadding": 22, "symbolStrokeWidth": 2, "symbolOpacity": 1},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelOrient": "top", "labelAnchor": "start"},
    "view": {"stroke": "#ddd"},
    "text": {"fontSize": 12},
    "point": {"size": 62, "opacity": 1, "strokeWidth": 1.6},
    "title": {"anchor": "start", "fontSize": 12},
}  # fmt: skip
SOURCES, SOURCE = ("source", "price_source"), 160  # columns of text, and characters of each that a tooltip has
TITLE, KEY = 62, 76  # characters a line
KEY_LOOK = {"subtitleFontSize": 12, "subtitleFontWeight": "normal", "subtitleColor": "#555", "subtitlePadding": 5}
TITLE_LOOK = {"anchor": "start", "frame": "bounds", "fontSize": 14, "fontWeight": "bold", "offset": 10}


BUNDLE = """import sys, vl_convert
sys.stdout.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=sys.argv[1]))"""
ENDED = "figures: the engine that draws needs memory, and no limit of addresses (ulimit -v)"


def draw_figures(
    tables: Files,
    study_file: str | Path,
    specs: Sequence[str | Path],
    captions: Sequence[str | Path],
    machines: Mapping[str, str] | None = None,
    engine: str | Path | None = None,
) -> None:
    """Write each `<chart>.vl.json` of `specs`, which the page and `draw_pictures` draw, each `<chart>.rst` of
    `captions`, and as `engine` the script that draws them in a browser.

    `tables`: files by name; `machines`: names for people by instance.

    Raises UserError for a broken study.yaml, ValueError for a chart that is not in `charts.CHARTS`.
    """
    from altair.utils.schemapi import debug_mode

    named = {chart_of(file): Path(file) for file in specs}
    for name in [*named, *map(chart_of, captions)]:
        if name not in CHARTS:
            raise ValueError(f"chart {name!r} is unknown; expected one of {', '.join(CHARTS)}")
    study = load_study(Path(study_file).parent)
    money = money_of(study)
    data = ChartData(shown_in(read_tables(tables), money), study.reference, machines, study.model_title)
    # Altair's own checks are for the tests: they take a sixth of the time.
    with debug_mode(False):
        for name, file in named.items():
            # In every label of every chart, so that none can be forgotten.
            spec = json.dumps(specification(CHARTS[name].draw(data)), separators=(",", ":"))
            _save(in_words(spec, money), file)
    for caption in map(Path, captions):
        _save(CHARTS[caption.stem].worded(data.unit, money).caption + "\n", caption)
    if engine is not None:
        _save(drawing_engine(), Path(engine))


def drawing_engine() -> str:
    """Vega with Vega-Lite as one script, deflated, as base64 text: what a page carries to draw its charts.

    Made in a process of its own: the JavaScript engine that puts it together takes 10 GB of addresses, of which it uses
    little. Raises UserError where it was ended.
    """
    made = subprocess.run([sys.executable, "-P", "-c", BUNDLE, vega_lite()], capture_output=True, check=False)
    if made.returncode != 0:
        code = made.returncode
        how = f"ended with code {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
        raise UserError(f"{ENDED}: it {how}")
    return packed(made.stdout)


def packed(text: bytes) -> str:
    """Deflated, as base64 text: a browser inflates it by itself (assets/charts.js)."""
    return base64.b64encode(zlib.compress(text, 9)).decode()


def chart_of(file: str | Path) -> str:
    """The chart whose file this is."""
    return Path(file).name.partition(".")[0]


def specification(drawing: Drawing) -> Spec:
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


def vega_lite() -> str:
    """The Vega-Lite version of Altair's schema, as vl-convert names it (`6.4`)."""
    return ".".join(alt.SCHEMA_VERSION.split(".")[:2]).removeprefix("v")


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
