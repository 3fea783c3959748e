"""Images (or samples) per USD of the best options of each model, with 90 % intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, empty, log_axis, points
from sweetspot.report.tables import bills_decide
from sweetspot.report.vega import Drawing, amount, by_field, by_row, end, kind, layer, layered

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A point an option by its basis, on its interval; the best of each model and the reference."""
    rows = data.options()
    if rows.empty:
        return empty("No priced option in this study.")
    rows = rows.assign(kind=data.kinds(rows))
    # Names of spot offers carry their price list: cut short, two of them read the same.
    names = {"labelLimit": 260, "labelFontSize": 11}
    y = kind("option", sort=by_field("images_per_usd", "descending"), title=None, axis=names)
    title = f"{data.unit} per USD (log scale)"
    axis = log_axis(rows["images_per_usd"])
    x = amount("images_per_usd", title=title, scale={"type": "log"}, axis=axis)
    kinds = colour("kind", data.kind_names(rows))
    low, high = amount("images_per_usd_low", title=title), end("images_per_usd_high")
    spec = layered(
        layer("rule", {"strokeWidth": 1.5}, y=y, x=low, x2=high, color=kinds),
        *points(y=y, x=x, color=kinds),
        width=WIDTH - 215,
        height={"step": 15},
    )
    return Drawing(by_row(spec, "model", ("y",)), {"rows": rows})


CHART = Chart(
    title="{Units} per USD of the best options, by model, with 90 % intervals",
    caption="{Units} per USD of the best options by model, with 90 % intervals. The shape tells the basis of the "
    "figure. At most {models} models are drawn; the tables hold all.",
    stage="price",
    section="costs",
    order=1,
    draw=draw,
    fits=lambda tables: not bills_decide(tables),
)
