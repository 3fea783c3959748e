"""A page with one chart: what the plan said of each month, with its 90 %, and what was paid."""

from pathlib import Path

import pandas as pd

from sweetspot.files import write_whole
from sweetspot.report.draw import LOOK
from sweetspot.report.moving import CHART_HEIGHT, CHART_WIDTH
from sweetspot.wording import Money

WITHIN, OUTSIDE = "paid, within the plan's 90 %", "paid, outside of it"


def write_chart(months: pd.DataFrame, title: str, money: Money, file: Path) -> None:
    """Write the page, which needs no network; months: MONTH_COLUMNS. Raises UserError where it cannot be written."""
    import altair as alt

    named = ("usd", "plan_usd", "plan_usd_low", "plan_usd_high")
    rows = pd.DataFrame({name: months[name] / money.usd_per_unit for name in named})
    rows["month"] = months["month"].dt.strftime("%Y-%m")
    rows["stands"] = months["within"].map({True: WITHIN, False: OUTSIDE})
    x = alt.X("month:O", title="month", axis=alt.Axis(labelAngle=0, labelOverlap="greedy"))
    tooltip = [alt.Tooltip("month:O"), *(alt.Tooltip(f"{name}:Q", format=",.4~g") for name in named)]
    base = alt.Chart(rows).encode(x=x, tooltip=tooltip)
    band = base.mark_bar(opacity=0.25, color="#4c78a8").encode(
        y=alt.Y("plan_usd_low:Q", title=f"{money.code} a month", scale=alt.Scale(zero=True)), y2="plan_usd_high:Q"
    )
    plan = base.mark_tick(color="#4c78a8", thickness=3).encode(y="plan_usd:Q")
    key = alt.Scale(domain=[WITHIN, OUTSIDE], range=["#222", "#c1272d"])
    colour = alt.Color("stands:N", title=None, scale=key, legend=alt.Legend(orient="bottom"))
    paid = base.mark_point(filled=True, size=70, opacity=1).encode(y="usd:Q", color=colour)
    heading = alt.TitleParams("The plan (band: 90 %) and what was paid, by month", subtitle=title, anchor="start")
    chart = alt.layer(band, plan, paid, width=CHART_WIDTH, height=CHART_HEIGHT).properties(title=heading)
    with write_whole(file) as temporary:
        temporary.write_text(chart.configure(**LOOK).to_html(inline=True), encoding="utf-8")
