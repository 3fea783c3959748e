"""The prices of a catalogue, and the lines that give none."""

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Listing:
    """One price of a catalogue: an hour of a machine in a zone, with what the catalogue says of the machine. instance:
    a name for files; title: the catalogue's own, if it differs. region: contains `zone`, if both are given.
    gpu_detail: the device's long name; gpu_memory_gb: of one device.
    """

    instance: str
    purchase: str
    per_hour: float
    zone: str = ""
    region: str = ""
    currency: str = ""
    source: str = ""
    gpu: str = ""
    gpus: int | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    title: str = ""
    gpu_detail: str = ""
    gpu_memory_gb: float | None = None


@dataclass(frozen=True)
class Catalogue:
    """What a catalogue lists, and which lines were left out (columns line, machine, fault)."""

    file: str
    listings: list[Listing]
    faulty_lines: pd.DataFrame

    def reason_without(self, machine: str) -> str:
        """Return the first fault for which a price of that machine was left out; '' if none was left out."""
        faults = self.faulty_lines.loc[self.faulty_lines["machine"] == machine, "fault"]
        return next(iter(faults), "")

    def skipped(self) -> list[str]:
        """Return sentences for the user, one per fault of lines without a price: file, first line, number of others."""
        return [
            f"{self.file}, line {lines.iloc[0]}{f' and {len(lines) - 1} more' if len(lines) > 1 else ''}: {fault}"
            for fault, lines in self.faulty_lines.groupby("fault", sort=False)["line"]
        ]

    def cheapest(self, zone: str | None, names: Collection[str] | None = None) -> list[Listing]:
        """Return the cheapest listing (price of an hour) of each machine and way to buy it, in the order of first
        appearance: what a price list would take over. `zone`: a zone or region, or how it begins (None: anywhere);
        `names`: instances or titles to keep (None: all).
        """
        best: dict[tuple[str, str, str], Listing] = {}
        for entry in self.listings:
            is_selected = names is None or entry.instance in names or entry.title in names
            if is_selected and (zone is None or entry.zone.startswith(zone) or entry.region.startswith(zone)):
                key = (entry.instance, entry.title, entry.purchase)
                best[key] = min(best.get(key, entry), entry, key=lambda listing: listing.per_hour)
        return list(best.values())
