"""The charts of the page: small, made without a JavaScript engine, readable on a phone and in the dark."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from sweetspot.report.marks import pixels
from sweetspot.report.notation import number
from sweetspot.wording import money as amount_of

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 440, 250, 52, 14, 24, 34  # of a chart with axes, in its own pixels
STACK = 46  # places beside each other in which dots are put
DOT, TALL = 9, 66  # pixels: from dot to dot of a stack; a higher stack is pressed together
NAME = 1.2  # of the width in Arial: what a reader's font may be wider
OVER = (-10, 19, -24, 33, -38, 47)  # pixels from a point to the base of its name over or under it
FAR = 4.0  # times the next: a choice so much dearer than all others would press them into a corner


Box = tuple[float, float, float, float]  # left, right, top, bottom


class Dots(NamedTuple):
    """One choice in the first chart: `group` in words, `kind` for its colour, money of `outcomes` and middle."""

    choice: str
    group: str
    kind: str
    title: str
    value: float
    outcomes: Sequence[float]
    strong: bool = False


class Series(NamedTuple):
    """A line of points in the units of the axes, with its colour by kind, a name at its end, and a band or none."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float, float]] = ()


def short_money(value: float) -> str:
    """Money on an axis: 0, 800, 12 k, 1.2 M."""
    if abs(value) >= 999_500:  # three digits of less are fewer than 1000 k
        return f"{value / 1e6:.3g} M"
    return f"{value / 1e3:.3g} k" if abs(value) >= 1e4 else amount_of(value)


def tick_words(value: float) -> str:
    """The label of a tick: round, so it needs no places behind the point."""
    return short_money(value) if value >= 1e4 else f"{value:,g}"


def ticks(most: float, count: int = 4) -> list[float]:
    """Round numbers from 0 to at most `most`."""
    raw = most / count
    size = 10.0 ** math.floor(math.log10(raw))
    step = next((by * size for by in (1, 2, 2.5, 5) if by * size >= raw), 10 * size)
    return [step * n for n in range(int(most / step + 1e-9) + 1)]


def dots_chart(rows: Sequence[Dots], code: str) -> Markup:
    """What each choice costs, as equally likely outcomes: a dot each, stacked where they meet; a tick at the middle."""
    first, *others = sorted(rows, key=lambda row: -row.value)
    dear = others and first.value > FAR * others[0].value and not first.strong
    far = first if dear else None  # the one choice that costs several times what all others do
    most = max(max(row.outcomes) for row in rows if row is not far) * 1.04
    axis = Markup("").join(
        Markup('<i style="left:{}%">{}</i>').format(f"{100 * at / most:.4g}", tick_words(at)) for at in ticks(most)
    )
    body = Markup("").join(_far_row(row) if row is far else _dots_row(row, most) for row in rows)
    return Markup(
        '<div class="dots" data-most="{}">{}<div class="axis" aria-hidden="true">{}<b>{}</b></div></div>'
    ).format(most, body, axis, code)


def _far_row(row: Dots) -> Markup:
    return Markup(
        '<div class="row far k-{}" data-choice="{}" data-usd="{}" data-outcomes="[]">{}'
        '<div class="field" role="img" aria-label="{}: {}, beyond the axis"><em>{} →</em></div></div>'
    ).format(row.kind, row.choice, row.value, _label(row), row.title, number(row.value), short_money(row.value))


def _label(row: Dots) -> Markup:
    return Markup('<div class="who"><small>{}</small><{tag}>{}</{tag}></div>').format(
        row.group, row.title, tag=Markup("b" if row.strong else "span")
    )


def _dots_row(row: Dots, most: float) -> Markup:
    places = [int(STACK * usd / most) for usd in row.outcomes]
    highest = max(map(places.count, places))
    step = min(DOT, TALL / highest)
    dots = [
        Markup('<i style="left:{}%;bottom:{}px"></i>').format(
            f"{100 * (place + 0.5) / STACK:.3g}", f"{step * places[:n].count(place):.3g}"
        )
        for n, place in enumerate(places)
    ]
    tall, label = round(step * highest) + 2, _label(row)
    middle = Markup('<em style="left:{}%">{}</em>').format(f"{100 * row.value / most:.4g}", short_money(row.value))
    return Markup(
        '<div class="row k-{}" data-choice="{}" data-usd="{}" data-outcomes="{}">{}'
        '<div class="field" style="height:{}px" role="img" aria-label="{}: {}, {} to {}">{}{}</div></div>'
    ).format(
        row.kind, row.choice, row.value, [float(f"{usd:.4g}") for usd in row.outcomes], label, tall + 18, row.title,
        number(row.value), number(min(row.outcomes)), number(max(row.outcomes)), Markup("").join(dots), middle,
    )  # fmt: skip


class Frame:
    """Axes of an SVG from 0 to `right` and `top`, and what is drawn into them."""

    def __init__(self, right: float, top: float, across: str, up: str) -> None:
        self._right, self._top, self._parts = right or 1.0, top or 1.0, list[Markup]()
        for value in ticks(self._top):
            y = self.y(value)
            self.add('<path class="grid" d="M{}H{}"/>', f"{LEFT} {y:.1f}", WIDE - RIGHT)
            self.words(LEFT - 5, y + 4, tick_words(value), "end")
        for value in ticks(self._right):
            self.words(self.x(value), HIGH - BOTTOM + 16, f"{value:,g}", "middle")
        self.words(WIDE - RIGHT, HIGH - 3, across, "end")
        self.words(2, 10, up, "start")

    def x(self, value: float) -> float:
        """Place across."""
        return LEFT + (WIDE - LEFT - RIGHT) * value / self._right

    def y(self, value: float) -> float:
        """Place up."""
        return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * value / self._top

    def add(self, markup: str, *values: object) -> None:
        """A piece of SVG."""
        self._parts.append(Markup(markup).format(*values))

    def words(self, x: float, y: float, text: str, anchor: str, kind: str = "") -> None:
        """A text."""
        self.add(
            '<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>', f"{x:.1f}", f"{y:.1f}", anchor, kind, text
        )

    def svg(self, title: str) -> Markup:
        """The whole chart, named for screen readers."""
        return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
            WIDE, HIGH, title, Markup("").join(self._parts)
        )


def lines_chart(
    series: Sequence[Series], across: str, up: str, title: str, marks: Sequence[tuple[float, str]] = ()
) -> Markup:
    """Lines with their bands; `marks`: places across with a word each, such as "you" and the crossing."""
    right = max(x for one in series for x, _ in one.points)
    top = 1.05 * max(
        [*(y for one in series for _, y in one.points), *(high for one in series for _, _, high in one.band)]
    )
    frame = Frame(right, top, across, up)
    for one in series:
        if one.band:
            there = [*((x, high) for x, _, high in one.band), *((x, low) for x, low, _ in reversed(one.band))]
            frame.add('<path class="band k-{}" d="{}"/>', one.kind, _path(frame, there) + "Z")
    for n, (x, word) in enumerate(marks):
        frame.add('<path class="mark" d="M{} {}V{}"/>', f"{frame.x(x):.1f}", TOP, HIGH - BOTTOM)
        late = frame.x(x) + NAME * pixels(word) > WIDE - RIGHT
        frame.words(frame.x(x) + (-4 if late else 4), TOP + 10 + 14 * n, word, "end" if late else "start", "soft")
    for one in series:
        frame.add('<path class="line k-{}" d="{}"/>', one.kind, _path(frame, one.points))
    taken: list[float] = []
    for one in series:  # names over all lines
        x = one.points[-1][0]
        place = frame.y(max(y for at, y in one.points if at == x)) - 6  # what is sold at the end falls from there
        while any(abs(place - other) < 13 for other in taken):  # of a type of 12 pixels
            place += 14
        taken.append(place)
        frame.words(frame.x(x) - 4, place, one.name, "end", f"k-{one.kind}")
    return frame.svg(title)


class Point(NamedTuple):
    """What a chart of points has: `had`, the share of attempts in which it is to be had, fills the point."""

    name: str
    kind: str
    across: float
    up: float
    had: float = 1.0


def points_chart(points: Sequence[Point], across: str, up: str, title: str) -> Markup:
    """Named points."""
    frame = Frame(1.1 * max(one.across for one in points), 1.1 * max(one.up for one in points), across, up)
    at = [(one, frame.x(one.across), frame.y(one.up)) for one in sorted(points, key=lambda one: -one.up)]
    taken = [(x - 6, x + 6, y - 6, y + 6) for _, x, y in at]
    for (name, kind, *_, had), x, y in at:
        mark = '<circle class="k-{}" cx="{}" cy="{}" r="5" fill-opacity="{}"/>'
        frame.add(mark, kind, f"{x:.1f}", f"{y:.1f}", f"{had:.2f}")
        place = _free_place(x, y, NAME * pixels(name), taken)
        taken.append(_box(*place, NAME * pixels(name)))
        frame.words(*place[:2], name, place[2], "soft")
    return frame.svg(title)


def _free_place(x: float, y: float, wide: float, taken: Sequence[Box]) -> tuple[float, float, str]:
    """Where the name of a point at (x, y) stands, and its anchor: beside it, over or under it, over nothing else."""
    middle = (x, "middle") if x - wide / 2 > LEFT and x + wide / 2 < WIDE else (WIDE - 2.0, "end")
    if middle[1] == "end" and x < WIDE / 2:
        middle = (LEFT + 2.0, "start")
    wanted = [(x + 8, y + 4, "start"), (x - 8, y + 4, "end"), *((middle[0], y + by, middle[1]) for by in OVER)]
    boxes = [(place, _box(*place, wide)) for place in wanted]
    fits = [(place, box) for place, box in boxes if box[0] >= LEFT and box[1] <= WIDE and box[2] >= 0] or boxes[2:3]
    return next((place for place, box in fits if not any(_meet(box, other) for other in taken)), fits[0][0])


def _box(x: float, base: float, anchor: str, wide: float) -> Box:
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return left, left + wide, base - 11, base + 3


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def areas_chart(
    layers: Sequence[tuple[str, str, Sequence[tuple[float, float]]]], across: str, up: str, title: str
) -> Markup:
    """Layers on each other (name, kind, points); the first lies at the bottom."""
    heights = {x: 0.0 for _, _, points in layers for x, _ in points}
    for _, _, points in layers:
        for x, y in points:
            heights[x] += y
    frame = Frame(max(heights), 1.05 * max(heights.values()), across, up)
    below = dict.fromkeys(heights, 0.0)
    for place, (name, kind, points) in enumerate(layers):
        above = {x: below[x] + y for x, y in points}
        there = [*sorted(above.items()), *sorted(((x, below[x]) for x in above), reverse=True)]
        frame.add('<path class="area k-{}" d="{}"/>', kind, _path(frame, there) + "Z")
        frame.words(WIDE - RIGHT - 4, TOP + 12 + 15 * place, name, "end", f"k-{kind}")
        below |= above
    return frame.svg(title)


def _path(frame: Frame, points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in points)
