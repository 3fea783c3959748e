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
from sweetspot.files import write_whole
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
    """Write charts as Vega-Lite, their captions, and the script that draws them in a browser.

    Parameters
    ----------
    tables
        Files by the table's name.
    study_file
        study.yaml.
    specs, captions
        Files `<chart>.vl.json` and `<chart>.rst` to write.
    machines
        Names for people by instance.
    engine
        Where the script is written; None writes none.

    Raises
    ------
    UserError
        If study.yaml is broken, or the engine cannot be made.
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
            _save(in_words(spec, money), file)
    for file in captions:
        _save(CHARTS[chart_of(file)].worded(data.unit, money).caption + "\n", file)
    if engine is not None:
        _save(drawing_engine(), engine)


def drawing_engine() -> str:
    """Vega with Vega-Lite as one script, deflated, as base64 text: what a page carries to draw its charts.

    Made in a process of its own: the JavaScript engine that puts it together takes 10 GB of addresses, of which it uses
    little. Raises UserError where it was ended.
    """
    bundle = subprocess.run([sys.executable, "-P", "-c", BUNDLE, vega_lite()], capture_output=True, check=False)
    if bundle.returncode != 0:
        limit = "figures: the engine that draws needs memory, and no limit of addresses (ulimit -v)"
        raise UserError(f"{limit}: it ended with code {bundle.returncode}")
    return packed(bundle.stdout)


def packed(text: bytes) -> str:
    """Deflated, as base64 text: a browser inflates it by itself (assets/charts.js)."""
    return base64.b64encode(zlib.compress(text, 9)).decode()


def chart_of(file: str | Path) -> str:
    """The chart whose file this is."""
    return Path(file).name.partition(".")[0]


def specification(drawing: Drawing) -> dict[str, Any]:
    """The drawing as Vega-Lite takes it: with the look that all charts share, and its data."""
    # Not validated here: the tests do that.
    spec = drawing.chart.to_dict(validate=False) | {"config": CHART_STYLE}
    fields = json.dumps(spec)  # without titles: what they happen to say asks for no column
    title = textwrap.wrap(drawing.says.replace(" %", "\u00a0%"), TITLE_LETTERS)
    if title:
        spec["title"] = {"text": title, "subtitle": textwrap.wrap(drawing.key, KEY_LETTERS)}
    return spec | {"datasets": {name: _records(rows, fields) for name, rows in drawing.data.items()}}


def vega_lite() -> str:
    """The Vega-Lite version of Altair's schema, as vl-convert names it (`6.4`)."""
    return ".".join(alt.SCHEMA_VERSION.split(".")[:2]).removeprefix("v")


def _records(rows: "pd.DataFrame", fields: str) -> list[dict[str, object]]:
    """Rows with the columns that the chart speaks of; missing values are null."""
    rows = rows[[name for name in rows.columns if name in fields]]
    if "price_source" in rows:  # the chain of the speed's source stands before it, and has a line of its own
        rows = rows.assign(price_source=rows["price_source"].str.rpartition(" ; ")[2])
    shortened = {name: rows[name].str[:SOURCE_LETTERS] for name in ("source", "price_source") if name in rows}
    return json.loads(rows.assign(**shortened).to_json(orient="records"))


def _save(text: str, file: str | Path) -> None:
    with write_whole(Path(file)) as temporary:
        temporary.write_text(text, encoding="utf-8")
