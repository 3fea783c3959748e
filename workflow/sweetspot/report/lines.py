"""What charts of lines share: numbers as colours and dashes, a key below, or names at the ends."""

from collections.abc import Sequence
from typing import Any

from sweetspot.report import alt, pd
from sweetspot.report.marks import COLOURS, WIDTH, named

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
    columns = {"name": names, "name_y": middle, "text_y": first}
    return rows.join(pd.DataFrame(columns, index=names.index))


def ends(base: "alt.Chart", width: float, **look: object) -> "list[alt.Chart]":
    """The names of lines at the right of a plot of that width: of the rows of `with_names` that have one. look: colour
    and dash of the lines.
    """
    here = base.transform_filter("isValid(datum.name_y)")
    piece = here.mark_rule(strokeWidth=2).encode(
        x=alt.value(width + 6), x2=alt.value(width + 6 + SAMPLE), y=alt.Y("name_y:Q", axis=None, scale=None), **look
    )
    words = here.mark_text(align="left", baseline="middle", lineHeight=NAME, lineBreak="\n").encode(
        x=alt.value(width + 10 + SAMPLE), y=alt.Y("text_y:Q", axis=None, scale=None), text="name:N"
    )
    return [piece, words]


CHART_WIDTH, CHART_HEIGHT = WIDTH - 70, 230  # pixels
KEY_LINE, LINES = 17, 7  # pixels of a line of the key, and how many one of options has room for
SLOTS = list(range(5))  # 0: the machine that is judged
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4]]


def in_slots() -> dict[str, Any]:
    """Colour (black what is judged) and dash of a line by its number, so that lines differ without colours too."""
    tints = alt.Scale(domain=SLOTS, range=["#000000", *COLOURS[: len(SLOTS) - 1]])
    dashes = alt.Scale(domain=SLOTS, range=DASHES)
    return {
        "color": alt.Color("slot:N", scale=tints, legend=None),
        "strokeDash": alt.StrokeDash("slot:N", scale=dashes, legend=None),
    }


def keyed(plot: "alt.LayerChart", lines: int, *marks: "alt.Chart") -> "alt.VConcatChart":
    """`plot` above its key: `marks` on the lines of `keys`, for which so many have room whatever they hold."""
    y = alt.Y("line:Q", axis=None, scale=alt.Scale(domain=[lines - 0.5, -0.5], nice=False, zero=False))
    placed = [mark.encode(y=y) for mark in marks]
    key = alt.layer(*placed, width=CHART_WIDTH, height=KEY_LINE * lines, view=alt.ViewConfig(stroke=None))
    return alt.vconcat(plot, key, spacing=8).resolve_scale(
        color="shared", strokeDash="shared", x="independent", y="independent"
    )


def told_lines(at: float) -> "alt.Chart":
    """The text of each line of the key, `at` pixels from the left."""
    text = named("keys").mark_text(align="left", baseline="middle", limit=WIDTH - at)
    return text.encode(x=alt.value(at), text="told:N")


def key_of_lines() -> "list[alt.Chart]":
    """The marks of a key of lines: a piece of each, and its words."""
    piece = named("keys").mark_rule(strokeWidth=2.5)
    return [piece.encode(x=alt.value(0), x2=alt.value(26), **in_slots()), told_lines(34)]
