"""Margin of the box at each assumption's low and high end; where it crosses 1 the winner flips."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, empty, level
from sweetspot.report.vega import Drawing, amount, by_field, end, kind, layer, layered

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

KINDS = {False: "does not flip the winner", True: "flips the winner"}


def draw(data: "ChartData") -> Drawing:
    """A bar an assumption, the widest first; a line where the study stands, a dashed one where both cost the same."""
    import pandas as pd

    rows = data.table("tornado")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no assumption of owning to vary.")
    rows = rows.assign(kind=rows["flips"].map(KINDS))
    y = kind("assumption", sort=by_field("swing", "descending"), title=None, axis={"labelLimit": 200})
    title = f"USD of {data.rival} / USD of the box"
    x = amount("margin_low", title=title, scale={"zero": False, "padding": 10})
    tint = colour("kind", list(KINDS.values()))
    spec = layered(
        layer("bar", {"height": 11}, y=y, x=x, x2=end("margin_high"), color=tint),
        level("middle", "margin", "x"),
        level("even", "one", "x", dashed=True),
        width=WIDTH - 210,
        height={"step": 20},
    )
    return Drawing(spec, {"rows": rows, "middle": rows.head(1), "even": pd.DataFrame({"one": [1.0]})})


CHART = Chart(
    title="What each assumption does to the margin of owning",
    caption="Margin of owning at the low and high end of each assumption; an assumption that crosses the tie flips "
    "the winner.",
    stage="price",
    section="use",
    order=2,
    draw=draw,
    needs="break_even",
)
