"""Who does the work of the busy months and of the quiet ones: device-hours by source, the busiest month first."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import TEXT, WIDTH, Drawing, colour, empty, named, told
from sweetspot.wording import begun, the

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

LEAST = 0.03  # of all work: sources that do less are drawn as one
OTHERS = "others, rented for the peak"
STEADY = 0.9  # of its busiest month: who does as much in every month does the base


def draw(data: "ChartData") -> Drawing:
    """Stacked areas: what is there at the bottom, what is bought on it, what is rented on top."""
    import altair as alt

    rows = data.table("load")
    if rows.empty:
        return empty("No work of months in this study: no mix of machines.")
    rows = rows[rows["workload"] == rows["workload"].iloc[0]]
    says = _says(rows[rows["device_hours"] > 0])
    rows = _together(rows.assign(percent=100 * rows["share_of_months"]))
    names = list(dict.fromkeys(rows["title"]))
    place = {name: number for number, name in enumerate(names)}
    rows = rows.assign(order=rows["title"].map(place))
    x = alt.X("percent:Q", title="% of the months, the busiest first", scale=alt.Scale(domain=[0, 100], nice=False))
    y = alt.Y("device_hours:Q", title="device-hours a month", stack="zero")
    areas = named("rows").mark_area(opacity=0.85, line=False)
    words = told(title=f"source{TEXT}", part="% of all device-hours", most="device-hours in the busiest month")
    areas = areas.encode(x=x, y=y, color=colour("title:N", names), order=alt.Order("order:Q"), tooltip=words)
    return Drawing(alt.layer(areas, width=WIDTH - 70, height=230), {"rows": rows}, says)


def _together(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Rows by source and month with `part` (per cent of all hours) and `most`; those of less than LEAST as one."""
    share = rows.groupby("title")["device_hours"].transform("sum") / rows["device_hours"].sum()
    rows = rows.assign(title=rows["title"].where(share >= LEAST, OTHERS))
    rows = rows.groupby(["title", "percent"], sort=False, as_index=False)["device_hours"].sum()
    rows = rows.sort_values("title", key=lambda names: names == OTHERS, kind="stable")
    hours = rows.groupby("title")["device_hours"]
    rows = rows.assign(part=100 * hours.transform("sum") / rows["device_hours"].sum(), most=hours.transform("max"))
    return rows[rows["most"] > 0]


def _says(rows: "pd.DataFrame") -> str:
    """Who does the base of the work, if one works alike in all months, else most of it; and who most of the rest."""
    loads = rows.groupby("title", sort=False)["device_hours"]
    done, first = loads.sum(), str(rows["title"].iloc[0])
    if len(done) == 1:
        return begun(f"{the(first)} does all of the work")
    steady = loads.min()[first] >= STEADY * loads.max()[first]
    first = first if steady else str(done.idxmax())
    rest = done.drop(first)
    did = "the base" if steady else f"{_part(done[first] / done.sum())} the work"
    second = f"{the(str(rest.idxmax()))} {_part(rest.max() / rest.sum())} the rest"
    return begun(f"{the(first)} does {did}, {second.replace(' most of', '') if len(rest) == 1 else second}")


def _part(share: float) -> str:
    return "most of" if share > 0.5 else "the largest part of"


CHART = Chart(
    title="Device-hours a month by source, the busiest months first",
    caption="Who does the work of the months under the best mix: the machines you own, those bought, those rented.",
    stage="price",
    section="plan",
    order=1,
    draw=draw,
    needs="load",
)
