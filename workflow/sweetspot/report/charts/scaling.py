"""How well several devices share the work, and how wrong each method of prediction was."""

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.lines import GAP, NAME, SAMPLE, ends, with_names
from sweetspot.report.tables import method_name, table_of

START = {"gpus": 1, "efficiency": 1.0, "low": 1.0, "high": 1.0}  # one device
NAMES = 135  # pixels of a name at the end of a line
WIDE, HIGH = look.WIDTH - 60 - SAMPLE - NAMES, 120
SLICES = {"all": "all figures held out", "study_models": "models of this study"}
LINES, PREDICTED = 7, 2  # families, as many as there are colours; of them


def efficiency(data: "ChartData") -> look.Drawing:
    """A line a family, by device count, its name at its end; dashed with its band: predicted."""
    if data.table("efficiency").empty:
        return look.empty("No scaling efficiency in this study.")
    both = data.few_models(_lines(data))
    names = list(dict.fromkeys(both.sort_values("fitted", kind="stable")["family"]))[:LINES]
    both = both[both["family"].isin(names)].reset_index(drop=True)
    counts = alt.Axis(values=sorted(both["gpus"].unique().tolist()))
    x = alt.X("gpus:Q", scale=alt.Scale(type="log", base=2, nice=False), title="devices", axis=counts)
    # A prediction's band may reach above 1; so do figures measured on a faster second machine.
    top = max(1.05, float(both[["efficiency", "high"]].max().max()))
    high = max(HIGH, int(both.drop_duplicates(["model", "family"]).groupby("model")["name_height"].sum().max()))
    both = _with_names(both, high, top)
    scale, per_cent = alt.Scale(domain=[0, top], nice=False), alt.Axis(format="%", tickCount=4)
    y = alt.Y("efficiency:Q", scale=scale, axis=per_cent, title="efficiency")
    low, tint = alt.Y("low:Q", title="efficiency"), look.colour("family:N", names, shown=())
    dash = alt.StrokeDash("fitted:N", scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 3]]), legend=None)
    fitted, seen = alt.Chart().transform_filter("datum.fitted"), alt.Chart().transform_filter("!datum.fitted")
    fields = {"family": "family (text)", "batch_size": "batch", "gpus": "devices"}
    origin = {name: title for name, title in look.ORIGIN.items() if name in both.columns}
    words = look.told(**fields, efficiency="efficiency", **origin)
    reach = look.told(**fields, efficiency="predicted efficiency", low="low end", high="high end")
    panel = alt.layer(
        fitted.mark_area(opacity=0.18).encode(x=x, y=low, y2=alt.Y2("high:Q"), color=tint),
        fitted.mark_line(strokeWidth=2.5).encode(x=x, y=y, color=tint, strokeDash=dash, tooltip=reach),
        seen.mark_line().encode(x=x, y=y, color=tint, detail=alt.Detail("family:N")),
        *look.points(seen.transform_filter("datum.gpus > 1"), x=x, y=y, color=tint, tooltip=words),
        *ends(alt.Chart(), WIDE, color=tint, strokeDash=dash),
        width=WIDE,
        height=high,
    )
    seen_rows = both[~both["fitted"].astype(bool)]
    band = ["dashed: predicted, with its 90 % band"] if both["fitted"].any() else []
    key = look.key_of(seen_rows.loc[seen_rows["gpus"] > 1, "basis"], *band)
    panels = look.by_row(panel, "model:N", order=data.answer_first(both["model"]))
    return look.Drawing(panels, {"rows": both}, _efficiency_says(seen_rows), key)


def _efficiency_says(seen: "pd.DataFrame") -> str:
    """What most devices do, of as many times the work of one."""
    most = int(seen["gpus"].max())
    shares = [f"{100 * share:.0f}" for share in sorted(seen.loc[seen["gpus"] == most, "efficiency"])]
    span = shares[0] if shares[0] == shares[-1] else f"{shares[0]} to {shares[-1]}"
    return f"{most} devices do {span} % of {most} times the work of one" if most > 1 else ""


def _lines(data: "ChartData") -> "pd.DataFrame":
    """What was seen and, of machines where nothing was, what is predicted.

    With columns `fitted`, `family` and `name_height` (pixels).

    Of each family and model the largest batch. Predicted is the machine that is judged, where its curve is known; else
    the first PREDICTED.
    """
    seen, curve = data.table("efficiency"), data.table("curve")
    seen = _largest(seen.assign(fitted=False, family=data.machines(seen["base_instance"])))
    if curve.empty:
        return _begun(seen)
    known = set(zip(seen["instance"], seen["model"], strict=True))
    new = [pair not in known for pair in zip(curve["instance"], curve["model"], strict=True)]
    curve = curve[new]
    judged = [data.reference] if (curve["instance"] == data.reference).any() else curve["instance"].unique()[:PREDICTED]
    curve = curve[curve["instance"].isin(judged)]
    family = data.machines(curve["instance"]) + " (predicted)"
    curve = _largest(curve.assign(fitted=True, family=family, base_instance=curve["instance"]))
    return _begun(pd.concat([seen, curve], ignore_index=True))


def _largest(rows: "pd.DataFrame") -> "pd.DataFrame":
    most = rows.groupby(["base_instance", "model"])["batch_size"].transform("max")
    return rows[rows["batch_size"] == most]


def _begun(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Each line begun at one device, its name in lines."""
    rows = rows.reindex(columns=list(dict.fromkeys([*rows.columns, "low", "high"])))
    first = rows.drop_duplicates(["base_instance", "model", "fitted"]).assign(**START)
    both = pd.concat([first, rows], ignore_index=True)
    return both.assign(name_height=NAME * (look.wrapped(both["family"], NAMES).str.count("\n") + 1) + GAP)


def _with_names(both: "pd.DataFrame", high: int, top: float) -> "pd.DataFrame":
    parts = []
    for _, rows in both.groupby("model", sort=False):
        last = rows.sort_values("gpus").groupby("family", sort=False).tail(1)
        parts.append(with_names(rows, look.wrapped(last["family"], NAMES), high * (1 - last["efficiency"] / top), high))
    return pd.concat(parts)


EFFICIENCY = Chart(
    name="efficiency", stage="speed", section="speed", order=2, draw=efficiency, needs="efficiency",
    title="Scaling efficiency by number of devices at the largest batch",
    caption="Scaling efficiency against the number of devices, by family at its largest batch; dashed with a band: "
    "predicted. At most {models} models and 7 families are drawn; the tables hold all.",
)  # fmt: skip


def validation(data: "ChartData") -> look.Drawing:
    """A point and line a method, the best first; one panel a slice of the rows."""
    rows = data.table("validation")
    if rows.empty:
        return look.empty("No method was validated for this study.")
    rows = rows[rows["slice"].isin(["all", "study_models"]) | rows["slice"].str.match(r"gpus=(2|4|8)$")]
    rows = rows.assign(
        part=rows["slice"].replace(r"gpus=(\d+)", r"on \1 devices", regex=True).replace(SLICES),
        method=rows["method"].map(method_name),
    )
    order = rows[rows["slice"] == "all"].sort_values("median_abs_error")["method"].tolist()
    y = alt.Y("method:N", sort=order, title=None, axis=look.name_axis())
    title = "error on devices left out"
    x = alt.X("median_abs_error:Q", title=title, axis=alt.Axis(format="%"))
    words = look.told(method="method (text)", median_abs_error="median error", p90_abs_error="90 % below", rows="rows")
    base = alt.Chart().encode(y=y, x=x, tooltip=words)
    panel = alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(x2=alt.X2("p90_abs_error:Q")),
        base.mark_point(filled=True, color=look.COLOURS[0]),
        width=look.PLOT,
        height=alt.Step(look.ROW),
    )
    # Not each method says something of each slice: without a scale of its own a panel had a row without a mark.
    panels = look.by_row(panel, "part:N", alt.ScaleResolveMap(y="independent"), list(dict.fromkeys(rows["part"])))
    key = look.key_of(rows["method"].head(0), "point: median", "line: up to 90 % of rows")
    guess = data.table("extrapolation")
    used = guess.loc[guess["headline"].astype(bool), "method"].map(method_name) if len(guess) else []
    shown = next((name for name in [*used, *order] if name in order), "")  # that of the answer, else the best
    return look.Drawing(panels, {"rows": rows}, _validation_says(rows, shown), key)


def _validation_says(rows: "pd.DataFrame", method: str) -> str:
    """How far off the predictions of that method were, all held-out figures together."""
    row = rows[(rows["slice"] == "all") & (rows["method"] == method)]
    if row.empty:
        return ""
    half, most = (f"{100 * row[name].iloc[0]:.2g} %" for name in ("median_abs_error", "p90_abs_error"))
    name = method[0].upper() + method[1:]
    return f"{name}: half of its predictions were less than {half} off, nine in ten less than {most}"


VALIDATION = Chart(
    name="validation", stage="speed", section="unmeasured", order=2, draw=validation, needs="extrapolation",
    fits=lambda tables: len(table_of(tables, "validation")) > 0,
    title="How wrong each method was on devices it had not seen: median error, and what 90 % of rows stay below",
    caption="How wrong each extrapolation method was on devices it had not seen: median error, and what 90 % of rows "
    "stay below.",
)  # fmt: skip
