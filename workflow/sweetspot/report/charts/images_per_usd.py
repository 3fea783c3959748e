"""Images (or samples) per USD of the best options of each model, with 90 % intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.dots import dots, ends_of, rate_axis
from sweetspot.report.marks import BESIDE, ORIGIN, TEXT, Drawing, by_row, colour, empty, key_of, told, wrapped
from sweetspot.report.tables import bills_decide
from sweetspot.wording import the, times

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

RATE = "images_per_usd"


def draw(data: "ChartData") -> Drawing:
    """A point an option by its basis, on its interval; the best of each model and the reference."""
    import altair as alt

    rows = data.options()
    if rows.empty:
        return empty("No priced option in this study.")
    # Names of spot offers carry their price list: cut short, two of them read the same.
    rows = rows.assign(kind=data.kinds(rows), title=wrapped(data.titles(rows["option"])))
    unit = f"{data.unit} per USD"
    words = told(title=f"option{TEXT}", **ends_of(RATE, unit), **ORIGIN, price_source=f"price{TEXT}")
    x, tint = rate_axis(rows, RATE, unit), colour("kind:N", data.kind_names(rows), room=BESIDE)
    panel = dots(rows, RATE, x, "title", tint=tint, words=words)
    panels = by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
    key = key_of(rows["basis"], "line: 90 % interval")
    return Drawing(panels, {"rows": rows}, _says(data, rows), key=key)


def _says(data: "ChartData", rows: "pd.DataFrame") -> str:
    """Who asks least for the answer's model, and how far the second is from it."""
    best = rows[rows["model"] == data.model].nlargest(2, RATE)
    if best.empty:
        return ""
    first = f"Most {data.unit} per USD on {data.model}: {data.title(best['option'].iloc[0])}"
    if len(best) < 2:
        return first
    second = the(data.title(best["option"].iloc[1]))
    return f"{first}, {times(best[RATE].iloc[0] / best[RATE].iloc[1])} times as many as {second}"


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
