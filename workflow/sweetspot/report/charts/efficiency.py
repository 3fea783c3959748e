"""Efficiency against device count at the largest batch: a line a family, and the fitted curve with its band."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, empty, points
from sweetspot.report.vega import Drawing, amount, by_row, end, kind, layer, layered

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

START = {"gpus": 1, "efficiency": 1.0, "low": 1.0, "high": 1.0}  # one device


def draw(data: "ChartData") -> Drawing:
    """A line a family, by device count; dashed with its band: predicted."""
    rows = data.table("efficiency")
    if rows.empty:
        return empty("No scaling efficiency in this study.")
    both = data.few_models(
        _seen_and_predicted(rows[rows["batch_size"] == rows["batch_size"].max()], data.table("curve"))
    )
    names = list(dict.fromkeys(both.sort_values(["fitted", "base_instance"])["base_instance"]))
    counts = {"values": sorted(both["gpus"].unique().tolist())}
    x = amount("gpus", scale={"type": "log", "base": 2}, title="devices", axis=counts)
    # A prediction's band may reach above 1; so do figures measured on a faster second machine.
    top = max(1.05, float(both[["efficiency", "high"]].max().max()))
    y = amount("efficiency", scale={"domain": [0, top], "nice": False}, title="efficiency")
    tint = colour("base_instance", names)
    fitted, seen = ("datum.fitted",), ("!datum.fitted",)
    low, high = amount("low", title="efficiency"), end("high")
    spec = layered(
        layer("area", {"opacity": 0.18}, where=fitted, x=x, y=low, y2=high, color=tint),
        layer("line", {"strokeDash": [5, 3]}, where=fitted, x=x, y=y, color=tint),
        layer("line", where=seen, x=x, y=y, color=tint, detail=kind("base_instance")),
        *points(where=(*seen, "datum.gpus > 1"), x=x, y=y, color=tint),
        width=WIDTH - 70,
        height=120,
    )
    return Drawing(by_row(spec, "model"), {"rows": both})


def _seen_and_predicted(rows: "pd.DataFrame", curve: "pd.DataFrame") -> "pd.DataFrame":
    """Both with a column `fitted`, each line begun at one device."""
    import pandas as pd

    curve = curve[curve["batch_size"] == rows["batch_size"].iloc[0]] if len(curve) else curve
    curve = curve.assign(base_instance="predicted: " + curve["instance"]) if len(curve) else curve
    rows, curve = (
        pd.concat([part.drop_duplicates(["base_instance", "model"]).assign(**START), part], ignore_index=True)
        for part in (rows, curve.reindex(columns=[*rows.columns, "low", "high"]))
    )
    return pd.concat([rows.assign(fitted=False), curve.assign(fitted=True)], ignore_index=True)


CHART = Chart(
    title="Scaling efficiency by number of devices at the largest batch",
    caption="Scaling efficiency against the number of devices at the largest batch, by family. At most {models} "
    "models are drawn; the tables hold all.",
    stage="speed",
    section="speed",
    order=2,
    draw=draw,
)
