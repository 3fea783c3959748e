"""Lines of other people's price catalogues: read by column name, a bad one named and left out, never the whole file."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NoReturn

from sweetspot.catalogues.downloads import MOST_BYTES
from sweetspot.cells import is_slug
from sweetspot.errors import UserError
from sweetspot.files import read_given
from sweetspot.study.catalogue_map import Part

LONGEST_SLUG = 64
# What names of machines in catalogues are made of beyond a slug: "NVIDIA A100 80GB PCIe", "VM.Standard.E4.Flex$_2_8".
TITLE = re.compile(r"[\w .,:+$()/-]{1,200}", re.ASCII)


@dataclass(frozen=True)
class Listing:
    """One price of a catalogue: an hour of a machine in a place, with what the catalogue says of the machine.

    `instance` is a name for files; `title` the catalogue's own name where that is none. `region` holds `place`, where
    the catalogue tells both: AWS' zones have names (use1-az1) that do not begin with their region's. `term_months`: of
    a contract, whose hours are due whether used or not. `gpu_detail`: the device's long name, `gpu_memory_gb`: of one.
    """

    line: int
    instance: str
    purchase: str
    per_hour: float
    place: str = ""
    currency: str | None = None
    source: str | None = None
    gpu: str = ""
    gpus: int | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    title: str = ""
    region: str = ""
    term_months: float | None = None
    gpu_detail: str = ""
    gpu_memory_gb: float | None = None

    def within(self, place: str) -> bool:
        """Whether it is in `place`: a zone, or a region, or how one of them begins."""
        return self.place.startswith(place) or self.region.startswith(place)


@dataclass
class Catalogue:
    """What a catalogue lists, and what of it cannot be used: how often, where first, and why."""

    file: Path
    listings: list[Listing] = field(default_factory=list)
    _left_out: dict[str, tuple[int, int]] = field(default_factory=dict)
    _of_machine: dict[str, str] = field(default_factory=dict)

    def leave_out(self, line: int, reason: str, machine: str = "") -> None:
        """Count a price that cannot be used, by its reason; `machine`: the catalogue's name of it."""
        first, count = self._left_out.get(reason, (line, 0))
        self._left_out[reason] = (first, count + 1)
        self._of_machine.setdefault(machine, reason)

    @contextmanager
    def or_left_out(self, line: int, machine: str) -> Iterator[None]:
        """Leave out the price that the block reads where it raises BadLineError."""
        try:
            yield
        except BadLineError as error:
            self.leave_out(line, str(error), machine)

    def why_without(self, machine: str) -> str:
        """The first reason for which a price of that machine was left out; '' where none was."""
        return self._of_machine.get(machine, "") if machine else ""

    def left_out(self) -> list[str]:
        """What was left out: one sentence a reason, with the first line and how many follow."""
        return [
            f"{self.file}, line {first}{f' and {count - 1} more' if count > 1 else ''}: {reason}"
            for reason, (first, count) in self._left_out.items()
        ]


@dataclass(frozen=True)
class Asked:
    """What is asked of a source of today's prices: the part of study.yaml and its key, and where the study lies."""

    key: str
    part: Part
    folder: Path

    @property
    def names(self) -> list[str]:
        """The catalogue's names that are wanted, each once."""
        return list(dict.fromkeys(self.part.instances.values()))


@dataclass(frozen=True)
class Fetched:
    """A catalogue of today. `source`: what a price list says of it; `as_of`: day of the prices; `told`: each file."""

    catalogue: Catalogue
    source: str
    as_of: date
    told: Sequence[str]


class BadLineError(Exception):
    """What one line lacks; the reader counts it and goes on with the next."""


class Line:
    """One line of a CSV file with readers that say column, value and what is expected when they fail."""

    def __init__(self, number: int, row: Mapping[str, str]) -> None:
        self.number, self.row = number, row

    def text(self, column: str) -> str:
        """The cell without spaces around it; nothing for a missing column."""
        return (self.row.get(column) or "").strip()

    def name(self, column: str) -> tuple[str, str]:
        """A name for files made of the catalogue's own, and that one where it differs ('' where not)."""
        value = self.text(column)
        if is_slug(value):
            return value, ""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", value).strip("-._")[:LONGEST_SLUG]
        if not TITLE.fullmatch(value) or not is_slug(slug):
            self.fail(column, value, "a name of letters, digits, spaces and .,:+$()/_-")
        return slug, value

    def price(self, column: str) -> float | None:
        """A price above 0, or nothing."""
        value = self.number_of(column)
        if value is not None and value <= 0:
            self.fail(column, self.text(column), "a number above 0, or nothing")
        return value

    def needed_price(self, column: str) -> float:
        """A price above 0."""
        value = self.price(column)
        return self.fail(column, "", "a number above 0") if value is None else value

    def number_of(self, column: str) -> float | None:
        """A finite number, or nothing."""
        value = self.text(column)
        if not value:
            return None
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not abs(number) < 1e9:
            self.fail(column, value, "a number")
        return number

    def whole(self, column: str) -> int | None:
        """A count of at least 1; catalogues write 0 for none and 8.0 for 8."""
        value = self.number_of(column)
        return int(value) if value is not None and value >= 1 and value == int(value) else None

    def cards(self, column: str, gpu: str = "") -> int | None:
        """A count of devices, or nothing; a fraction is a device shared with others, which is no whole machine.

        With the name of a device 0 is refused: such a line says that the machine has none of it.
        """
        value = self.number_of(column)
        if value is not None and value > 0 and value != int(value):
            self.fail(column, self.text(column), "whole devices, not a share of one")
        if gpu and value is not None and value < 1:
            self.fail(column, self.text(column), f"1 or more {gpu}")
        return self.whole(column)

    def fail(self, column: str, value: str, expected: str) -> NoReturn:
        """Say what is wrong with a cell."""
        raise BadLineError(f"{column} is {value[:60]!r}; expected {expected}")


def read_lines(catalogue: Catalogue, needed: tuple[str, ...], kind: str) -> Iterator[Line]:
    """The lines of a catalogue that have as many fields as its heading.

    Raises UserError where the file is none: missing, too large, not CSV, without a needed column.
    """
    file = catalogue.file
    raw = read_given(file, MOST_BYTES)
    try:
        reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        missing = [name for name in needed if name not in (reader.fieldnames or [])]
        if missing:
            raise UserError(f"{file}: column '{missing[0]}' is missing; expected a {kind} file")
        for row in reader:
            if None in row or None in row.values():
                catalogue.leave_out(reader.line_num, "not as many fields as the heading has columns")
            else:
                yield Line(reader.line_num, row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not CSV in UTF-8: {' '.join(str(error).split())}") from None
