"""What a catalogue of today changes in a price list: the rows that get another price, and why the others stay."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from sweetspot.catalogues.listing import Catalogue, Fetched, Listing
from sweetspot.catalogues.price_file import Value
from sweetspot.study.catalogue_map import RATES, FilePart, OwnPart, Part
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.terms import Amount

JUMP = 4.0
"""A price this many times the old one, or its part, is not believed. Of 6,335 steps between two readings of one
on-demand price (2013 to 2026) 2 were larger, of 3,628 of a spot price 20."""
DECIMALS = 6


@dataclass(frozen=True)
class Row:
    """One offer of a price list: the list, the offer's place in it, and which machine it is."""

    price_list: str
    place: int
    offer: Offer
    as_of: date

    @property
    def name(self) -> str:
        """The offer for people."""
        return f"{self.offer.instance} ({self.offer.purchase})"


@dataclass(frozen=True)
class Found:
    """What a catalogue says of an offer: `usd` is the new price an hour where `stays` gives no reason against it.

    `values`: what the row gets. `stays`: why it keeps what it has; `same`: because that is the price of today.
    """

    row: Row
    old: float | None = None
    new: float | None = None
    values: Mapping[str, Value] | None = None
    stays: str = ""
    same: bool = False

    @property
    def change(self) -> float:
        """New over old - 1."""
        return self.new / self.old - 1 if self.new and self.old else 0.0


def rows(name: str, prices: PriceList, part: Part) -> Iterator[Row]:
    """The offers of a list that a part of the catalogue map names, whatever their price is made of."""
    for place, offer in enumerate(prices.offers):
        if offer.instance in part.instances and (offer.purchase in part.purchases or offer.purchase not in RATES):
            yield Row(name, place, offer, offer.as_of or prices.as_of)


def judged(
    row: Row, prices: PriceList, part: Part, fetched: Fetched, machine: Instance, accepted: Collection[str] = ()
) -> Found:
    """What the catalogue says of one offer. `accepted`: instances whose price may jump."""
    offer, old = row.offer, _rate(row.offer)
    reason = _kept(row, prices, part)
    if reason or old is None:
        return Found(row, stays=reason)
    name = part.instances[offer.instance]
    entry = _entry(fetched.catalogue, name, part, offer)
    if entry is None:
        return Found(row, old.value, stays=_absent(fetched, name, part, offer))
    if fetched.as_of < row.as_of:
        return Found(row, old.value, stays=f"is of {row.as_of}, the catalogue's price of {fetched.as_of}")
    new = round(entry.per_hour * machine.nodes, DECIMALS)
    found = Found(row, old.value, new)
    reason = _unlike(entry, offer, prices, machine) or _jump(old.value, new, offer.instance, accepted)
    if reason:
        return replace(found, stays=reason)
    found = replace(found, values=_values(row, fetched, entry, machine, (old.value, new)))
    same = new == round(old.value, DECIMALS)
    return replace(found, stays="is the price of today", same=True) if same else found


def _rate(offer: Offer) -> Amount | None:
    """The hourly price of an offer: its own, or that of a contract which is paid by nothing else."""
    deal = offer.commitment
    if deal is None:
        return offer.per_hour
    alone = deal.charged == "always" and not any(sum.ends[1] for sum in (deal.upfront, deal.per_month))
    return deal.per_hour if alone else None


def _kept(row: Row, prices: PriceList, part: Part) -> str:
    """Why a catalogue's hourly price is no price of this offer; '' where it is one."""
    offer, rate = row.offer, _rate(row.offer)
    if offer.purchase not in (*RATES, *part.purchases):
        return f"has no hourly rate ({offer.purchase}): a catalogue knows only those"
    if rate is None:
        none = f"has no hourly rate ({offer.purchase})"
        paid = "is paid upfront, by the month or by use" if offer.commitment else none
        return f"{paid}: a catalogue knows only rates an hour"
    if rate.low is not None or rate.high is not None:
        return "has a range, which a catalogue does not know"
    tax = offer.vat or prices.vat
    if tax is not None and tax.included:
        return "its price includes tax, a catalogue's does not"
    return ""


def _term(offer: Offer) -> float | None:
    """Months of an offer's contract; None without one."""
    return None if offer.commitment is None else offer.commitment.term_months.value


def _entry(catalogue: Catalogue, name: str, part: Part, offer: Offer) -> Listing | None:
    """The cheapest price of the machine in the part's place; a preemptible machine is the catalogue's spot."""
    wanted = "spot" if offer.purchase == "preemptible" else offer.purchase
    place = part.place if isinstance(part, FilePart | OwnPart) else None
    of_machine = [
        entry
        for entry in catalogue.listings
        if name in (entry.instance, entry.title)
        and entry.purchase in (wanted, offer.purchase)
        and entry.term_months == _term(offer)
        and (place is None or entry.within(place))
    ]
    return min(of_machine, key=lambda entry: entry.per_hour, default=None)


def _absent(fetched: Fetched, name: str, part: Part, offer: Offer) -> str:
    place = part.place if isinstance(part, FilePart | OwnPart) else None
    where = fetched.source.split(", sha256")[0]
    fault, term = fetched.catalogue.why_without(name), _term(offer)
    told = f" ({fault})" if fault else ""
    kind = offer.purchase if term is None else f"{offer.purchase} ({term:g} months)"
    return f"{where} has no {kind} price of {name}{f' in {place}' if place else ''}{told}"


def _unlike(entry: Listing, offer: Offer, prices: PriceList, machine: Instance) -> str:
    """Why the catalogue's entry is not of this machine or money; '' where it is."""
    currency, found = offer.currency or prices.currency, entry.currency or "USD"
    if currency != found:
        return f"its price is in {currency}, the catalogue's in {found}"
    devices = machine.gpus // machine.nodes
    if entry.gpus is not None and entry.gpus != devices:
        return f"has {devices} devices a machine in instances.yaml, {entry.gpus} in the catalogue"
    return ""


def _jump(old: float, new: float, instance: str, accepted: Collection[str]) -> str:
    ratio = new / old
    if 1 / JUMP < ratio < JUMP or instance in accepted:
        return ""
    words = f"would go from {old:.10g} to {new:.10g}, {ratio:.3g} times"
    return f"{words}; look at it, and take it with --accept {instance}"


def _values(
    row: Row, fetched: Fetched, entry: Listing, machine: Instance, usd: tuple[float, float]
) -> dict[str, Value]:
    """What the row gets: price, day, source, and a note that has the old price in it. `usd`: old and new price."""
    head, _, checksum = fetched.source.partition(", sha256")
    place = f", {entry.place}" if entry.place and entry.place not in head else ""
    source = f"{entry.source} through {head}" if entry.source else head
    old, new = usd
    values: dict[str, Value] = {
        "per_hour" if row.offer.commitment is None else "commitment.per_hour": new,
        "as_of": fetched.as_of,
        "source": f"{source}{place}{f', sha256{checksum}' if checksum else ''}",
    }
    note, nodes = row.offer.note or "", machine.nodes
    told = note.replace(f"{nodes} x {old / nodes:.10g}", f"{nodes} x {entry.per_hour:.10g}")
    return values if told == note else values | {"note": told}
