"""Predicted images per second by method, with 90 % prediction intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, Drawing, by_row, colour, empty, points

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

METHODS = 7  # as many as there are colours; that of the answer first


def draw(data: "ChartData") -> Drawing:
    """A point a cell and method on its interval, one panel a machine."""
    import altair as alt

    rows = data.table("extrapolation")
    if rows.empty:
        return empty("Nothing is extrapolated in this study.")
    rows = data.few_models(rows)
    rows = rows.assign(cell=rows["model"] + " " + rows["batch_size"].astype(str), basis="extrapolated")
    rows = rows.assign(machine=data.machines(rows["instance"]))
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False)["method"]))[:METHODS]
    rows = rows[rows["method"].isin(names)]
    title = f"{data.unit}/s"
    x = alt.X("images_per_s:Q", title=title, scale=alt.Scale(zero=False, padding=8))
    low = alt.X("images_per_s_low:Q", title=title)
    y, offset, tint = alt.Y("cell:N", title=None), alt.YOffset("method:N", sort=names), colour("method:N", names)
    panel = alt.layer(
        alt.Chart().mark_rule().encode(y=y, x=low, x2=alt.X2("images_per_s_high:Q"), color=tint, yOffset=offset),
        *points(alt.Chart(), y=y, x=x, color=tint, yOffset=offset),
        width=WIDTH - 100,
        height=alt.Step(max(7, 20 // len(names))),
    )
    return Drawing(by_row(panel, "machine:N"), {"rows": rows})


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
