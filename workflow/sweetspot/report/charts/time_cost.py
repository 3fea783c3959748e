"""Hours against USD of training: each model's options, with the fronts of persistent and of all options joined."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, Drawing, by_row, colour, empty, log_axis, points
from sweetspot.report.tables import hours_differ

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

CHART_WIDTH, CHART_HEIGHT, SIDE, FOOT = WIDTH - 70, 250, 30, 70  # pixels; names hang into the padding SIDE and FOOT
ANGLE = 35  # of the names, in degrees above the level
CHARACTER, LINE, GAP = 5.6, 12.0, 8.0  # pixels at 11 px type: a character's width, a line's height, from the point
ABOVE, BELOW, NOWHERE = "above", "below", "nowhere"
SLOPE = math.radians(ANGLE)

Point = tuple[float, float]
Box = tuple[float, float, float]  # from, to along the text's direction; its place across


def draw(data: "ChartData") -> Drawing:
    """A point an option by its basis, one panel a model; what is on the front has its name."""
    import altair as alt

    rows = data.table("frontier")
    if len(rows):
        # What is beaten and interruptible as well tells nobody anything: the table has it.
        rows = rows[rows["persistent"].astype(bool) | rows["on_front"]]
        # The axes are logarithmic.
        rows = rows[(rows["hours"] > 0) & (rows["usd"] > 0) & rows["workload"].isin(data.training())]
        rows = data.few_models(rows, data.model)
    if rows.empty:
        return empty("No workload with a model to train in this study.")
    rows = rows.assign(
        kind=data.kinds(rows), label=data.titles(rows["option"]).str.replace(r" \[.*\]$", "", regex=True)
    )
    rows = rows.assign(side=_sides_of(rows, data.option))
    across, up = (alt.Scale(type="log", nice=False, padding=room) for room in (SIDE, FOOT))
    x = alt.X("hours:Q", scale=across, title=f"{data.hours} (log)", axis=log_axis(rows["hours"], rows["model"]))
    y = alt.Y("usd:Q", scale=up, title="USD (log)", axis=log_axis(rows["usd"], rows["model"]))
    front, above, below = (
        alt.Chart().transform_filter(f"datum.{row}").encode(x=x, y=y)
        for row in ("on_front", f"side == '{ABOVE}'", f"side == '{BELOW}'")
    )
    names = {"fontSize": 11, "angle": 360 - ANGLE}
    panel = alt.layer(
        front.mark_line(color="#888", strokeDash=[4, 3], interpolate="step-after"),
        *points(alt.Chart(), x=x, y=y, color=colour("kind:N", data.kind_names(rows))),
        above.mark_text(align="left", dx=8, **names).encode(text=alt.Text("label:N")),
        below.mark_text(align="right", dx=-8, **names).encode(text=alt.Text("label:N")),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )
    return Drawing(by_row(panel, "model:N", alt.ScaleResolveMap(x="independent", y="independent")), {"rows": rows})


def _sides_of(rows: "pd.DataFrame", option: str) -> "pd.Series":
    """Where each name of the front stands in its model's chart; the reference has the first choice."""
    import pandas as pd

    found = pd.Series(NOWHERE, index=rows.index)
    named = rows[rows["on_front"].astype(bool) | (rows["option"] == option)]
    for model, part in named.assign(_later=named["option"] != option).sort_values(["_later", "hours"]).groupby("model"):
        every = rows[rows["model"] == model]
        places = [
            _pixels(every[name], size, padding)
            for name, size, padding in (("hours", CHART_WIDTH, SIDE), ("usd", CHART_HEIGHT, FOOT))
        ]
        marks = dict(zip(every.index, zip(*places, strict=True), strict=True))
        named_here = [marks[index] for index in part.index]
        stand = sides(named_here, list(part["label"]), list(marks.values()), CHART_WIDTH)
        found.update(pd.Series(stand, index=part.index))
    return found


def _pixels(values: "pd.Series", size: int, padding: int) -> list[float]:
    """Where a logarithmic scale of that size, with that padding at both ends, puts `values`."""
    low, high = math.log(values.min()), math.log(values.max())
    return [padding + (size - 2 * padding) * (math.log(value) - low) / ((high - low) or 1.0) for value in values]


def sides(named: Sequence[Point], names: Sequence[str], marks: Sequence[Point], width: float) -> list[str]:
    """For each point `above` (the name runs up to the right), `below` (it comes up from the left) or `nowhere`.

    `named`: pixels, y growing upwards, in the order of who chooses first; `marks`: all points of the chart, which is
    `width` wide. A name never covers a name placed before nor leaves the chart to a side or below; it stands
    nowhere if it would on both sides. It covers a mark only if the other side is no better.
    """
    placed: list[Box] = []
    found = []
    for point, name in zip(named, names, strict=True):
        boxes = {side: _box(point, len(name) * CHARACTER, side) for side in (ABOVE, BELOW)}
        free = [
            side
            for side, box in boxes.items()
            if _within(point, box, width) and not any(_meet(box, other) for other in placed)
        ]
        clear = [side for side in free if not any(_covers(boxes[side], mark) for mark in marks)]
        side = next(iter([*clear, *free]), NOWHERE)
        found.append(side)
        placed += [boxes[side]] if side in boxes else []
    return found


def _turned(point: Point) -> Point:
    """Along the text, and across it."""
    x, y = point
    return x * math.cos(SLOPE) + y * math.sin(SLOPE), y * math.cos(SLOPE) - x * math.sin(SLOPE)


def _box(point: Point, length: float, side: str) -> Box:
    along, across = _turned(point)
    return (along + GAP, along + GAP + length, across) if side == ABOVE else (along - GAP - length, along - GAP, across)


def _within(point: Point, box: Box, width: float) -> bool:
    along, _ = _turned(point)
    reach = [point[0] + (end - along) * math.cos(SLOPE) for end in box[:2]]
    lowest = point[1] + (box[0] - along) * math.sin(SLOPE)
    return min(reach) >= 0 and max(reach) <= width and lowest >= 0


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and abs(one[2] - other[2]) < LINE


def _covers(box: Box, mark: Point) -> bool:
    along, across = _turned(mark)
    return box[0] < along < box[1] and abs(box[2] - across) < LINE


CHART = Chart(
    title="Hours against USD; dashed: the front that nothing beats in both",
    caption="Hours against USD of the same work. The dashed front joins the options that nothing beats in both. "
    "At most {models} models are drawn; the tables hold all.",
    stage="price",
    section="costs",
    order=2,
    draw=draw,
    fits=hours_differ,
)
