"""Lines of other people's price catalogues: a bad one is named and left out, never the whole file."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NoReturn

from sweetspot.cells import is_slug
from sweetspot.errors import UserError
from sweetspot.files import read_limited
from sweetspot.number_text import parse_number

LONGEST_SLUG = 64
SIZE_LIMIT = 200_000_000
# What names of machines in catalogues are made of beyond a slug: "NVIDIA A100 80GB PCIe", "VM.Standard.E4.Flex$_2_8".
TITLE = re.compile(r"[\w .,:+$()/-]{1,200}", re.ASCII)


@dataclass(frozen=True)
class Listing:
    """One price of a catalogue: an hour of a machine in a zone, with what the catalogue says of the machine.

    instance: a name for files; title: the catalogue's own, if it differs. region: contains `zone`, if both are given.
    gpu_detail: the device's long name; gpu_memory_gb: of one device.
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
        """Return whether it is in `zone`: a zone, or a region, or how one of them begins; None: anywhere."""
        return zone is None or self.zone.startswith(zone) or self.region.startswith(zone)


@dataclass
class Catalogue:
    """What a catalogue lists, and for what reasons lines were left out: how often, and where first."""

    file: Path
    listings: list[Listing] = field(default_factory=list)
    _lines: dict[str, list[int]] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)

    def skip(self, line: int, reason: str, machine: str = "") -> None:
        """Count a line that cannot be used.

        Parameters
        ----------
        line, reason
            Its number, and why.
        machine
            The catalogue's name of its machine.
        """
        self._lines.setdefault(reason, []).append(line)
        self._reasons.setdefault(machine, reason)

    def reason_without(self, machine: str) -> str:
        """Return the first reason for which a price of that machine was left out; '' if there is none."""
        return self._reasons.get(machine, "") if machine else ""

    def skipped(self) -> list[str]:
        """Return one sentence per reason, with the first line and how many follow."""
        return [
            f"{self.file}, line {lines[0]}{f' and {len(lines) - 1} more' if len(lines) > 1 else ''}: {reason}"
            for reason, lines in self._lines.items()
        ]


class BadLineError(Exception):
    """What one line lacks; the reader counts it and goes on with the next."""


@dataclass(frozen=True)
class Line:
    """One line of a catalogue, whose readers raise BadLineError with column, value and what is expected."""

    number: int
    cells: Mapping[str, str | None]
    columns: Mapping[str, str]  # by field of columns.csv

    def text(self, field: str) -> str:
        """Return the cell without spaces around it; '' for a missing column."""
        return (self.cells.get(self.columns.get(field, "")) or "").strip()

    def name(self) -> tuple[str, str]:
        """Return a name for files, and the catalogue's own if it differs (otherwise '')."""
        value = self.text("instance")
        if is_slug(value):
            return value, ""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", value).strip("-._")[:LONGEST_SLUG]
        if not TITLE.fullmatch(value) or not is_slug(slug):
            self.fail("instance", "a name of letters, digits, spaces and .,:+$()/_-")
        return slug, value

    def value(self, field: str) -> float | None:
        """Return a finite number; None for an empty cell."""
        text = self.text(field)
        try:
            value = parse_number(text, field) if text else None
        except UserError:
            value = float("nan")
        if value is not None and not abs(value) < 1e9:
            self.fail(field, "a number")
        return value

    def price(self, field: str) -> float:
        """Return a price; 0 and an empty cell are none."""
        value = self.value(field)
        if value is None or value <= 0:
            self.fail(field, "a number above 0")
        return value

    def count(self, field: str) -> int | None:
        """Return a count of at least 1, otherwise None; catalogues write 0 for none and 8.0 for 8."""
        value = self.value(field)
        return int(value) if value is not None and value >= 1 and value == int(value) else None

    def devices(self) -> int | None:
        """Return how many devices a machine has; a share of one is no whole machine, and 0 of a named one is none."""
        value = self.value("gpus")
        gpu = self.text("gpu")
        if value is not None and value > 0 and value != int(value):
            self.fail("gpus", "whole devices, not a share of one")
        if gpu and value is not None and value < 1:
            self.fail("gpus", f"1 or more {gpu}")
        return self.count("gpus")

    def fail(self, field: str, expected: str) -> NoReturn:
        """Raise BadLineError about a cell.

        Parameters
        ----------
        field, expected
            Field of columns.csv, and what is expected there.
        """
        raise BadLineError(f"{self.columns[field]} is {self.text(field)[:60]!r}; expected {expected}")


@cache
def declared_columns(kind: str) -> tuple[dict[str, str], list[str]]:
    """Return the column of each field in catalogues of a format, and the columns that each of them has."""
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["format"] == kind]
    return {row["field"]: row["column"] for row in rows}, [row["column"] for row in rows if row["needed"]]


def read_lines(catalogue: Catalogue, kind: str) -> Iterator[Line]:
    """Yield the lines of a CSV file that have as many fields as its heading, or the objects of a JSON list.

    Raises UserError if the file is missing, too large, no such file in UTF-8 or lacks a needed column.
    """
    file = catalogue.file
    columns, needed = declared_columns(kind)
    raw = read_limited(file, SIZE_LIMIT)
    try:
        if file.suffix.lower() == ".json":
            yield from (Line(number, row, columns) for number, row in enumerate(_json_rows(raw), 1))
            return
        reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        missing = [name for name in needed if name not in (reader.fieldnames or [])]
        if missing:
            raise UserError(f"{file}: column '{missing[0]}' is missing; expected a {kind} file")
        for row in reader:
            if None in row or None in row.values():
                catalogue.skip(reader.line_num, "not as many fields as the heading has columns")
            else:
                yield Line(reader.line_num, row, columns)
    except (csv.Error, ValueError, RecursionError, AttributeError) as error:
        text = " ".join(str(error).split())
        raise UserError(f"{file}: neither CSV in UTF-8 nor a JSON list of objects: {text}") from None


def _json_rows(raw: bytes) -> Iterable[dict[str, str]]:
    rows = json.loads(raw)
    if not isinstance(rows, list):
        raise ValueError("one object or value")
    return [{key: "" if value is None else str(value) for key, value in row.items()} for row in rows]
