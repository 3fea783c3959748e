"""Price catalogues as CSV: SkyPilot's vms.csv, gpuhunt's files and a plain table, read by column name."""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from sweetspot.cells import is_slug
from sweetspot.errors import UserError

PURCHASES = ("on_demand", "spot", "preemptible")
MAX_BYTES = 200_000_000


@dataclass(frozen=True)
class Listing:
    """One price of a catalogue: an hour of a machine in a place, with what the catalogue says of the machine."""

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


Row = Mapping[str, str]


class _Line:
    """One line of a CSV file with readers that name file, line and column when they fail."""

    def __init__(self, file: Path, number: int, row: Row) -> None:
        self.file, self.number, self.row = file, number, row

    def text(self, column: str) -> str:
        return (self.row.get(column) or "").strip()

    def name(self, column: str) -> str:
        value = self.text(column)
        if not is_slug(value):
            self.fail(column, value, "a name of letters, digits, '.', '_' and '-' (at most 64)")
        return value

    def price(self, column: str) -> float | None:
        value = self.number_of(column)
        if value is not None and value <= 0:
            self.fail(column, self.text(column), "a number above 0, or nothing")
        return value

    def number_of(self, column: str) -> float | None:
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
        """A count of at least 1; catalogues write 0 for none and 8.0 for 8, and fractions for shared cards."""
        value = self.number_of(column)
        return int(value) if value is not None and value >= 1 and value == int(value) else None

    def fail(self, column: str, value: str, expected: str) -> NoReturn:
        raise UserError(f"{self.file}, line {self.number}: {column} is {value[:60]!r}; expected {expected}")


def _lines(path: str | Path, needed: tuple[str, ...], kind: str) -> Iterator[_Line]:
    file = Path(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UserError(f"{file}: more than {MAX_BYTES} bytes; expected a catalogue")
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            missing = [name for name in needed if name not in (reader.fieldnames or [])]
            if missing:
                raise UserError(f"{file}: column '{missing[0]}' is missing; expected a {kind} file")
            for row in reader:
                if None in row or None in row.values():
                    raise UserError(f"{file}, line {reader.line_num}: not as many fields as the heading has columns")
                yield _Line(file, reader.line_num, row)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}; the file is needed") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not CSV in UTF-8: {' '.join(str(error).split())[:120]}") from None


def read_skypilot(path: str | Path) -> list[Listing]:
    """SkyPilot catalogue: one listing for Price and one for SpotPrice of a line; empty prices are none.

    Columns are found by name, since clouds order them differently. Lines without an InstanceType (accelerators
    sold alone) are left out: they are no machine.
    """
    found = []
    for line in _lines(path, ("InstanceType", "Price"), "SkyPilot catalogue"):
        if not line.text("InstanceType"):
            continue
        facts: dict[str, Any] = {
            "place": line.text("AvailabilityZone") or line.text("Region"),
            "gpu": line.text("AcceleratorName"),
            "gpus": line.whole("AcceleratorCount"),
            "vcpus": line.whole("vCPUs"),
            "memory_gib": line.number_of("MemoryGiB"),
        }
        for column, purchase in (("Price", "on_demand"), ("SpotPrice", "spot")):
            price = line.price(column)
            if price is not None:
                found.append(Listing(line.number, line.name("InstanceType"), purchase, price, **facts))
    return found


def read_gpuhunt(path: str | Path) -> list[Listing]:
    """Gpuhunt CSV: a spot offer is a line of its own (`spot` is True or False)."""
    found = []
    for line in _lines(path, ("instance_name", "price", "spot"), "gpuhunt"):
        price = line.price("price")
        if price is None:
            line.fail("price", "", "a number above 0")
        flag = line.text("spot").lower()
        if flag not in ("true", "false"):
            line.fail("spot", line.text("spot"), "True or False")
        facts: dict[str, Any] = {
            "place": line.text("location"),
            "gpu": line.text("gpu_name"),
            "gpus": line.whole("gpu_count"),
            "vcpus": line.whole("cpu"),
            "memory_gib": line.number_of("memory"),
        }
        purchase = "spot" if flag == "true" else "on_demand"
        found.append(Listing(line.number, line.name("instance_name"), purchase, price, **facts))
    return found


def read_plain(path: str | Path) -> list[Listing]:
    """The plain table: columns instance and per_hour; optional purchase, place, currency, source and the machine's
    gpu, gpus, vcpus, memory_gib.
    """
    found = []
    for line in _lines(path, ("instance", "per_hour"), "plain price"):
        price = line.price("per_hour")
        if price is None:
            line.fail("per_hour", "", "a number above 0")
        purchase = line.text("purchase") or "on_demand"
        if purchase not in PURCHASES:
            line.fail("purchase", purchase, f"one of {', '.join(PURCHASES)}")
        facts: dict[str, Any] = {
            "place": line.text("place"),
            "currency": line.text("currency") or None,
            "source": line.text("source") or None,
            "gpu": line.text("gpu"),
            "gpus": line.whole("gpus"),
            "vcpus": line.whole("vcpus"),
            "memory_gib": line.number_of("memory_gib"),
        }
        found.append(Listing(line.number, line.name("instance"), purchase, price, **facts))
    return found


READERS: dict[str, Callable[[str | Path], list[Listing]]] = {
    "skypilot": read_skypilot,
    "gpuhunt": read_gpuhunt,
    "csv": read_plain,
}


def cheapest(listings: list[Listing], place: str | None, only: frozenset[str] | None, file: str) -> list[Listing]:
    """One listing per instance and purchase: the cheapest, in `place` (a zone, or a region by its beginning) if given.

    Order is that of first appearance. Raises UserError where nothing is left.
    """
    best: dict[tuple[str, str], Listing] = {}
    for entry in listings:
        if place is not None and not entry.place.startswith(place):
            continue
        if only is not None and entry.instance not in only:
            continue
        key = (entry.instance, entry.purchase)
        if key not in best or entry.per_hour < best[key].per_hour:
            best[key] = entry
    if not best:
        raise UserError(f"{file}: nothing is left of {len(listings)} prices; expected another --zone or --only")
    return list(best.values())
