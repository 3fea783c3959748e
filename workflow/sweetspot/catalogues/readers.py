"""Price catalogues by format: SkyPilot's vms.csv, gpuhunt's files, and a plain table as CSV or JSON."""

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from sweetspot.catalogues.listing import LONGEST_SLUG, SIZE_LIMIT, BadLineError, Catalogue, Line, Listing, read_lines
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.errors import UserError
from sweetspot.files import read_given
from sweetspot.study.catalogue_map import RATES


def read_gpuhunt(path: str | Path) -> Catalogue:
    """Read gpuhunt's CSV, in which a spot offer is a line of its own.

    RunPod's names there are those of the device, alike for one and for eight: such machines get the number in front.
    """
    catalogue = Catalogue(Path(path))
    for line in read_lines(catalogue, ("instance_name", "price", "spot"), "gpuhunt"):
        _add(catalogue, line, "instance_name", _gpuhunt_listing)
    counts: dict[str, set[int | None]] = {}
    for entry in catalogue.listings:
        counts.setdefault(entry.instance, set()).add(entry.gpus)
    for index, entry in enumerate(catalogue.listings):
        if len(counts[entry.instance]) > 1:
            name = f"{entry.gpus or 0}x-{entry.instance}"[:LONGEST_SLUG]
            title = f"{entry.gpus or 0} x {entry.title or entry.instance}"
            catalogue.listings[index] = replace(entry, instance=name, title=title)
    return catalogue


def read_table(path: str | Path) -> Catalogue:
    """Read a plain table: CSV, or JSON with a list of objects of the same keys.

    Columns: instance and per_hour; optional purchase, place, currency, source and the machine's gpu, gpus, vcpus,
    memory_gib.
    """
    catalogue, needed = Catalogue(Path(path)), ("instance", "per_hour")
    is_json = catalogue.file.suffix.lower() == ".json"
    for line in _json_lines(catalogue.file) if is_json else read_lines(catalogue, needed, "plain price"):
        _add(catalogue, line, "instance", _table_listing)
    return catalogue


def _json_lines(file: Path) -> list[Line]:
    try:
        rows = json.loads(read_given(file, SIZE_LIMIT))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not JSON: {' '.join(str(error).split())}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{file}: expected a list of objects with the keys instance and per_hour")
    return [
        Line(number, {key: "" if value is None else str(value) for key, value in row.items()})
        for number, row in enumerate(rows, 1)
    ]


def _add(catalogue: Catalogue, line: Line, column: str, read: Callable[[Line], Listing]) -> None:
    try:
        catalogue.listings.append(read(line))
    except BadLineError as error:
        catalogue.skip(line.number, str(error), line.text(column))


def _gpuhunt_listing(line: Line) -> Listing:
    spot = line.text("spot").lower()
    if spot not in ("true", "false"):
        line.fail("spot", "True or False")
    name, title = line.name("instance_name")
    gpu = line.text("gpu_name")
    return Listing(
        line.number,
        name,
        "spot" if spot == "true" else "on_demand",
        line.price("price") or 0.0,
        zone=line.text("location"),
        gpu=gpu,
        gpus=line.devices("gpu_count", gpu),
        vcpus=line.count("cpu"),
        memory_gib=line.number_of("memory"),
        title=title,
        gpu_memory_gb=line.number_of("gpu_memory"),
    )


def _table_listing(line: Line) -> Listing:
    purchase = line.text("purchase") or "on_demand"
    if purchase not in RATES:
        line.fail("purchase", f"one of {', '.join(RATES)}")
    name, title = line.name("instance")
    gpu = line.text("gpu")
    return Listing(
        line.number,
        name,
        purchase,
        line.price("per_hour") or 0.0,
        zone=line.text("place"),
        currency=line.text("currency") or None,
        source=line.text("source") or None,
        gpu=gpu,
        gpus=line.devices("gpus", gpu),
        vcpus=line.count("vcpus"),
        memory_gib=line.number_of("memory_gib"),
        title=title,
    )


READERS: dict[str, Callable[[str | Path], Catalogue]] = {
    "skypilot": read_skypilot,
    "gpuhunt": read_gpuhunt,
    "csv": read_table,
    "json": read_table,
}


def cheapest(catalogue: Catalogue, zone: str | None, only: Collection[str] | None) -> list[Listing]:
    """Select the cheapest listing of each instance and purchase, in the order of first appearance.

    Parameters
    ----------
    catalogue : Catalogue
        Of two machines whose titles make one name the second is left out there.
    zone : str or None
        A zone or a region, or how it begins; None: anywhere.
    only : collection of str or None
        Instances or titles to keep; None: all.

    Returns
    -------
    list of Listing

    Raises
    ------
    UserError
        If nothing is left.
    """
    best: dict[tuple[str, str], Listing] = {}
    titles: dict[str, str] = {}
    for entry in catalogue.listings:
        if not entry.within(zone) or not (only is None or entry.instance in only or entry.title in only):
            continue
        first = titles.setdefault(entry.instance, entry.title)
        if first != entry.title:
            name, second = first or entry.instance, entry.title or entry.instance
            catalogue.skip(entry.line, f"{second!r} makes the same name as {name!r}; expected names apart")
            continue
        key = (entry.instance, entry.purchase)
        if key not in best or entry.per_hour < best[key].per_hour:
            best[key] = entry
    if best:
        return list(best.values())
    if not catalogue.listings:
        faults = catalogue.skipped()
        raise UserError(f"{faults[0]} (and no other price is left)" if faults else f"{catalogue.file}: no price at all")
    count = len(catalogue.listings)
    raise UserError(f"{catalogue.file}: nothing is left of {count} prices; expected another --zone or --only")
