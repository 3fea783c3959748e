"""Marks, colours and shapes that the charts share, and what several of them need to know."""

import altair as alt
import pandas as pd

from sweetspot.cells import BASES
from sweetspot.report.tables import Tables

WIDTH = 470  # legible at 390 px, where it shrinks by a quarter
# Okabe and Ito 2008, without the yellow that vanishes on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
SHAPES = ["circle", "diamond", "square", "triangle-up", "cross", "circle"]
STAYS, TAKEN = "stays", "can be taken away"
SHOWN = 12  # options a model in a chart; the tables hold all

FIELDS = (
    "option", "instance", "model", "basis", "kind", "label", "right", "on_front", "images_per_usd",
    "images_per_usd_low", "images_per_usd_high", "hours", "usd", "line", "total", "days", "gain", "gain_low",
    "gain_high", "place", "month", "cumulative_usd", "assumption", "swing", "margin", "margin_low", "margin_high",
    "images_per_s", "images_per_s_low", "images_per_s_high", "batch", "gpus", "efficiency", "base_instance", "cell",
    "method",
)  # fmt: skip

alt.data_transformers.disable_max_rows()


class Facts:
    """What several charts need: the study's tables, the model of the answer, the reference option."""

    def __init__(self, tables: Tables, reference: str | None) -> None:
        self.tables = tables
        headline = tables.get("headline", pd.DataFrame())
        self.model = str(headline["model"].iloc[0]) if len(headline) else ""
        self.rival = str(headline["alternative"].iloc[0]) if len(headline) else ""
        self.reference = reference or ""

    def table(self, name: str) -> pd.DataFrame:
        """A table, empty where the study has none."""
        return self.tables.get(name, pd.DataFrame())

    def kinds(self, rows: pd.DataFrame) -> pd.Series:
        """What each option is to a buyer: the reference itself, one that stays, one that can be taken away."""
        kind = rows["persistent"].astype(bool).map({True: STAYS, False: TAKEN})
        return kind.where(rows["instance"] != self.reference, self.reference)

    def kind_names(self) -> list[str]:
        """The names of `kinds`, in the order of their colours."""
        return [STAYS, TAKEN, *([self.reference] if self.reference else [])]

    def options(self) -> pd.DataFrame:
        """One row per option and model, ranked by images per USD, the reference always among those shown."""
        ranks = self.table("ranks")
        if ranks.empty:
            return ranks
        rows = ranks[ranks["images_per_usd"].notna()].drop_duplicates(["option", "model"])
        place = rows.groupby("model")["images_per_usd"].rank(ascending=False, method="first")
        return rows[(place <= SHOWN) | (rows["instance"] == self.reference)]


def basis_shape() -> alt.Shape:
    """Shape by basis, with its legend."""
    scale = alt.Scale(domain=list(BASES), range=SHAPES)
    return alt.Shape("basis:N", scale=scale, legend=None)


def points(base: alt.Chart, **encodings: object) -> alt.LayerChart:
    """Marks by basis: filled where measured, published, equivalent or scaled; hollow stand-ins; dashed predictions."""
    weak = "datum.basis == 'stand_in'"
    guess = "datum.basis == 'extrapolated'"
    shape = basis_shape()
    size = {"size": 62, "opacity": 1, "strokeWidth": 1.6}
    return alt.layer(
        base.transform_filter(f"!({weak} || {guess})").mark_point(filled=True, **size).encode(shape=shape, **encodings),
        base.transform_filter(weak).mark_point(fill="white", **size).encode(shape=shape, **encodings),
        base.transform_filter(guess)
        .mark_point(fill="white", strokeDash=[2.2, 1.6], **size)
        .encode(shape=shape, **encodings),
    )


def empty(reason: str) -> alt.Chart:
    """A stated absence, so that a missing chart is never mistaken for an oversight."""
    return (
        alt.Chart(pd.DataFrame({"text": [reason]}))
        .mark_text(color="#555", fontSize=12, lineBreak="\n")
        .encode(text="text:N")
        .properties(width=WIDTH - 130, height=70)
    )


def colour(field: str, names: list[str], title: str | None = None) -> alt.Color:
    """Okabe-Ito colours in the order of `names`."""
    palette = [COLOURS[n % len(COLOURS)] for n in range(len(names))]
    if names[:2] == [STAYS, TAKEN] and len(names) == 3:
        palette[2] = "#000000"
    return alt.Color(
        field, scale=alt.Scale(domain=names, range=palette), legend=alt.Legend(title=title, orient="top", columns=2)
    )


def drawing(rows: pd.DataFrame) -> alt.Chart:
    """A chart of `rows` with the columns that are drawn: Altair copies the data for every layer."""
    return alt.Chart(rows[[name for name in FIELDS if name in rows.columns]])
