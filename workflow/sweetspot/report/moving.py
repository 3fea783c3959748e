"""What charts of lines share: their numbers as colours and dashes, and a key below with their figures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sweetspot.report.marks import COLOURS, WIDTH, named

if TYPE_CHECKING:
    import altair as alt

CHART_WIDTH, CHART_HEIGHT = WIDTH - 70, 230  # pixels
LINE, LINES = 17, 7  # pixels of a line of the key, and how many one of options has room for
SLOTS = list(range(5))  # 0: the machine that is judged
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4]]


def slot_colour() -> "alt.Color":
    """The colour of a line by its number: black what is judged."""
    import altair as alt

    return alt.Color(
        "slot:N", scale=alt.Scale(domain=SLOTS, range=["#000000", *COLOURS[: len(SLOTS) - 1]]), legend=None
    )


def slot_dash() -> "alt.StrokeDash":
    """The dash of a line by its number, so that lines differ without colours too."""
    import altair as alt

    return alt.StrokeDash("slot:N", scale=alt.Scale(domain=SLOTS, range=DASHES), legend=None)


def keyed(plot: "alt.LayerChart", lines: int, *marks: "alt.Chart") -> "alt.VConcatChart":
    """`plot` above its key: `marks` on the lines of `keys`, for which so many have room whatever they hold."""
    import altair as alt

    y = alt.Y("line:Q", axis=None, scale=alt.Scale(domain=[lines - 0.5, -0.5], nice=False, zero=False))
    placed = [mark.encode(y=y) for mark in marks]
    key = alt.layer(*placed, width=CHART_WIDTH, height=LINE * lines, view=alt.ViewConfig(stroke=None))
    return alt.vconcat(plot, key, spacing=8).resolve_scale(
        color="shared", strokeDash="shared", x="independent", y="independent"
    )


def told_lines(at: float) -> "alt.Chart":
    """The text of each line of the key, `at` pixels from the left."""
    import altair as alt

    text = named("keys").mark_text(align="left", baseline="middle", fontSize=12, limit=WIDTH - at)
    return text.encode(x=alt.value(at), text="told:N")


def key_of_lines() -> "list[alt.Chart]":
    """The marks of a key of lines: a piece of each, and its words."""
    import altair as alt

    piece = (
        named("keys")
        .mark_rule(strokeWidth=2.5)
        .encode(x=alt.value(0), x2=alt.value(26), color=slot_colour(), strokeDash=slot_dash())
    )
    return [piece, told_lines(34)]


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic scale: 1, 2 and 5 times the powers of ten, of a narrow one also 1.5, 3 and 7."""
    steps: Sequence[float] = (1, 1.5, 2, 3, 5, 7) if high < 4 * low else (1, 2, 5)
    ticks = [step * 10.0**power for power in range(-9, 10) for step in steps]
    return [tick for tick in ticks if low <= tick <= high]
