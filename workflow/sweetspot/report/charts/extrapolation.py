"""Predicted images per second by method, with 90 % prediction intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import ENDS, TEXT, WIDTH, Drawing, by_row, colour, empty, points, told
from sweetspot.report.notation import number

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

METHODS = 7  # as many as there are colours; that of the answer first


def draw(data: "ChartData") -> Drawing:
    """A point a cell and method on its interval, one panel a machine."""
    import altair as alt

    rows = data.table("extrapolation")
    if rows.empty:
        return empty("Nothing is extrapolated in this study.")
    rows = data.few_models(rows)
    rows = rows.assign(cell=rows["model"] + " " + rows["batch_size"].astype(str), basis="extrapolated")
    rows = rows.assign(machine=data.machines(rows["instance"]))
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False)["method"]))[:METHODS]
    rows = rows[rows["method"].isin(names)]
    title = f"{data.unit}/s"
    x = alt.X("images_per_s:Q", title=title, scale=alt.Scale(zero=False, padding=8))
    low = alt.X("images_per_s_low:Q", title=title)
    y, offset, tint = alt.Y("cell:N", title=None), alt.YOffset("method:N", sort=names), colour("method:N", names)
    ends = {f"images_per_s{end}": f"{title}{name}" for end, name in ENDS.items()}
    words = told(
        machine=f"machine{TEXT}", cell=f"model and batch{TEXT}", method=f"method{TEXT}", **ends, efficiency="efficiency"
    )
    panel = alt.layer(
        alt.Chart().mark_rule().encode(y=y, x=low, x2=alt.X2("images_per_s_high:Q"), color=tint, yOffset=offset),
        *points(alt.Chart(), y=y, x=x, color=tint, yOffset=offset, tooltip=words),
        width=WIDTH - 100,
        height=alt.Step(max(7, 20 // len(names))),
    )
    return Drawing(by_row(panel, "machine:N"), {"rows": rows}, _says(rows, title))


def _says(rows: "pd.DataFrame", unit: str) -> str:
    """What the answer takes for its first cell, and how far the methods are apart there."""
    used = rows[rows["headline"].astype(bool)]
    if used.empty:
        return ""
    first = used.iloc[0]
    same = rows[
        (rows["instance"] == first["instance"]) & (rows["cell"] == first["cell"]) & (rows["gpus"] == first["gpus"])
    ]
    ends = [number(same["images_per_s"].min()), number(same["images_per_s"].max())]
    told = f"{first['machine']}, {first['cell']}: {number(first['images_per_s'])} {unit} for the answer"
    return told if len(same) < 2 else f"{told}; all methods {ends[0]} to {ends[1]}"


CHART = Chart(
    title="Predicted {units} per second by method, with 90 % prediction intervals",
    caption="Predicted {units} per second by method with 90 % prediction intervals. At most {models} models are "
    "drawn; the tables hold all.",
    stage="speed",
    section="unmeasured",
    order=1,
    draw=draw,
    needs="extrapolation",
)
