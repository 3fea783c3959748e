"""Charts as specifications that a browser draws, with a caption each for Snakemake's own report."""

import base64
import json
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.errors import UserError
from sweetspot.files import write_text
from sweetspot.report import alt, pd
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.finished import asset
from sweetspot.report.marks import Drawing
from sweetspot.report.tables import Files, in_words, money_of, read_tables, shown_in
from sweetspot.study.study import load_study

# The engine lays charts out in Arial. Where a reader has neither that nor its likes, the font of most Linux machines is
# a sixth wider and titles would leave the page: its condensed form is as wide as Arial.
CHART_STYLE = json.loads(asset("look.json"))
SOURCE_LETTERS = 160  # of a source that a tooltip has; the table of origins has all of it
TITLE_LETTERS, KEY_LETTERS = 62, 76  # a line
BUNDLE = """import sys, vl_convert
sys.stdout.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=sys.argv[1]))"""


def draw_figures(
    tables: Files,
    study_file: str | Path,
    specs: Sequence[str | Path],
    captions: Sequence[str | Path],
    machines: Mapping[str, str] | None = None,
    engine: str | Path | None = None,
) -> None:
    """Write charts of a study as Vega-Lite files, their captions, and the script that draws them in a browser. The
    rules `draw_speed` and `draw_figures` call it. Raises UserError for a broken study.yaml or a missing script.

    Parameters
    ----------
    tables, study_file, machines
        Files of result tables by table name; path of study.yaml; titles by instance.
    specs, captions, engine
        Files `<chart>.vl.json` and `<chart>.rst` to write; file to write the script to (None: it is not written).
    """
    from altair.utils.schemapi import debug_mode

    study = load_study(Path(study_file).parent)
    money = money_of(study)
    data = ChartData(shown_in(read_tables(tables), money), study.reference, machines, study.model_title)
    # Altair's own checks are for the tests: they take a sixth of the time.
    with debug_mode(False):
        for file in specs:
            # In every label of every chart, so that none can be forgotten.
            spec = json.dumps(specification(CHARTS[chart_of(file)].draw(data)), separators=(",", ":"))
            write_text(file, in_words(spec, money))
    for file in captions:
        write_text(file, CHARTS[chart_of(file)].worded(data.unit, money).caption + "\n")
    if engine is not None:
        write_text(engine, drawing_engine())


def drawing_engine() -> str:
    """Return Vega and Vega-Lite as one JavaScript program, `packed`, for a page to draw its charts offline. Raises
    UserError. The bundling runs in a subprocess, since its JavaScript engine reserves 10 GB of addresses.
    """
    bundle = subprocess.run([sys.executable, "-P", "-c", BUNDLE, vega_lite()], capture_output=True, check=False)
    if bundle.returncode != 0:
        limit = "figures: the engine that draws needs memory, and no limit of addresses (ulimit -v)"
        raise UserError(f"{limit}: it ended with code {bundle.returncode}")
    return packed(bundle.stdout)


def packed(text: bytes) -> str:
    """Return bytes deflated (zlib) as base64 text for a page; assets/charts.js inflates it in the browser."""
    return base64.b64encode(zlib.compress(text, 9)).decode()


def chart_of(file: str | Path) -> str:
    """Return the name of the chart from its file: `front` for `figures/front.vl.json`."""
    return Path(file).name.partition(".")[0]


def specification(drawing: Drawing) -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification, which a browser draws: a dict for JSON with style, title and rows.
    Of the rows only the columns that the chart names are kept.
    """
    # Not validated here: the tests do that.
    spec = drawing.chart.to_dict(validate=False) | {"config": CHART_STYLE}
    fields = json.dumps(spec)  # without titles: what they happen to say asks for no column
    title = textwrap.wrap(drawing.says.replace(" %", "\u00a0%"), TITLE_LETTERS)
    if title:
        spec["title"] = {"text": title, "subtitle": textwrap.wrap(drawing.key, KEY_LETTERS)}
    return spec | {"datasets": {name: _records(rows, fields) for name, rows in drawing.data.items()}}


def vega_lite() -> str:
    """Return the Vega-Lite version of Altair's schema as vl-convert writes it, such as `6.4`."""
    return ".".join(alt.SCHEMA_VERSION.split(".")[:2]).removeprefix("v")


def _records(rows: "pd.DataFrame", fields: str) -> list[dict[str, object]]:
    """Return a chart's rows for JSON: dicts of the columns that `fields` (JSON text of the chart) names; no value:
    None. Sources are shortened to SOURCE_LETTERS, because the page holds them once per point.
    """
    rows = rows[[name for name in rows.columns if name in fields]]
    if "price_source" in rows:  # the chain of the speed's source stands before it, and has a line of its own
        rows = rows.assign(price_source=rows["price_source"].str.rpartition(" ; ")[2])
    shortened = {name: rows[name].str[:SOURCE_LETTERS] for name in ("source", "price_source") if name in rows}
    return json.loads(rows.assign(**shortened).to_json(orient="records"))
