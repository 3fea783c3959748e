"""Days of use a month from which owning pays, by length of the project and electricity price."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.charts.cash_flow import month_ticks
from sweetspot.report.line_ends import ends, with_names
from sweetspot.report.marks import GREY, TEXT, WIDTH, Drawing, colour, empty, named, told

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from sweetspot.report.chart_data import ChartData


WIDE, HIGH = WIDTH - 160, 200
MOST_DAYS = 31
NEAR = 7  # pixels between the ends of two lines that are told apart
LINES = 6  # tariffs, as many as have a colour of their own


def draw(data: "ChartData") -> Drawing:
    """A line a tariff, its name at its end; a mark where the box is planned to be used."""
    import altair as alt

    rows = data.table("surface")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    rows = rows.drop_duplicates(["months", "usd_per_kwh"]).sort_values(["usd_per_kwh", "months"], ignore_index=True)
    rows = rows.assign(tariff=rows["usd_per_kwh"].map("{:.2f} USD/kWh".format))
    offers = data.table("offers")
    own = (offers["instance"] == data.reference) & (offers["purchase"] == "own")
    box = offers[own][["months", "days_per_month"]].dropna().head(1)
    tariff = offers[own]["usd_per_kwh"].dropna().head(1)
    says = _says(rows, float(tariff.iloc[0])) if len(tariff) else ""
    rows = _told_apart(rows, float(tariff.iloc[0]) if len(tariff) else 0.0)
    months = [0, *month_ticks(int(rows["months"].max()))[1:]]
    x = alt.X("months:Q", title="months of the project", scale=alt.Scale(nice=False), axis=alt.Axis(values=months))
    scale = alt.Scale(domain=[0, MOST_DAYS], nice=False)
    y = alt.Y("break_even_days:Q", title=f"days a month to pay ({data.model})", scale=scale)
    tint = colour("tariff:N", list(dict.fromkeys(rows["tariff"])), shown=())
    words = told(tariff=f"electricity{TEXT}", months="months", break_even_days="days a month to pay")
    plan = box.assign(label=[f"as planned: {months:g} months, {days:g} days" for months, days in box.to_numpy()])
    chart = alt.layer(
        *_planned(x),
        named("rows").mark_line(strokeWidth=2).encode(x=x, y=y, color=tint, tooltip=words),
        *ends(named("rows"), WIDE, color=tint),
        width=WIDE,
        height=HIGH,
    )
    return Drawing(chart, {"rows": rows, "plan": plan}, says)


def _planned(x: "alt.X") -> "list[alt.Chart]":
    """Where the box is planned to be used, named above the frame, where no line is."""
    import altair as alt

    plan = named("plan").encode(x=x)
    middle = "datum.months > 0.75 * domain('x')[1] ? 'right' : datum.months < 0.25 * domain('x')[1] ? 'left' : 'center'"
    # A shape that says nothing of the basis of a figure.
    mark = plan.mark_point(shape="triangle-down", size=90, filled=True, color="#000", opacity=1)
    return [
        plan.mark_rule(color=GREY, strokeDash=[2, 3]),
        mark.encode(y=alt.Y("days_per_month:Q")),
        plan.mark_text(color=GREY, fontSize=12, align=alt.ExprRef(middle)).encode(
            y=alt.value(-8), text=alt.Text("label:N")
        ),
    ]


def _told_apart(rows: "pd.DataFrame", usd_per_kwh: float) -> "pd.DataFrame":
    """The lines that are told apart at their ends: of the planned tariff, the dearest, the cheapest, then others.

    A tariff at which owning never pays has no line.
    """
    rows = rows[rows["break_even_days"].notna()]
    last = rows.groupby("tariff", sort=False).tail(1).sort_values("usd_per_kwh")
    places = HIGH * (1 - last["break_even_days"] / MOST_DAYS)
    planned = (last["usd_per_kwh"] - usd_per_kwh).abs().sort_values().index[:1]
    order = [*planned, *last.index[-1:], *last.index[:1], *last.index[1:-1]]
    shown: list[object] = []
    for one in dict.fromkeys(order):
        if len(shown) < min(2, len(last)) or all(abs(places[one] - places[other]) >= NEAR for other in shown):
            shown.append(one)
    kept = last.loc[[one for one in last.index if one in shown[:LINES]]]
    rows = rows[rows["tariff"].isin(kept["tariff"])]
    return with_names(rows, kept["tariff"], places[kept.index], HIGH)


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
    title="Days of use a month from which owning pays, by months of the project and electricity price",
    caption="Days of use a month from which owning pays, by length of the project and electricity price; above a line "
    "the box is cheaper, and a line that starts late never pays before. A tariff without a line never pays, or its "
    "line lies too near to another's.",
    stage="price",
    section="use",
    order=3,
    draw=draw,
    needs="utilisation",
)
