"""Hours against USD of one workload: its options, and the trade-offs that no other option beats."""

import math
from typing import Any

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.chart import Chart
from sweetspot.report.notation import number
from sweetspot.report.tables import hours_differ

WIDTH, HEIGHT = look.WIDTH - 70, 230  # pixels of the plot
MARGIN = 18  # pixels within the frame, around all points
NEAR = 15.0  # pixels between two points from which each has a number of its own
KEY_LINE, KEY_LINES = 17, 7  # pixels of a line of the key, and how many it has room for
MAX_COST_RATIO = 20.0  # to the cheapest: what costs more is left to the table, or it would flatten the rest
COLUMNS = ["model", "option", "label", "hours", "usd", "kind", "basis", "source", "as_of", "on_front", "fits"]


def front(data: "ChartData") -> look.Drawing:
    """Draw a point for each option by its basis; those on the front have numbers, which the key below explains."""
    rows = front_rows(data)
    if rows.empty:
        return look.empty("No workload with a model to train in this study.")
    ranks = data.table("ranks")
    shapes = look.shape_key(ranks.loc[ranks["in_answer"].astype(bool), "basis"])
    keys = number_points(rows, data.option if data.reference else "").head(KEY_LINES)
    kinds = [look.PERSISTENT, *([look.INTERRUPTIBLE] if data.is_interruptible(ranks).any() else [])]
    kinds += [data.box] if data.reference else []
    count = int(rows["on_front"].sum())
    if count == 1:
        says = f"{data.model}: one option is both the fastest and the cheapest"
    else:
        says = f"{data.model}: {count} options are the best trade-offs of time and money"
    chart = alt.vconcat(_plot(rows, kinds), _key(), spacing=8).resolve_scale(x="independent", y="independent")
    return look.Drawing(chart, {"rows": rows, "keys": keys}, says, shapes)


def front_rows(data: "ChartData") -> "pd.DataFrame":
    """The options to draw: of the first workload of the answer's model, with `kind`, `label`, `on_front` and `fits`.

    On the front is what the study accepts and no accepted option beats (is at most as slow and at most as expensive,
    and better in one). Left out is what is beaten and either interruptible or above MAX_COST_RATIO.
    """
    rows = data.table("ranks")
    if rows.empty:
        return rows
    rows = rows[rows["in_answer"].astype(bool) & (rows["model"] == data.model)]
    rows = rows[(rows["workload"] == rows["workload"].min()) & (rows["hours"] > 0) & (rows["usd"] > 0)]
    accepted = rows["persistent"].astype(bool)
    rivals = rows[accepted] if accepted.any() else rows
    pairs = rivals[["hours", "usd"]].to_numpy()
    beaten = pd.Series(
        [
            bool(((pairs <= pair).all(axis=1) & (pairs < pair).any(axis=1)).any())
            for pair in rows[["hours", "usd"]].to_numpy()
        ],
        rows.index,
        dtype=bool,
    )
    is_reference = (rows["option"] == data.option) & bool(data.reference)
    kind = data.is_interruptible(rows).map({True: look.INTERRUPTIBLE, False: look.PERSISTENT})
    label = data.titles(rows["option"]).str.replace(r" \[.*\]$", "", regex=True)
    on_front = rows["option"].isin(rivals["option"]) & ~beaten
    rows = rows.assign(kind=kind.mask(is_reference, data.box), label=label, fits=accepted, on_front=on_front)
    affordable = rows["usd"] <= MAX_COST_RATIO * rivals["usd"].min()
    selected = on_front | (rows["option"] == data.option) | (affordable & (accepted | ~beaten))
    return rows[selected].sort_values(["usd", "option"], kind="stable").reset_index(drop=True)[COLUMNS]


def number_points(rows: "pd.DataFrame", option: str) -> "pd.DataFrame":
    """Number the front and `option`, fastest first.

    Parameters
    ----------
    rows
        The rows of `front_rows`.
    option
        The option that has a number even if it is not on the front; empty for none.

    Returns
    -------
    pandas.DataFrame
        Columns model, hours, usd, text (a line of the key), line, mark: the numbers beside the point, which the first
        of several within NEAR pixels shows for all of them.
    """
    selected = rows[rows["on_front"].astype(bool) | (rows["option"] == option)].sort_values(["hours", "usd"])
    selected = selected.drop_duplicates(["label", "hours", "usd"]).reset_index(drop=True)
    texts = [
        f"{index}  {row['label']}: {number(row['hours'])} h, {number(row['usd'])} USD"
        for index, row in enumerate(selected.to_dict("records"), 1)
    ]
    x, y = (_pixels(selected[name], rows[name], size) for name, size in (("hours", WIDTH), ("usd", HEIGHT)))
    marks = _group_numbers(list(zip(x, y, strict=True)))
    return selected[["model", "hours", "usd"]].assign(text=texts, line=range(len(selected)), mark=marks)


def _group_numbers(points: list[tuple[float, float]]) -> list[str]:
    """The text at each point, from 1: `3`, or for points near it `3, 4` or `3 to 6`; those then have none."""
    groups: dict[int, list[int]] = {}
    for index, point in enumerate(points):
        near = [first for first in groups if math.dist(points[first], point) < NEAR]
        groups.setdefault(near[0] if near else index, []).append(index + 1)
    texts = [""] * len(points)
    for first, numbers in groups.items():
        consecutive = len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1
        texts[first] = f"{numbers[0]} to {numbers[-1]}" if consecutive else ", ".join(map(str, numbers))
    return texts


def _pixels(values: "pd.Series", every: "pd.Series", size: int) -> list[float]:
    """Where a logarithmic scale over `every`, of that size, puts `values`."""
    low, high = math.log(every.min()), math.log(every.max())
    return [MARGIN + (size - 2 * MARGIN) * (math.log(value) - low) / ((high - low) or 1.0) for value in values]


def _plot(rows: "pd.DataFrame", kinds: list[str]) -> "alt.LayerChart":
    """Options, the line of their front, and the numbers of what is on it."""
    x = alt.X("hours:Q", title="hours (log)", **_log_scale(rows["hours"], WIDTH))
    y = alt.Y("usd:Q", title="USD (log)", **_log_scale(rows["usd"], HEIGHT))
    options = look.named_data("rows").encode(x=x, y=y)
    numbers = look.named_data("keys").encode(x=x, y=y, text="mark:N")
    tint = look.colour("kind:N", kinds, shown=[kind for kind in kinds if (rows["kind"] == kind).any()])
    words = look.tooltip(label="option (text)", hours="hours", usd="USD", **look.ORIGIN)
    opacity = alt.Opacity("shown:Q", scale=None)
    faint = options.encode(opacity=opacity).transform_calculate(shown="datum.fits ? 1 : 0.25")
    line = options.transform_filter("datum.on_front")
    bold: dict[str, Any] = {"dy": -12, "fontWeight": "bold", "clip": True}
    return alt.layer(
        line.mark_line(color=look.GREY, strokeDash=[4, 3], interpolate="step-after", clip=True),
        *look.points(faint, color=tint, tooltip=words),
        # A white rim keeps a number legible where a line or a point lies behind it.
        numbers.mark_text(stroke="white", strokeWidth=4, **bold),
        numbers.mark_text(color="#111", **bold),
        width=WIDTH,
        height=HEIGHT,
    )


def _log_scale(values: "pd.Series", size: int) -> dict[str, Any]:
    """A logarithmic scale of that size with MARGIN around all values, and its axis."""
    low, high = math.log(values.min()), math.log(values.max())
    margin = (high - low) * MARGIN / (size - 2 * MARGIN) if high > low else math.log(2)
    domain = [math.exp(low - margin), math.exp(high + margin)]
    return {"scale": alt.Scale(domain=domain, nice=False, type="log"), "axis": look.log_axis(pd.Series(domain))}


def _key() -> "alt.LayerChart":
    """The lines below the plot that say which option a number is."""
    scale = alt.Scale(domain=[KEY_LINES - 0.5, -0.5], nice=False, zero=False)
    text = look.named_data("keys").mark_text(align="left", baseline="middle", limit=look.WIDTH)
    text = text.encode(x=alt.value(0), y=alt.Y("line:Q", axis=None, scale=scale), text="text:N")
    return alt.layer(text, width=WIDTH, height=KEY_LINE * KEY_LINES, view=alt.ViewConfig(stroke=None))


FRONT = Chart(
    name="front",
    stage="price",
    section="whatif",
    draw=front,
    fits=hours_differ,
    title="Hours against USD of one workload; dashed: the best trade-offs; numbers: below",
    caption="Hours against USD of one workload. The dashed line joins the best trade-offs, which have numbers: no "
    "option is both faster and cheaper than one of them. Faint: interruptible machines, which the study does not "
    "accept. What costs more than 20 times the cheapest is not drawn.",
)
