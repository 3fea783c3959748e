"""What catalogues said of stock, look by look: prices/history/stock.csv of a study, and what the looks make of a share.

One row per look and machine, appended by `sweetspot refresh-prices STUDY --stock`. A default share and one's own days
are counted together, beta-binomial: the default as DEFAULT_LOOKS independent looks, a day as 1 / DAYS_A_LOOK of one,
since stock today mostly means stock tomorrow. Of DigitalOcean's stock of April to August 2026 (tests/data/stock) the
shares of five months vary as those of 1.2 (H100) and 2.6 (H200) independent looks a month would; with 1.5 the range
held 5 of 6 months held back. Looks older than RECENT_DAYS made the next month's share less well known, not better.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

from sweetspot.errors import Faults, UserError
from sweetspot.files import read_given, write_whole
from sweetspot.study.price_history import HISTORY
from sweetspot.study.purchases import Purchase

DEFAULT_LOOKS = 1.0
DAYS_A_LOOK = 20.0
RECENT_DAYS = 30
LEAST_DEFAULT = 0.05  # a default counts as no more certain than that, nor than 1 minus it
ENDS = (0.05, 0.95)  # of the range of the share
MOST_BYTES = 50_000_000
AHEAD = timedelta(days=1)  # where it is tomorrow already
Machine = tuple[str, str, int, str]


@dataclass(frozen=True)
class Look:
    """Whether a catalogue of the day `as_of` listed a machine as to be had; `source` has the file's checksum."""

    as_of: date
    provider: str
    gpu: str
    gpus: int
    purchase: str
    in_stock: bool
    source: str

    @property
    def machine(self) -> Machine:
        """Provider, device, devices of one machine, purchase."""
        return self.provider, self.gpu, self.gpus, self.purchase


COLUMNS = [field.name for field in fields(Look)]


@dataclass(frozen=True)
class Share:
    """The share of time in which a machine is to be had, and its 5 % and 95 % points; `days` of looks, of which
    `with_stock` (parts of days where looks of one day differ), to the day `newest`.
    """

    value: float
    low: float
    high: float
    days: int
    with_stock: float
    newest: date


def looks_file(study: Path) -> Path:
    """Where the looks of the study in that folder are kept."""
    return study / "prices" / HISTORY / "stock.csv"


def read_looks(file: Path, today: date | None = None) -> list[Look]:
    """The looks of a study, in their order. Raises UserError with file, line and column, each mistake one sentence."""
    try:
        reader = csv.reader(io.StringIO(read_given(file, MOST_BYTES).decode("utf-8")), strict=True)
        lines = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{file}: not CSV in UTF-8: {' '.join(str(error).split())[:120]}") from None
    if not lines or lines[0] != COLUMNS:
        found = ",".join(lines[0])[:80] if lines else "nothing"
        raise UserError(f"{file}: begins with {found!r}; expected the columns {','.join(COLUMNS)}")
    faults, looks = Faults(), []
    for number, cells in enumerate(lines[1:], start=2):
        with faults.gather():
            looks.append(_look(cells, f"{file}, line {number}", today or date.today()))
    faults.end()
    return looks


def _look(cells: Sequence[str], where: str, today: date) -> Look:
    if len(cells) != len(COLUMNS):
        raise UserError(f"{where}: has {len(cells)} cells; expected {len(COLUMNS)} (is the file whole?)")
    row: dict[str, Any] = dict(zip(COLUMNS, cells, strict=True))

    def refuse(column: str, expected: str) -> UserError:
        return UserError(f"{where}: {column} is {row[column][:60]!r}; expected {expected}")

    try:
        day = date.fromisoformat(row["as_of"])
    except ValueError:
        raise refuse("as_of", "a day such as 2026-11-22") from None
    if day > today + AHEAD:
        raise refuse("as_of", f"a day that has been, at most {today}")
    for column in ("provider", "gpu", "source"):
        if not row[column].strip():
            raise refuse(column, "some text")
    if not (row["gpus"].isascii() and row["gpus"].isdigit() and 1 <= int(row["gpus"]) <= 100_000):
        raise refuse("gpus", "a count of at least 1")
    if row["purchase"] not in get_args(Purchase):
        raise refuse("purchase", f"one of {', '.join(get_args(Purchase))}")
    if row["in_stock"] not in ("0", "1"):
        raise refuse("in_stock", "0 or 1")
    return Look(**(row | {"as_of": day, "gpus": int(row["gpus"]), "in_stock": row["in_stock"] == "1"}))


def new_looks(looks: Iterable[Look], kept: Iterable[Look]) -> list[Look]:
    """Those of `looks` that are not kept: a file of a catalogue that is still the same is no second look."""
    seen = {(look.machine, look.source) for look in kept}
    return [look for look in looks if (look.machine, look.source) not in seen]


def write_looks(file: Path, looks: Iterable[Look]) -> None:
    """Write all looks of a study. Raises UserError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*astuple(look)[:5], int(look.in_stock), look.source) for look in looks)
    with write_whole(file, lasting=True) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")


def days_of(looks: Iterable[Look]) -> dict[Machine, dict[date, float]]:
    """Share of the looks of each day with stock, by machine; without machines that were never seen in stock, of which
    nobody knows whether they are sold there at all.
    """
    every: dict[Machine, dict[date, list[bool]]] = {}
    for look in looks:
        every.setdefault(look.machine, {}).setdefault(look.as_of, []).append(look.in_stock)
    return {
        machine: {day: sum(found) / len(found) for day, found in days.items()}
        for machine, days in every.items()
        if any(map(any, days.values()))
    }


def share_of(days: dict[date, float], default: float | None) -> Share:
    """The share of time with stock by the last RECENT_DAYS of `days` and a default (None: not known, then 0.5).

    Beta with DEFAULT_LOOKS x default + days with stock / DAYS_A_LOOK, and the same of those without: its mean, and its
    ENDS, as far as the mean lies within them.
    """
    from scipy.special import betaincinv

    newest = max(days)
    recent = [share for day, share in days.items() if newest - day < timedelta(days=RECENT_DAYS)]
    before = 0.5 if default is None else min(max(default, LEAST_DEFAULT), 1 - LEAST_DEFAULT)
    with_stock = DEFAULT_LOOKS * before + sum(recent) / DAYS_A_LOOK
    without = DEFAULT_LOOKS * (1 - before) + (len(recent) - sum(recent)) / DAYS_A_LOOK
    value = with_stock / (with_stock + without)
    low, high = (float(betaincinv(with_stock, without, end)) for end in ENDS)
    return Share(value, min(low, value), max(high, value), len(recent), sum(recent), newest)
