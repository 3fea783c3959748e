"""Predicted images per second by method, with 90 % prediction intervals."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.dots import ROW, alike, dots, ends_of, rate_axis
from sweetspot.report.marks import (
    BESIDE,
    TEXT,
    Drawing,
    by_row,
    colour,
    empty,
    key_of,
    line_step,
    of_all,
    told,
    wrapped,
)
from sweetspot.report.notation import number
from sweetspot.report.tables import method_name
from sweetspot.wording import begun, the

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

METHODS = 7  # as many as there are colours; that of the answer first
FEW, SHOWN = 3, 15  # machines with a panel each; machines drawn where they are more, the fastest of a model
RATE = "images_per_s"
CELL = ["instance", "model", "batch_size"]


def draw(data: "ChartData") -> Drawing:
    """A point a cell and method on its interval, one panel a machine; where those are many, one panel a model, and the
    method of the answer alone.
    """
    import altair as alt

    rows = data.table("extrapolation")
    if rows.empty:
        return empty("Nothing is extrapolated in this study.")
    rows = data.few_models(rows).assign(basis="extrapolated")
    rows["cell"] = rows["model"] + ", batch " + rows["batch_size"].astype(str)
    rows = rows.assign(machine=data.machines(rows["instance"]), method=rows["method"].map(method_name))
    many = rows["machine"].nunique() > FEW and bool(rows["headline"].any())
    rows = _of_many(_unseen(rows, data.table("throughput")), data.reference) if many else rows
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False, kind="stable")["method"]))[:METHODS]
    rows = rows[rows["method"].isin(names)]
    rows = rows.assign(title=wrapped(rows["machine"]))
    tint = colour("method:N", names, shown=names if len(names) > 1 else (), room=BESIDE)
    words = told(
        machine=f"machine{TEXT}", cell=f"model and batch{TEXT}", method=f"method{TEXT}",
        **ends_of(RATE, f"{data.unit}/s"), efficiency="efficiency",
    )  # fmt: skip
    x = rate_axis(rows, RATE, f"{data.unit}/s", log=False)
    key = key_of(rows["basis"], *([f"by {names[0]}"] if len(names) == 1 else []), "line: 90 % interval")
    if many:
        panel = dots(rows, RATE, x, "title", tint=tint, words=words)
        panels = by_row(panel, "model:N", alt.ScaleResolveMap(y="independent"), data.answer_first(rows["model"]))
        own = rows[(rows["instance"] == data.reference) & rows[f"{RATE}_low"].notna()]
        return Drawing(panels, {"rows": rows}, _reach(own) if len(own) else _fastest(rows), key=key)
    beside = {"yOffset": alt.YOffset("method:N", sort=names)} if len(names) > 1 else {}
    height = alt.Step(max(7, 20 // len(names))) if beside else line_step(rows["cell"], ROW)
    panel = dots(rows, RATE, x, "cell", tint=tint, words=words, beside=beside, height=height, sort=None)
    return Drawing(by_row(panel, "title:N"), {"rows": rows}, _apart(rows, f"{data.unit}/s"), key=key)


def _unseen(rows: "pd.DataFrame", seen: "pd.DataFrame") -> "pd.DataFrame":
    """The predictions of cells that nobody measured; all, where there is none of these."""
    if seen.empty:
        return rows
    known = set(zip(*(seen[name] for name in CELL), strict=True))
    new = [cell not in known for cell in zip(*(rows[name] for name in CELL), strict=True)]
    return rows[new] if any(new) else rows


def _of_many(rows: "pd.DataFrame", reference: str) -> "pd.DataFrame":
    """The method of the answer alone; of each model the fastest SHOWN and the reference, machines alike together."""
    rows = alike(rows[rows["headline"].astype(bool)], RATE, reference)
    best = rows.groupby(["model", "instance"])[RATE].transform("max")
    place = best.groupby(rows["model"]).rank(ascending=False, method="dense")
    return rows[(place <= SHOWN) | (rows["instance"] == reference)]


def _reach(rows: "pd.DataFrame") -> str:
    """How far the intervals of one machine reach, on the model where they reach farthest."""
    below, above = (100 * (rows[f"{RATE}_{end}"] / rows[RATE] - 1) for end in ("low", "high"))
    reach = f"{-below.min():.0f} % below to {above.max():.0f} % above what is predicted"
    return begun(f"{the(rows['machine'].iloc[0])} may be from {reach}")


def _fastest(rows: "pd.DataFrame") -> str:
    """Which machine is the fastest on most models, of those that nobody measured."""
    fastest = rows.loc[rows.groupby("model")[RATE].idxmax()]
    often = fastest["machine"].value_counts()
    first = str(fastest["model"].iloc[0])
    where = of_all(int(often.iloc[0]), len(fastest), "models") if len(fastest) > 1 else first
    return f"Fastest on {where} of the machines that nobody has measured: {often.index[0]}"


def _apart(rows: "pd.DataFrame", unit: str) -> str:
    """How far the methods are apart where they differ most; of one method its figure, the first model's."""
    cells = rows.groupby(["machine", "cell"], sort=False)[RATE]
    if rows["method"].nunique() > 1:
        apart = (cells.max() / cells.min()).max()
        where = f" on {the(rows['machine'].iloc[0])}" if rows["machine"].nunique() == 1 else ""
        return f"{rows['method'].nunique()} ways to predict are at most {100 * (apart - 1):.0f} % apart{where}"
    first = rows.iloc[0]
    return f"{first['machine']} on {first['cell']}: {number(first[RATE])} {unit}"


CHART = Chart(
    title="Predicted {units} per second by method, with 90 % prediction intervals",
    caption="Predicted {units} per second by method with 90 % prediction intervals. Machines of one speed share a row. "
    "At most {models} models and 15 speeds of each are drawn; the tables hold all.",
    stage="speed",
    section="unmeasured",
    order=1,
    draw=draw,
    needs="extrapolation",
)
