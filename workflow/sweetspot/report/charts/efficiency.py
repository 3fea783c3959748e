"""Efficiency against device count at the largest batch: a line a family, and the fitted curve with its band."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import ORIGIN, TEXT, WIDTH, Drawing, by_row, colour, empty, points, told

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

START = {"gpus": 1, "efficiency": 1.0, "low": 1.0, "high": 1.0}  # one device


def draw(data: "ChartData") -> Drawing:
    """A line a family, by device count; dashed with its band: predicted."""
    import altair as alt

    rows = data.table("efficiency")
    if rows.empty:
        return empty("No scaling efficiency in this study.")
    both = data.few_models(
        _seen_and_predicted(rows[rows["batch_size"] == rows["batch_size"].max()], data.table("curve"))
    )
    machine = data.machines(both["base_instance"])
    both = both.assign(family=machine.where(~both["fitted"], "predicted: " + machine))
    names = list(dict.fromkeys(both.sort_values(["fitted", "family"])["family"]))
    counts = alt.Axis(values=sorted(both["gpus"].unique().tolist()))
    x = alt.X("gpus:Q", scale=alt.Scale(type="log", base=2), title="devices", axis=counts)
    # A prediction's band may reach above 1; so do figures measured on a faster second machine.
    top = max(1.05, float(both[["efficiency", "high"]].max().max()))
    y = alt.Y("efficiency:Q", scale=alt.Scale(domain=[0, top], nice=False), title="efficiency")
    low, tint = alt.Y("low:Q", title="efficiency"), colour("family:N", names)
    fitted, seen = alt.Chart().transform_filter("datum.fitted"), alt.Chart().transform_filter("!datum.fitted")
    words = told(
        family=f"family{TEXT}", gpus="devices", efficiency="efficiency", basis=ORIGIN["basis"], source=ORIGIN["source"]
    )
    panel = alt.layer(
        fitted.mark_area(opacity=0.18).encode(x=x, y=low, y2=alt.Y2("high:Q"), color=tint),
        fitted.mark_line(strokeDash=[5, 3]).encode(x=x, y=y, color=tint),
        seen.mark_line().encode(x=x, y=y, color=tint, detail=alt.Detail("family:N")),
        *points(seen.transform_filter("datum.gpus > 1"), x=x, y=y, color=tint, tooltip=words),
        width=WIDTH - 70,
        height=120,
    )
    return Drawing(by_row(panel, "model:N"), {"rows": both}, _says(both[~both["fitted"].astype(bool)]))


def _says(seen: "pd.DataFrame") -> str:
    """What most devices do, of as many times the work of one."""
    most = int(seen["gpus"].max())
    shares = [f"{100 * share:.0f}" for share in sorted(seen.loc[seen["gpus"] == most, "efficiency"])]
    span = shares[0] if shares[0] == shares[-1] else f"{shares[0]} to {shares[-1]}"
    return f"{most} devices do {span} % of {most} times the work of one" if most > 1 else ""


def _seen_and_predicted(rows: "pd.DataFrame", curve: "pd.DataFrame") -> "pd.DataFrame":
    """Both with a column `fitted`, each line begun at one device."""
    import pandas as pd

    curve = curve[curve["batch_size"] == rows["batch_size"].iloc[0]] if len(curve) else curve
    curve = curve.assign(base_instance=curve["instance"]) if len(curve) else curve
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
    needs="efficiency",
)
