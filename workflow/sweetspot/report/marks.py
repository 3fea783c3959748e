"""The look that the charts share: shape tells the basis, hollow what nobody measured on that very cell."""

import math
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from sweetspot.cells import BASES
from sweetspot.report import alt, pd
from sweetspot.report.notation import BASIS_FACTS
from sweetspot.report.scales import Axis

LETTER, LINE = 6.7, 13  # pixels: of a letter in 12 px type on average, of a line of a name
NAMES, NAME_LETTERS = 220, 32  # pixels of a name beside an axis, and letters of its lines
ROW = 18  # pixels of a row whose name has one line
WIDTH = 470  # legible at 390 px, where it shrinks by a fifth; below page.css lets it shrink no further
PLOT = WIDTH - 215  # of a chart with names beside it
# Okabe and Ito 2008, without the yellow that vanishes on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
TEXT = " (text)"  # behind a tooltip's title: the field is no number
ORIGIN = {"basis": "basis (text)", "source": "source (text)", "as_of": "date (text)"}  # of a tooltip
GREY = "#444"  # of a thin line across a chart
MARGIN = 18  # pixels within the frame of a logarithmic scale, around all points
# Pixels: of a legend, of one above names, of an entry besides its name.
LEGEND, BESIDE, ENTRY = WIDTH - 50, PLOT + 30, 34
PERSISTENT, INTERRUPTIBLE = "cannot be taken away", "can be taken away"
# What it is to a buyer has its colour on every page; the reference is black.
BUYER_COLOURS = {PERSISTENT: COLOURS[0], INTERRUPTIBLE: COLOURS[1]}
# 160m is no way to write 0.16: SI prefixes only from 1 on.
AMOUNTS = "format(datum.value, datum.value < 1 ? '~g' : '~s')"
THOUSANDS = "format(datum.value, datum.value > 0 && datum.value < 10 ? '~g' : ',')"
LINEAR_RANGE = 5.0  # the highest value over the lowest below which ticks are evenly spaced


class Drawing(NamedTuple):
    """An Altair chart that refers to its data sets by name, and these data sets as tables. By name, because Altair
    would copy the rows into each layer, and refuses more than 5000 of them. `says`: the title, which states the finding
    in the data. `key`: the line below the title, which explains the marks.
    """

    chart: "alt.TopLevelMixin"
    data: dict[str, "pd.DataFrame"]
    says: str = ""
    key: str = ""


def chart_of_data(name: str) -> "alt.Chart":
    """Return an Altair chart without marks that draws the data set called `name` of its `Drawing`."""
    return alt.Chart(alt.NamedData(name))


def by_row(panel: "alt.LayerChart", models: Sequence[str]) -> "alt.FacetChart":
    """Return a chart with one copy of `panel` for each model, stacked in the order of `models` (values of `model`). The
    panel's layers must name no data: each copy draws the rows of its model in the data set `rows`.
    """
    row = alt.Row("model:N", title=None, sort=list(models))
    return panel.facet(row=row, data=alt.NamedData("rows"))


def points(base: "alt.Chart", **channels: object) -> "tuple[alt.Chart, ...]":
    """Return three layers of point marks that show where a figure is from, by a row's `basis`. Filled: timed; hollow:
    of another machine; dashed: predicted. `base`: the chart that they are marks of; `channels`: further encodings.
    """
    weak = "(datum.basis == 'stand_in' || datum.basis == 'transferred')"
    predicted = "datum.basis == 'extrapolated'"
    scale = alt.Scale(domain=list(BASES), range=[BASIS_FACTS[basis].shape for basis in BASES])
    shape = alt.Shape("basis:N", scale=scale, legend=None)
    layers = (
        base.transform_filter(f"!({weak} || {predicted})").mark_point(filled=True),
        base.transform_filter(weak).mark_point(fill="white"),
        base.transform_filter(predicted).mark_point(fill="white", strokeDash=[2.2, 1.6]),
    )
    return tuple(layer.encode(shape=shape, **channels) for layer in layers)


def tooltip(**fields: str) -> "list[alt.Tooltip]":
    """Return what a chart shows under the pointer, from {column: title}: digits; text where a title ends in TEXT."""
    return [
        alt.Tooltip(f"{field}:N", title=title.removesuffix(TEXT))
        if title.endswith(TEXT)
        else alt.Tooltip(f"{field}:Q", title=title, format=",.4~r")
        for field, title in fields.items()
    ]


def shape_key(bases: "pd.Series", *texts: str) -> str:
    """Return a chart's key as text: sign and word of each basis in the column `bases`, then the other `texts`."""
    present = set(bases.dropna())
    parts = [*(f"{BASIS_FACTS[basis].sign} {BASIS_FACTS[basis].word}" for basis in BASES if basis in present), *texts]
    return " \u00a0 ".join(part.replace(" ", "\u00a0") for part in parts)  # a line ends between parts only


def wrapped(names: "pd.Series") -> "pd.Series":
    """Return the names, wrapped to lines of at most NAME_LETTERS letters, for `name_axis`; same index."""
    return names.astype(str).map(partial(textwrap.fill, width=NAME_LETTERS))


def name_axis() -> "alt.Axis":
    """Return the axis of a chart for names of options, which may take several lines (`wrapped`), each at its tick."""
    several = [
        {"test": f"length(split(datum.value, '\\n')) == {lines}", "value": -LINE * (lines - 1) / 2}
        for lines in (2, 3, 4)
    ]
    return alt.Axis(
        labelLimit=NAMES,
        labelLineHeight=LINE,
        labelExpr="split(datum.label, '\\n')",
        labelBaseline="middle",
        labelOffset={"condition": several, "value": 0},
    )


def line_step(names: "pd.Series", height: int) -> "alt.Step":
    """Return the row height on a `name_axis`: `height` pixels, and LINE for each further line of the longest name."""
    return alt.Step(height + LINE * int(names.str.count("\n").max()))


def log_channel(channel: "type[alt.X | alt.Y]", field: str, title: str, values: "pd.Series") -> "alt.X | alt.Y":
    """Return an x or y channel of a chart with a logarithmic scale, a margin around all points and round ticks.

    Parameters
    ----------
    channel, field, title, values
        The class alt.X or alt.Y; the column to draw; title of its axis; all values on it, which the ticks suit.
    """
    scale = alt.Scale(type="log", nice=False, padding=MARGIN)
    return channel(f"{field}:Q", title=title, scale=scale, axis=log_axis(values))


def log_axis(values: "pd.Series") -> "alt.Axis":
    """Return the logarithmic axis for a chart's `values` (a column), with ticks that people read at a glance. They are
    even up to a range of LINEAR_RANGE (highest / lowest), else at 1 and 3 of each decade.
    """
    low, high = float(values.min()), float(values.max())
    if low < high < LINEAR_RANGE * low:
        step = Axis(0, high - low).ticks()[1]
        ticks = [step * count for count in range(math.floor(low / step), math.ceil(high / step) + 1)]
    else:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [step * 10.0**power for power in decades for step in (1, 3)]
    # A scale from a value to itself puts every tick there.
    return alt.Axis(values=ticks if low < high else [low], labelExpr=AMOUNTS, labelOverlap="greedy")


def empty(reason: str) -> Drawing:
    """Return a drawing that shows only the text `reason`, in place of a chart without data."""
    words = chart_of_data("rows").mark_text(color="#555", lineBreak="\n").encode(text=alt.Text("text:N"))
    return Drawing(alt.layer(words, width=WIDTH - 130, height=70), {"rows": pd.DataFrame({"text": [reason]})})


def colour(
    field: str, names: list[str], title: str | None = None, legend: bool = True, width: int = LEGEND
) -> "alt.Color":
    """Return a colour channel with Okabe-Ito colours, which the colour-blind tell apart, in the order of `names`.

    Parameters
    ----------
    field, names
        The column with its Vega-Lite type, such as `line:N`, and its values.
    title, legend, width
        Title of the legend, whether one is drawn, and its width in pixels (with room, it has two columns).
    """
    palette = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
    if {*names} & {*BUYER_COLOURS}:
        palette = [BUYER_COLOURS.get(name, "#000000") for name in names]
    scale = alt.Scale(domain=names, range=palette)
    if not legend:
        return alt.Color(field, scale=scale, legend=None)
    widest = sum(sorted(LETTER * len(name) + ENTRY for name in names)[-2:])
    columns = 2 if widest <= width else 1
    entries = alt.Legend(title=title, orient="top", columns=columns, labelLimit=width - ENTRY)
    return alt.Color(field, scale=scale, legend=entries)
