"""Charts to SVG that can stand in a page beside others, and to PNG."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sweetspot.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.marks import Drawing

PNG_SCALE = 1.5
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


def svg_of(drawing: "Drawing") -> str:
    """The chart as SVG text, drawn by vl-convert in this process."""
    import vl_convert

    spec = drawing.spec | {"config": LOOK}
    words = json.dumps(spec)
    spec["datasets"] = {name: _records(rows, words) for name, rows in drawing.data.items()}
    return vl_convert.vegalite_to_svg(spec, vl_version=vl_version())


def _records(rows: "pd.DataFrame", words: str) -> list[dict[str, object]]:
    """Rows with the columns that the chart speaks of; missing values are null."""
    drawn = rows[[name for name in rows.columns if name in words]]
    return json.loads(drawn.to_json(orient="records"))


def vl_version() -> str:
    """Vega-Lite version of Altair's schema, as vl-convert names it (`6.1`)."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def inline(svg: str, name: str, title: str) -> str:
    """`svg` for use within HTML: ids made unique by `name`, sized by its container, named for screen readers.

    `title` must be escaped already.
    """
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r' (aria-roledescription|aria-label|aria-hidden|role|pointer-events)="[^"]*"', "", svg)
    return re.sub(r"<svg\b", f'<svg role="img" aria-label="{title}"', svg, count=1)


def save(svg: str, file: Path) -> None:
    """Write the SVG file whole, and a PNG of its name beside it."""
    import vl_convert

    with write_whole(file) as temporary:
        temporary.write_text(svg, encoding="utf-8")
    with write_whole(file.with_suffix(".png")) as temporary:
        temporary.write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
