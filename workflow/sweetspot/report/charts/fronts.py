"""Hours against USD: options, the fronts that nothing beats, and what keeps within the limits."""

import math
from typing import Any

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.lines import CHART_HEIGHT, CHART_WIDTH, LINES, keyed, told_lines
from sweetspot.report.notation import number
from sweetspot.report.tables import Tables, hours_differ, table_of
from sweetspot.wording import the

ROOM = 18  # pixels within the frame, around all points
KEY_LINE = 16  # pixels a line of the key
NEAR = 15.0  # pixels between two points from which each has a number of its own
SPAN = 1.5  # times the widest of several models, which one pair of scales spans
SIZES = {"hours": CHART_WIDTH, "usd": CHART_HEIGHT}
COLUMNS = ["model", "option", "label", "hours", "usd", "kind", "basis", "source", "as_of", "on_front", "fits"]
DEAR = 20.0  # times the cheapest of its model: what costs more is left to the table, or it would flatten the rest


def time_cost(data: "ChartData") -> look.Drawing:
    """A point an option by its basis, one panel a model; what is on the front has a number, named below.

    The model of the answer has none: its front stands beside the control panel (`front`).
    """
    rows = _shown(data)
    rows = rows[rows["model"] != data.model] if len(rows) else rows
    if rows.empty:
        return look.empty("No workload with another model to train in this study.")
    models = data.answer_first(rows["model"])
    keys = pd.concat([numbered(rows[rows["model"] == model], data.option) for model in models])
    lines, kinds = keys["model"].value_counts(), data.kind_names(rows)
    scales = {model: _scales(rows if _of_one_size(rows) else rows[rows["model"] == model]) for model in models}
    panels = [_panel(scales[model], int(lines[model]), model, kinds) for model in models]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(color="shared")
    key = look.key_of(rows["basis"], "dashed: the best trade-offs")
    return look.Drawing(chart, {"rows": rows, "keys": keys}, _time_cost_says(data, rows), key)


def _time_cost_says(data: "ChartData", rows: "pd.DataFrame") -> str:
    """On how many of these models nothing beats the machine that is judged, where there is one; else on one model how
    many options.
    """
    best, models = rows[rows["on_front"].astype(bool)], rows["model"].nunique()
    if not data.reference:
        first = data.answer_first(rows["model"])[0]
        return trade_offs(first, best.loc[best["model"] == first, "option"].nunique())
    on = best.loc[best["option"] == data.option, "model"].nunique()
    where = look.of_all(on or models, models, "other models") if models > 1 else str(rows["model"].iloc[0])
    return f"On {where} {'no' if on else 'another'} option is both faster and cheaper than {the(data.box)}"


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

    def of(name: str) -> dict[str, Any]:
        low, high = float(rows[name].min()), float(rows[name].max())
        scale = alt.Scale(type="log", nice=False, padding=ROOM, domain=[low, high])
        return {"scale": scale, "axis": look.log_axis(rows[name])}

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
    return rows.assign(kind=data.kinds(rows), label=_label(data, rows))


def _label(data: "ChartData", rows: "pd.DataFrame") -> "pd.Series":
    return data.titles(rows["option"]).str.replace(r" \[.*\]$", "", regex=True)


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


def _together(spots: list[tuple[float, float]]) -> list[str]:
    """The number of each spot, from 1; spots near an earlier one are told there: `3`, `3, 4`, or `3 to 6`."""
    told: dict[int, list[int]] = {}
    for place, (x, y) in enumerate(spots):
        near = [first for first in told if math.hypot(spots[first][0] - x, spots[first][1] - y) < NEAR]
        told.setdefault(near[0] if near else place, []).append(place + 1)
    words = dict.fromkeys(range(len(spots)), "")
    for place, numbers in told.items():
        row = len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1
        words[place] = f"{numbers[0]} to {numbers[-1]}" if row else ", ".join(map(str, numbers))
    return list(words.values())


def _pixels(values: "pd.Series", every: "pd.Series", size: int) -> list[float]:
    """Where a logarithmic scale over `every`, of that size, puts `values`."""
    low, high = math.log(every.min()), math.log(every.max())
    return [ROOM + (size - 2 * ROOM) * (math.log(value) - low) / ((high - low) or 1.0) for value in values]


def _points(
    scales: "tuple[alt.X, alt.Y]", rows: "alt.Chart", keys: "alt.Chart", kind: "alt.Color", grey: str, **more: Any
) -> "alt.LayerChart":
    """Options, the line of their front, and the numbers of what is on it."""
    x, y = scales
    rows, numbers = rows.encode(x=x, y=y), keys.encode(x=x, y=y, text="mark:N")
    words = look.told(label="option (text)", hours="hours", usd="USD", **look.ORIGIN)
    bold: dict[str, Any] = {"dy": -12, "fontWeight": "bold", **more}
    faint = rows.encode(opacity=alt.Opacity("shown:Q", scale=None)).transform_calculate(shown="datum.fits ? 1 : 0.25")
    line = rows.transform_filter("datum.on_front")
    return alt.layer(
        line.mark_line(color=grey, strokeDash=[4, 3], interpolate="step-after", **more),
        *look.points(faint if more else rows, color=kind, tooltip=words),
        # A white rim keeps a number legible where a line or a point lies behind it.
        numbers.mark_text(stroke="white", strokeWidth=4, **bold),
        numbers.mark_text(color="#111", **bold),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )


def _panel(scales: "tuple[alt.X, alt.Y]", lines: int, model: str, kinds: list[str]) -> "alt.VConcatChart":
    """One model: its points above the key, which has that many lines."""
    rows, keys = (look.named(name).transform_filter(alt.datum.model == model) for name in ("rows", "keys"))
    plot = _points(scales, rows, keys, look.colour("kind:N", kinds), "#888")
    key = keys.mark_text(align="left", baseline="top", limit=look.WIDTH).encode(
        x=alt.value(0), y=alt.Y("line:O", axis=None), text="told:N"
    )
    key = key.properties(width=CHART_WIDTH, height=KEY_LINE * lines, view=alt.ViewConfig(stroke=None))
    return alt.vconcat(plot.properties(title=model), key, spacing=6)


def _several(tables: "Tables") -> bool:
    """Whether there are fronts of several models: that of the answer's stands beside the control panel (`front`)."""
    ranks = table_of(tables, "ranks")
    return hours_differ(tables) and len(ranks) > 0 and ranks["model"].nunique() > 1


TIME_COST = Chart(
    name="time_cost", stage="price", section="front", order=1, draw=time_cost, fits=_several,
    title="Hours against USD; dashed: the best trade-offs; numbers: below each chart",
    caption="Hours against USD of the same work, for the models beside that of the answer. The dashed line joins the "
    "best trade-offs, interruptible machines counted; they have numbers: no option is both faster and cheaper. "
    "What costs more than 20 times the cheapest is not drawn, nor more than {models} models; the tables hold all.",
)  # fmt: skip


def front(data: "ChartData") -> look.Drawing:
    """A point an option of the answer's work by its basis; what is on the front has a number, named below."""
    rows = front_rows(data)
    if rows.empty:
        return look.empty("No workload with a model to train in this study.")
    ranks = data.table("ranks")
    key = look.key_of(ranks.loc[ranks["in_answer"].astype(bool), "basis"])
    keys = numbered(rows, data.option if data.reference else "").head(LINES)
    kinds = [look.PERSISTENT, *([look.INTERRUPTIBLE] if data.taken(ranks).any() else [])]
    kinds += [data.box] if data.reference else []  # a machine that is judged
    says = trade_offs(data.model, int(rows["on_front"].sum()))
    return look.Drawing(keyed(_front_plot(rows, kinds), LINES, told_lines(0)), {"rows": rows, "keys": keys}, says, key)


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
    pairs = known[["hours", "usd"]].to_numpy()
    beaten = [
        bool(((pairs <= one).all(axis=1) & (pairs < one).any(axis=1)).any())
        for one in rows[["hours", "usd"]].to_numpy()
    ]
    judged = (rows["option"] == data.option) & bool(data.reference)
    kind = data.taken(rows).map({True: look.INTERRUPTIBLE, False: look.PERSISTENT}).mask(judged, data.box)
    rows = rows.assign(kind=kind, label=_label(data, rows), fits=allowed, beaten=beaten)
    rows["on_front"] = rows["option"].isin(known["option"]) & ~rows["beaten"]
    dear = rows["usd"] > DEAR * known["usd"].min()
    shown = rows["on_front"] | (rows["option"] == data.option) | ~dear & (allowed | ~rows["beaten"])
    return rows[shown].sort_values(["usd", "option"], kind="stable").reset_index(drop=True)[COLUMNS]


def _front_plot(rows: "pd.DataFrame", kinds: list[str]) -> "alt.LayerChart":
    def of(column: str, size: int) -> dict[str, Any]:
        """A logarithmic scale of that size, with ROOM around all values."""
        low, high = math.log(rows[column].min()), math.log(rows[column].max())
        around = (high - low) * ROOM / (size - 2 * ROOM) if high > low else math.log(2)
        ends = [math.exp(low - around), math.exp(high + around)]
        return {"scale": alt.Scale(domain=ends, nice=False, type="log"), "axis": look.log_axis(pd.Series(ends))}

    x = alt.X("hours:Q", title="hours (log)", **of("hours", CHART_WIDTH))
    y = alt.Y("usd:Q", title="USD (log)", **of("usd", CHART_HEIGHT))
    kind = look.colour("kind:N", kinds, shown=[kind for kind in kinds if (rows["kind"] == kind).any()])
    return _points((x, y), look.named("rows"), look.named("keys"), kind, look.GREY, clip=True)


FRONT = Chart(
    name="front", stage="price", section="whatif", order=1, draw=front, fits=hours_differ,
    title="Hours against USD of one work; dashed: the best trade-offs; numbers: below",
    caption="Hours against USD of one work. The dashed line joins the best trade-offs, which have numbers: no option "
    "is both faster and cheaper than one of them. Faint: what is not taken, as it is interruptible. What costs more "
    "than 20 times the cheapest is not drawn.",
)  # fmt: skip
