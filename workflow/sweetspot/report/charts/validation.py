"""Held-out error of each method: median as a point, up to the 90th percentile as a line."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.dots import ROW
from sweetspot.report.marks import COLOURS, PLOT, TEXT, Drawing, by_row, empty, key_of, name_axis, told
from sweetspot.report.tables import method_name, table_of

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A point and line a method, the best first; one panel a slice of the rows."""
    import altair as alt

    rows = data.table("validation")
    if rows.empty:
        return empty("No method was validated for this study.")
    rows = rows[rows["slice"].isin(["all", "study_models"]) | rows["slice"].str.match(r"gpus=(2|4|8)$")]
    rows = rows.assign(part=rows["slice"].map(_in_words), method=rows["method"].map(method_name))
    order = rows[rows["slice"] == "all"].sort_values("median_abs_error")["method"].tolist()
    y = alt.Y("method:N", sort=order, title=None, axis=name_axis())
    title = "error on devices left out"
    x = alt.X("median_abs_error:Q", title=title, axis=alt.Axis(format="%"))
    words = told(method=f"method{TEXT}", median_abs_error="median error", p90_abs_error="90 % below", rows="rows")
    base = alt.Chart().encode(y=y, x=x, tooltip=words)
    panel = alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(x2=alt.X2("p90_abs_error:Q")),
        base.mark_point(filled=True, size=62, opacity=1, color=COLOURS[0]),
        width=PLOT,
        height=alt.Step(ROW),
    )
    # Not each method says something of each slice: without a scale of its own a panel had a row without a mark.
    panels = by_row(panel, "part:N", alt.ScaleResolveMap(y="independent"), list(dict.fromkeys(rows["part"])))
    return Drawing(
        panels,
        {"rows": rows},
        _says(rows, _used(data, order)),
        key=key_of(rows["method"].head(0), "point: median", "line: up to 90 % of rows"),
    )


def _used(data: "ChartData", order: list[str]) -> str:
    """The method of the answer; the best where none is."""
    rows = data.table("extrapolation")
    used = [method_name(name) for name in rows.loc[rows["headline"].astype(bool), "method"]] if len(rows) else []
    return next((name for name in used if name in order), next(iter(order), ""))


def _says(rows: "pd.DataFrame", method: str) -> str:
    """How far off the predictions of that method were, all held-out figures together."""
    row = rows[(rows["slice"] == "all") & (rows["method"] == method)]
    if row.empty:
        return ""
    half, most = (f"{100 * row[name].iloc[0]:.2g} %" for name in ("median_abs_error", "p90_abs_error"))
    name = method[0].upper() + method[1:]
    return f"{name}: half of its predictions were less than {half} off, nine in ten less than {most}"


def _in_words(part: str) -> str:
    """What a slice of the held-out rows is."""
    names = {"all": "all figures held out", "study_models": "models of this study"}
    return names.get(part, f"on {part.removeprefix('gpus=')} devices")


CHART = Chart(
    title="How wrong each method was on devices it had not seen: median error, and what 90 % of rows stay below",
    caption="How wrong each extrapolation method was on devices it had not seen: median error, and what 90 % of rows "
    "stay below.",
    stage="speed",
    section="unmeasured",
    order=2,
    draw=draw,
    needs="extrapolation",
    fits=lambda tables: len(table_of(tables, "validation")) > 0,
)
