"""How well several devices share the work."""

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.chart import Chart

ONE_DEVICE = {"gpus": 1, "efficiency": 1.0, "low": 1.0, "high": 1.0}
HEIGHT = 140
MAX_FAMILIES = len(look.COLOURS)
MAX_PREDICTED = 2  # families


def efficiency(data: "ChartData") -> look.Drawing:
    """Draw a line for each family by device count, one panel for each model; a prediction is dashed, with its band."""
    if data.table("efficiency").empty:
        return look.empty("No scaling efficiency in this study.")
    rows = data.few_models(_select_lines(data))
    names = list(dict.fromkeys(rows.sort_values("fitted", kind="stable")["family"]))[:MAX_FAMILIES]
    rows = rows[rows["family"].isin(names)].reset_index(drop=True)
    panels = look.by_row(_panel(rows, names), data.answer_first(rows["model"]))
    measured = rows[~rows["fitted"].astype(bool)]
    band = ["dashed: predicted, with its 90 % band"] if rows["fitted"].any() else []
    key = look.shape_key(measured.loc[measured["gpus"] > 1, "basis"], *band)
    return look.Drawing(panels, {"rows": rows}, _finding(measured), key)


def _panel(rows: "pd.DataFrame", names: list[str]) -> "alt.LayerChart":
    counts = alt.Axis(values=sorted(rows["gpus"].unique().tolist()))
    x = alt.X("gpus:Q", scale=alt.Scale(type="log", base=2, nice=False), title="devices", axis=counts)
    # A prediction's band may reach above 1; so do figures measured on a faster second machine.
    scale = alt.Scale(domain=[0, max(1.05, float(rows[["efficiency", "high"]].max().max()))], nice=False)
    y = alt.Y("efficiency:Q", scale=scale, axis=alt.Axis(format="%", tickCount=4), title="efficiency")
    shared = {"x": x, "color": look.colour("family:N", names)}
    fitted, measured = alt.Chart().transform_filter("datum.fitted"), alt.Chart().transform_filter("!datum.fitted")
    fields = {"family": "family (text)", "batch_size": "batch", "gpus": "devices"}
    origin = {name: title for name, title in look.ORIGIN.items() if name in rows.columns}
    words = look.tooltip(**fields, efficiency="efficiency", **origin)
    reach = look.tooltip(**fields, efficiency="predicted efficiency", low="low end", high="high end")
    return alt.layer(
        fitted.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title="efficiency"), y2=alt.Y2("high:Q"), **shared),
        fitted.mark_line(strokeWidth=2.5, strokeDash=[5, 3]).encode(y=y, tooltip=reach, **shared),
        measured.mark_line().encode(y=y, detail=alt.Detail("family:N"), **shared),
        *look.points(measured.transform_filter("datum.gpus > 1"), y=y, tooltip=words, **shared),
        width=look.WIDTH - 70,
        height=HEIGHT,
    )


def _finding(measured: "pd.DataFrame") -> str:
    """What the most devices do, as a share of as many times the work of one."""
    count = int(measured["gpus"].max())
    if count <= 1:
        return ""
    shares = [f"{100 * share:.0f}" for share in sorted(measured.loc[measured["gpus"] == count, "efficiency"])]
    span = shares[0] if shares[0] == shares[-1] else f"{shares[0]} to {shares[-1]}"
    return f"{count} devices do {span} % of {count} times the work of one"


def _select_lines(data: "ChartData") -> "pd.DataFrame":
    """Measured lines, and predicted ones of machines without any, with `fitted` and `family`; all begin at one device.

    Of each family and model the largest batch. Predicted is the reference if its curve is known, else the first
    MAX_PREDICTED machines.
    """
    measured, curve = data.table("efficiency"), data.table("curve")
    lines = [_largest_batch(measured.assign(fitted=False, family=data.machines(measured["base_instance"])))]
    if len(curve):
        pairs = set(zip(measured["instance"], measured["model"], strict=True))
        is_new = [pair not in pairs for pair in zip(curve["instance"], curve["model"], strict=True)]
        curve = curve[is_new]
        reference = [data.reference] if (curve["instance"] == data.reference).any() else []
        curve = curve[curve["instance"].isin(reference or curve["instance"].unique()[:MAX_PREDICTED])]
        family = data.machines(curve["instance"]) + " (predicted)"
        lines.append(_largest_batch(curve.assign(fitted=True, family=family, base_instance=curve["instance"])))
    rows = pd.concat(lines, ignore_index=True)
    rows = rows.reindex(columns=list(dict.fromkeys([*rows.columns, "low", "high"])))
    starts = rows.drop_duplicates(["base_instance", "model", "fitted"]).assign(**ONE_DEVICE)
    return pd.concat([starts, rows], ignore_index=True)


def _largest_batch(rows: "pd.DataFrame") -> "pd.DataFrame":
    return rows[rows["batch_size"] == rows.groupby(["base_instance", "model"])["batch_size"].transform("max")]


EFFICIENCY = Chart(
    name="efficiency",
    stage="speed",
    section="speed",
    draw=efficiency,
    needs="efficiency",
    title="Scaling efficiency by number of devices at the largest batch",
    caption="Scaling efficiency against the number of devices, by family at its largest batch; dashed with a band: "
    "predicted. At most {models} models and 7 families are drawn; the tables hold all.",
)
