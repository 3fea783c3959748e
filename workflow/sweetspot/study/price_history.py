"""prices/history/<date>/<price_list>.yaml: what price lists were before they were refreshed.

<date> is the newest day of a price in the list. Nothing of the workflow reads these as price lists of today.
"""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from sweetspot.study.price_list import PriceList, load_price_list

HISTORY = "history"
FOLDER = re.compile(r"(\d{4}-\d\d-\d\d)(_\d+)?")


def newest_day(prices: PriceList) -> date:
    """The newest day that a price of the list speaks of."""
    return max([prices.as_of, *(offer.as_of for offer in prices.offers if offer.as_of is not None)])


def place_for(folder: Path, name: str, prices: PriceList, text: str) -> Path:
    """Where the list `name` of `folder` (prices/) with that text is kept: one file a state, none written over."""
    day, number = newest_day(prices).isoformat(), 1
    while True:
        file = folder / HISTORY / (day if number == 1 else f"{day}_{number}") / f"{name}.yaml"
        if not file.is_file() or file.read_bytes() == text.encode("utf-8"):
            return file
        number += 1


def days_kept(folder: Path) -> list[date]:
    """The days of which `folder` (prices/) keeps old lists, oldest first."""
    found = (FOLDER.fullmatch(entry.name) for entry in (folder / HISTORY).glob("*/"))
    return sorted({date.fromisoformat(match[1]) for match in found if match})


def lists_at(folder: Path, names: list[str], day: date) -> Mapping[str, Path]:
    """The file of each list as it was on `day`: its newest state that is not younger, else the oldest known.

    Raises UserError where a list of the history is none.
    """
    return {name: _state(folder, name, day) for name in names}


def _state(folder: Path, name: str, day: date) -> Path:
    kept = [file for file in (folder / HISTORY).glob(f"*/{name}.yaml") if FOLDER.fullmatch(file.parent.name)]
    states = [*sorted(kept, key=lambda file: _order(file.parent.name)), folder / f"{name}.yaml"]
    dated = [(file, newest_day(load_price_list(file))) for file in states]
    then = [file for file, newest in dated if newest <= day]
    return then[-1] if then else states[0]


def _order(name: str) -> tuple[str, int]:
    day, _, number = name.partition("_")
    return day, int(number or 1)
