"""Where the name of a point may stand on a chart so that no two names cover each other."""

import math
from collections.abc import Sequence

ANGLE = 35  # degrees above the level
CHARACTER, LINE, GAP = 5.6, 12.0, 8.0  # pixels at 11 px type: a character's width, a line's height, from the point
ABOVE, BELOW, NOWHERE = "above", "below", "nowhere"

Box = tuple[float, float, float]  # from, to along the text's direction; its place across


def sides(xs: Sequence[float], ys: Sequence[float], names: Sequence[str]) -> list[str]:
    """For each point `above` (the name runs up to the right), `below` (it comes up from the left) or `nowhere`.

    `xs`, `ys`: pixels, y growing upwards, in the order of who chooses first. A name stands nowhere if on both sides
    it would cover a name placed before.
    """
    placed: list[Box] = []
    found = []
    for x, y, name in zip(xs, ys, names, strict=True):
        for side in (ABOVE, BELOW):
            box = _box(x, y, len(name) * CHARACTER, side)
            if not any(_meet(box, other) for other in placed):
                placed.append(box)
                found.append(side)
                break
        else:
            found.append(NOWHERE)
    return found


def _box(x: float, y: float, length: float, side: str) -> Box:
    """The text in axes turned by ANGLE."""
    slope = math.radians(ANGLE)
    along = x * math.cos(slope) + y * math.sin(slope)
    across = y * math.cos(slope) - x * math.sin(slope)
    return (along + GAP, along + GAP + length, across) if side == ABOVE else (along - GAP - length, along - GAP, across)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and abs(one[2] - other[2]) < LINE
