"""Hours against USD: options, the fronts that nothing beats, and what keeps within the limits."""

import math
from typing import Any

from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.heavy import alt, pd
from sweetspot.report.lines import CHART_HEIGHT, CHART_WIDTH, LINES, keyed, log_ticks, told_lines
from sweetspot.report.marks import (
    GREY,
    INTERRUPTIBLE,
    ORIGIN,
    PERSISTENT,
    TEXT,
    WIDTH,
    Drawing,
    colour,
    empty,
    key_of,
    log_axis,
    named,
    of_all,
    points,
    told,
)
from sweetspot.report.notation import number
from sweetspot.report.tables import Tables, hours_differ, table_of
from sweetspot.wording import the

ROOM = 18  # pixels within the frame, around all points
KEY_LINE = 16  # pixels a line of the key
NEAR = 15.0  # pixels between two points from which each has a number of its own
DEAR = 20.0  # times the cheapest of its model: what costs more is left to the table, or it would flatten the rest


def time_cost(data: "ChartData") -> Drawing:
    """A point an option by its basis, one panel a model; what is on the front has a number, named below.

    The model of the answer has none: its front stands beside the control panel (`front`).
    """
    rows = _shown(data)
    rows = rows[rows["model"] != data.model] if len(rows) else rows
    if rows.empty:
        return empty("No workload with another model to train in this study.")
    models = data.answer_first(rows["model"])
    keys = pd.concat([numbered(rows[rows["model"] == model], data.option) for model in models])
    lines, kinds = keys["model"].value_counts(), data.kind_names(rows)
    scales = {model: _scales(rows if _of_one_size(rows) else rows[rows["model"] == model]) for model in models}
    panels = [_panel(scales[model], int(lines[model]), model, kinds) for model in models]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(color="shared")
    return Drawing(
        chart,
        {"rows": rows, "keys": keys},
        _time_cost_says(data, rows),
        key=key_of(rows["basis"], "dashed: the best trade-offs"),
    )


def _time_cost_says(data: "ChartData", rows: "pd.DataFrame") -> str:
    """On how many of these models nothing beats the machine that is judged, where there is one; else on one model how
    many options.
    """
    best, models = rows[rows["on_front"].astype(bool)], rows["model"].nunique()
    if not data.reference:
        first = data.answer_first(rows["model"])[0]
        here = best.loc[best["model"] == first, "option"].nunique()
        return trade_offs(first, here)
    on = best.loc[best["option"] == data.option, "model"].nunique()
    where = of_all(on or models, models, "other models") if models > 1 else str(rows["model"].iloc[0])
    if on:
        return f"On {where} no option is both faster and cheaper than {the(data.box)}"
    return f"On {where} another option is both faster and cheaper than {the(data.box)}"


def trade_offs(model: str, best: int) -> str:
    """How many options there are than which none is both faster and cheaper."""
    if best == 1:
        return f"{model}: one option is both the fastest and the cheapest"
    return f"{model}: {best} options are the best trade-offs of time and money"


def _of_one_size(rows: "pd.DataFrame") -> bool:
    """Whether one pair of scales serves all models: together they span at most SPAN times what the widest does."""
    for name in SIZES:
        logs = rows.groupby("model")[name].agg(["min", "max"]).map(math.log)
        if logs["max"].max() - logs["min"].min() > SPAN * (logs["max"] - logs["min"]).max():
            return False
    return True


def _scales(rows: "pd.DataFrame") -> "tuple[alt.X, alt.Y]":
    """The scales that these rows need."""

    def of(name: str) -> dict[str, Any]:
        low, high = float(rows[name].min()), float(rows[name].max())
        scale = alt.Scale(type="log", nice=False, padding=ROOM, domain=[low, high])
        return {"scale": scale, "axis": log_axis(rows[name])}

    return alt.X("hours:Q", title="hours (log)", **of("hours")), alt.Y("usd:Q", title="USD (log)", **of("usd"))


def _shown(data: "ChartData") -> "pd.DataFrame":
    """The rows of the front's table that a point tells somebody something."""
    rows = data.table("frontier")
    if rows.empty:
        return rows
    # What is beaten and interruptible as well tells nobody anything: the table has it.
    rows = rows[rows["persistent"].astype(bool) | rows["on_front"]]
    # The axes are logarithmic.
    rows = rows[(rows["hours"] > 0) & (rows["usd"] > 0) & rows["workload"].isin(data.training())]
    rows = data.few_models(rows, data.model)
    dear = rows["usd"] > DEAR * rows.groupby("model")["usd"].transform("min")
    rows = rows[~dear | rows["on_front"].astype(bool) | (rows["option"] == data.option)]
    facts = data.table("ranks").drop_duplicates(["option", "model", "workload"])
    rows = rows.merge(facts[["option", "model", "workload", "source", "as_of"]], how="left")
    label = data.titles(rows["option"]).str.replace(r" \[.*\]$", "", regex=True)
    return rows.assign(kind=data.kinds(rows), label=label)


def numbered(rows: "pd.DataFrame", option: str) -> "pd.DataFrame":
    """The front of one model and `option`, fastest first, with `number`, `told` (a line of the key) and `line`.

    Points nearer than NEAR pixels to one with a number have none of their own on the chart: the first of them shows
    all their numbers (`mark`; empty for the others).
    """
    found = rows[rows["on_front"].astype(bool) | (rows["option"] == option)].sort_values(["hours", "usd"])
    found = found.drop_duplicates(["label", "hours", "usd"]).reset_index(drop=True)
    lines = [
        f"{place}  {row['label']}: {number(row['hours'])} h, {number(row['usd'])} USD"
        for place, row in enumerate(found.to_dict("records"), 1)
    ]
    spots = list(zip(*(_pixels(found[name], rows[name], size) for name, size in SIZES.items()), strict=True))
    marks = _together(spots)
    return found[["model", "hours", "usd"]].assign(told=lines, line=range(len(found)), mark=marks)


SPAN = 1.5
SIZES = {"hours": CHART_WIDTH, "usd": CHART_HEIGHT}


def _together(spots: list[tuple[float, float]]) -> list[str]:
    """The number of each spot, from 1; spots near an earlier one are told there."""
    told: dict[int, list[int]] = {}
    for place, (x, y) in enumerate(spots):
        near = [first for first in told if math.hypot(spots[first][0] - x, spots[first][1] - y) < NEAR]
        told.setdefault(near[0] if near else place, []).append(place + 1)
    return [_numbers(told.get(place, [])) for place in range(len(spots))]


def _numbers(places: list[int]) -> str:
    """`3`, `3, 4`, or `3 to 6`."""
    if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
        return f"{places[0]} to {places[-1]}"
    return ", ".join(map(str, places))


def _pixels(values: "pd.Series", every: "pd.Series", size: int) -> list[float]:
    """Where a logarithmic scale over `every`, of that size, puts `values`."""
    low, high = math.log(every.min()), math.log(every.max())
    return [ROOM + (size - 2 * ROOM) * (math.log(value) - low) / ((high - low) or 1.0) for value in values]


def _panel(scales: "tuple[alt.X, alt.Y]", lines: int, model: str, kinds: list[str]) -> "alt.VConcatChart":
    """One model: its points above the key, which has that many lines."""
    x, y = scales
    here = alt.datum.model == model
    every = named("rows").transform_filter(here).encode(x=x, y=y)
    words = told(label=f"option{TEXT}", hours="hours", usd="USD", **ORIGIN)
    names = named("keys").transform_filter(here)
    look: dict[str, Any] = {"dy": -12, "fontSize": 12, "fontWeight": "bold"}
    marks = names.encode(x=x, y=y, text="mark:N")
    plot = alt.layer(
        every.transform_filter("datum.on_front").mark_line(color="#888", strokeDash=[4, 3], interpolate="step-after"),
        *points(every, color=colour("kind:N", kinds), tooltip=words),
        # A white rim keeps a number legible where a line or a point lies behind it.
        marks.mark_text(stroke="white", strokeWidth=4, **look),
        marks.mark_text(color="#111", **look),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
        title=alt.TitleParams(model, anchor="start", fontSize=12),
    )
    key = names.mark_text(align="left", baseline="top", fontSize=12, limit=WIDTH).encode(
        x=alt.value(0), y=alt.Y("line:O", axis=None), text="told:N"
    )
    frame = alt.ViewConfig(stroke=None)
    return alt.vconcat(plot, key.properties(width=CHART_WIDTH, height=KEY_LINE * lines, view=frame), spacing=6)


def _several(tables: "Tables") -> bool:
    """Whether there are fronts of several models: that of the answer's stands beside the control panel (`front`)."""
    ranks = table_of(tables, "ranks")
    return hours_differ(tables) and len(ranks) > 0 and ranks["model"].nunique() > 1


TIME_COST = Chart(
    name="time_cost",
    title="Hours against USD; dashed: the best trade-offs; numbers: below each chart",
    caption="Hours against USD of the same work, for the models beside that of the answer. The dashed line joins the "
    "best trade-offs, interruptible machines counted; they have numbers: no option is both faster and cheaper. "
    "What costs more than 20 times the cheapest is not drawn, nor more than {models} models; the tables hold all.",
    stage="price",
    section="front",
    order=2,
    draw=time_cost,
    fits=_several,
)


COLUMNS = ("model", "option", "label", "hours", "usd", "kind", "basis", "source", "as_of", "on_front", "fits")


def front(data: "ChartData") -> Drawing:
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
    return Drawing(keyed(_front_plot(rows, _kinds(data)), LINES, told_lines(0)), data_of, _front_says(rows, data), key)


def _kinds(data: "ChartData") -> list[str]:
    """What the options are, each with its own colour in every study."""
    taken = data.taken(data.table("ranks")).any()
    return [PERSISTENT, *([INTERRUPTIBLE] if taken else []), *([data.box] if _judged(data) else [])]


def _front_says(rows: "pd.DataFrame", data: "ChartData") -> str:
    return trade_offs(data.model, int(rows["on_front"].sum()))


def _judged(data: "ChartData") -> bool:
    """Whether the study names a machine that is judged."""
    return bool(data.reference)


def front_rows(data: "ChartData") -> "pd.DataFrame":
    """The options of the first work of the answer's model that the answer may take, with `kind`, `label`, `on_front`
    (of those that the study accepts nothing is at most as slow and at most as dear, and better in one), `fits`.

    Not among them: what cannot be taken and is beaten; what costs DEAR times the cheapest and is beaten.
    """
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
    kind = data.taken(rows).map({True: INTERRUPTIBLE, False: PERSISTENT}).mask(judged, data.box)
    label = data.titles(rows["option"]).str.replace(r" \[.*\]$", "", regex=True)
    rows = rows.assign(kind=kind, label=label, fits=allowed, beaten=beaten)
    rows["on_front"] = rows["option"].isin(known["option"]) & ~rows["beaten"]
    dear = rows["usd"] > DEAR * known["usd"].min()
    shown = rows["on_front"] | (rows["option"] == data.option) | ~dear & (allowed | ~rows["beaten"])
    return rows[shown].sort_values(["usd", "option"], kind="stable").reset_index(drop=True)[[*COLUMNS]]


def _ends(values: "pd.Series", size: int) -> tuple[float, float]:
    """The ends of a logarithmic scale of that size, with ROOM around all values."""
    low, high = math.log(values.min()), math.log(values.max())
    around = (high - low) * ROOM / (size - 2 * ROOM) if high > low else math.log(2)
    return math.exp(low - around), math.exp(high + around)


def _front_plot(rows: "pd.DataFrame", kinds: list[str]) -> "alt.LayerChart":
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


FRONT = Chart(
    name="front",
    title="Hours against USD of one work; dashed: the best trade-offs; numbers: below",
    caption="Hours against USD of one work. The dashed line joins the best trade-offs, which have numbers: no option "
    "is both faster and cheaper than one of them. Faint: what is not taken, as it is interruptible. What costs more "
    "than 20 times the cheapest is not drawn.",
    stage="price",
    section="whatif",
    order=1,
    draw=front,
    fits=hours_differ,
)
