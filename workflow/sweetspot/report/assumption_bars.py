"""Bars of assumptions from low to high, for the answer of one job and for the plan of months."""

from typing import TYPE_CHECKING

from sweetspot.report.marks import (
    DASHED,
    GREY,
    TEXT,
    WIDTH,
    Drawing,
    colour,
    line_step,
    name_axis,
    named,
    told,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd


def assumption_bars(
    rows: "pd.DataFrame", axis: str | list[str], kinds: tuple[str, str], what: str, more: dict[str, str] | None = None
) -> Drawing:
    """A bar an assumption, the widest first; a line where the margin stands, a dashed one where both cost the same.

    rows: columns assumption, value, low, high, unit, margin, margin_low, margin_high, swing, flips, range_basis. axis:
    title of the margin. kinds: names of what turns nothing and of what does. what: of the chart's title, "the answer".
    more: further columns of the tooltip with their names.
    """
    import altair as alt
    import pandas as pd

    rows = rows.assign(
        kind=rows["flips"].astype(bool).map(dict(zip((False, True), kinds, strict=True))),
        title=wrapped(rows["assumption"]),
    )
    widest = alt.EncodingSortField("swing", order="descending")
    y = alt.Y("title:N", sort=widest, title=None, axis=name_axis())
    x = alt.X("margin_low:Q", title=axis, scale=alt.Scale(zero=False, padding=10))
    words = told(
        assumption=f"assumption{TEXT}", value="as planned", low="low", high="high", unit=f"unit{TEXT}",
        margin_low="times cheaper at low", margin_high="times cheaper at high", **(more or {}),
        range_basis=f"range{TEXT}",
    )  # fmt: skip
    tint = colour("kind:N", list(kinds))
    chart = alt.layer(
        named("rows").mark_bar(height=11).encode(y=y, x=x, x2=alt.X2("margin_high:Q"), color=tint, tooltip=words),
        named("middle").mark_rule(color=GREY).encode(x=alt.X("margin:Q")),
        named("even").mark_rule(color=GREY, strokeDash=DASHED).encode(x=alt.X("one:Q")),
        width=WIDTH - 210,
        height=line_step(rows["title"], 20),
    )
    most, turning = rows.loc[rows["swing"].idxmax(), "assumption"], int(rows["flips"].sum())
    says = f"What moves {what} most: {most}; {turning} of {len(rows)} assumptions turn it"
    return Drawing(chart, {"rows": rows, "middle": rows.head(1), "even": pd.DataFrame({"one": [1.0]})}, says)
