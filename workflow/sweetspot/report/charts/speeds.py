"""Rates as points by their basis on their intervals, a name a row: speeds, predictions, images per USD."""

from typing import Any

from sweetspot.cells import BASES
from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.notation import number
from sweetspot.report.tables import bills_decide, hours_differ, method_name
from sweetspot.wording import begun, the, times

WIDE = 20  # the largest by the smallest, from where on a logarithmic scale tells the small ones apart
TWO = 60  # characters of two names together, at most
OWN_FIGURES = ("measured", "own", "published")
# Speeds in all, at most of one model, at least; beside measured ones and the reference.
ROWS, BUSIEST, LEAST = 36, 12, 6
METHODS = 7  # as many as there are colours; that of the answer first
FEW, FASTEST = 3, 15  # machines with a panel each; machines drawn where they are more, the fastest of a model
RATE, PER_USD = "images_per_s", "images_per_usd"
SEEN = 1.02  # the high end of an interval by its low end, from where on its line is seen
CELL = ["instance", "model", "batch_size"]
COLUMNS = [*CELL, *(f"{RATE}{end}" for end in look.ENDS), *look.ORIGIN]


def ends_of(rate: str, unit: str) -> dict[str, str]:
    """Columns of a rate and of its interval, for a tooltip."""
    return {f"{rate}{end}": f"{unit}{name}" for end, name in look.ENDS.items()}


def rate_axis(rows: "pd.DataFrame", rate: str, unit: str, log: bool = True) -> "alt.X":
    """The scale of a rate, as long as its points and intervals need; not `log`: only where points differ WIDE."""
    values = rows[rate]
    if not log and not values.max() > WIDE * values.min() > 0:
        return alt.X(f"{rate}:Q", title=unit, scale=alt.Scale(zero=False, padding=8))
    every = pd.concat([rows[name].dropna() for name in (rate, f"{rate}_low", f"{rate}_high") if name in rows.columns])
    scale = alt.Scale(type="log", nice=False, padding=10)
    return alt.X(f"{rate}:Q", title=f"{unit} (log scale)", scale=scale, axis=look.log_axis(every))


def dots(rows: "pd.DataFrame", rate: str, x: "alt.X", name: str, **marks: Any) -> "alt.LayerChart":
    """A panel of `by_row` of these rows: `rate` by `name`, a column of `wrapped`; a line where an interval is known.

    marks: `sort` of the names (the largest rate first), `tint` and `words` (tooltip) of the points, `beside` (more
    channels of both) and `height`.
    """
    sort = marks.get("sort", alt.EncodingSortField(rate, op="max", order="descending"))
    y = alt.Y(f"{name}:N", sort=sort, title=None, axis=look.name_axis())
    low, high = alt.X(f"{rate}_low:Q", title=x.to_dict()["title"]), alt.X2(f"{rate}_high:Q")
    both = {"y": y, "color": marks["tint"], **marks.get("beside", {})}
    bounded = alt.Chart().transform_filter(f"isValid(datum.{rate}_low)")
    return alt.layer(
        bounded.mark_rule(strokeWidth=1.5).encode(x=low, x2=high, **both),
        *look.points(alt.Chart(), x=x, tooltip=marks["words"], **both),
        width=look.PLOT,
        height=marks.get("height") or look.line_step(rows[name], look.ROW),
    )


def alike(rows: "pd.DataFrame", rate: str, own: str) -> "pd.DataFrame":
    """One machine for all that have the same figures on a model: a device is as fast wherever it is rented.

    rows: columns instance, machine (names for people), model, batch_size, basis and `rate`. Of machines alike, one
    with a figure of its own on some model stays, with the others in its name: one by name, more by their number. `own`,
    an instance, keeps its row.
    """
    figures = rows["batch_size"].astype(str) + " " + rows[rate].map("{:.6g}".format)
    of = [rows["instance"], rows["model"]]
    figures = figures.groupby(of).transform(lambda found: "; ".join(sorted(found)))
    figures = figures.mask(rows["instance"] == own, own)
    taken = ~rows["basis"].isin(OWN_FIGURES).groupby(rows["instance"]).transform("any")
    rows = rows.assign(figures=figures, taken=taken).sort_values(["taken", "instance"], kind="stable")
    same = rows.groupby(["model", "figures"])
    names = same["machine"].transform(lambda found: _all_of(list(dict.fromkeys(found))))
    kept = rows["instance"] == same["instance"].transform("first")
    return rows.assign(machine=names)[kept].drop(columns=["figures", "taken"])


def _all_of(names: list[str]) -> str:
    """The first, with the others by name or by number."""
    both = " and ".join(names)
    if len(names) == 1 or (len(names) == 2 and len(both) <= TWO):
        return both
    return f"{names[0]} and {len(names) - 1} other{'s'[: len(names) - 2]}"


def _place(rows: "pd.DataFrame") -> "pd.Series":
    best = rows.groupby(["model", "instance"])[RATE].transform("max")
    return best.groupby(rows["model"]).rank(ascending=False, method="dense")


def _often_fastest(rows: "pd.DataFrame") -> tuple[str, str]:
    fastest = rows.loc[rows.groupby("model")[RATE].idxmax()]
    often = fastest["machine"].value_counts()
    first = str(fastest["model"].iloc[0])
    where = look.of_all(int(often.iloc[0]), len(fastest), "models") if len(fastest) > 1 else first
    return where, str(often.index[0])


def throughput(data: "ChartData") -> look.Drawing:
    """A point a machine and batch by its basis, the fastest figure of each; one panel a model."""
    rows = _fastest(data)
    if rows.empty:
        return look.empty("No speed measured or published in this study.")
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str))
    many = len(batches) > len(look.COLOURS)  # a colour would stand for two of them
    rows["title"] = look.wrapped(rows["machine"] + ", batch " + rows["batch"] if many else rows["machine"])
    words = look.told(machine="machine (text)", batch="batch (text)", **ends_of(RATE, f"{data.unit}/s"), **look.ORIGIN)
    shown = batches if len(batches) > 1 else ()
    tint = alt.ColorValue(look.COLOURS[0]) if many else look.colour("batch:N", batches, "batch per device", shown)
    panel = dots(rows, RATE, rate_axis(rows, RATE, f"{data.unit}/s"), "title", tint=tint, words=words)
    panels = look.by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
    says = "Fastest on {}: {}".format(*_often_fastest(rows))
    return look.Drawing(panels, {"rows": rows}, says, key=look.key_of(rows["basis"], *_level(rows)))


def _level(rows: "pd.DataFrame") -> list[str]:
    """What the lines are; nothing where none is as long as its point is wide."""
    predicted = rows.loc[rows[f"{RATE}_high"] > SEEN * rows[f"{RATE}_low"], "basis"].eq("extrapolated")
    if predicted.empty:
        return []
    mixed = ", predicted 90 %" if predicted.any() else ""
    return ["line: 90 % interval" if predicted.all() else f"line: 95 % interval{mixed}"]


def _fastest(data: "ChartData") -> "pd.DataFrame":
    """The rows that are drawn, with `machine`: of each model the fastest, what was measured here and the reference."""
    rows = data.table("throughput")
    rows = rows[rows[RATE] > 0] if len(rows) else rows
    guess = data.table("extrapolation")
    if len(guess):
        rows = pd.concat([rows, guess[guess["headline"].astype(bool)]], ignore_index=True)
    if rows.empty:
        return rows
    rows = data.few_models(rows).sort_values(RATE).drop_duplicates(CELL, keep="last").reindex(columns=COLUMNS)
    # A figure that stands in for others of its machine would lie on itself: it is drawn once, as what it is, or of the
    # largest batch.
    place = rows["basis"].map(dict(zip(BASES, range(len(BASES)), strict=True)))
    best_first = rows.assign(place=place).sort_values(["place", "batch_size"], ascending=[True, False])
    rows = best_first.drop(columns="place").drop_duplicates(["instance", "model", RATE]).sort_values(RATE)
    rows = alike(rows.assign(machine=data.machines(rows["instance"])), RATE, data.reference)
    shown = max(LEAST, min(BUSIEST, ROWS // rows["model"].nunique()))
    return rows[(_place(rows) <= shown) | (rows["basis"] == "measured") | (rows["instance"] == data.reference)]


THROUGHPUT = Chart(
    name="throughput", stage="speed", section="speed", order=1, draw=throughput,
    fits=hours_differ,  # equal times come from equal speeds
    title="{Units} per second by machine, model and batch",
    caption="{Units} per second by machine, model and batch. Machines of one speed share a row. The shape tells the "
    "basis of the figure. At most {models} models and 12 speeds of each are drawn; the tables hold all.",
)  # fmt: skip


def extrapolation(data: "ChartData") -> look.Drawing:
    """A point a cell and method on its interval, one panel a machine; where those are many, one panel a model, and the
    method of the answer alone.
    """
    rows = data.table("extrapolation")
    if rows.empty:
        return look.empty("Nothing is extrapolated in this study.")
    rows = data.few_models(rows).assign(basis="extrapolated")
    rows["cell"] = rows["model"] + ", batch " + rows["batch_size"].astype(str)
    rows = rows.assign(machine=data.machines(rows["instance"]), method=rows["method"].map(method_name))
    many = rows["machine"].nunique() > FEW and bool(rows["headline"].any())
    rows = _of_many(_unseen(rows, data.table("throughput")), data.reference) if many else rows
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False, kind="stable")["method"]))[:METHODS]
    rows = rows[rows["method"].isin(names)]
    rows = rows.assign(title=look.wrapped(rows["machine"]))
    tint = look.colour("method:N", names, shown=names if len(names) > 1 else (), room=look.BESIDE)
    words = look.told(
        machine="machine (text)", cell="model and batch (text)", method="method (text)",
        **ends_of(RATE, f"{data.unit}/s"), efficiency="efficiency",
    )  # fmt: skip
    x = rate_axis(rows, RATE, f"{data.unit}/s", log=False)
    key = look.key_of(rows["basis"], *([f"by {names[0]}"] if len(names) == 1 else []), "line: 90 % interval")
    if many:
        panel = dots(rows, RATE, x, "title", tint=tint, words=words)
        panels = look.by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
        own = rows[(rows["instance"] == data.reference) & rows[f"{RATE}_low"].notna()]
        fastest = "Fastest on {} of the machines that nobody has measured: {}".format(*_often_fastest(rows))
        return look.Drawing(panels, {"rows": rows}, _reach(own) if len(own) else fastest, key=key)
    beside = {"yOffset": alt.YOffset("method:N", sort=names)} if len(names) > 1 else {}
    height = alt.Step(max(7, 20 // len(names))) if beside else look.line_step(rows["cell"], look.ROW)
    panel = dots(rows, RATE, x, "cell", tint=tint, words=words, beside=beside, height=height, sort=None)
    return look.Drawing(look.by_row(panel, "title:N"), {"rows": rows}, _apart(rows, f"{data.unit}/s"), key=key)


def _unseen(rows: "pd.DataFrame", seen: "pd.DataFrame") -> "pd.DataFrame":
    """The predictions of cells that nobody measured; all, where there is none of these."""
    if seen.empty:
        return rows
    known = set(zip(*(seen[name] for name in CELL), strict=True))
    new = [cell not in known for cell in zip(*(rows[name] for name in CELL), strict=True)]
    return rows[new] if any(new) else rows


def _of_many(rows: "pd.DataFrame", reference: str) -> "pd.DataFrame":
    """The method of the answer alone; of each model the fastest FASTEST and the reference, machines alike together."""
    rows = alike(rows[rows["headline"].astype(bool)], RATE, reference)
    return rows[(_place(rows) <= FASTEST) | (rows["instance"] == reference)]


def _reach(rows: "pd.DataFrame") -> str:
    """How far the intervals of one machine reach, on the model where they reach farthest."""
    below, above = (100 * (rows[f"{RATE}_{end}"] / rows[RATE] - 1) for end in ("low", "high"))
    reach = f"{-below.min():.0f} % below to {above.max():.0f} % above what is predicted"
    return begun(f"{the(rows['machine'].iloc[0])} may be from {reach}")


def _apart(rows: "pd.DataFrame", unit: str) -> str:
    """How far the methods are apart where they differ most; of one method its figure, the first model's."""
    cells = rows.groupby(["machine", "cell"])[RATE]
    if rows["method"].nunique() > 1:
        apart = (cells.max() / cells.min()).max()
        where = f" on {the(rows['machine'].iloc[0])}" if rows["machine"].nunique() == 1 else ""
        return f"{rows['method'].nunique()} ways to predict are at most {100 * (apart - 1):.0f} % apart{where}"
    first = rows.iloc[0]
    return f"{first['machine']} on {first['cell']}: {number(first[RATE])} {unit}"


EXTRAPOLATION = Chart(
    name="extrapolation", stage="speed", section="unmeasured", order=1, draw=extrapolation, needs="extrapolation",
    title="Predicted {units} per second by method, with 90 % prediction intervals",
    caption="Predicted {units} per second by method with 90 % prediction intervals. Machines of one speed share a row. "
    "At most {models} models and 15 speeds of each are drawn; the tables hold all.",
)  # fmt: skip


def images_per_usd(data: "ChartData") -> look.Drawing:
    """A point an option by its basis, on its interval; the best of each model and the reference."""
    rows = data.options()
    if rows.empty:
        return look.empty("No priced option in this study.")
    # Names of spot offers carry their price list: cut short, two of them read the same.
    rows = rows.assign(kind=data.kinds(rows), title=look.wrapped(data.titles(rows["option"])))
    unit = f"{data.unit} per USD"
    words = look.told(title="option (text)", **ends_of(PER_USD, unit), **look.ORIGIN, price_source="price (text)")
    x, tint = rate_axis(rows, PER_USD, unit), look.colour("kind:N", data.kind_names(rows), room=look.BESIDE)
    panel = dots(rows, PER_USD, x, "title", tint=tint, words=words)
    panels = look.by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
    key = look.key_of(rows["basis"], "line: 90 % interval")
    return look.Drawing(panels, {"rows": rows}, _images_per_usd_says(data, rows), key=key)


def _images_per_usd_says(data: "ChartData", rows: "pd.DataFrame") -> str:
    """Who asks least for the answer's model, and how far the second is from it."""
    best = rows[rows["model"] == data.model].nlargest(2, PER_USD)
    if best.empty:
        return ""
    first = f"Most {data.unit} per USD on {data.model}: {data.title(best['option'].iloc[0])}"
    if len(best) < 2:
        return first
    second = the(data.title(best["option"].iloc[1]))
    return f"{first}, {times(best[PER_USD].iloc[0] / best[PER_USD].iloc[1])} times as many as {second}"


IMAGES_PER_USD = Chart(
    name="images_per_usd", stage="price", section="costs", order=1, draw=images_per_usd,
    fits=lambda tables: not bills_decide(tables),
    title="{Units} per USD of the best options, by model, with 90 % intervals",
    caption="{Units} per USD of the best options by model, with 90 % intervals. The shape tells the basis of the "
    "figure. At most {models} models are drawn; the tables hold all.",
)  # fmt: skip
