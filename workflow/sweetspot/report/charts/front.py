"""Hours against money, for one work: its options, the front that nothing beats, and what keeps within the limits."""

import math
from typing import TYPE_CHECKING, Any

from sweetspot.report.charts import Chart
from sweetspot.report.charts.time_cost import DEAR, ROOM, numbered, trade_offs
from sweetspot.report.marks import (
    GREY,
    INTERRUPTIBLE,
    ORIGIN,
    PERSISTENT,
    TEXT,
    Drawing,
    colour,
    empty,
    key_of,
    named,
    points,
    told,
)
from sweetspot.report.moving import CHART_HEIGHT, CHART_WIDTH, LINES, keyed, log_ticks, told_lines
from sweetspot.report.tables import hours_differ

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

SHOWN = ("model", "option", "label", "hours", "usd", "kind", "basis", "source", "as_of", "on_front", "fits")


def draw(data: "ChartData") -> Drawing:
    """A point an option of the answer's work by its basis; what is on the front has a number, named below."""
    rows = front_rows(data)
    if rows.empty:
        return empty("No workload with a model to train in this study.")
    ranks = data.table("ranks")
    key = key_of(ranks.loc[ranks["in_answer"].astype(bool), "basis"])
    data_of = {
        "rows": rows,
        "keys": numbered(rows, data.option if _judged(data) else "").head(LINES),
    }
    return Drawing(keyed(_plot(rows, _kinds(data)), LINES, told_lines(0)), data_of, _says(rows, data), key)


def _kinds(data: "ChartData") -> list[str]:
    """What the options are, each with its own colour in every study."""
    from sweetspot.study.base import INTERRUPTIBLE as TAKEN

    taken = data.table("ranks")["purchase"].isin(TAKEN).any()
    return [PERSISTENT, *([INTERRUPTIBLE] if taken else []), *([data.box] if _judged(data) else [])]


def _says(rows: "pd.DataFrame", data: "ChartData") -> str:
    return trade_offs(data.model, int(rows["on_front"].sum()))


def _judged(data: "ChartData") -> bool:
    """Whether the study names a machine that is judged."""
    return bool(data.reference)


def front_rows(data: "ChartData") -> "pd.DataFrame":
    """The options of the first work of the answer's model that the answer may take, with `kind`, `label`, `on_front`
    (of those that the study accepts nothing is at most as slow and at most as dear, and better in one), `fits`.

    Not among them: what cannot be taken and is beaten; what costs DEAR times the cheapest and is beaten.
    """
    from sweetspot.study.base import INTERRUPTIBLE as TAKEN

    rows = data.table("ranks")
    if rows.empty:
        return rows
    rows = rows[rows["in_answer"].astype(bool) & (rows["model"] == data.model)]
    rows = rows[(rows["workload"] == rows["workload"].min()) & (rows["hours"] > 0) & (rows["usd"] > 0)]
    allowed = rows["persistent"].astype(bool)
    known = rows[allowed] if allowed.any() else rows
    pairs = list(zip(known["hours"], known["usd"], strict=True))
    beaten = [
        any(h <= hours and u <= usd and (h < hours or u < usd) for h, u in pairs)
        for hours, usd in zip(rows["hours"], rows["usd"], strict=True)
    ]
    judged = (rows["option"] == data.option) & _judged(data)
    kind = rows["purchase"].isin(TAKEN).map({True: INTERRUPTIBLE, False: PERSISTENT}).mask(judged, data.box)
    label = data.titles(rows["option"]).str.replace(r" \[.*\]$", "", regex=True)
    rows = rows.assign(kind=kind, label=label, fits=allowed, beaten=beaten)
    rows["on_front"] = rows["option"].isin(known["option"]) & ~rows["beaten"]
    dear = rows["usd"] > DEAR * known["usd"].min()
    shown = rows["on_front"] | (rows["option"] == data.option) | ~dear & (allowed | ~rows["beaten"])
    return rows[shown].sort_values(["usd", "option"], kind="stable").reset_index(drop=True)[[*SHOWN]]


def _ends(values: "pd.Series", size: int) -> tuple[float, float]:
    """The ends of a logarithmic scale of that size, with ROOM around all values."""
    low, high = math.log(values.min()), math.log(values.max())
    around = (high - low) * ROOM / (size - 2 * ROOM) if high > low else math.log(2)
    return math.exp(low - around), math.exp(high + around)


def _plot(rows: "pd.DataFrame", kinds: list[str]) -> "alt.LayerChart":
    import altair as alt

    amounts = "format(datum.value, datum.value < 1 ? '~g' : '~s')"

    def of(column: str, size: int, title: str) -> dict[str, Any]:
        low, high = _ends(rows[column], size)
        axis = alt.Axis(values=log_ticks(low, high), labelExpr=amounts, title=title)
        return {"scale": alt.Scale(domain=[low, high], nice=False, type="log"), "axis": axis}

    x, y = (
        alt.X("hours:Q", **of("hours", CHART_WIDTH, "hours (log)")),
        alt.Y("usd:Q", **of("usd", CHART_HEIGHT, "USD (log)")),
    )
    shown = [kind for kind in kinds if (rows["kind"] == kind).any()]
    every = named("rows").encode(x=x, y=y, opacity=alt.Opacity("shown:Q", scale=None))
    every = every.transform_calculate(shown="datum.fits ? 1 : 0.25")
    words = told(label=f"option{TEXT}", hours="hours", usd="USD", **ORIGIN)
    marks = named("keys").encode(x=x, y=y, text="mark:N")
    look = {"dy": -12, "fontSize": 12, "fontWeight": "bold", "clip": True}
    return alt.layer(
        named("rows").encode(x=x, y=y).transform_filter("datum.on_front").mark_line(
            color=GREY, strokeDash=[4, 3], interpolate="step-after", clip=True
        ),
        *points(every, color=colour("kind:N", kinds, shown=shown), tooltip=words),
        # A white rim keeps a number legible where a line or a point lies behind it.
        marks.mark_text(stroke="white", strokeWidth=4, **look),
        marks.mark_text(color="#111", **look),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )  # fmt: skip


CHART = Chart(
    title="Hours against USD of one work; dashed: the best trade-offs; numbers: below",
    caption="Hours against USD of one work. The dashed line joins the best trade-offs, which have numbers: no option "
    "is both faster and cheaper than one of them. Faint: what is not taken, as it is interruptible. What costs more "
    "than 20 times the cheapest is not drawn.",
    stage="price",
    section="whatif",
    order=1,
    draw=draw,
    fits=hours_differ,
)
