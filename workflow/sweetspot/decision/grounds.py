"""What the speeds and prices of the answer are, in words: where one is weak, the answer depends on it."""

from collections.abc import Sequence

import pandas as pd

from sweetspot.cells import READ
from sweetspot.decision.counted import listed, the
from sweetspot.decision.options import STAND_IN, Row

SPEED_GROUNDS = {
    "measured": "measured",
    "own": "timed by ourselves",
    "published": "published",
    "equivalent": "taken from another machine",
    "scaled": "scaled up from one device",
    "stand_in": "a stand-in",
    "transferred": "transferred from another device",
    "extrapolated": "a prediction",
}
OF_SEVERAL = {"a stand-in": "stand-ins", "a prediction": "predictions"}
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
    if speeds and not {row["throughput_basis"] for row in named} <= set(READ):
        found.append(_together("speed", [(the(row["title"]), speed_ground(row)) for row in named]))
    weak = [row for row in named if row["price_basis"] in PRICE_GROUNDS]
    prices = [(the(row["title"]), PRICE_GROUNDS[row["price_basis"]]) for row in weak]
    if prices:
        found.append(_together("price", prices))
    return found


def _together(what: str, told: Sequence[tuple[str, str]]) -> str:
    """The speed of A is x. Those of B and C are y."""
    alike: dict[str, list[str]] = {}
    for name, ground in told:
        alike.setdefault(ground, []).append(name)
    said: list[str] = []
    for ground, names in alike.items():
        one, many = ("That", "Those") if said else (f"The {what}", f"The {what}s")
        several = f"{many} of {listed(names)} are {OF_SEVERAL.get(ground, ground)}."
        said.append(f"{one} of {names[0]} is {ground}." if len(names) == 1 else several)
    return " ".join(said)
