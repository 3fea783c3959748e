"""Bars of assumptions from low to high, for the answer of one job and for the plan that leads."""

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.notation import number
from sweetspot.report.tables import of_plans
from sweetspot.wording import ROUNDS, the

LEAST, SHOWN = 0.005, 10  # of the margin: what moves it less is not drawn; of assumptions, the widest
SLOW = 0.1  # a second: of such a speed its multiple says more
PLANNED, EVEN = "as planned", "same cost"


def assumption_bars(
    rows: "pd.DataFrame", axis: str | list[str], kinds: tuple[str, str], what: str, more: dict[str, str] | None = None
) -> look.Drawing:
    """A bar an assumption, the widest first, its range below its name; a line where the margin stands, a dashed one
    where both cost the same. What moves the margin less than LEAST and turns nothing has none, nor more than SHOWN.

    rows: columns assumption, value, low, high, unit, margin, margin_low, margin_high, swing, flips, range_basis. axis:
    title of the margin. kinds: names of what turns nothing and of what does. what: of the chart's title, "the answer".
    more: further columns of the tooltip with their names.
    """
    rows = rows[rows["swing"].notna()]
    if rows.empty:
        return look.empty("Nothing else does the work: no assumption can turn it.")
    says, margin = _says(rows, what), float(rows["margin"].iloc[0])
    rows = rows[(rows["swing"] > LEAST) | rows["flips"].astype(bool)].nlargest(SHOWN, "swing")
    if rows.empty:
        return look.empty(f"No assumption moves {what}.")
    # A figure that is moved goes through what is planned, also where both its ends lie on one side of that.
    ends = rows[["margin", "margin_low", "margin_high"]]
    rows = rows.assign(
        least=ends.min(axis=1),
        most=ends.max(axis=1),
        kind=rows["flips"].astype(bool).map(dict(zip((False, True), kinds, strict=True))),
        title=look.wrapped(rows["assumption"]) + "\n" + rows.apply(_range, axis=1),
    )
    y = alt.Y("title:N", sort=alt.EncodingSortField("swing", order="descending"), title=None, axis=look.name_axis())
    x = alt.X("least:Q", title=axis, scale=alt.Scale(zero=False, padding=10))
    words = look.told(
        assumption="assumption (text)", value="as planned", low="low", high="high", unit="unit (text)",
        margin_low="times cheaper at low", margin_high="times cheaper at high", **(more or {}),
        range_basis="range (text)",
    )  # fmt: skip
    found = [name for name in kinds if (rows["kind"] == name).any()]
    tint = look.colour("kind:N", list(kinds), shown=found if kinds[1] in found else (), room=look.BESIDE)
    chart = alt.layer(
        look.named("rows").mark_bar(height=11).encode(y=y, x=x, x2=alt.X2("most:Q"), color=tint, tooltip=words),
        *_upright(margin),
        width=look.PLOT,
        height=look.line_step(rows["title"], 19),
    )
    lines = pd.DataFrame({"at": [margin, 1.0], "name": [PLANNED, EVEN]})
    return look.Drawing(chart, {"rows": rows, "lines": lines}, says)


def _says(rows: "pd.DataFrame", what: str) -> str:
    most, turning = rows.loc[rows["swing"].idxmax(), "assumption"], int(rows["flips"].sum())
    some = f"{turning or 'none'} of {len(rows)} assumptions {'change' if turning > 1 else 'changes'} which is cheapest"
    return f"What moves {what} most: {most}; {some}"


def _range(row: "pd.Series") -> str:
    ends, unit = (float(row["low"]), float(row["high"])), str(row["unit"])
    if unit.endswith("/s") and ends[1] < SLOW:
        ends, unit = (ends[0] / row["value"], ends[1] / row["value"]), "times"
    low, high = (f"{end:.3g}" if unit.startswith("times") else number(end, 4) for end in ends)
    return f"({low} to {high} {unit})"


def _upright(margin: float) -> "list[alt.Chart]":
    """The two lines across all bars, each with its name above the frame, away from the other's."""
    drawn = []
    for name, dash, first in ((PLANNED, [1, 0], margin < 1), (EVEN, look.DASHED, margin >= 1)):
        line = look.named("lines").transform_filter(alt.datum.name == name).encode(x=alt.X("at:Q"))
        drawn.append(line.mark_rule(color=look.GREY, strokeDash=dash))
        words = line.mark_text(color=look.GREY, align="right" if first else "left", dx=-3 if first else 3)
        drawn.append(words.encode(y=alt.value(-7), text="name:N"))
    return drawn


KINDS = ("does not turn the answer", "turns the answer")


def tornado(data: "ChartData") -> look.Drawing:
    """The assumptions of the answer's model."""
    rows = data.table("tornado")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return look.empty("Nothing to own in this study: no assumption of owning to vary.")
    rows = rows.assign(unit=rows["unit"].replace("images/s", f"{data.unit}/s"))
    axis = [f"USD of {the(data.title(rows['rival'].iloc[0]))} /", f"USD of {the(data.box)}"]
    return assumption_bars(rows, axis, KINDS, "the answer")


TORNADO = Chart(
    name="tornado", stage="price", section="why", order=1, draw=tornado, needs="utilisation",
    title="What each assumption does to the margin of owning",
    caption="What the rival costs over what is owned, at the low and high end of each assumption, all others as "
    "planned; a bar that crosses the dashed line turns the answer. What moves it less than 0.5 % is not drawn.",
)  # fmt: skip


OF_PLANS = ("the same is cheapest", "another is cheapest")


def plan_tornado(data: "ChartData") -> look.Drawing:
    """The assumptions of the plan that leads, with the best at either end."""
    rows = of_plans(data.tables, "tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["margin"].notna()] if len(rows) else rows
    if rows.empty:
        return look.empty("No figure moves the plan against the next best option.")
    choices = data.table("choices")
    phases = rows["workload"].iloc[0] in set(choices.loc[choices["cost"] == ROUNDS, "workload"])
    best = "best" if phases else "best mix"
    more = {"winner_low": f"{best} at low (text)", "winner_high": f"{best} at high (text)"}
    of_months = ["USD of the best with one source beside", "the machines you own / USD of the best mix"]
    axis = "USD of the second-cheapest / USD of the answer" if phases else of_months
    return assumption_bars(rows, axis, OF_PLANS, "the plan", more)


PLAN_TORNADO = Chart(
    name="plan_tornado", stage="price", section="plan", order=2, draw=plan_tornado, needs="tornado",
    fits=lambda tables: len(of_plans(tables, "tornado")) > 0,
    title="What each assumption does to the plan",
    caption="How the cost ratio of the second-cheapest to the cheapest changes as one assumption varies; for work of "
    "months the second is the cheapest with a single source beside the machines you own. Where another is cheapest the "
    "verdict may stay: it may be another seller.",
)  # fmt: skip
