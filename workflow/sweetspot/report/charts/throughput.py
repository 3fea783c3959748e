"""Images per second by machine, model and batch."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import (
    ENDS,
    ORIGIN,
    TEXT,
    WIDTH,
    Drawing,
    by_row,
    colour,
    empty,
    line_step,
    log_axis,
    name_axis,
    points,
    told,
    wrapped,
)
from sweetspot.report.tables import hours_differ

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

BUSIEST = 20  # machines of the fastest, beside all that were measured here
CELL = ["instance", "model", "batch_size"]
COLUMNS = [*CELL, *(f"images_per_s{end}" for end in ENDS), *ORIGIN]


def draw(data: "ChartData") -> Drawing:
    """A point a machine and batch by its basis, the fastest figure of each; one panel a model."""
    import altair as alt
    import pandas as pd

    rows = data.table("throughput")
    rows = rows[rows["images_per_s"] > 0] if len(rows) else rows
    guess = data.table("extrapolation")
    if len(guess):
        rows = pd.concat([rows, guess[guess["headline"].astype(bool)]], ignore_index=True)
    if rows.empty:
        return empty("No throughput measured or published in this study.")
    rows = data.few_models(rows).sort_values("images_per_s").drop_duplicates(CELL, keep="last").reindex(columns=COLUMNS)
    busiest = rows.groupby("instance")["images_per_s"].max().nlargest(BUSIEST).index
    rows = rows[rows["instance"].isin([*busiest, *rows.loc[rows["basis"] == "measured", "instance"]])]
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str), machine=wrapped(data.machines(rows["instance"])))
    order = alt.EncodingSortField("images_per_s", op="max", order="descending")
    y = alt.Y("machine:N", sort=order, title=None, axis=name_axis())
    title = f"{data.unit}/s (log)"
    x = alt.X("images_per_s:Q", scale=alt.Scale(type="log"), title=title, axis=log_axis(rows["images_per_s"]))
    low = alt.X("images_per_s_low:Q", title=title)
    tint = colour("batch:N", batches, "batch per device")
    bounded = alt.Chart().transform_filter("isValid(datum.images_per_s_low)")
    ends = {f"images_per_s{end}": f"{data.unit}/s{name}" for end, name in ENDS.items()}
    words = told(machine=f"machine{TEXT}", batch=f"batch{TEXT}", **ends, **ORIGIN)
    panel = alt.layer(
        bounded.mark_rule().encode(y=y, x=low, x2=alt.X2("images_per_s_high:Q"), color=tint),
        *points(alt.Chart(), y=y, x=x, color=tint, tooltip=words),
        width=WIDTH - 190,
        height=line_step(rows["machine"], 15),
    )
    panels = by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
    return Drawing(panels, {"rows": rows}, _says(data, rows))


def _says(data: "ChartData", rows: "pd.DataFrame") -> str:
    """Which machine is the fastest on most models."""
    fastest = rows.loc[rows.groupby("model")["images_per_s"].idxmax()]
    often = data.machines(fastest["instance"]).value_counts()
    if len(fastest) == 1:
        return f"Fastest on {fastest['model'].iloc[0]}: {often.index[0]}"
    return f"Fastest on {often.iloc[0]} of {len(fastest)} models: {often.index[0]}"


CHART = Chart(
    title="{Units} per second by machine, model and batch",
    caption="{Units} per second by machine, model and batch. The shape tells the basis of the figure. At most "
    "{models} models are drawn; the tables hold all.",
    stage="speed",
    section="speed",
    order=1,
    draw=draw,
    fits=hours_differ,  # equal times come from equal speeds
)
