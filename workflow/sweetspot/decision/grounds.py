"""What the speeds and prices of the answer are, in words: where one is weak, the answer depends on it."""

from collections.abc import Sequence

import pandas as pd

from sweetspot.decision.counted import the
from sweetspot.decision.options import STAND_IN, Row

SPEED_GROUNDS = {
    "measured": "measured",
    "published": "published",
    "equivalent": "taken from another machine",
    "scaled": "scaled up from one device",
    "stand_in": "a stand-in",
    "transferred": "transferred from another device",
    "extrapolated": "a prediction",
}
PRICE_GROUNDS = {"equivalent": "taken from another offer", "stand_in": "derived, not published"}


def speed_ground(option: Row) -> str:
    """What a speed is; of a stand-in also which figure stands in, where the table of throughputs says so."""
    gpu, framework, batch_size, precision = (option[name] for name in STAND_IN)
    if option["throughput_basis"] == "stand_in" and pd.notna(gpu):
        batch = "batch not stated" if pd.isna(batch_size) else f"batch {batch_size:.0f}"
        return f"a stand-in (nearest published figure: {gpu}, {framework}, {batch}, {precision})"
    return SPEED_GROUNDS[option["throughput_basis"]]


def grounds(named: Sequence[Row], speeds: bool = True) -> list[str]:
    """Sentences on the speeds of these options, and on their prices, each only where one is weak.

    `speeds`: whether speeds carry anything; of a month's bill they do not.
    """
    found = []
    if speeds and not {row["throughput_basis"] for row in named} <= {"measured", "published"}:
        found.append(_together("speed", [(the(row["title"]), speed_ground(row)) for row in named]))
    weak = [row for row in named if row["price_basis"] in PRICE_GROUNDS]
    prices = [(the(row["title"]), PRICE_GROUNDS[row["price_basis"]]) for row in weak]
    if prices:
        found.append(_together("price", prices))
    return found


def _together(what: str, told: Sequence[tuple[str, str]]) -> str:
    """The speed of A is x. That of B is y."""
    (name, ground), *others = told
    rest = "".join(f" That of {other} is {words}." for other, words in others)
    return f"The {what} of {name} is {ground}.{rest}"
