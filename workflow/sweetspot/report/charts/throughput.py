"""Images per second by machine, model and batch."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, empty, log_axis, points
from sweetspot.report.vega import Drawing, amount, by_field, by_row, end, kind, layer, layered

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

BUSIEST = 20  # machines of the fastest, beside all that were measured here
COLUMNS = ["instance", "model", "batch_size", "images_per_s", "images_per_s_low", "images_per_s_high", "basis"]


def draw(data: "ChartData") -> Drawing:
    """A point a machine and batch by its basis, the fastest figure of each; one panel a model."""
    import pandas as pd

    rows = data.table("throughput")
    rows = rows[rows["images_per_s"] > 0] if len(rows) else rows
    guess = data.table("extrapolation")
    if len(guess):
        rows = pd.concat([rows, guess[guess["headline"].astype(bool)]], ignore_index=True)
    if rows.empty:
        return empty("No throughput measured or published in this study.")
    rows = data.few_models(rows).sort_values("images_per_s").drop_duplicates(COLUMNS[:3], keep="last")[COLUMNS]
    busiest = rows.groupby("instance")["images_per_s"].max().nlargest(BUSIEST).index
    rows = rows[rows["instance"].isin([*busiest, *rows.loc[rows["basis"] == "measured", "instance"]])]
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str))
    y = kind("instance", sort=by_field("images_per_s", "descending", "max"), title=None)
    title = f"{data.unit}/s (log)"
    x = amount("images_per_s", scale={"type": "log"}, title=title, axis=log_axis(rows["images_per_s"]))
    tint = colour("batch", batches, "batch per device")
    low, high = amount("images_per_s_low", title=title), end("images_per_s_high")
    spec = layered(
        layer("rule", where=("isValid(datum.images_per_s_low)",), y=y, x=low, x2=high, color=tint),
        *points(y=y, x=x, color=tint),
        width=WIDTH - 150,
        height={"step": 15},
    )
    return Drawing(by_row(spec, "model", ("y",)), {"rows": rows})


CHART = Chart(
    title="{Units} per second by machine, model and batch",
    caption="{Units} per second by machine, model and batch. The shape tells the basis of the figure. At most "
    "{models} models are drawn; the tables hold all.",
    stage="speed",
    section="speed",
    order=1,
    draw=draw,
)
