"""What each assumption does to the plan of months: the next option's USD over the best mix's, from low to high."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import (
    DASHED,
    GREY,
    TEXT,
    WIDTH,
    Drawing,
    colour,
    empty,
    line_step,
    name_axis,
    named,
    told,
    wrapped,
)

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

KINDS = {False: "does not turn the plan", True: "turns the plan"}
SHOWN = 12  # assumptions, the widest first; the table has all
LEAST = 0.005  # of the margin: what moves it less is not drawn


def draw(data: "ChartData") -> Drawing:
    """A bar an assumption, the widest first; a line where the plan stands, a dashed one where both cost the same."""
    import altair as alt
    import pandas as pd

    rows = data.table("plan_tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["margin"].notna()] if len(rows) else rows
    rows = rows[(rows["swing"] > LEAST) | rows["flips"].astype(bool)].head(SHOWN) if len(rows) else rows
    if rows.empty:
        return empty("No figure moves the plan of months against the next best option.")
    rows = rows.assign(kind=rows["flips"].astype(bool).map(KINDS), title=wrapped(rows["assumption"]))
    widest = alt.EncodingSortField("swing", order="descending")
    y = alt.Y("title:N", sort=widest, title=None, axis=name_axis())
    x = alt.X(
        "margin_low:Q", title="USD of the next pure option / USD of this mix", scale=alt.Scale(zero=False, padding=10)
    )
    words = told(
        assumption=f"assumption{TEXT}", value="as planned", low="low", high="high", unit=f"unit{TEXT}",
        margin_low="times cheaper at low", margin_high="times cheaper at high", winner_low=f"best mix at low{TEXT}",
        winner_high=f"best mix at high{TEXT}", range_basis=f"range{TEXT}",
    )  # fmt: skip
    tint = colour("kind:N", list(KINDS.values()))
    bars = named("rows").mark_bar(height=11)
    chart = alt.layer(
        bars.encode(y=y, x=x, x2=alt.X2("margin_high:Q"), color=tint, tooltip=words),
        named("middle").mark_rule(color=GREY).encode(x=alt.X("margin:Q")),
        named("even").mark_rule(color=GREY, strokeDash=DASHED).encode(x=alt.X("one:Q")),
        width=WIDTH - 210,
        height=line_step(rows["title"], 20),
    )
    most, turning = rows.loc[rows["swing"].idxmax(), "assumption"], int(rows["flips"].sum())
    says = f"What moves the plan most: {most}; {turning} of {len(rows)} assumptions turn it"
    return Drawing(chart, {"rows": rows, "middle": rows.head(1), "even": pd.DataFrame({"one": [1.0]})}, says)


CHART = Chart(
    title="What each assumption does to the plan",
    caption="How many times the best mix the cheapest pure option beside what is there costs, at the low and high end "
    "of each assumption; in one that turns the plan another mix becomes the best.",
    stage="price",
    section="plan",
    order=2,
    draw=draw,
    needs="plan_tornado",
)
