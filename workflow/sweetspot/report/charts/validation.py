"""Held-out error of each method: median as a point, up to the 90th percentile as a line."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import COLOURS, TEXT, WIDTH, Drawing, by_row, empty, told
from sweetspot.report.tables import table_of

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A point and line a method, the best first; one panel a slice of the rows."""
    import altair as alt

    rows = data.table("validation")
    if rows.empty:
        return empty("No method was validated for this study.")
    rows = rows[rows["slice"].isin(["all", "study_models"]) | rows["slice"].str.match(r"gpus=(2|4|8)$")]
    rows = rows.assign(part=rows["slice"].map(_in_words), method=rows["method"].str.replace("_", " "))
    order = rows[rows["slice"] == "all"].sort_values("median_abs_error")["method"].tolist()
    y = alt.Y("method:N", sort=order, title=None)
    title = "error on unseen devices: median, and 90 % of rows below"
    x = alt.X("median_abs_error:Q", title=title, axis=alt.Axis(format="%"))
    words = told(method=f"method{TEXT}", median_abs_error="median error", p90_abs_error="90 % below", rows="rows")
    base = alt.Chart().encode(y=y, x=x, tooltip=words)
    panel = alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(x2=alt.X2("p90_abs_error:Q")),
        base.mark_point(filled=True, size=62, opacity=1, color=COLOURS[0]),
        width=WIDTH - 150,
        height=alt.Step(15),
    )
    best = rows[(rows["slice"] == "all") & (rows["method"] == (order or [""])[0])]
    half = f"{100 * best['median_abs_error'].iloc[0]:.2g} %" if len(best) else ""
    says = f"Half of the predictions by {order[0]} were less than {half} off" if half else ""
    return Drawing(by_row(panel, "part:N"), {"rows": rows}, says)


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
