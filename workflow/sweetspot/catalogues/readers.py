"""Price catalogues as CSV by format: SkyPilot's vms.csv, gpuhunt's files and a plain table."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sweetspot.catalogues.listing import LONGEST_SLUG, Catalogue, Line, Listing, read_lines
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.errors import UserError
from sweetspot.study.catalogue_map import RATES


def read_gpuhunt(path: str | Path) -> Catalogue:
    """Gpuhunt CSV: a spot offer is a line of its own (`spot` is True or False).

    RunPod's names there are those of the card, alike for one and for eight: such machines get the number in front.
    """
    catalogue = _read(path, ("instance_name", "price", "spot"), "gpuhunt", _gpuhunt)
    sizes: dict[str, set[int | None]] = {}
    for entry in catalogue.listings:
        sizes.setdefault(entry.instance, set()).add(entry.gpus)
    for place, entry in enumerate(catalogue.listings):
        if len(sizes[entry.instance]) > 1:
            count = entry.gpus or 0
            name, title = f"{count}x-{entry.instance}"[:LONGEST_SLUG], f"{count} x {entry.title or entry.instance}"
            catalogue.listings[place] = replace(entry, instance=name, title=title)
    return catalogue


def read_plain(path: str | Path) -> Catalogue:
    """The plain table: columns instance and per_hour; optional purchase, place, currency, source and the machine's
    gpu, gpus, vcpus, memory_gib.
    """
    return _read(path, ("instance", "per_hour"), "plain price", _plain)


def _read(path: str | Path, needed: tuple[str, ...], kind: str, listing: Callable[[Line], Listing]) -> Catalogue:
    """A listing a line, made by `listing`; the first of the needed columns names the machine."""
    catalogue = Catalogue(Path(path))
    for line in read_lines(catalogue, needed, kind):
        with catalogue.or_left_out(line.number, line.text(needed[0])):
            catalogue.listings.append(listing(line))
    return catalogue


def _gpuhunt(line: Line) -> Listing:
    flag = line.text("spot")
    if flag.lower() not in ("true", "false"):
        line.fail("spot", flag, "True or False")
    name, title = line.name("instance_name")
    gpu = line.text("gpu_name")
    return Listing(
        line.number, name, "spot" if flag.lower() == "true" else "on_demand", line.needed_price("price"),
        place=line.text("location"), gpu=gpu, gpus=line.cards("gpu_count", gpu), vcpus=line.whole("cpu"),
        memory_gib=line.number_of("memory"), title=title, gpu_memory_gb=line.number_of("gpu_memory"),
    )  # fmt: skip


def _plain(line: Line) -> Listing:
    purchase = line.text("purchase") or "on_demand"
    if purchase not in RATES:
        line.fail("purchase", purchase, f"one of {', '.join(RATES)}")
    name, title = line.name("instance")
    gpu = line.text("gpu")
    return Listing(
        line.number, name, purchase, line.needed_price("per_hour"), place=line.text("place"),
        currency=line.text("currency") or None, source=line.text("source") or None, gpu=gpu,
        gpus=line.cards("gpus", gpu), vcpus=line.whole("vcpus"), memory_gib=line.number_of("memory_gib"), title=title,
    )  # fmt: skip


READERS: dict[str, Callable[[str | Path], Catalogue]] = {
    "skypilot": read_skypilot,
    "gpuhunt": read_gpuhunt,
    "csv": read_plain,
}


def cheapest(catalogue: Catalogue, place: str | None, only: frozenset[str] | None) -> list[Listing]:
    """One listing per instance and purchase: the cheapest, in `place` (a zone, or a region by its beginning) if given.

    `only` has names or titles. Order is that of first appearance. Of two machines whose titles make the same name the
    first is kept. Raises UserError where nothing is left.
    """
    best: dict[tuple[str, str], Listing] = {}
    titles: dict[str, str] = {}
    for entry in catalogue.listings:
        if not (place is None or entry.within(place)) or not (only is None or only & {entry.instance, entry.title}):
            continue
        first = titles.setdefault(entry.instance, entry.title)
        if first != entry.title:
            name, other = first or entry.instance, entry.title or entry.instance
            catalogue.leave_out(entry.line, f"{other!r} makes the same name as {name!r}; expected names apart")
            continue
        key = (entry.instance, entry.purchase)
        if key not in best or entry.per_hour < best[key].per_hour:
            best[key] = entry
    if best:
        return list(best.values())
    if not catalogue.listings:
        faults = catalogue.left_out()
        raise UserError(f"{faults[0]} (and no other price is left)" if faults else f"{catalogue.file}: no price at all")
    count = len(catalogue.listings)
    raise UserError(f"{catalogue.file}: nothing is left of {count} prices; expected another --zone or --only")
