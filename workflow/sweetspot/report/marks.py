"""The look that the charts share: shape tells the basis, hollow what nobody measured on that very cell."""

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from sweetspot.cells import BASES
from sweetspot.report import alt, pd
from sweetspot.report.notation import SHOWN

NAMES, LINE, SPARE = 220, 13, 8  # pixels: of a name beside an axis, of its lines at 12 px type, left beside it
ROW = 18  # pixels of a row whose name has one line
WIDTH = 470  # legible at 390 px, where it shrinks by a fifth; below page.css lets it shrink no further
PLOT = WIDTH - 215  # of a chart with names beside it
# Okabe and Ito 2008, without the yellow that vanishes on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
TEXT = " (text)"  # behind a tooltip's title: the field is no number
ORIGIN = {"basis": "basis (text)", "source": "source (text)", "as_of": "date (text)"}  # of a tooltip
GREY = "#444"  # of a thin line across a chart
MARGIN = 18  # pixels within the frame of a logarithmic scale, around all points
NARROW, BROAD = "fijltrI .,:;|()[]/-", "mwMW@%"
ROOM, BESIDE, ENTRY = WIDTH - 50, PLOT + 30, 34  # pixels: of a legend, of one above names, of an entry besides its name
PERSISTENT, INTERRUPTIBLE = "cannot be taken away", "can be taken away"
# 160m is no way to write 0.16: SI prefixes only from 1 on.
AMOUNTS = "format(datum.value, datum.value < 1 ? '~g' : '~s')"
MOST = 5  # ticks with a label
# Of a logarithmic axis, the closest first: tenths, fifths, halves, then what a reader expects of several decades.
STEPS = (
    *([whole / parts for whole in range(parts, 10 * parts)] for parts in (10, 5, 2)),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)
PLAIN = "format(datum.value, datum.value > 0 && datum.value < 10 ? '~g' : ',')"


class Drawing(NamedTuple):
    """An Altair chart that refers to its data by name, and the data.

    By name, because Altair would copy the rows into each layer, and refuses more than 5000 of them. `says`: what is
    seen in it, made from the data: its title. `key`: what its marks stand for, a line below the title.
    """

    chart: "alt.TopLevelMixin"
    data: dict[str, "pd.DataFrame"]
    says: str = ""
    key: str = ""


def named_data(name: str) -> "alt.Chart":
    """A chart of the data of that name in its `Drawing`."""
    return alt.Chart(alt.NamedData(name))


def by_row(panel: "alt.LayerChart", models: Sequence[str], same_names: bool = True) -> "alt.FacetChart":
    """Stack one such panel for each model, in the order of `models`.

    The panel's layers name no data: each draws its part of `rows`, where data of its own would be drawn whole.

    Parameters
    ----------
    panel
        The chart of one model.
    models
        Values of the column `model`, from the top.
    same_names
        Whether all panels share the vertical axis.
    """
    resolve = {} if same_names else {"resolve": alt.Resolve(scale=alt.ScaleResolveMap(y="independent"))}
    row = alt.Row("model:N", title=None, sort=list(models))
    return panel.facet(row=row, data=alt.NamedData("rows"), **resolve)


def points(base: "alt.Chart", **channels: object) -> "tuple[alt.Chart, ...]":
    """Marks by basis: hollow stand-ins and transferred figures, dashed predictions; all others filled."""
    weak = "(datum.basis == 'stand_in' || datum.basis == 'transferred')"
    predicted = "datum.basis == 'extrapolated'"
    scale = alt.Scale(domain=list(BASES), range=[SHOWN[basis].shape for basis in BASES])
    shape = alt.Shape("basis:N", scale=scale, legend=None)
    marks = (
        base.transform_filter(f"!({weak} || {predicted})").mark_point(filled=True),
        base.transform_filter(weak).mark_point(fill="white"),
        base.transform_filter(predicted).mark_point(fill="white", strokeDash=[2.2, 1.6]),
    )
    return tuple(mark.encode(shape=shape, **channels) for mark in marks)


def tooltip(**fields: str) -> "list[alt.Tooltip]":
    """A tooltip: the title of each field; of numbers four digits."""
    return [
        alt.Tooltip(f"{field}:N", title=title.removesuffix(TEXT))
        if title.endswith(TEXT)
        else alt.Tooltip(f"{field}:Q", title=title, format=",.4~r")
        for field, title in fields.items()
    ]


def shape_key(bases: "pd.Series", *more: str) -> str:
    """What the shapes of `points` with these bases stand for, the best first, and what else the marks say."""
    present = set(bases.dropna())
    parts = [*(f"{SHOWN[basis].sign} {SHOWN[basis].word}" for basis in BASES if basis in present), *more]
    return " \u00a0 ".join(part.replace(" ", "\u00a0") for part in parts)  # a line ends between parts only


def wrapped(names: "pd.Series", width: int = NAMES - SPARE) -> "pd.Series":
    """Names in lines of at most `width` pixels at 12 px type, about as long as each other, for `name_axis`."""
    return names.map(lambda name: _balanced(str(name).split(), width))


def _balanced(words: list[str], width: int) -> str:
    fewest = _lines_of(words, width)
    narrower = (_lines_of(words, less) for less in range(width - SPARE, 0, -SPARE))
    *_, balanced = [fewest, *takewhile(lambda lines: len(lines) == len(fewest), narrower)]
    return "\n".join(balanced)


def _lines_of(words: list[str], width: int) -> list[str]:
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and pixels(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def pixels(text: str) -> float:
    """Width of a text in Arial of 12 px, about: thousandths of the type's size by kinds of letters."""
    wide = (280 if one in NARROW else 850 if one in BROAD else 690 if one.isupper() else 556 for one in text)
    return 12 * sum(wide) / 1000


def name_axis() -> "alt.Axis":
    """An axis of names of `wrapped`: the middle of their lines stands at the tick."""
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


def line_step(names: "pd.Series", one: int) -> "alt.Step":
    """Height of a row of such an axis: `one` pixels for names of one line, a LINE more for each further line."""
    return alt.Step(one + LINE * int(names.str.count("\n").max()))


def log_channel(channel: "type[alt.X | alt.Y]", field: str, title: str, values: "pd.Series") -> "alt.X | alt.Y":
    """Return a logarithmic scale with room around all points.

    Parameters
    ----------
    channel
        alt.X or alt.Y.
    field, title
        The column that is drawn, and the title of its axis.
    values
        All values of the scale, for its ticks.
    """
    scale = alt.Scale(type="log", nice=False, padding=MARGIN)
    return channel(f"{field}:Q", title=title, scale=scale, axis=log_axis(values))


def log_axis(values: "pd.Series") -> "alt.Axis":
    """Ticks at round steps of the powers of ten, as many as are at most MOST among `values`."""
    least, most = float(values.min()), float(values.max())
    low, high = (math.floor(math.log10(end)) for end in (least, most))
    for steps in STEPS:
        ticks = [step * 10.0**power for power in range(low - 1, high + 2) for step in steps]
        if sum(least <= tick <= most for tick in ticks) <= MOST:
            break
    # A scale from a value to itself puts every tick there.
    return alt.Axis(values=ticks if most > least else [least], labelExpr=AMOUNTS)


def empty(reason: str) -> Drawing:
    """A stated absence, so that a missing chart is never mistaken for an oversight."""
    words = named_data("rows").mark_text(color="#555", lineBreak="\n").encode(text=alt.Text("text:N"))
    return Drawing(alt.layer(words, width=WIDTH - 130, height=70), {"rows": pd.DataFrame({"text": [reason]})})


def colour(
    field: str, names: list[str], title: str | None = None, legend: bool = True, room: int = ROOM
) -> "alt.Color":
    """Return Okabe-Ito colours in the order of `names`.

    Parameters
    ----------
    field
        The column, with its type.
    names
        Its values. What a machine is to a buyer has its colour in every chart; the reference is black.
    title
        Of the legend.
    legend
        False for none.
    room
        Pixels of the legend, which decide between one column and two.
    """
    palette = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
    if {PERSISTENT, INTERRUPTIBLE} & set(names):
        palette = [{PERSISTENT: COLOURS[0], INTERRUPTIBLE: COLOURS[1]}.get(name, "#000000") for name in names]
    scale = alt.Scale(domain=names, range=palette)
    if not legend:
        return alt.Color(field, scale=scale, legend=None)
    columns = 2 if sum(sorted(map(pixels, names))[-2:]) + 2 * ENTRY <= room else 1
    return alt.Color(
        field, scale=scale, legend=alt.Legend(title=title, orient="top", columns=columns, labelLimit=room - ENTRY)
    )
