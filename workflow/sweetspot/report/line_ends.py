"""Names of lines beside their ends, in place of a legend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

NAME = 13  # pixels of a line of a name
GAP = 4  # pixels between two names
SAMPLE = 16  # pixels of the piece of a line before its name


def spread(places: Sequence[float], heights: Sequence[float], size: float) -> list[float]:
    """Middles of names of these heights, each as near to its place as leaves none over another nor outside 0 to `size`.

    Names keep the order of their places. Where they need more than `size` the last stand below it.
    """
    order = sorted(range(len(places)), key=lambda one: places[one])
    found = dict(zip(order, (places[one] for one in order), strict=True))
    for upwards in (False, True):  # down from the first, then up from the last where that left the frame
        edge = size if upwards else 0.0
        for one in reversed(order) if upwards else order:
            half = heights[one] / 2
            found[one] = min(found[one], edge - half) if upwards else max(found[one], edge + half)
            edge = found[one] - half if upwards else found[one] + half
    if order and (above := heights[order[0]] / 2 - found[order[0]]) > 0:
        found = {one: place + above for one, place in found.items()}
    return [found[one] for one in range(len(places))]


def with_names(rows: "pd.DataFrame", names: "pd.Series", places: "pd.Series", size: float) -> "pd.DataFrame":
    """`rows` with the columns of `ends`. names: of lines, at the row at each one's end; places: the pixels of these
    rows from the top of a plot of `size`.
    """
    lines = names.str.count("\n") + 1
    middle = spread(places.tolist(), (NAME * lines + GAP).tolist(), size)
    first = [at - NAME * (many - 1) / 2 for at, many in zip(middle, lines, strict=True)]
    return rows.assign(
        name=names.reindex(rows.index),
        name_y=_by(names.index, middle).reindex(rows.index),
        text_y=_by(names.index, first).reindex(rows.index),
    )


def _by(index: "pd.Index", values: list[float]) -> "pd.Series":
    """Values by index."""
    import pandas as pd

    return pd.Series(values, index=index, dtype=float)


def ends(base: "alt.Chart", width: float, **look: object) -> "list[alt.Chart]":
    """The names of lines at the right of a plot of that width: of the rows of `with_names` that have one. look: colour
    and dash of the lines.
    """
    import altair as alt

    here = base.transform_filter("isValid(datum.name_y)")
    piece = here.mark_rule(strokeWidth=2, clip=False).encode(
        x=alt.value(width + 6), x2=alt.value(width + 6 + SAMPLE), y=alt.Y("name_y:Q", axis=None, scale=None), **look
    )
    words = here.mark_text(align="left", baseline="middle", fontSize=12, lineHeight=NAME, lineBreak="\n").encode(
        x=alt.value(width + 10 + SAMPLE), y=alt.Y("text_y:Q", axis=None, scale=None), text="name:N"
    )
    return [piece, words]
