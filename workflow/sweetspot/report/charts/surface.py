"""Days of use a month from which owning pays, by length of the project and electricity price."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, empty
from sweetspot.report.vega import Drawing, amount, kind, layer, layered

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A line a tariff; a mark where the box is planned to be used."""
    rows = data.table("surface")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    rows = rows.drop_duplicates(["months", "usd_per_kwh"]).sort_values("usd_per_kwh")
    rows = rows.assign(tariff=rows["usd_per_kwh"].map("{:.2f} USD/kWh".format))
    offers = data.table("offers")
    own = (offers["instance"] == data.reference) & (offers["purchase"] == "own")
    box = offers[own][["months", "days_per_month"]].dropna().head(1)
    x = amount("months", title="months of the project")
    scale = {"domain": [0, 31], "nice": False}
    y = amount("break_even_days", title=f"days a month to pay ({data.model})", scale=scale)
    planned = amount("days_per_month")
    # A shape that says nothing of the basis of a figure.
    mark = {"shape": "triangle-down", "size": 90, "filled": True, "color": "#000", "opacity": 1}
    words = {"dx": 8, "align": "left", "fontSize": 11}
    spec = layered(
        layer("line", {"strokeWidth": 2}, x=x, y=y, color=colour("tariff", list(dict.fromkeys(rows["tariff"])))),
        layer("point", mark, "plan", x=x, y=planned),
        layer("text", words, "plan", x=x, y=planned, text=kind("label")),
        width=WIDTH - 70,
        height=200,
    )
    return Drawing(spec, {"rows": rows, "plan": box.assign(label="as planned")})


CHART = Chart(
    title="Days of use a month from which owning pays, by months of the project and electricity price; above a line "
    "the box is cheaper, and a line that starts late never pays before",
    caption="Days of use a month from which owning pays, by length of the project and electricity price.",
    stage="price",
    section="use",
    order=3,
    draw=draw,
    needs="break_even",
)
