"""Charts of speeds: points by their basis on their intervals, and how well several devices share the work."""

from sweetspot.cells import BASES
from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.chart import WORDS, Chart
from sweetspot.report.tables import hours_differ

# Machines in all, and the bounds of their number on one model; measured ones and the reference are always drawn.
MAX_ROWS, MAX_PER_MODEL, MIN_PER_MODEL = 36, 12, 6
VISIBLE_RATIO = 1.02  # of the high to the low end of an interval, from where on its line is seen
RATE, LOW, HIGH = "images_per_s", "images_per_s_low", "images_per_s_high"
CELL = ["instance", "model", "batch_size"]
HEIGHT = 140  # pixels of a panel


def select_speeds(data: "ChartData") -> "pd.DataFrame":
    """Return the rows that the chart of speeds draws, from `throughput` and `extrapolation`: images/s with interval.
    One per machine, model and batch size, with its fastest figure; a figure used for several batches is drawn once. Of
    machines with the same speed one is drawn: the reference, else one whose speed has the best basis. Of each model
    these are the fastest machines, the measured ones and the reference.
    """
    columns = [*CELL, RATE, LOW, HIGH, *look.ORIGIN, "headline"]
    measured, predicted = (data.table(name, *columns)[columns] for name in ("throughput", "extrapolation"))
    predicted = predicted[predicted["headline"].eq(True)]
    rows = pd.concat([measured, predicted], ignore_index=True) if len(predicted) else measured
    rows = data.limit_models(rows[rows[RATE] > 0])
    rows = rows.sort_values(RATE).drop_duplicates(CELL, keep="last")
    rows = rows.assign(
        machine=data.machines(rows["instance"]),
        order=pd.Categorical(rows["basis"], BASES).codes,
        rounded=rows[RATE].map("{:.6g}".format),
        other=rows["instance"] != data.reference,
    )
    rows = rows.sort_values(["order", "batch_size"], ascending=[True, False])
    rows = rows.drop_duplicates(["instance", "model", RATE])
    rows = rows.assign(order=rows.groupby("instance")["order"].transform("max"))
    rows = rows.sort_values(["other", "order", "instance"])
    rows = rows.drop_duplicates(["model", "batch_size", "rounded"]).sort_values(RATE)
    limit = max(MIN_PER_MODEL, min(MAX_PER_MODEL, MAX_ROWS // max(1, rows["model"].nunique())))
    best = rows.groupby(["model", "instance"])[RATE].transform("max")
    ranks = best.groupby(rows["model"]).rank(ascending=False, method="dense")
    is_measured = rows["basis"] == "measured"
    return rows[(ranks <= limit) | is_measured | ~rows["other"]]


def throughput(data: "ChartData", rows: "pd.DataFrame") -> look.Drawing:
    """Draw how fast each machine trains: points (samples/s, with interval) by machine and batch, a panel per model.
    `rows`: of `select_speeds`, with `images_per_s` and bounds, `machine`, `model`, `batch_size`, `basis`; `data`:
    titles and units.
    """
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str))
    names = rows["machine"]
    colour = look.colour("batch:N", batches, "batch per device", legend=len(batches) > 1)
    if len(batches) > len(look.COLOURS):  # a colour would stand for two of them
        names = names + ", batch " + rows["batch"]
        colour = alt.ColorValue(look.COLOURS[0])
    rows = rows.assign(title=look.wrapped(names))
    title = f"{data.unit}/s (log scale)"
    fields = {RATE: f"{data.unit}/s", LOW: "low end", HIGH: "high end"}
    fastest_first = alt.EncodingSortField(RATE, op="max", order="descending")
    base = alt.Chart().encode(
        y=alt.Y("title:N", sort=fastest_first, title=None, axis=look.name_axis()),
        color=colour,
        tooltip=look.tooltip(machine="machine (text)", batch="batch (text)", **fields, **look.ORIGIN),
    )
    all_rates = rows[[RATE, LOW, HIGH]].stack()
    x = look.log_channel(alt.X, RATE, title, all_rates)
    intervals = base.transform_filter(f"isValid(datum.{LOW})").mark_rule(strokeWidth=1.5)
    panel = alt.layer(
        intervals.encode(x=alt.X(f"{LOW}:Q", title=title), x2=f"{HIGH}:Q"),
        *look.points(base.encode(x=x)),
        width=look.PLOT,
        height=look.line_step(rows["title"], look.ROW),
    )
    panels = look.by_row(panel, data.answer_first(rows["model"])).resolve_scale(y="independent")
    fastest = rows.loc[rows.groupby("model")[RATE].idxmax(), "machine"].value_counts()
    count = fastest.sum()
    on_models = f"{fastest.iloc[0]} of {count} models" if count > 1 else rows["model"].iloc[0]
    has_lines = (rows[HIGH] > VISIBLE_RATIO * rows[LOW]).any()
    lines = ["line: 95 % interval, predicted 90 %"] if has_lines else []
    key = look.shape_key(rows["basis"], *lines)
    return look.Drawing(panels, {"rows": rows}, f"Fastest on {on_models}: {fastest.index[0]}", key)


THROUGHPUT = Chart(
    "throughput",
    *WORDS["throughput"],
    stage="speed",
    section="speed",
    select=select_speeds,
    plot=throughput,
    needs="throughput",
    fits=hours_differ,  # equal times come from equal speeds
)


def select_lines(data: "ChartData") -> "pd.DataFrame":
    """Return the rows that the chart of efficiency draws, from the table `efficiency`: a line per family and model. A
    family is the machines of one base instance, whose title is the column `family`. A line starts at one device
    (efficiency 1) and is of the largest batch; a family per colour.
    """
    rows = data.table("efficiency", *look.ORIGIN)
    rows = rows.assign(family=data.machines(rows["base_instance"]))
    largest_batch = rows.groupby(["family", "model"])["batch_size"].transform("max")
    rows = rows[rows["batch_size"] == largest_batch]
    starts = rows.drop_duplicates(["family", "model"])
    starts = starts.assign(gpus=1, efficiency=1.0)
    rows = data.limit_models(pd.concat([starts, rows], ignore_index=True))
    families = rows["family"].unique()[: len(look.COLOURS)]
    return rows[rows["family"].isin(families)]


def efficiency(data: "ChartData", rows: "pd.DataFrame") -> look.Drawing:
    """Draw how well several devices share the work: lines of efficiency over the number of devices, a panel per model.
    `rows`: of `select_lines`, with `family`, `model`, `gpus`, `efficiency` (1: linear), `basis`; `data`: titles and
    units.
    """
    counts = alt.Axis(values=sorted(rows["gpus"].unique().tolist()))
    # Figures measured on a faster second machine may reach above 1.
    highest = max(1.05, float(rows["efficiency"].max()))
    devices = alt.Scale(type="log", base=2, nice=False)
    share = alt.Scale(domain=[0, highest], nice=False)
    fields = {"family": "family (text)", "batch_size": "batch", "gpus": "devices", "efficiency": "efficiency"}
    base = alt.Chart().encode(
        x=alt.X("gpus:Q", scale=devices, title="devices", axis=counts),
        y=alt.Y("efficiency:Q", scale=share, title="efficiency", axis=alt.Axis(format="%", tickCount=4)),
        color=look.colour("family:N", list(rows["family"].unique())),
        tooltip=look.tooltip(**fields, **look.ORIGIN),
    )
    panel = alt.layer(
        base.mark_line(), *look.points(base.transform_filter("datum.gpus > 1")), width=look.WIDTH - 70, height=HEIGHT
    )
    panels = look.by_row(panel, data.answer_first(rows["model"]))
    several = rows[rows["gpus"] > 1]
    key = look.shape_key(several["basis"])
    return look.Drawing(panels, {"rows": rows}, efficiency_finding(several), key)


def efficiency_finding(rows: "pd.DataFrame") -> str:
    """Return the chart's title, its finding in words: the efficiency (per cent) at the largest number of devices.
    `rows`: of the table `efficiency` with `gpus`, `efficiency` (1: linear); '' if there are none.
    """
    if rows.empty:
        return ""
    count = int(rows["gpus"].max())
    shares = rows.loc[rows["gpus"] == count, "efficiency"]
    span = " to ".join(dict.fromkeys(f"{100 * share:.0f}" for share in (shares.min(), shares.max())))
    return f"{count} devices do {span} % of {count} times the work of one"


EFFICIENCY = Chart(
    "efficiency",
    *WORDS["efficiency"],
    stage="speed",
    section="speed",
    select=select_lines,
    plot=efficiency,
    needs="efficiency",
)
