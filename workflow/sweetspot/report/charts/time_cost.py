"""Hours against USD of training: each model's options; those on the front have numbers, and a key below the chart."""

import math
from typing import TYPE_CHECKING, Any

from sweetspot.report.charts import Chart
from sweetspot.report.marks import (
    ORIGIN,
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
from sweetspot.report.tables import hours_differ, table_of
from sweetspot.wording import the

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from sweetspot.report.chart_data import ChartData
    from sweetspot.report.tables import Tables

CHART_WIDTH, CHART_HEIGHT, ROOM = WIDTH - 70, 230, 18  # pixels; ROOM: within the frame, around all points
KEY_LINE = 16  # pixels a line of the key
NEAR = 15.0  # pixels between two points from which each has a number of its own
DEAR = 20.0  # times the cheapest of its model: what costs more is left to the table, or it would flatten the rest


def draw(data: "ChartData") -> Drawing:
    """A point an option by its basis, one panel a model; what is on the front has a number, named below.

    The model of the answer has none: its front stands beside the control panel (`front`).
    """
    import altair as alt
    import pandas as pd

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
        chart, {"rows": rows, "keys": keys}, _says(data, rows), key=key_of(rows["basis"], "dashed: the best trade-offs")
    )


def _says(data: "ChartData", rows: "pd.DataFrame") -> str:
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
    import altair as alt

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
    import altair as alt

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


CHART = Chart(
    title="Hours against USD; dashed: the best trade-offs; numbers: below each chart",
    caption="Hours against USD of the same work, for the models beside that of the answer. The dashed line joins the "
    "best trade-offs, interruptible machines counted; they have numbers: no option is both faster and cheaper. "
    "What costs more than 20 times the cheapest is not drawn, nor more than {models} models; the tables hold all.",
    stage="price",
    section="front",
    order=2,
    draw=draw,
    fits=_several,
)
