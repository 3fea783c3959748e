"""Margin of the box at each assumption's low and high end; where it crosses 1 the winner flips."""

from typing import TYPE_CHECKING

from sweetspot.decision.counted import the
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

KINDS = {False: "does not flip the winner", True: "flips the winner"}


def draw(data: "ChartData") -> Drawing:
    """A bar an assumption, the widest first; a line where the study stands, a dashed one where both cost the same."""
    import altair as alt
    import pandas as pd

    rows = data.table("tornado")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no assumption of owning to vary.")
    rows = rows.assign(kind=rows["flips"].map(KINDS), title=wrapped(rows["assumption"]))
    widest = alt.EncodingSortField("swing", order="descending")
    y = alt.Y("title:N", sort=widest, title=None, axis=name_axis())
    # The rival of these rows, which is not the answer's where that leaves out what is there already.
    title = [f"USD of {the(data.title(rows['rival'].iloc[0]))} /", f"USD of {the(data.box)}"]
    x = alt.X("margin_low:Q", title=title, scale=alt.Scale(zero=False, padding=10))
    tint = colour("kind:N", list(KINDS.values()))
    words = told(
        assumption=f"assumption{TEXT}", value="as planned", low="low", high="high", unit=f"unit{TEXT}",
        margin_low="times cheaper at low", margin_high="times cheaper at high", range_basis=f"range{TEXT}",
    )  # fmt: skip
    chart = alt.layer(
        named("rows").mark_bar(height=11).encode(y=y, x=x, x2=alt.X2("margin_high:Q"), color=tint, tooltip=words),
        named("middle").mark_rule(color=GREY).encode(x=alt.X("margin:Q")),
        named("even").mark_rule(color=GREY, strokeDash=DASHED).encode(x=alt.X("one:Q")),
        width=WIDTH - 210,
        height=line_step(rows["title"], 20),
    )
    most, turning = rows.loc[rows["swing"].idxmax(), "assumption"], int(rows["flips"].sum())
    says = f"What moves the answer most: {most}; {turning} of {len(rows)} assumptions turn it"
    return Drawing(chart, {"rows": rows, "middle": rows.head(1), "even": pd.DataFrame({"one": [1.0]})}, says)


CHART = Chart(
    title="What each assumption does to the margin of owning",
    caption="Margin of owning at the low and high end of each assumption; an assumption that crosses the tie flips "
    "the winner.",
    stage="price",
    section="why",
    order=2,
    draw=draw,
    needs="break_even",
)
