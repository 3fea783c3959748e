"""What a catalogue of today changes in a price list: the offers that get another price, and why the others stay."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from sweetspot.catalogues.fetching import FetchedCatalogue
from sweetspot.catalogues.listing import Listing
from sweetspot.catalogues.price_file import Value
from sweetspot.study.catalogue_map import RATES, FilePart
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PricedOffer, PriceList

JUMP = 4.0
"""A price this many times the old one, or its part, is not believed. Of 6,335 steps between two readings of one
on-demand price (2013 to 2026) 2 were larger, of 3,628 of a spot price 20."""
DECIMALS = 6


@dataclass(frozen=True)
class ListedOffer:
    """An offer of a price list: the list's name, the offer's position in it, and the day of its price."""

    price_list: str
    position: int
    offer: PricedOffer
    as_of: date

    @property
    def name(self) -> str:
        """The offer for people."""
        return f"{self.offer.instance} ({self.offer.purchase})"


@dataclass(frozen=True)
class PriceUpdate:
    """What a catalogue says of an offer.

    values: what the offer gets, by key. stays: why it keeps what it has ('': it changes). is_unchanged: its price is
    that of today.
    """

    listed: ListedOffer
    old: float | None = None
    new: float | None = None
    values: Mapping[str, Value] | None = None
    stays: str = ""
    is_unchanged: bool = False


def offers_of_part(name: str, prices: PriceList, part: FilePart) -> Iterator[ListedOffer]:
    """Yield the offers of a list that a part of the catalogue map names, whatever their price is made of.

    Parameters
    ----------
    name, prices
        The list.
    part
        The part.
    """
    for position, offer in enumerate(prices.offers):
        if offer.instance in part.instances and (offer.purchase in part.purchases or offer.purchase not in RATES):
            yield ListedOffer(name, position, offer, offer.as_of or prices.as_of)


def update_offer(
    listed: ListedOffer,
    prices: PriceList,
    part: FilePart,
    fetched: FetchedCatalogue,
    machine: Instance,
    accepted: Collection[str] = (),
) -> PriceUpdate:
    """Compare an offer with a catalogue.

    Parameters
    ----------
    listed : ListedOffer
        The offer.
    prices : PriceList
        Its list.
    part : FilePart
        The part of the catalogue map that names it.
    fetched : FetchedCatalogue
        The catalogue.
    machine : Instance
        The offer's machine.
    accepted : collection of str
        Instances whose price may jump.

    Returns
    -------
    PriceUpdate
    """
    offer = listed.offer
    name = part.instances[offer.instance]
    zone = part.place
    if offer.purchase not in RATES or offer.per_hour is None:
        return PriceUpdate(listed, stays=f"has no hourly rate ({offer.purchase}): a catalogue knows only those")
    old = offer.per_hour.value
    tax = offer.vat or prices.vat
    currency = offer.currency or prices.currency
    entry = _cheapest_listing(fetched, name, zone, offer.purchase)
    new = None if entry is None else round(entry.per_hour * machine.nodes, DECIMALS)
    devices = machine.gpus // machine.nodes
    stays = ""
    if offer.per_hour.low is not None or offer.per_hour.high is not None:
        stays = "has a range, which a catalogue does not know"
    elif tax is not None and tax.included:
        stays = "its price includes tax, a catalogue's does not"
    elif entry is None or new is None:
        fault = fetched.catalogue.reason_without(name)
        stays = f"{fetched.source.split(', sha256')[0]} has no {offer.purchase} price of {name}"
        stays += (f" in {zone}" if zone else "") + (f" ({fault})" if fault else "")
    elif fetched.as_of < listed.as_of:
        stays = f"is of {listed.as_of}, the catalogue's price of {fetched.as_of}"
    elif currency != "USD":
        stays = f"its price is in {currency}, the catalogue's in USD"
    elif entry.gpus not in (None, devices):
        stays = f"has {devices} devices a machine in instances.yaml, {entry.gpus} in the catalogue"
    elif not 1 / JUMP < new / old < JUMP and offer.instance not in accepted:
        stays = f"would go from {old:.10g} to {new:.10g}, {new / old:.3g} times"
        stays += f"; look at it, and take it with --accept {offer.instance}"
    if stays or entry is None or new is None:
        return PriceUpdate(listed, old, new, stays=stays)
    is_unchanged = new == round(old, DECIMALS)
    values = _new_values(listed, fetched, entry, machine.nodes, new)
    stays = "is the price of today" if is_unchanged else ""
    return PriceUpdate(listed, old, new, values, stays, is_unchanged)


def _cheapest_listing(fetched: FetchedCatalogue, name: str, zone: str | None, purchase: str) -> Listing | None:
    """Return the cheapest price of the machine in a zone; a preemptible machine is the catalogue's spot."""
    listed_purchase = "spot" if purchase == "preemptible" else purchase
    of_machine = [
        entry
        for entry in fetched.catalogue.listings
        if name in (entry.instance, entry.title) and entry.purchase == listed_purchase and entry.within(zone)
    ]
    return min(of_machine, key=lambda entry: entry.per_hour, default=None)


def _new_values(
    listed: ListedOffer, fetched: FetchedCatalogue, entry: Listing, nodes: int, new: float
) -> dict[str, Value]:
    """Return price, day, source, and a note that states the price of one node."""
    origin, separator, checksum = fetched.source.partition(", sha256")
    zone = f", {entry.zone}" if entry.zone and entry.zone not in origin else ""
    values: dict[str, Value] = {"per_hour": new, "as_of": fetched.as_of, "source": origin + zone + separator + checksum}
    offer = listed.offer
    if offer.note and offer.per_hour is not None:
        old_text = f"{nodes} x {offer.per_hour.value / nodes:.10g}"
        note = offer.note.replace(old_text, f"{nodes} x {entry.per_hour:.10g}")
        values |= {"note": note} if note != offer.note else {}
    return values
