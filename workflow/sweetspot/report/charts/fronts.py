"""Hours against USD of one work: its options, and the front that nothing beats."""

import math
from typing import Any

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.lines import CHART_HEIGHT, CHART_WIDTH, LINES, keyed, told_lines
from sweetspot.report.notation import number
from sweetspot.report.tables import hours_differ

ROOM = 18  # pixels within the frame, around all points
NEAR = 15.0  # pixels between two points from which each has a number of its own
SIZES = {"hours": CHART_WIDTH, "usd": CHART_HEIGHT}
COLUMNS = ["model", "option", "label", "hours", "usd", "kind", "basis", "source", "as_of", "on_front", "fits"]
DEAR = 20.0  # times the cheapest of its model: what costs more is left to the table, or it would flatten the rest


def trade_offs(model: str, best: int) -> str:
    """How many options there are than which none is both faster and cheaper."""
    if best == 1:
        return f"{model}: one option is both the fastest and the cheapest"
    return f"{model}: {best} options are the best trade-offs of time and money"


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


def _points(scales: "tuple[alt.X, alt.Y]", rows: "alt.Chart", keys: "alt.Chart", kind: "alt.Color") -> "alt.LayerChart":
    """Options, the line of their front, and the numbers of what is on it."""
    x, y = scales
    rows, numbers = rows.encode(x=x, y=y), keys.encode(x=x, y=y, text="mark:N")
    words = look.told(label="option (text)", hours="hours", usd="USD", **look.ORIGIN)
    bold: dict[str, Any] = {"dy": -12, "fontWeight": "bold", "clip": True}
    faint = rows.encode(opacity=alt.Opacity("shown:Q", scale=None)).transform_calculate(shown="datum.fits ? 1 : 0.25")
    line = rows.transform_filter("datum.on_front")
    return alt.layer(
        line.mark_line(color=look.GREY, strokeDash=[4, 3], interpolate="step-after", clip=True),
        *look.points(faint, color=kind, tooltip=words),
        # A white rim keeps a number legible where a line or a point lies behind it.
        numbers.mark_text(stroke="white", strokeWidth=4, **bold),
        numbers.mark_text(color="#111", **bold),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )


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
    return _points((x, y), look.named("rows"), look.named("keys"), kind)


FRONT = Chart(
    name="front", stage="price", section="whatif", order=1, draw=front, fits=hours_differ,
    title="Hours against USD of one work; dashed: the best trade-offs; numbers: below",
    caption="Hours against USD of one work. The dashed line joins the best trade-offs, which have numbers: no option "
    "is both faster and cheaper than one of them. Faint: what is not taken, as it is interruptible. What costs more "
    "than 20 times the cheapest is not drawn.",
)  # fmt: skip
