"""The charts of the page as Altair charts: basis by shape, intervals drawn, colours safe for the colour-blind."""

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    import altair as alt

# Okabe & Ito 2008: eight colours that people with any colour vision tell apart; here black, blue, vermilion, green, ...
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SHAPES = {
    "measured": "circle",
    "published": "diamond",
    "equivalent": "square",
    "scaled": "triangle-up",
    "stand_in": "cross",
    "extrapolated": "stroke",
}
WIDTH = 460


def _altair() -> "alt":
    import altair as alt

    alt.data_transformers.disable_max_rows()
    return alt


def _basis_shape(alt: "alt", present: pd.Series) -> "alt.Shape":
    names = [name for name in SHAPES if name in set(present)]
    scale = alt.Scale(domain=names, range=[SHAPES[name] for name in names])
    return alt.Shape("basis:N", scale=scale, title="basis", legend=alt.Legend(orient="bottom", columns=3))


def _style(chart: "alt.Chart") -> "alt.Chart":
    return (
        chart.configure(font="Helvetica, Arial, sans-serif", background="#ffffff")
        .configure_axis(labelFontSize=12, titleFontSize=12, labelLimit=260, gridColor="#e4e4e4", domainColor="#888")
        .configure_legend(labelFontSize=12, titleFontSize=12, symbolSize=110, labelLimit=320)
        .configure_header(labelFontSize=13, titleFontSize=13, labelFontWeight="bold")
        .configure_view(stroke="#cccccc")
    )


def dots(
    table: pd.DataFrame, value: str, title: str, log: bool = True, reference: str | None = None, name: str = "option"
) -> "alt.Chart":
    """One row an option and model with its interval: `name`, `model`, `value`, `<value>_low/_high`, `basis`."""
    alt = _altair()
    rows = table[[name, "model", value, f"{value}_low", f"{value}_high", "basis"]].dropna(subset=[value])
    rows = rows.assign(chosen=(rows[name] == reference).map({True: "the box in question", False: "others"}))
    order = rows.groupby(name)[value].median().sort_values(ascending=False).index.tolist()
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    y = alt.Y(f"{name}:N", sort=order, title=None)
    colour = alt.Color(
        "chosen:N",
        scale=alt.Scale(domain=["the box in question", "others"], range=[PALETTE[1], PALETTE[0]]),
        legend=None,
    )
    base = alt.Chart(rows)
    points = base.mark_point(filled=False, size=85, strokeWidth=2).encode(
        x=alt.X(f"{value}:Q", scale=scale, title=title), y=y, shape=_basis_shape(alt, rows["basis"]), color=colour
    )
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x=f"{value}_low:Q", x2=f"{value}_high:Q", y=y, color=colour
    )
    layered = (bars + points).properties(width=WIDTH, height=alt.Step(17))
    return _style(layered.facet(row=alt.Row("model:N", title=None, header=alt.Header(labelAngle=0, labelOrient="top"))))


def front(frontier: pd.DataFrame) -> "alt.Chart":
    """Time against cost: `option`, `model`, `hours`, `usd`, `on_front`, `basis`; options on the front are named."""
    alt = _altair()
    rows = frontier.dropna(subset=["hours", "usd"])
    rows = rows.assign(place=rows["on_front"].map({True: "on the front", False: "dominated"}))
    x = alt.X("hours:Q", scale=alt.Scale(type="log"), title="hours to train")
    y = alt.Y("usd:Q", scale=alt.Scale(type="log"), title="USD to train")
    colour = alt.Color(
        "place:N",
        scale=alt.Scale(domain=["on the front", "dominated"], range=[PALETTE[1], "#8a8a8a"]),
        legend=alt.Legend(orient="bottom", title=None),
    )
    base = alt.Chart(rows)
    points = base.mark_point(filled=False, size=85, strokeWidth=2).encode(
        x=x, y=y, color=colour, shape=_basis_shape(alt, rows["basis"])
    )
    steps = base.transform_filter("datum.on_front").mark_line(interpolate="step-after", color=PALETTE[1], opacity=0.5)
    names = base.transform_filter("datum.on_front").mark_text(align="left", dx=8, dy=-6, fontSize=11)
    layered = steps.encode(x=x, y=y) + points + names.encode(x=x, y=y, text="option:N")
    layered = layered.properties(width=WIDTH, height=260)
    return _style(layered.facet(row=alt.Row("model:N", title=None, header=alt.Header(labelAngle=0, labelOrient="top"))))


def utilisation(curve: pd.DataFrame, break_even: pd.DataFrame) -> "alt.Chart":
    """How many times cheaper the box is by days of use: `option`, `days`, `gain`; break-even `days` marked at 1."""
    alt = _altair()
    x = alt.X("days:Q", title="days of use a month, 24 hours each", scale=alt.Scale(domain=[0, 31]))
    y = alt.Y("gain:Q", scale=alt.Scale(type="log"), title="times cheaper than the alternative")
    names = curve["option"].unique().tolist()
    colour = alt.Color(
        "option:N",
        scale=alt.Scale(domain=names, range=list(PALETTE)),
        legend=alt.Legend(orient="bottom", columns=2, title="the box against"),
    )
    dash = alt.StrokeDash("option:N", scale=alt.Scale(domain=names), legend=None)
    lines = alt.Chart(curve).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    even = alt.Chart(pd.DataFrame({"gain": [1.0]})).mark_rule(color="#000", strokeDash=[4, 3]).encode(y="gain:Q")
    crossing = break_even.dropna(subset=["days"]).assign(gain=1.0)
    crossing = crossing.assign(label=crossing["days"].map("{:.1f} d".format))
    marks = alt.Chart(crossing).mark_point(size=90, filled=True).encode(x=x, y=y, color=colour)
    text = alt.Chart(crossing).mark_text(dy=14, fontSize=12).encode(x=x, y=y, text="label:N")
    return _style((lines + even + marks + text).properties(width=WIDTH + 120, height=300))


def tornado(rows: pd.DataFrame) -> "alt.Chart":
    """What each assumption does to the margin: `assumption`, `margin_low`, `margin_high`, `margin`, `flips`."""
    alt = _altair()
    order = rows.sort_values("swing", ascending=False)["assumption"].tolist()
    rows = rows.assign(effect=rows["flips"].map({True: "changes the winner", False: "does not"}))
    colour = alt.Color(
        "effect:N",
        scale=alt.Scale(domain=["changes the winner", "does not"], range=[PALETTE[1], PALETTE[0]]),
        legend=alt.Legend(orient="bottom", title="within its range"),
    )
    base = alt.Chart(rows)
    title = "times cheaper than the best rental (1: even)"
    bars = base.mark_bar(height=14, opacity=0.85).encode(
        x=alt.X("margin_low:Q", title=title, scale=alt.Scale(type="log")),
        x2="margin_high:Q",
        y=alt.Y("assumption:N", sort=order, title=None),
        color=colour,
    )
    even = alt.Chart(pd.DataFrame({"at": [1.0]})).mark_rule(strokeDash=[4, 3]).encode(x="at:Q")
    now = base.mark_tick(color="#000", thickness=2, height=16).encode(x="margin:Q", y=alt.Y("assumption:N", sort=order))
    return _style((bars + even + now).properties(width=WIDTH, height=alt.Step(26)))


def efficiency(rows: pd.DataFrame) -> "alt.Chart":
    """Scaling efficiency against device count: `gpus`, `efficiency`, `model`, `instance`, `batch_size`."""
    alt = _altair()
    x = alt.X("gpus:Q", title="devices", scale=alt.Scale(type="log", base=2))
    y = alt.Y("efficiency:Q", scale=alt.Scale(domain=[0, 1.1], clamp=True), title="efficiency (1: no loss)")
    points = (
        alt.Chart(rows)
        .mark_point(size=70, strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("batch_size:O", scale=alt.Scale(range=list(PALETTE)), title="batch per device"),
            shape=_basis_shape(alt, rows["basis"]),
        )
    )
    ideal = alt.Chart(rows).mark_rule(strokeDash=[4, 3]).encode(y=alt.datum(1.0))
    layered = (points + ideal).properties(width=WIDTH, height=170)
    return _style(layered.facet(row=alt.Row("model:N", title=None, header=alt.Header(labelAngle=0, labelOrient="top"))))


def cumulative_cash(cash: pd.DataFrame) -> "alt.Chart":
    """Money spent so far by month: `option`, `month`, `cumulative_usd`."""
    alt = _altair()
    names = cash["option"].unique().tolist()
    return _style(
        alt.Chart(cash)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("month:Q", title="month of the project"),
            y=alt.Y("cumulative_usd:Q", title="USD spent so far"),
            color=alt.Color(
                "option:N",
                scale=alt.Scale(domain=names, range=list(PALETTE)),
                legend=alt.Legend(orient="bottom", columns=2, title=None),
            ),
            strokeDash=alt.StrokeDash("option:N", scale=alt.Scale(domain=names), legend=None),
        )
        .properties(width=WIDTH + 120, height=280)
    )
