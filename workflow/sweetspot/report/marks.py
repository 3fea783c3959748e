"""The look that the charts share: shape tells the basis, hollow what nobody measured on that very cell."""

import math
from typing import TYPE_CHECKING, Any

from sweetspot.cells import BASES
from sweetspot.report.vega import Drawing, Spec, amount, kind, layer, layered

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 470  # legible at 390 px, where it shrinks by a quarter
# Okabe and Ito 2008, without the yellow that vanishes on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
SHAPES = {
    "measured": "circle",
    "published": "diamond",
    "equivalent": "square",
    "scaled": "triangle-up",
    "stand_in": "cross",
    "transferred": "triangle-right",
    "extrapolated": "circle",
}
PERSISTENT, INTERRUPTIBLE = "persistent", "interruptible"
# 160m is no way to write 0.16: SI prefixes only from 1 on.
AMOUNTS = "format(datum.value, datum.value < 1 ? '~g' : '~s')"
PLAIN = "format(datum.value, datum.value > 0 && datum.value < 10 ? '~g' : ',')"


def points(where: tuple[Any, ...] = (), **channels: Any) -> tuple[Spec, ...]:
    """Marks by basis: filled where measured, published, equivalent or scaled; hollow stand-ins; dashed predictions."""
    weak = "datum.basis == 'stand_in'"
    guess = "datum.basis == 'extrapolated'"
    style = {"size": 62, "opacity": 1, "strokeWidth": 1.6}
    scale = {"domain": list(BASES), "range": [SHAPES[basis] for basis in BASES]}
    shape = kind("basis", scale=scale, legend=None)
    styles = (
        (f"!({weak} || {guess})", {"filled": True}),
        (weak, {"fill": "white"}),
        (guess, {"fill": "white", "strokeDash": [2.2, 1.6]}),
    )
    return tuple(layer("point", style | own, where=(*where, rows), shape=shape, **channels) for rows, own in styles)


def log_axis(values: "pd.Series", facets: "pd.Series | None" = None) -> Spec:
    """Ticks at 1, 2 and 5 times the powers of ten; at more where `values`, in one of the `facets`, span less than 4."""
    least, most = float(values.min()), float(values.max())
    low, high = (math.floor(math.log10(end)) for end in (least, most))
    parts = values.groupby(facets) if facets is not None else values.groupby(lambda _: 0)
    narrow = float((parts.max() / parts.min()).min()) < 4
    steps = (1, 1.5, 2, 3, 5, 7) if narrow else (1, 2, 5)
    ticks = [step * 10.0**power for power in range(low - 1, high + 2) for step in steps]
    # A scale from a value to itself puts every tick there.
    return {"values": ticks if most > least else [least], "labelExpr": AMOUNTS}


def empty(reason: str) -> Drawing:
    """A stated absence, so that a missing chart is never mistaken for an oversight."""
    import pandas as pd

    words = layer("text", {"color": "#555", "fontSize": 12, "lineBreak": "\n"}, text=kind("text"))
    return Drawing(layered(words, width=WIDTH - 130, height=70), {"rows": pd.DataFrame({"text": [reason]})})


def colour(field: str, names: list[str], title: str | None = None) -> Spec:
    """Okabe-Ito colours in the order of `names`."""
    palette = [COLOURS[n % len(COLOURS)] for n in range(len(names))]
    if set(names) & {PERSISTENT, INTERRUPTIBLE}:
        # What it is to a buyer has its colour on every page; the reference is black.
        palette = [{PERSISTENT: COLOURS[0], INTERRUPTIBLE: COLOURS[1]}.get(name, "#000000") for name in names]
    legend = {"title": title, "orient": "top", "columns": 2}
    return kind(field, scale={"domain": names, "range": palette}, legend=legend)


def dashes(field: str, names: list[str]) -> Spec:
    """A dash for each of `names`, so that lines differ without colours too."""
    return kind(field, sort=names, legend=None)


def level(data: str, field: str, channel: str, dashed: bool = False) -> Spec:
    """A thin line across the chart at `field` of that data."""
    style = {"color": "#444"} | ({"strokeDash": [5, 4]} if dashed else {})
    encoding: Spec = {channel: amount(field)}
    return layer("rule", style, data, **encoding)
