"""How many times cheaper the box is, by days of use."""

from typing import TYPE_CHECKING

from sweetspot.decision.counted import the
from sweetspot.report.charts import Chart
from sweetspot.report.marks import DASHED, GREY, TEXT, WIDTH, Drawing, colour, dashes, empty, named, told
from sweetspot.report.notation import missing

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

PERSISTENT_SHOWN, INTERRUPTIBLE_SHOWN = 3, 1  # rivals


def draw(data: "ChartData") -> Drawing:
    """A line a rival, the closest one with its band; dots mark the break-even against each."""
    import altair as alt
    import pandas as pd

    rows = data.table("utilisation")
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    days = data.table("break_even")
    days = days[days["model"] == data.model]
    shown = _rivals(days)
    if not shown:
        return empty(f"No owned machine takes part for {data.model}: no break-even.")
    rows = rows[(rows["model"] == data.model) & rows["option"].isin(shown)]
    rows = rows.assign(title=data.titles(rows["option"]))
    names = [data.title(option) for option in shown]
    marks = days[days["option"].isin(shown) & days["days"].notna()].assign(gain=1.0)
    marks["title"] = data.titles(marks["option"])
    marks["label"] = marks["days"].map("{:.1f} d".format)
    marks["place"] = marks["days"].rank(method="first").map(lambda n: 0.45 / 1.35**n)
    x = alt.X("days:Q", title="days of use a month", scale=alt.Scale(domain=[0, 31], nice=False))
    y = alt.Y(
        "gain:Q",
        title=f"times cheaper ({data.model}, log)",
        scale=alt.Scale(type="log", domain=[0.1, 10], clamp=True),
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10]),
    )
    low, place = alt.Y("gain_low:Q", title=""), alt.Y("place:Q", title="")
    tint = colour("title:N", names)
    lines, dots = (named(rows).encode(x=x, color=tint) for rows in ("rows", "marks"))
    closest = lines.transform_filter(alt.FieldEqualPredicate(field="title", equal=names[0]))
    words = told(title=f"rival{TEXT}", days="days of use a month", gain="times cheaper")
    chart = alt.layer(
        closest.mark_area(opacity=0.15).encode(y=low, y2=alt.Y2("gain_high:Q")),
        named("even").mark_rule(color=GREY, strokeDash=DASHED).encode(y=alt.Y("one:Q")),
        lines.mark_line(strokeWidth=2).encode(y=y, strokeDash=dashes("title:N", names), tooltip=words),
        dots.mark_point(filled=True, size=60, opacity=1).encode(y=y),
        dots.mark_rule(opacity=0.5).encode(y=place, y2=alt.Y2("gain:Q")),
        dots.mark_text(dx=5, align="left", fontSize=11, fontWeight="bold").encode(y=place, text=alt.Text("label:N")),
        width=WIDTH - 60,
        height=250,
    )
    # Where both sides cost the same.
    data_of = {"rows": rows, "even": pd.DataFrame({"one": [1.0]}), "marks": marks}
    return Drawing(chart, data_of, _says(days[days["option"] == shown[0]].iloc[0], names[0]))


def _says(row: "pd.Series", rival: str) -> str:
    """From which use on owning pays against the rival that comes closest."""
    if missing(row["days"]):
        return f"Against {the(rival)} owning pays at no use within a month"
    return f"Against {the(rival)} owning pays from {row['days']:.1f} days of use a month"


def _rivals(days: "pd.DataFrame") -> list[str]:
    """The rented options, persistent and interruptible, that come closest to the box at the planned use."""
    best = days[days["purchase"] != "own"].sort_values(["persistent", "gain_at_use"], ascending=[False, True])
    persistent = best["persistent"].astype(bool)
    shown = best[persistent]["option"].head(PERSISTENT_SHOWN), best[~persistent]["option"].head(INTERRUPTIBLE_SHOWN)
    return [str(name) for part in shown for name in part]


CHART = Chart(
    title="How many times cheaper owning is, by days of use a month",
    caption="How many times cheaper owning is, by days of use a month. Dots mark the break-even.",
    stage="price",
    section="use",
    order=1,
    draw=draw,
    needs="break_even",
)
