"""Predicted images per second by method, with 90 % prediction intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, empty, points
from sweetspot.report.vega import Drawing, amount, by_row, end, kind, layer, layered

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

METHODS = 7  # as many as there are colours; that of the answer first


def draw(data: "ChartData") -> Drawing:
    """A point a cell and method on its interval, one panel a machine."""
    rows = data.table("extrapolation")
    if rows.empty:
        return empty("Nothing is extrapolated in this study.")
    rows = data.few_models(rows)
    rows = rows.assign(cell=rows["model"] + " " + rows["batch_size"].astype(str), basis="extrapolated")
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False)["method"]))[:METHODS]
    rows = rows[rows["method"].isin(names)]
    title = f"{data.unit}/s"
    x = amount("images_per_s", title=title, scale={"zero": False, "padding": 8})
    low, high = amount("images_per_s_low", title=title), end("images_per_s_high")
    y, offset, tint = kind("cell", title=None), kind("method", sort=names), colour("method", names)
    spec = layered(
        layer("rule", y=y, x=low, x2=high, color=tint, yOffset=offset),
        *points(y=y, x=x, color=tint, yOffset=offset),
        width=WIDTH - 100,
        height={"step": max(7, 20 // len(names))},
    )
    return Drawing(by_row(spec, "instance"), {"rows": rows})


CHART = Chart(
    title="Predicted {units} per second by method, with 90 % prediction intervals",
    caption="Predicted {units} per second by method with 90 % prediction intervals. At most {models} models are "
    "drawn; the tables hold all.",
    stage="speed",
    section="unmeasured",
    order=1,
    draw=draw,
    needs="extrapolation",
)
