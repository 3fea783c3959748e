"""Held-out error of each method: median as a point, up to the 90th percentile as a line."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, empty
from sweetspot.report.vega import Drawing, amount, by_row, end, kind, layer, layered

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A point and line a method, the best first; one panel a slice of the rows."""
    rows = data.table("validation")
    if rows.empty:
        return empty("No method was validated for this study.")
    rows = rows[rows["slice"].isin(["all", "study_models"]) | rows["slice"].str.match(r"gpus=(2|4|8)$")]
    order = rows[rows["slice"] == "all"].sort_values("median_abs_error")["method"].tolist()
    y = kind("method", sort=order, title=None)
    title = "error on unseen devices: median, and 90 % of rows below"
    x = amount("median_abs_error", title=title, axis={"format": "%"})
    spec = layered(
        layer("rule", {"strokeWidth": 1.5}, y=y, x=x, x2=end("p90_abs_error")),
        layer("point", {"filled": True, "size": 62, "opacity": 1}, y=y, x=x),
        width=WIDTH - 150,
        height={"step": 15},
    )
    return Drawing(by_row(spec, "slice"), {"rows": rows})


CHART = Chart(
    title="How wrong each method was on devices it had not seen: median error, and what 90 % of rows stay below",
    caption="How wrong each extrapolation method was on devices it had not seen: median error, and what 90 % of rows "
    "stay below.",
    stage="speed",
    section="unmeasured",
    order=2,
    draw=draw,
    needs="extrapolation",
)
