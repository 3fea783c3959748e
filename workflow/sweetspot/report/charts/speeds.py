"""Speeds as points by their basis on their intervals: a machine a row, a model a panel."""

from sweetspot.cells import BASES
from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.chart import Chart
from sweetspot.report.tables import hours_differ

PAIR_LETTERS = 60  # of two names together, at most
DIRECT_BASES = ("measured", "own", "published")
# Machines in all, and the bounds of their number on one model; measured ones and the reference are always drawn.
MAX_ROWS, MAX_PER_MODEL, MIN_PER_MODEL = 36, 12, 6
VISIBLE_RATIO = 1.02  # of the high to the low end of an interval, from where on its line is seen
RATE = "images_per_s"
CELL = ["instance", "model", "batch_size"]
COLUMNS = [*CELL, RATE, f"{RATE}_low", f"{RATE}_high", *look.ORIGIN]


def throughput(data: "ChartData") -> look.Drawing:
    """Draw a point for each machine and batch, the fastest figure of each, and one panel for each model."""
    rows = _select_speeds(data)
    if rows.empty:
        return look.empty("No speed measured or published in this study.")
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str))
    in_names = len(batches) > len(look.COLOURS)  # a colour would stand for two of them
    rows["title"] = look.wrapped(rows["machine"] + ", batch " + rows["batch"] if in_names else rows["machine"])
    if in_names:
        tint: alt.Color | alt.ColorValue = alt.ColorValue(look.COLOURS[0])
    else:
        tint = look.colour("batch:N", batches, "batch per device", batches if len(batches) > 1 else ())
    panels = look.by_row(_panel(rows, f"{data.unit}/s", tint), data.answer_first(rows["model"]), same_names=False)
    says = "Fastest on {}: {}".format(*_most_often_fastest(rows))
    return look.Drawing(panels, {"rows": rows}, says, key=look.shape_key(rows["basis"], *_interval_key(rows)))


def _panel(rows: "pd.DataFrame", unit: str, tint: "alt.Color | alt.ColorValue") -> "alt.LayerChart":
    """One panel: a point for each row, and a line where its interval is known."""
    every = pd.concat([rows[name].dropna() for name in (RATE, f"{RATE}_low", f"{RATE}_high")])
    title, scale = f"{unit} (log scale)", alt.Scale(type="log", nice=False, padding=10)
    x = alt.X(f"{RATE}:Q", title=title, scale=scale, axis=look.log_axis(every))
    low, high = alt.X(f"{RATE}_low:Q", title=title), alt.X2(f"{RATE}_high:Q")
    fastest_first = alt.EncodingSortField(RATE, op="max", order="descending")
    shared = {"y": alt.Y("title:N", sort=fastest_first, title=None, axis=look.name_axis()), "color": tint}
    rates = {RATE: unit, f"{RATE}_low": f"{unit}, low end", f"{RATE}_high": f"{unit}, high end"}
    words = look.tooltip(machine="machine (text)", batch="batch (text)", **rates, **look.ORIGIN)
    bounded = alt.Chart().transform_filter(f"isValid(datum.{RATE}_low)")
    return alt.layer(
        bounded.mark_rule(strokeWidth=1.5).encode(x=low, x2=high, **shared),
        *look.points(alt.Chart(), x=x, tooltip=words, **shared),
        width=look.PLOT,
        height=look.line_step(rows["title"], look.ROW),
    )


def merge_equal_machines(rows: "pd.DataFrame", reference: str) -> "pd.DataFrame":
    """Keep one machine of all that have the same speeds on a model: a device is as fast wherever it is rented.

    Parameters
    ----------
    rows
        Columns instance, machine (names for people), model, batch_size, basis, images_per_s.
    reference
        The instance that keeps its row.

    Returns
    -------
    pandas.DataFrame
        The rows of those kept: of equal machines one whose speeds are its own on every model, if there is one. Its
        name holds the others: one by name, several by their number.
    """
    speeds = rows["batch_size"].astype(str) + " " + rows[RATE].map("{:.6g}".format)
    speeds = speeds.groupby([rows["instance"], rows["model"]]).transform(lambda texts: "; ".join(sorted(texts)))
    speeds = speeds.mask(rows["instance"] == reference, reference)
    borrowed = ~rows["basis"].isin(DIRECT_BASES).groupby(rows["instance"]).transform("any")
    rows = rows.assign(speeds=speeds, borrowed=borrowed).sort_values(["borrowed", "instance"], kind="stable")
    equal = rows.groupby(["model", "speeds"])
    names = equal["machine"].transform(lambda machines: _join_names(list(dict.fromkeys(machines))))
    is_first = rows["instance"] == equal["instance"].transform("first")
    return rows.assign(machine=names)[is_first].drop(columns=["speeds", "borrowed"])


def _join_names(names: list[str]) -> str:
    """The first, with the others by name or by number."""
    both = " and ".join(names)
    if len(names) == 1 or (len(names) == 2 and len(both) <= PAIR_LETTERS):
        return both
    return f"{names[0]} and {len(names) - 1} other{'s'[: len(names) - 2]}"


def _rank(rows: "pd.DataFrame") -> "pd.Series":
    """The rank of each row's machine on its model, 1 the fastest."""
    best = rows.groupby(["model", "instance"])[RATE].transform("max")
    return best.groupby(rows["model"]).rank(ascending=False, method="dense")


def _most_often_fastest(rows: "pd.DataFrame") -> tuple[str, str]:
    """On how many models, and which machine."""
    fastest = rows.loc[rows.groupby("model")[RATE].idxmax()]
    counts, total = fastest["machine"].value_counts(), len(fastest)
    name, count = str(counts.index[0]), int(counts.iloc[0])
    if total == 1:
        return str(fastest["model"].iloc[0]), name
    if count < total:
        return f"{count} of {total} models", name
    return "both models" if total == 2 else f"all {total} models", name


def _interval_key(rows: "pd.DataFrame") -> list[str]:
    """What the lines are; nothing where none is longer than its point is wide."""
    predicted = rows.loc[rows[f"{RATE}_high"] > VISIBLE_RATIO * rows[f"{RATE}_low"], "basis"].eq("extrapolated")
    if predicted.empty:
        return []
    if predicted.all():
        return ["line: 90 % interval"]
    return [f"line: 95 % interval{', predicted 90 %' if predicted.any() else ''}"]


def _select_speeds(data: "ChartData") -> "pd.DataFrame":
    """The rows to draw, with `machine`: of each model the fastest, what was measured here, and the reference."""
    rows, predictions = data.table("throughput"), data.table("extrapolation")
    rows = rows[rows[RATE] > 0] if len(rows) else rows
    if len(predictions):
        rows = pd.concat([rows, predictions[predictions["headline"].astype(bool)]], ignore_index=True)
    if rows.empty:
        return rows
    rows = data.few_models(rows).sort_values(RATE).drop_duplicates(CELL, keep="last").reindex(columns=COLUMNS)
    # A figure that stands in for others of its machine would lie on itself: it is drawn once, with its best basis, or
    # at the largest batch.
    order = rows["basis"].map({basis: index for index, basis in enumerate(BASES)})
    best_first = rows.assign(order=order).sort_values(["order", "batch_size"], ascending=[True, False])
    rows = best_first.drop(columns="order").drop_duplicates(["instance", "model", RATE]).sort_values(RATE)
    rows = merge_equal_machines(rows.assign(machine=data.machines(rows["instance"])), data.reference)
    limit = max(MIN_PER_MODEL, min(MAX_PER_MODEL, MAX_ROWS // rows["model"].nunique()))
    return rows[(_rank(rows) <= limit) | (rows["basis"] == "measured") | (rows["instance"] == data.reference)]


THROUGHPUT = Chart(
    name="throughput",
    stage="speed",
    section="speed",
    draw=throughput,
    fits=hours_differ,  # equal times come from equal speeds
    title="{Units} per second by machine, model and batch",
    caption="{Units} per second by machine, model and batch. Machines of one speed share a row. The shape tells the "
    "basis of the figure. At most {models} models and 12 speeds of each are drawn; the tables hold all.",
)
