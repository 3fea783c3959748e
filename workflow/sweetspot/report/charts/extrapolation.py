"""Predicted images per second by method, with 90 % prediction intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import (
    ENDS,
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
from sweetspot.report.notation import number

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

METHODS = 7  # as many as there are colours; that of the answer first
WIDE = 20  # the fastest by the slowest, from where on a logarithmic scale tells the slow ones apart
FEW, SHOWN = 3, 15  # machines with a panel each; machines drawn where they are more, the fastest


def draw(data: "ChartData") -> Drawing:
    """A point a cell and method on its interval, one panel a machine; where those are many, one panel a cell, and the
    method of the answer alone.
    """
    import altair as alt

    rows = data.table("extrapolation")
    if rows.empty:
        return empty("Nothing is extrapolated in this study.")
    rows = data.few_models(rows)
    rows = rows.assign(cell=rows["model"] + ", batch " + rows["batch_size"].astype(str), basis="extrapolated")
    rows = rows.assign(machine=wrapped(data.machines(rows["instance"])))
    if (many := rows["machine"].nunique() > FEW) and rows["headline"].any():
        rows = rows[rows["headline"].astype(bool)]
    said = _says(rows, data.model, f"{data.unit}/s", many)
    rows = rows.assign(method=rows["method"].str.replace("_", " "))
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False)["method"]))[:METHODS]
    best = rows.groupby("machine")["images_per_s"].max().nlargest(SHOWN).index
    best = [*best, *rows.loc[rows["instance"] == data.reference, "machine"]]
    rows = rows[rows["method"].isin(names) & rows["machine"].isin(best)]
    x, low = _axis(rows["images_per_s"], f"{data.unit}/s"), alt.X("images_per_s_low:Q")
    offset, tint = alt.YOffset("method:N", sort=names), colour("method:N", names)
    sort = alt.EncodingSortField("images_per_s", op="max", order="descending") if many else None
    y = alt.Y("machine:N" if many else "cell:N", sort=sort, title=None, axis=name_axis())
    ends = {f"images_per_s{end}": f"{data.unit}/s{name}" for end, name in ENDS.items()}
    words = told(
        machine=f"machine{TEXT}", cell=f"model and batch{TEXT}", method=f"method{TEXT}", **ends, efficiency="efficiency"
    )
    bounded = alt.Chart().transform_filter("isValid(datum.images_per_s_low)")
    panel = alt.layer(
        bounded.mark_rule().encode(y=y, x=low, x2=alt.X2("images_per_s_high:Q"), color=tint, yOffset=offset),
        *points(alt.Chart(), y=y, x=x, color=tint, yOffset=offset, tooltip=words),
        width=WIDTH - (190 if many else 100),
        height=line_step(rows["machine"], 15) if len(names) == 1 else alt.Step(max(7, 20 // len(names))),
    )
    scales = alt.ScaleResolveMap(y="independent") if many else None
    return Drawing(by_row(panel, "cell:N" if many else "machine:N", scales), {"rows": rows}, said)


def _axis(rates: "pd.Series", title: str) -> "alt.X":
    """Linear; logarithmic where the slow could not be told apart."""
    import altair as alt

    if not rates.max() > WIDE * rates.min() > 0:
        return alt.X("images_per_s:Q", title=title, scale=alt.Scale(zero=False, padding=8))
    return alt.X("images_per_s:Q", title=f"{title} (log)", scale=alt.Scale(type="log"), axis=log_axis(rates))


def _says(rows: "pd.DataFrame", model: str, unit: str, many: bool) -> str:
    """Of many machines which is the fastest; else what the answer takes on its model's largest batch, and how far the
    methods are apart there.
    """
    used = rows[rows["headline"].astype(bool)]
    used = used[used["model"] == model] if (used["model"] == model).any() else used
    if used.empty:
        return ""
    if many:
        fastest = used.loc[used["images_per_s"].idxmax()]
        count = used["machine"].nunique()
        return f"Fastest on {fastest['model']} of {count} machines that nobody measured: {fastest['machine']}"
    first = used.sort_values("batch_size").iloc[-1]
    same = rows[
        (rows["instance"] == first["instance"]) & (rows["cell"] == first["cell"]) & (rows["gpus"] == first["gpus"])
    ]
    ends = [number(same["images_per_s"].min()), number(same["images_per_s"].max())]
    told = f"{first['machine']} on {first['cell']}: {number(first['images_per_s'])} {unit} for the answer"
    return told if len(same) < 2 else f"{told}; all methods {ends[0]} to {ends[1]}"


CHART = Chart(
    title="Predicted {units} per second by method, with 90 % prediction intervals",
    caption="Predicted {units} per second by method with 90 % prediction intervals. At most {models} models and 15 "
    "machines are drawn; the tables hold all.",
    stage="speed",
    section="unmeasured",
    order=1,
    draw=draw,
    needs="extrapolation",
)
