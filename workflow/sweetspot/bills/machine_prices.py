"""What AWS, Azure and Google asked on demand for each of their machines, in their usual places: a yardstick, no price.

machine_prices.csv was made by tests/support/machine_prices_table.py, which names the catalogues of 2022 to 2026.
"""

import csv
import math
from functools import cache
from pathlib import Path

from sweetspot.bills.price_levels import provider_key

TABLE = Path(__file__).parent / "machine_prices.csv"


def asked(provider: str, instance: str) -> tuple[float, ...]:
    """USD an hour that a provider asked for a machine, each price once; none for a machine that is not known."""
    return _table().get((provider_key(provider), instance), ())


def nearest(usd: float, known: tuple[float, ...]) -> float:
    """The known price that `usd` is nearest to, by their ratio."""
    return min(known, key=lambda one: abs(math.log(usd / one)))


@cache
def _table() -> dict[tuple[str, str], tuple[float, ...]]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {
            (row["provider"], row["instance"]): tuple(float(usd) for usd in row["usd_per_hour"].split())
            for row in csv.DictReader(file)
        }
