"""Days of use a month from which owning pays, by length of the project and electricity price."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import TEXT, WIDTH, Drawing, colour, empty, named, told

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A line a tariff; a mark where the box is planned to be used."""
    import altair as alt

    rows = data.table("surface")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    rows = rows.drop_duplicates(["months", "usd_per_kwh"]).sort_values("usd_per_kwh")
    rows = rows.assign(tariff=rows["usd_per_kwh"].map("{:.2f} USD/kWh".format))
    offers = data.table("offers")
    own = (offers["instance"] == data.reference) & (offers["purchase"] == "own")
    box = offers[own][["months", "days_per_month"]].dropna().head(1)
    tariffs = colour("tariff:N", list(dict.fromkeys(rows["tariff"])))
    x = alt.X("months:Q", title="months of the project")
    scale = alt.Scale(domain=[0, 31], nice=False)
    y = alt.Y("break_even_days:Q", title=f"days a month to pay ({data.model})", scale=scale)
    plan = named("plan").encode(x=x, y=alt.Y("days_per_month:Q"))
    words = told(tariff=f"electricity{TEXT}", months="months", break_even_days="days a month to pay")
    chart = alt.layer(
        named("rows").mark_line(strokeWidth=2).encode(x=x, y=y, color=tariffs, tooltip=words),
        # A shape that says nothing of the basis of a figure.
        plan.mark_point(shape="triangle-down", size=90, filled=True, color="#000", opacity=1),
        plan.mark_text(dx=8, align="left", fontSize=11).encode(text=alt.Text("label:N")),
        width=WIDTH - 70,
        height=200,
    )
    tariff = offers[own]["usd_per_kwh"].dropna().head(1)
    says = _says(rows, float(tariff.iloc[0])) if len(tariff) else ""
    return Drawing(chart, {"rows": rows, "plan": box.assign(label="as planned")}, says)


def _says(rows: "pd.DataFrame", usd_per_kwh: float) -> str:
    """What the shortest project that can pay asks for, and the longest, at the tariff nearest to the price list's."""
    nearest = (rows["usd_per_kwh"] - usd_per_kwh).abs()
    paying = rows[(nearest == nearest.min()) & rows["break_even_days"].notna()].sort_values("months")
    if paying.empty:
        return "Owning pays at no use, however long the project"
    short, long = paying.iloc[0], paying.iloc[-1]
    return (
        f"A project of {short['months']:.0f} months pays from {short['break_even_days']:.0f} days of use a month, "
        f"one of {long['months']:.0f} from {long['break_even_days']:.0f}"
    )


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
