"""What a catalogue of today changes in a price list: the offers that get another price, and why the others stay."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from sweetspot.catalogues.fetching import FetchedCatalogue
from sweetspot.catalogues.price_file import Value
from sweetspot.study.catalogue_map import RATES, FilePart
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList

JUMP = 4.0
"""A price this many times the old one, or its part, is not believed. Of 6,335 steps between two readings of one
on-demand price (2013 to 2026) 2 were larger, of 3,628 of a spot price 20."""
DECIMALS = 6
UNCHANGED = "is the price of today"


@dataclass(frozen=True)
class PriceUpdate:
    """One offer of a price list, at `position` in its `offers`, compared with today's catalogue. as_of: day of the old
    price; old, new: of an hour; values: new, by key; stays: why nothing changes ('': it does).
    """

    price_list: str
    position: int
    name: str
    as_of: date
    old: float
    new: float
    values: Mapping[str, Value]
    stays: str

    @property
    def is_unchanged(self) -> bool:
        """True if the offer's price is today's already."""
        return self.stays == UNCHANGED


def price_updates(
    name: str,
    prices: PriceList,
    part: FilePart,
    fetched: FetchedCatalogue,
    instances: Mapping[str, Instance],
    accepted: Collection[str] = (),
) -> Iterator[PriceUpdate]:
    """Compare each offer of a price list with today's catalogue and yield its new price, or why the old one stays:
    what `refresh-prices` shows and writes. An offer without an hourly rate is only named.

    Parameters
    ----------
    name, prices, part
        Name of the price list; the list; the part of study.yaml's catalogue map that says which listing each machine
        is.
    fetched, instances, accepted
        Today's catalogue; the study's machines by name; machines whose price may change by more than JUMP times.
    """
    for position, offer in enumerate(prices.offers):
        if offer.instance not in part.instances or offer.purchase in {*RATES} - {*part.purchases}:
            continue
        machine = instances[offer.instance]
        nodes = machine.nodes
        listed_name = part.instances[offer.instance]
        purchase = "spot" if offer.purchase == "preemptible" else offer.purchase
        listings = fetched.catalogue.cheapest(part.place, [listed_name])
        entry = next((listing for listing in listings if listing.purchase == purchase), None)

        tax, currency = offer.vat or prices.vat, offer.currency or prices.currency
        as_of, per_hour = offer.as_of or prices.as_of, offer.per_hour
        old = per_hour.value if per_hour else 0.0
        new = round(entry.per_hour * nodes, DECIMALS) if entry else 0.0

        values: dict[str, Value] = {}
        if offer.purchase not in RATES or per_hour is None:
            stays = f"has no hourly rate ({offer.purchase}): a catalogue knows only those"
        elif per_hour.low is not None or per_hour.high is not None:
            stays = "has a range, which a catalogue does not know"
        elif tax is not None and tax.included:
            stays = "its price includes tax, a catalogue's does not"
        elif currency != "USD":
            stays = f"its price is in {currency}, the catalogue's in USD"
        elif entry is None:
            fault = fetched.catalogue.reason_without(listed_name)
            stays = f"{fetched.source} has no {offer.purchase} price of {listed_name} in {part.place or 'any zone'}"
            stays += f" ({fault})" if fault else ""
        elif fetched.as_of < as_of:
            stays = f"is of {as_of}, the catalogue's price of {fetched.as_of}"
        elif entry.gpus not in (None, machine.gpus // nodes):
            stays = f"has {machine.gpus // nodes} devices a machine in instances.yaml, {entry.gpus} in the catalogue"
        elif not 1 / JUMP < new / old < JUMP and offer.instance not in accepted:
            stays = f"would go from {old:.10g} to {new:.10g}, {new / old:.3g} times: look, or --accept {offer.instance}"
        elif new == round(old, DECIMALS):
            stays = UNCHANGED
        else:
            stays = ""
            source = ", ".join(filter(None, (fetched.source, entry.zone, f"sha256 {fetched.sha256}")))
            values = {"per_hour": new, "as_of": fetched.as_of, "source": source}
            node_price = f"{nodes} x {old / nodes:.10g}"
            if offer.note and node_price in offer.note:
                values["note"] = offer.note.replace(node_price, f"{nodes} x {entry.per_hour:.10g}")
        yield PriceUpdate(name, position, f"{offer.instance} ({offer.purchase})", as_of, old, new, values, stays)
