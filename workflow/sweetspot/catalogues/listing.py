"""Lines of other people's price catalogues: a bad one is named and left out, never the whole file."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from sweetspot.cells import is_slug
from sweetspot.errors import UserError
from sweetspot.files import read_given

LONGEST_SLUG = 64
SIZE_LIMIT = 200_000_000
# What names of machines in catalogues are made of beyond a slug: "NVIDIA A100 80GB PCIe", "VM.Standard.E4.Flex$_2_8".
TITLE = re.compile(r"[\w .,:+$()/-]{1,200}", re.ASCII)


@dataclass(frozen=True)
class Listing:
    """One price of a catalogue: an hour of a machine in a place, with what the catalogue says of the machine.

    instance: a name for files; title: the catalogue's own, where that is none. region: holds `zone`, where both are
    told. gpu_detail: the device's long name; gpu_memory_gb: of one device.
    """

    line: int
    instance: str
    purchase: str
    per_hour: float
    zone: str = ""
    currency: str | None = None
    source: str | None = None
    gpu: str = ""
    gpus: int | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    title: str = ""
    region: str = ""
    gpu_detail: str = ""
    gpu_memory_gb: float | None = None

    def within(self, zone: str | None) -> bool:
        """Whether it is in `zone`: a zone, or a region, or how one of them begins; None: anywhere."""
        return zone is None or self.zone.startswith(zone) or self.region.startswith(zone)


@dataclass
class Catalogue:
    """What a catalogue lists, and for what reasons lines were left out: how often, and where first."""

    file: Path
    listings: list[Listing] = field(default_factory=list)
    _skipped: dict[str, tuple[int, int]] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)

    def skip(self, line: int, reason: str, machine: str = "") -> None:
        """Count a line that cannot be used; `machine`: the catalogue's name of it."""
        first, count = self._skipped.get(reason, (line, 0))
        self._skipped[reason] = (first, count + 1)
        self._reasons.setdefault(machine, reason)

    def reason_without(self, machine: str) -> str:
        """The first reason for which a price of that machine was left out; '' where none was."""
        return self._reasons.get(machine, "") if machine else ""

    def skipped(self) -> list[str]:
        """One sentence a reason, with the first line and how many follow."""
        return [
            f"{self.file}, line {first}{f' and {count - 1} more' if count > 1 else ''}: {reason}"
            for reason, (first, count) in self._skipped.items()
        ]


class BadLineError(Exception):
    """What one line lacks; the reader counts it and goes on with the next."""


@dataclass(frozen=True)
class Line:
    """One line of a table, whose readers raise BadLineError with column, value and what is expected."""

    number: int
    row: Mapping[str, str]

    def text(self, column: str) -> str:
        """The cell without spaces around it; '' for a missing column."""
        return (self.row.get(column) or "").strip()

    def name(self, column: str) -> tuple[str, str]:
        """A name for files made of the catalogue's own, and that one where it differs ('' where not)."""
        value = self.text(column)
        if is_slug(value):
            return value, ""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", value).strip("-._")[:LONGEST_SLUG]
        if not TITLE.fullmatch(value) or not is_slug(slug):
            self.fail(column, "a name of letters, digits, spaces and .,:+$()/_-")
        return slug, value

    def number_of(self, column: str) -> float | None:
        """A finite number; None for an empty cell."""
        value = self.text(column)
        if not value:
            return None
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not abs(number) < 1e9:
            self.fail(column, "a number")
        return number

    def price(self, column: str, required: bool = True) -> float | None:
        """A price above 0; None for an empty cell that is not required."""
        value = self.number_of(column)
        if (value is None and required) or (value is not None and value <= 0):
            self.fail(column, "a number above 0")
        return value

    def count(self, column: str) -> int | None:
        """A count of at least 1, else None; catalogues write 0 for none and 8.0 for 8."""
        value = self.number_of(column)
        return int(value) if value is not None and value >= 1 and value == int(value) else None

    def devices(self, column: str, gpu: str) -> int | None:
        """A count of devices; a share of one is no whole machine, and a named device of which there are 0 is none."""
        value = self.number_of(column)
        if value is not None and value > 0 and value != int(value):
            self.fail(column, "whole devices, not a share of one")
        if gpu and value is not None and value < 1:
            self.fail(column, f"1 or more {gpu}")
        return self.count(column)

    def fail(self, column: str, expected: str) -> NoReturn:
        """Raise BadLineError about a cell."""
        raise BadLineError(f"{column} is {self.text(column)[:60]!r}; expected {expected}")


def read_lines(catalogue: Catalogue, needed: tuple[str, ...], kind: str) -> Iterator[Line]:
    """Yield the lines of a CSV file that have as many fields as its heading.

    Parameters
    ----------
    catalogue : Catalogue
        Its file is read; the other lines are left out there.
    needed : tuple of str
        Columns that the file must have.
    kind : str
        What the sentence of refusal calls such a file.

    Raises
    ------
    UserError
        If the file is missing, too large, not CSV in UTF-8 or lacks a needed column.
    """
    file = catalogue.file
    raw = read_given(file, SIZE_LIMIT)
    try:
        reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        missing = [name for name in needed if name not in (reader.fieldnames or [])]
        if missing:
            raise UserError(f"{file}: column '{missing[0]}' is missing; expected a {kind} file")
        for row in reader:
            if None in row or None in row.values():
                catalogue.skip(reader.line_num, "not as many fields as the heading has columns")
            else:
                yield Line(reader.line_num, row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not CSV in UTF-8: {' '.join(str(error).split())}") from None
