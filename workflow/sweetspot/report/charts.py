"""The charts: shape tells the basis, hollow marks what nobody measured on that very cell, lines are intervals."""

import math
from collections.abc import Callable

import altair as alt
import pandas as pd

from sweetspot.report.cash import cash_lines
from sweetspot.report.charts_speed import efficiency, extrapolation, throughput, validation
from sweetspot.report.labels import ABOVE, ANGLE, BELOW, NOWHERE, sides
from sweetspot.report.marks import (
    PLAIN,
    WIDTH,
    Drawing,
    Facts,
    by_row,
    colour,
    drawing,
    empty,
    few_models,
    layered,
    log_axis,
    points,
)

__all__ = ["CHARTS", "Facts"]

FRONT_WIDTH, FRONT_HEIGHT, FRONT_SIDE, FRONT_FOOT = WIDTH - 70, 250, 30, 55  # pixels; names hang into the padding
EVEN = pd.DataFrame({"one": [1.0]})  # where both sides cost the same


def images_per_usd(facts: Facts) -> Drawing:
    """Images (or samples) per USD of the best options of each model, with 90 % intervals."""
    rows = facts.options()
    if rows.empty:
        return empty("No priced option in this study.")
    rows = rows.assign(kind=facts.kinds(rows))
    base = drawing()
    # Names of spot offers carry their price list: cut short, two of them read the same.
    names = alt.Axis(labelLimit=260, labelFontSize=11)
    y = alt.Y("option:N", sort=alt.EncodingSortField("images_per_usd", order="descending"), title=None, axis=names)
    title = f"{facts.unit} per USD (log scale)"
    axis = log_axis(rows["images_per_usd"])
    x = alt.X("images_per_usd:Q", title=title, scale=alt.Scale(type="log"), axis=axis)
    kinds = colour("kind:N", facts.kind_names(rows))
    layers = layered(
        base.mark_rule(strokeWidth=1.5).encode(
            y=y,
            x=alt.X("images_per_usd_low:Q", title=title),
            x2="images_per_usd_high:Q",
            color=kinds,
        ),
        *points(base, y=y, x=x, color=kinds),
        width=WIDTH - 215,
        height={"step": 15},
    )
    return Drawing(by_row(layers, "model", ("y",)), {"rows": rows})


def time_cost(facts: Facts) -> Drawing:
    """Hours against USD of training, each model's front of persistent and of all options joined."""
    rows = facts.table("frontier")
    if len(rows):
        # What is beaten and can be taken away as well tells nobody anything: the table has it.
        rows = rows[rows["persistent"].astype(bool) | rows["on_front"]]
        # The axes are logarithmic.
        rows = rows[(rows["hours"] > 0) & (rows["usd"] > 0) & rows["workload"].isin(_training(facts))]
        rows = few_models(rows, facts.model)
    if rows.empty:
        return empty("No workload with a model to train in this study.")
    rows = rows.assign(kind=facts.kinds(rows), label=rows["option"].str.replace(r" \[.*\]$", "", regex=True))
    rows = rows.assign(side=_sides(rows, facts.option))
    base = drawing()
    across, up = (alt.Scale(type="log", nice=False, padding=room) for room in (FRONT_SIDE, FRONT_FOOT))
    x = alt.X("hours:Q", scale=across, title="hours to train (log)", axis=log_axis(rows["hours"], rows["model"]))
    y = alt.Y("usd:Q", scale=up, title="USD (log)", axis=log_axis(rows["usd"], rows["model"]))
    above, below = (base.transform_filter(alt.datum.side == side) for side in (ABOVE, BELOW))
    names = {"fontSize": 11, "angle": 360 - ANGLE}
    layers = layered(
        base.transform_filter("datum.on_front")
        .mark_line(color="#888", strokeDash=[4, 3], interpolate="step-after")
        .encode(x=x, y=y),
        *points(base, x=x, y=y, color=colour("kind:N", facts.kind_names(rows))),
        above.mark_text(align="left", dx=8, **names).encode(x=x, y=y, text="label:N"),
        below.mark_text(align="right", dx=-8, **names).encode(x=x, y=y, text="label:N"),
        width=FRONT_WIDTH,
        height=FRONT_HEIGHT,
    )
    return Drawing(by_row(layers, "model", ("x", "y")), {"rows": rows})


def _sides(rows: pd.DataFrame, option: str) -> pd.Series:
    """Where each name of the front stands in its model's chart; the reference has the first choice."""
    found = pd.Series(NOWHERE, index=rows.index)
    named = rows[rows["on_front"].astype(bool) | (rows["option"] == option)]
    for model, part in named.assign(_later=named["option"] != option).sort_values(["_later", "hours"]).groupby("model"):
        every = rows[rows["model"] == model]
        places = [
            _pixels(every[name], size, padding)
            for name, size, padding in (("hours", FRONT_WIDTH, FRONT_SIDE), ("usd", FRONT_HEIGHT, FRONT_FOOT))
        ]
        marks = dict(zip(every.index, zip(*places, strict=True), strict=True))
        named_here = [marks[index] for index in part.index]
        found[part.index] = sides(named_here, list(part["label"]), list(marks.values()), FRONT_WIDTH)
    return found


def _pixels(values: pd.Series, size: int, padding: int) -> list[float]:
    """Where a logarithmic scale of that size, with that padding at both ends, puts `values`."""
    low, high = math.log(values.min()), math.log(values.max())
    return [padding + (size - 2 * padding) * (math.log(value) - low) / ((high - low) or 1.0) for value in values]


def _training(facts: Facts) -> list[str]:
    """One workload a model: the first of those that stand for that model alone."""
    ranks = facts.table("ranks")
    models = ranks.groupby("workload")["model"].nunique()
    alone = ranks[ranks["workload"].isin(models[models == 1].index)]
    return list(alone.groupby("model")["workload"].min()) or [str(name) for name in models.index[:1]]


def bill(facts: Facts) -> Drawing:
    """Lines of the bills of the answer's model for its cheapest options."""
    bills, ranks = facts.table("bills"), facts.table("ranks")
    if bills.empty or ranks.empty:
        return empty("No bill in this study.")
    chosen = ranks[(ranks["model"] == facts.model) & ranks["workload"].isin(_training(facts))]
    chosen = chosen[chosen["persistent"] | (chosen["instance"] == facts.reference)].head(8)
    key = ["price_list", "instance", "purchase", "workload", "model", "batch_size", "gpus", "precision"]
    rows = bills.merge(chosen[[*key, "option", "usd"]].rename(columns={"usd": "total"}), on=key)
    rows = rows.drop_duplicates([*key, "line"])
    if rows.empty:
        return empty("No bill for the model of the answer.")
    names = list(dict.fromkeys(rows["line"]))
    chart = (
        drawing()
        .mark_bar(stroke="white")
        .encode(
            y=alt.Y("option:N", sort=alt.EncodingSortField("total", op="min", order="ascending"), title=None),
            x=alt.X(
                "usd:Q",
                title=f"USD to train {facts.model} once",
                stack="zero",
                axis=alt.Axis(tickCount=5, labelExpr=PLAIN),
            ),
            color=colour("line:N", names),
        )
    )
    return Drawing(layered(chart, width=WIDTH - 150, height={"step": 24}), {"rows": rows})


def utilisation(facts: Facts) -> Drawing:
    """How many times cheaper the box is, by days of use; dots mark the break-even against each rival."""
    rows = facts.table("utilisation")
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    days = facts.table("break_even").query("model == @facts.model")
    best = days.sort_values(["persistent", "gain_at_use"], ascending=[False, True])
    names = list(best[best["persistent"].astype(bool)]["option"].head(3)) + list(
        best[~best["persistent"].astype(bool)]["option"].head(1)
    )
    rows = rows[(rows["model"] == facts.model) & rows["option"].isin(names)]
    marks = days[days["option"].isin(names) & days["days"].notna()].assign(gain=1.0)
    marks["label"] = marks["days"].map("{:.1f} d".format)
    marks["place"] = marks["days"].rank(method="first").map(lambda n: 0.45 / 1.35**n)
    x = alt.X("days:Q", title="days of use a month", scale=alt.Scale(domain=[0, 31], nice=False))
    y = alt.Y(
        "gain:Q",
        title=f"times cheaper ({facts.model}, log)",
        scale=alt.Scale(type="log", domain=[0.1, 10], clamp=True),
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10]),
    )
    tint = colour("option:N", names)
    base = drawing()
    band = base.transform_filter(alt.datum.option == names[0]).mark_area(opacity=0.15)
    level = drawing("even").mark_rule(color="#444", strokeDash=[5, 4]).encode(y="one:Q")
    dots = drawing("marks")
    spec = layered(
        band.encode(x=x, y=alt.Y("gain_low:Q", title=""), y2="gain_high:Q", color=tint),
        level,
        base.mark_line(strokeWidth=2).encode(
            x=x, y=y, color=tint, strokeDash=alt.StrokeDash("option:N", legend=None, sort=names)
        ),
        dots.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=tint),
        dots.mark_rule(opacity=0.5).encode(x=x, y=alt.Y("place:Q", title=""), y2="gain:Q", color=tint),
        dots.mark_text(dx=5, align="left", fontSize=11, fontWeight="bold").encode(
            x=x, y=alt.Y("place:Q", title=""), text="label:N", color=tint
        ),
        width=WIDTH - 60,
        height=250,
    )
    return Drawing(spec, {"rows": rows, "even": EVEN, "marks": marks})


def cash_flow(facts: Facts) -> Drawing:
    """Money gone by month: the box, and its rivals doing the box's work."""
    flow, offers = facts.table("cash_flow"), facts.table("offers")
    key = ["price_list", "instance", "purchase"]
    if len(flow):
        flow = flow.merge(offers[[*key, "days_per_month"]], on=key)
    rows = cash_lines(flow, facts.table("ranks"), facts.reference, facts.model)
    if rows.empty:
        return empty("Nothing to own in this study: no cash flow to compare.")
    names = list(dict.fromkeys(rows["option"]))
    chart = (
        drawing()
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("month:Q", title="month"),
            y=alt.Y("cumulative_usd:Q", title=f"USD so far for the box's work ({facts.model})"),
            color=colour("option:N", names),
            strokeDash=alt.StrokeDash("option:N", sort=names, legend=None),
        )
    )
    return Drawing(layered(chart, width=WIDTH - 70, height=230), {"rows": rows})


def tornado(facts: Facts) -> Drawing:
    """Margin of the box at each assumption's low and high end; where it crosses 1 the winner flips."""
    rows = facts.table("tornado")
    rows = rows[rows["model"] == facts.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no assumption of owning to vary.")
    kinds = {False: "does not flip the winner", True: "flips the winner"}
    rows = rows.assign(kind=rows["flips"].map(kinds))
    y = alt.Y(
        "assumption:N",
        sort=alt.EncodingSortField("swing", order="descending"),
        title=None,
        axis=alt.Axis(labelLimit=200),
    )
    middle = drawing("middle").mark_rule(color="#444").encode(x="margin:Q")
    even = drawing("even").mark_rule(color="#444", strokeDash=[5, 4]).encode(x="one:Q")
    title = f"USD of {facts.rival} / USD of the box"
    bars = drawing().mark_bar(height=11).encode(
        y=y, x=alt.X("margin_low:Q", title=title, scale=alt.Scale(zero=False, padding=10)), x2="margin_high:Q",
        color=colour("kind:N", list(kinds.values())),
    )  # fmt: skip
    spec = layered(bars, middle, even, width=WIDTH - 210, height={"step": 20})
    return Drawing(spec, {"rows": rows, "middle": rows.head(1), "even": EVEN})


def surface(facts: Facts) -> Drawing:
    """Days of use a month from which owning pays, by length of the project and electricity price."""
    rows = facts.table("surface")
    rows = rows[rows["model"] == facts.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    rows = rows.drop_duplicates(["months", "usd_per_kwh"]).sort_values("usd_per_kwh")
    rows = rows.assign(tariff=rows["usd_per_kwh"].map("{:.2f} USD/kWh".format))
    offers = facts.table("offers")
    own = (offers["instance"] == facts.reference) & (offers["purchase"] == "own")
    box = offers[own][["months", "days_per_month"]].dropna().head(1)
    names = list(dict.fromkeys(rows["tariff"]))
    x = alt.X("months:Q", title="months of the project")
    y = alt.Y(
        "break_even_days:Q", title=f"days a month to pay ({facts.model})", scale=alt.Scale(domain=[0, 31], nice=False)
    )
    tint = colour("tariff:N", names)
    plan = drawing("plan")
    spec = layered(
        drawing().mark_line(strokeWidth=2).encode(x=x, y=y, color=tint),
        # A shape that says nothing of the basis of a figure.
        plan.mark_point(shape="triangle-down", size=90, filled=True, color="#000", opacity=1).encode(
            x=x, y="days_per_month:Q"
        ),
        plan.mark_text(dx=8, align="left", fontSize=11).encode(x=x, y="days_per_month:Q", text="label:N"),
        width=WIDTH - 70,
        height=200,
    )
    return Drawing(spec, {"rows": rows, "plan": box.assign(label="as planned")})


CHARTS: dict[str, Callable[[Facts], Drawing]] = {
    chart.__name__: chart
    for chart in (
        images_per_usd,
        time_cost,
        bill,
        utilisation,
        cash_flow,
        tornado,
        surface,
        throughput,
        efficiency,
        extrapolation,
        validation,
    )
}
