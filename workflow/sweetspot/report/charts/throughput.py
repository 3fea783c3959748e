"""Images per second by machine, model and batch."""

from typing import TYPE_CHECKING

from sweetspot.cells import BASES
from sweetspot.report.charts import Chart
from sweetspot.report.dots import alike, dots, ends_of, rate_axis
from sweetspot.report.marks import (
    COLOURS,
    ENDS,
    ORIGIN,
    TEXT,
    Drawing,
    by_row,
    colour,
    empty,
    key_of,
    of_all,
    told,
    wrapped,
)
from sweetspot.report.tables import hours_differ

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

ROWS, BUSIEST, LEAST = (
    36,
    12,
    6,
)  # speeds in all, at most of one model, at least; beside measured ones and the reference
RATE = "images_per_s"
SEEN = 1.02  # the high end of an interval by its low end, from where on its line is seen
CELL = ["instance", "model", "batch_size"]
COLUMNS = [*CELL, *(f"{RATE}{end}" for end in ENDS), *ORIGIN]


def draw(data: "ChartData") -> Drawing:
    """A point a machine and batch by its basis, the fastest figure of each; one panel a model."""
    import altair as alt

    rows = _fastest(data)
    if rows.empty:
        return empty("No speed measured or published in this study.")
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str))
    many = len(batches) > len(COLOURS)  # a colour would stand for two of them
    rows["title"] = wrapped(rows["machine"] + ", batch " + rows["batch"] if many else rows["machine"])
    words = told(machine=f"machine{TEXT}", batch=f"batch{TEXT}", **ends_of(RATE, f"{data.unit}/s"), **ORIGIN)
    shown = batches if len(batches) > 1 else ()
    tint = alt.ColorValue(COLOURS[0]) if many else colour("batch:N", batches, "batch per device", shown)
    panel = dots(rows, RATE, rate_axis(rows, RATE, f"{data.unit}/s"), "title", tint=tint, words=words)
    panels = by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
    return Drawing(panels, {"rows": rows}, _says(rows), key=key_of(rows["basis"], *_level(rows)))


def _level(rows: "pd.DataFrame") -> list[str]:
    """What the lines are; nothing where none is as long as its point is wide."""
    predicted = rows.loc[rows[f"{RATE}_high"] > SEEN * rows[f"{RATE}_low"], "basis"] == "extrapolated"
    if predicted.empty:
        return []
    mixed = ", predicted 90 %" if predicted.any() else ""
    return ["line: 90 % interval" if predicted.all() else f"line: 95 % interval{mixed}"]


def _fastest(data: "ChartData") -> "pd.DataFrame":
    """The rows that are drawn, with `machine`: of each model the fastest, what was measured here and the reference."""
    import pandas as pd

    rows = data.table("throughput")
    rows = rows[rows[RATE] > 0] if len(rows) else rows
    guess = data.table("extrapolation")
    if len(guess):
        rows = pd.concat([rows, guess[guess["headline"].astype(bool)]], ignore_index=True)
    if rows.empty:
        return rows
    rows = data.few_models(rows).sort_values(RATE).drop_duplicates(CELL, keep="last").reindex(columns=COLUMNS)
    # A figure that stands in for others of its machine would lie on itself: it is drawn once, as what it is, or of the
    # largest batch.
    place = rows["basis"].map(dict(zip(BASES, range(len(BASES)), strict=True)))
    best_first = rows.assign(place=place).sort_values(["place", "batch_size"], ascending=[True, False])
    rows = best_first.drop(columns="place").drop_duplicates(["instance", "model", RATE]).sort_values(RATE)
    rows = alike(rows.assign(machine=data.machines(rows["instance"])), RATE, data.reference)
    shown = max(LEAST, min(BUSIEST, ROWS // rows["model"].nunique()))
    best = rows.groupby(["model", "instance"])[RATE].transform("max")
    place = best.groupby(rows["model"]).rank(ascending=False, method="dense")
    return rows[(place <= shown) | (rows["basis"] == "measured") | (rows["instance"] == data.reference)]


def _says(rows: "pd.DataFrame") -> str:
    """Which machine is the fastest on most models."""
    fastest = rows.loc[rows.groupby("model")[RATE].idxmax()]
    often = fastest["machine"].value_counts()
    if len(fastest) == 1:
        return f"Fastest on {fastest['model'].iloc[0]}: {often.index[0]}"
    return f"Fastest on {of_all(int(often.iloc[0]), len(fastest), 'models')}: {often.index[0]}"


CHART = Chart(
    title="{Units} per second by machine, model and batch",
    caption="{Units} per second by machine, model and batch. Machines of one speed share a row. The shape tells the "
    "basis of the figure. At most {models} models and 12 speeds of each are drawn; the tables hold all.",
    stage="speed",
    section="speed",
    order=1,
    draw=draw,
    fits=hours_differ,  # equal times come from equal speeds
)
