"""Price catalogues by format (columns.csv): SkyPilot's vms.csv, gpuhunt's files, and a plain table as CSV or JSON."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from sweetspot.catalogues.listing import LONGEST_SLUG, BadLineError, Catalogue, Line, Listing, read_lines
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.study.catalogue_map import RATES

FORMATS = {"skypilot": "skypilot", "gpuhunt": "gpuhunt", "csv": "csv", "json": "csv"}
PURCHASES: dict[str, str] = {"": "on_demand", "true": "spot", "false": "on_demand", **{name: name for name in RATES}}
# Names that say GPU: "gpu_8x_h100", "a3-highgpu-8g", "8x-H100_SXM", and all of Google's A and G series.
SAYS_GPU = re.compile(r"gpu|^\d+x[-_ ]|^(a[2-9]x?|g[2-9])-(high|mega|ultra|max|standard)|-\d+g(-|$)", re.IGNORECASE)


def read_catalogue(kind: str, path: str | Path) -> Catalogue:
    """Read a catalogue of one of FORMATS; what cannot be a price is left out and named.

    RunPod's names in gpuhunt are those of the device, alike for one and for eight: such machines get the number in
    front.
    """
    catalogue = Catalogue(Path(path))
    lines = read_lines(catalogue, FORMATS[kind])
    for line in _with_accelerators(list(lines), catalogue) if kind == "skypilot" else lines:
        fields = ["per_hour"] if "per_hour" in line.columns else [name for name in RATES if line.text(name)]
        if not fields:
            catalogue.skip(line.number, "no price, neither on demand nor spot", line.text("instance"))
        for field in fields:
            try:
                catalogue.listings.append(_listing(line, field))
            except BadLineError as error:
                catalogue.skip(line.number, str(error), line.text("instance"))
    if kind == "gpuhunt":
        _add_counts(catalogue)
    return catalogue


def _listing(line: Line, price_field: str) -> Listing:
    purchase = PURCHASES.get(line.text("purchase").lower()) if price_field == "per_hour" else price_field
    if purchase is None:
        line.fail("purchase", f"one of {', '.join(filter(None, PURCHASES))}")
    name, title = line.name()
    info = line.text("gpu_info")
    detail = re.search(r"'Name': '([^']+)'", info)
    mebibytes = re.search(r"'MemoryInfo': {'SizeInMiB': (\d+)", info)
    memory = float(mebibytes[1]) / 1024 if mebibytes else line.value("gpu_memory_gb")
    if memory is None and "gpu_info" in line.columns and line.text("gpu") == "A100":
        memory = 40.0  # SkyPilot's other one is its A100-80GB.
    return Listing(
        line.number,
        name,
        purchase,
        round(line.price(price_field), 6),
        zone=line.text("zone") or line.text("region"),
        currency=line.text("currency") or None,
        source=line.text("source") or None,
        gpu=line.text("gpu"),
        gpus=line.devices(),
        vcpus=line.count("vcpus"),
        memory_gib=line.value("memory_gib"),
        title=title,
        region=line.text("region"),
        gpu_detail=detail[1] if detail else "",
        gpu_memory_gb=memory,
    )


def _with_accelerators(lines: Collection[Line], catalogue: Catalogue) -> Iterator[Line]:
    """Yield SkyPilot's machines; a Google machine is host + accelerators of one zone, as SkyPilot adds them.

    A machine type whose name says GPUs and for which its zone has none is left out, likewise accelerators without a
    machine (TPUs, and those that go into any N1 machine).
    """
    inside = {row["instance"]: (row["accelerator"], row["count"]) for row in table("google_machines")}
    accelerators = {
        (line.text("zone") or line.text("region"), line.text("gpu"), line.text("gpus").removesuffix(".0")): line
        for line in lines
        if not line.text("instance")
    }
    unused = dict(accelerators)
    for line in lines:
        name = line.text("instance")
        key = (line.text("zone") or line.text("region"), *inside.get(name, ("", "")))
        if name and (line.text("gpu") or not SAYS_GPU.search(name)):
            yield line
        elif name and key in accelerators:
            unused.pop(key, None)
            yield replace(line, cells=_with_devices(line.cells, accelerators[key]))
        elif name:
            expected = f"a line of {key[2]} x {key[1]} in the same zone" if name in inside else "its accelerators"
            catalogue.skip(line.number, f"{name} says GPUs and its line has none; expected {expected}", name)
    for (_, gpu, _), line in unused.items():
        kind = "TPUs" if gpu.startswith("tpu") else gpu
        catalogue.skip(line.number, f"{kind} without a machine; expected a line of one in the same zone")


def _with_devices(host: Mapping[str, str | None], devices: Line) -> dict[str, str | None]:
    """Return the cells of a machine with its accelerators; Google's A4 hosts cost 0."""
    cells = dict(host) | {devices.columns[name]: devices.text(name) for name in ("gpu", "gpus", "gpu_info")}
    for column in (devices.columns[name] for name in ("on_demand", "spot")):
        pair = (host.get(column), devices.cells.get(column))
        try:
            cells[column] = f"{sum(float(usd or '') for usd in pair):.6f}"
        except ValueError:  # Either is missing or no number.
            cells[column] = None
    return cells


def _add_counts(catalogue: Catalogue) -> None:
    counts: dict[str, set[int | None]] = {}
    for entry in catalogue.listings:
        counts.setdefault(entry.instance, set()).add(entry.gpus)
    for index, entry in enumerate(catalogue.listings):
        if len(counts[entry.instance]) > 1:
            name = f"{entry.gpus or 0}x-{entry.instance}"[:LONGEST_SLUG]
            title = f"{entry.gpus or 0} x {entry.title or entry.instance}"
            catalogue.listings[index] = replace(entry, instance=name, title=title)


READERS = {kind: partial(read_catalogue, kind) for kind in FORMATS}


def cheapest(catalogue: Catalogue, zone: str | None, only: Collection[str] | None) -> list[Listing]:
    """Select the cheapest listing of each instance and purchase, in the order of first appearance.

    Parameters
    ----------
    catalogue
        Of two machines whose titles make one name the second is left out there.
    zone
        A zone or a region, or how it begins; None: anywhere.
    only
        Instances or titles to keep; None: all.

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
            name = first or entry.instance
            second = entry.title or entry.instance
            catalogue.skip(entry.line, f"{second!r} makes the same name as {name!r}; expected names apart")
            continue
        key = (entry.instance, entry.purchase)
        best[key] = min(best.get(key, entry), entry, key=lambda listing: listing.per_hour)
    if best:
        return list(best.values())
    if not catalogue.listings:
        reasons = catalogue.skipped()
        raise UserError(f"{reasons[0]} (and no other price is left)" if reasons else f"{catalogue.file}: no price")
    count = len(catalogue.listings)
    raise UserError(f"{catalogue.file}: nothing is left of {count} prices; expected another --zone or --only")
