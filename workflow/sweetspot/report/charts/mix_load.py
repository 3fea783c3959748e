"""Who does the work of the busy months and of the quiet ones: device-hours by source, the busiest month first."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, Drawing, colour, empty, named

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

LEAST = 0.002  # of the busiest month's load: a source that never does more is not drawn


def draw(data: "ChartData") -> Drawing:
    """Stacked areas: what is there at the bottom, what is bought on it, what is rented on top."""
    import altair as alt

    rows = data.table("mix_load")
    if rows.empty:
        return empty("No work of months in this study: no mix of machines.")
    rows = rows[rows["workload"] == rows["workload"].iloc[0]]
    most = rows.groupby("share_of_months")["device_hours"].sum().max()
    shown = rows.groupby("option")["device_hours"].transform("max") > LEAST * most
    rows = rows[shown].assign(percent=100 * rows["share_of_months"])
    names = list(dict.fromkeys(rows["title"]))
    place = {name: number for number, name in enumerate(names)}
    rows = rows.assign(order=rows["title"].map(place))
    x = alt.X("percent:Q", title="% of the months, the busiest first", scale=alt.Scale(domain=[0, 100], nice=False))
    y = alt.Y("device_hours:Q", title="device-hours a month", stack="zero")
    areas = named("rows").mark_area(opacity=0.85, line=False)
    areas = areas.encode(x=x, y=y, color=colour("title:N", names), order=alt.Order("order:Q"))
    return Drawing(alt.layer(areas, width=WIDTH - 70, height=230), {"rows": rows})


CHART = Chart(
    title="Device-hours a month by source, the busiest months first",
    caption="Who does the work of the months under the best mix: what is there, what is bought, what is rented.",
    stage="price",
    section="plan",
    order=1,
    draw=draw,
    needs="mix_load",
)
