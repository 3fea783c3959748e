"""Images (or samples) per USD of the best options of each model, with 90 % intervals."""

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
from sweetspot.report.tables import bills_decide

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData


def draw(data: "ChartData") -> Drawing:
    """A point an option by its basis, on its interval; the best of each model and the reference."""
    import altair as alt

    rows = data.options()
    if rows.empty:
        return empty("No priced option in this study.")
    # Names of spot offers carry their price list: cut short, two of them read the same.
    rows = rows.assign(kind=data.kinds(rows), title=wrapped(data.titles(rows["option"])))
    order = alt.EncodingSortField("images_per_usd", order="descending")
    y = alt.Y("title:N", sort=order, title=None, axis=name_axis())
    title = f"{data.unit} per USD (log scale)"
    axis = log_axis(rows["images_per_usd"])
    x = alt.X("images_per_usd:Q", title=title, scale=alt.Scale(type="log"), axis=axis)
    low = alt.X("images_per_usd_low:Q", title=title)
    kinds = colour("kind:N", data.kind_names(rows))
    ends = {f"images_per_usd{end}": f"{data.unit} per USD{name}" for end, name in ENDS.items()}
    words = told(title=f"option{TEXT}", **ends, **ORIGIN, price_source=f"price{TEXT}")
    panel = alt.layer(
        alt.Chart().mark_rule(strokeWidth=1.5).encode(y=y, x=low, x2=alt.X2("images_per_usd_high:Q"), color=kinds),
        *points(alt.Chart(), y=y, x=x, color=kinds, tooltip=words),
        width=WIDTH - 225,
        height=line_step(rows["title"], 15),
    )
    best = rows[rows["model"] == data.model].nlargest(1, "images_per_usd")["option"]
    says = f"Most {data.unit} for a dollar on {data.model}: {data.title(best.iloc[0])}" if len(best) else ""
    panels = by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
    return Drawing(panels, {"rows": rows}, says)


CHART = Chart(
    title="{Units} per USD of the best options, by model, with 90 % intervals",
    caption="{Units} per USD of the best options by model, with 90 % intervals. The shape tells the basis of the "
    "figure. At most {models} models are drawn; the tables hold all.",
    stage="price",
    section="costs",
    order=1,
    draw=draw,
    fits=lambda tables: not bills_decide(tables),
)
