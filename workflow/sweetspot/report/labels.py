"""Where the name of a point may stand on a chart so that no two names cover each other."""

import math
from collections.abc import Sequence

ANGLE = 35  # degrees above the level
CHARACTER, LINE, GAP = 5.6, 12.0, 8.0  # pixels at 11 px type: a character's width, a line's height, from the point
ABOVE, BELOW, NOWHERE = "above", "below", "nowhere"
SLOPE = math.radians(ANGLE)

Point = tuple[float, float]
Box = tuple[float, float, float]  # from, to along the text's direction; its place across


def sides(named: Sequence[Point], names: Sequence[str], marks: Sequence[Point], width: float) -> list[str]:
    """For each point `above` (the name runs up to the right), `below` (it comes up from the left) or `nowhere`.

    `named`: pixels, y growing upwards, in the order of who chooses first; `marks`: all points of the chart, which is
    `width` wide. A name never covers a name placed before nor leaves the chart to a side; it stands nowhere if it
    would on both sides. It covers a mark only if the other side is no better.
    """
    placed: list[Box] = []
    found = []
    for point, name in zip(named, names, strict=True):
        boxes = {side: _box(point, len(name) * CHARACTER, side) for side in (ABOVE, BELOW)}
        free = [
            side
            for side, box in boxes.items()
            if _within(point, box, width) and not any(_meet(box, other) for other in placed)
        ]
        clear = [side for side in free if not any(_covers(boxes[side], mark) for mark in marks)]
        side = next(iter([*clear, *free]), NOWHERE)
        found.append(side)
        placed += [boxes[side]] if side in boxes else []
    return found


def _turned(point: Point) -> Point:
    """Along the text, and across it."""
    x, y = point
    return x * math.cos(SLOPE) + y * math.sin(SLOPE), y * math.cos(SLOPE) - x * math.sin(SLOPE)


def _box(point: Point, length: float, side: str) -> Box:
    along, across = _turned(point)
    return (along + GAP, along + GAP + length, across) if side == ABOVE else (along - GAP - length, along - GAP, across)


def _within(point: Point, box: Box, width: float) -> bool:
    along, _ = _turned(point)
    reach = [point[0] + (end - along) * math.cos(SLOPE) for end in box[:2]]
    return min(reach) >= 0 and max(reach) <= width


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and abs(one[2] - other[2]) < LINE


def _covers(box: Box, mark: Point) -> bool:
    along, across = _turned(mark)
    return box[0] < along < box[1] and abs(box[2] - across) < LINE
