"""Marks, colours and shapes that the charts share, and what several of them need to know."""

import math
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from sweetspot.cells import BASES
from sweetspot.report.tables import Tables, table_of, unit_of

WIDTH = 470  # legible at 390 px, where it shrinks by a quarter
# Okabe and Ito 2008, without the yellow that vanishes on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
SHAPES = ["circle", "diamond", "square", "triangle-up", "cross", "circle"]
STAYS, TAKEN = "stays", "can be taken away"
# 160m is no way to write 0.16: SI prefixes only from 1 on.
AMOUNTS = "format(datum.value, datum.value < 1 ? '~g' : '~s')"
PLAIN = "format(datum.value, datum.value > 0 && datum.value < 10 ? '~g' : ',')"
SHOWN = 12  # options a model in a chart; the tables hold all
MODELS = 12  # in a chart


Spec = dict[str, Any]


class Drawing(NamedTuple):
    """A Vega-Lite specification that refers to its data by name, and the data.

    Altair makes the marks; layers and facets are put together here, because Altair copies every chart with all its
    encodings and data at each step: half of what drawing a page costs.
    """

    spec: Spec
    data: dict[str, pd.DataFrame]


def layered(*charts: alt.Chart, width: int, height: int | Spec) -> Spec:
    """Charts on top of each other, in that order. `height`: pixels, or {"step": pixels a row}."""
    layers = [chart.to_dict(validate=False) for chart in charts]
    for layer in layers:
        layer.pop("$schema", None)
        layer.pop("config", None)
    return {"layer": layers, "width": width, "height": height}


def by_row(spec: Spec, field: str, independent: tuple[str, ...] = (), name: str = "rows") -> Spec:
    """One such drawing a value of `field`, below each other; the scales named in `independent` are each its own."""
    for layer in spec["layer"]:
        del layer["data"]  # the facet's, which it divides
    resolve = {"resolve": {"scale": dict.fromkeys(independent, "independent")}} if independent else {}
    row = {"field": field, "type": "nominal", "title": None}
    return {"data": {"name": name}, "facet": {"row": row}, "spec": spec, **resolve}


class Facts:
    """What several charts need: the study's tables, the model of the answer, the reference option."""

    def __init__(self, tables: Tables, reference: str | None) -> None:
        self.tables = tables
        headline = self.table("headline")
        self.model = str(headline["model"].iloc[0]) if len(headline) else ""
        self.rival = str(headline["alternative"].iloc[0]) if len(headline) else ""
        self.reference = reference or ""
        self.option = str(headline["reference"].iloc[0]) if len(headline) else self.reference
        self.unit = unit_of(tables)

    def table(self, name: str) -> pd.DataFrame:
        """A table, empty where the study has none."""
        return table_of(self.tables, name)

    def kinds(self, rows: pd.DataFrame) -> pd.Series:
        """What each option is to a buyer: the reference itself, one that stays, one that can be taken away."""
        kind = rows["persistent"].astype(bool).map({True: STAYS, False: TAKEN})
        return kind.where(rows["option"] != self.option, self.option)

    def kind_names(self, rows: pd.DataFrame) -> list[str]:
        """The `kind` of these rows, in the order of the legend."""
        found = set(rows["kind"])
        return [name for name in (STAYS, TAKEN, self.option) if name in found]

    def options(self) -> pd.DataFrame:
        """One row per option and model, by images per USD; of few models, the reference always shown."""
        ranks = self.table("ranks")
        if ranks.empty:
            return ranks
        rows = few_models(ranks[ranks["images_per_usd"].notna()].drop_duplicates(["option", "model"]), self.model)
        place = rows.groupby("model")["images_per_usd"].rank(ascending=False, method="first")
        return rows[(place <= SHOWN) | (rows["option"] == self.option)]


def few_models(rows: pd.DataFrame, first: str = "") -> pd.DataFrame:
    """Rows of at most MODELS models: `first`, then those with a published or predicted figure, then as they come."""
    models = pd.Series(rows["model"].unique(), dtype=object)
    published = set(rows.loc[rows["basis"] != "measured", "model"]) if "basis" in rows.columns else set()
    place = models.map(lambda model: 0 if model == first else 1 if model in published else 2)
    return rows[rows["model"].isin(models[place.sort_values(kind="stable").index].head(MODELS))]


def basis_shape() -> alt.Shape:
    """Shape by basis, with its legend."""
    scale = alt.Scale(domain=list(BASES), range=SHAPES)
    return alt.Shape("basis:N", scale=scale, legend=None)


def points(base: alt.Chart, **encodings: object) -> tuple[alt.Chart, ...]:
    """Marks by basis: filled where measured, published, equivalent or scaled; hollow stand-ins; dashed predictions."""
    weak = "datum.basis == 'stand_in'"
    guess = "datum.basis == 'extrapolated'"
    size = {"size": 62, "opacity": 1, "strokeWidth": 1.6}
    kinds = (
        base.transform_filter(f"!({weak} || {guess})").mark_point(filled=True, **size),
        base.transform_filter(weak).mark_point(fill="white", **size),
        base.transform_filter(guess).mark_point(fill="white", strokeDash=[2.2, 1.6], **size),
    )
    return tuple(kind.encode(shape=basis_shape(), **encodings) for kind in kinds)


def log_axis(values: pd.Series, facets: pd.Series | None = None) -> alt.Axis:
    """Ticks at 1, 2 and 5 times the powers of ten; at more where `values`, in one of the `facets`, span less than 4."""
    least, most = float(values.min()), float(values.max())
    low, high = (math.floor(math.log10(end)) for end in (least, most))
    parts = values.groupby(facets) if facets is not None else values.groupby(lambda _: 0)
    narrow = float((parts.max() / parts.min()).min()) < 4
    steps = (1, 1.5, 2, 3, 5, 7) if narrow else (1, 2, 5)
    ticks = [step * 10.0**power for power in range(low - 1, high + 2) for step in steps]
    # A scale from a value to itself puts every tick there.
    return alt.Axis(values=ticks if most > least else [least], labelExpr=AMOUNTS)


def empty(reason: str) -> Drawing:
    """A stated absence, so that a missing chart is never mistaken for an oversight."""
    chart = drawing("rows").mark_text(color="#555", fontSize=12, lineBreak="\n").encode(text="text:N")
    return Drawing(layered(chart, width=WIDTH - 130, height=70), {"rows": pd.DataFrame({"text": [reason]})})


def colour(field: str, names: list[str], title: str | None = None) -> alt.Color:
    """Okabe-Ito colours in the order of `names`."""
    palette = [COLOURS[n % len(COLOURS)] for n in range(len(names))]
    if set(names) & {STAYS, TAKEN}:
        # What it is to a buyer has its colour on every page; the reference is black.
        palette = [{STAYS: COLOURS[0], TAKEN: COLOURS[1]}.get(name, "#000000") for name in names]
    return alt.Color(
        field, scale=alt.Scale(domain=names, range=palette), legend=alt.Legend(title=title, orient="top", columns=2)
    )


def drawing(name: str = "rows") -> alt.Chart:
    """A chart of the data of that name in its `Drawing`."""
    return alt.Chart(alt.NamedData(name=name))
