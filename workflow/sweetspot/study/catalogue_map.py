"""`catalogue` of study.yaml: which name an instance of the study has in other people's price catalogues."""

import re
from collections.abc import Collection, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Literal

from pydantic import Field

from sweetspot.errors import Faults
from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import Closed, Slug, Text

Refreshed = Literal["on_demand", "spot", "preemptible"]
RATES: tuple[Refreshed, ...] = ("on_demand", "spot", "preemptible")
SEVERAL_NODES = re.compile(r"-x\d+$")  # an instance of some nodes is named for one of them


class FilePart(Closed):
    """Machines whose prices come from one provider's file of SkyPilot's or gpuhunt's catalogue."""

    lists: list[Slug] = Field(min_length=1, description="Price lists of the study that it refreshes")
    purchases: list[Refreshed] = Field(list(RATES), min_length=1)
    """Offers that it refreshes, others of the same machines stay"""
    instances: dict[Slug, Text] = Field(min_length=1)
    """Name in the catalogue by instance; of an instance of several nodes, the name of one of them"""
    file: Slug | None = None
    """Provider's name in the catalogue (aws, lambda); absent: this key"""
    place: Text | None = None
    """Zone or region, or how it begins; absent: the cheapest"""


class Shipped(Closed):
    """Price lists that the names of the library refresh."""

    rates: list[Slug] = []
    """Price lists with rates an hour, on demand or spot"""


class CatalogueMap(Closed):
    """Sources of `sweetspot refresh-prices`, and the names of the study's instances there."""

    skypilot: dict[Slug, FilePart] = {}
    """SkyPilot's published catalogue, a file a provider"""
    gpuhunt: dict[Slug, FilePart] = {}
    """Gpuhunt's published catalogue, a file a provider"""
    shipped: Shipped = Shipped()
    """Price lists whose machines are refreshed by the names of facts/catalogue_names.csv, unless a part names them"""

    def parts(self) -> Iterator[tuple[str, str, FilePart]]:
        """Source, key and part, in the order of the sources."""
        for source in (name for name in type(self).model_fields if name != "shipped"):
            for key, part in getattr(self, source).items():
                yield source, key, part

    def completed(self, machines: Collection[str]) -> "CatalogueMap":
        """With a part for each file and place in which the library knows machines that no part here names."""
        own = {name for _, _, part in self.parts() for name in part.instances}
        known = {
            name: row for row in table("catalogue_names") for name in (row["instance"], *row["names"].split(" ; "))
        }
        found: dict[tuple[str, str, str], dict[str, str]] = {}
        for name in machines:
            row = known.get(SEVERAL_NODES.sub("", name))
            if row is not None and name not in own:
                found.setdefault((row["catalogue"], row["file"], row["place"]), {})[name] = row["machine"]
        skypilot, rates = dict(self.skypilot), self.shipped.rates
        for (_, file, place), named in found.items():
            if rates:
                key = f"shipped-{file}-{place}".strip("-")
                skypilot[key] = FilePart(lists=rates, file=file, place=place or None, instances=named)
        return self.model_copy(update={"skypilot": skypilot, "shipped": Shipped()})


def checked_catalogue(
    catalogue: CatalogueMap | None, machines: Collection[str], price_lists: Collection[str], file: str | Path
) -> CatalogueMap:
    """The map with the names of the library (`completed`); empty where a study has none.

    Raises UserError: a name that nobody declared, and an offer that two parts would refresh.
    """
    catalogue = catalogue or CatalogueMap()
    faults, taken = Faults(), dict[tuple[str, str, str], str]()
    parts = {f"catalogue.{source}.{key}": part for source, key, part in catalogue.parts()}
    lists = {f"{where}.lists": part.lists for where, part in parts.items()}
    shipped = {f"catalogue.shipped.{kind}": names for kind, names in catalogue.shipped}
    for where, names in (shipped | lists).items():
        for name in sorted(set(names) - set(price_lists)):
            faults.add(f"{file}: {where} names {name!r}; expected some of {', '.join(price_lists)}")
    for where, part in parts.items():
        for name in sorted(part.instances.keys() - set(machines)):
            faults.add(f"{file}: {where}.instances names {name!r}; expected an instance of instances.yaml")
        twice = (offer for offer in product(part.lists, part.instances, part.purchases)
                 if taken.setdefault(offer, where) != where)  # fmt: skip
        for listed, name, purchase in islice(twice, 1):
            faults.add(
                f"{file}: {where} and {taken[listed, name, purchase]} both refresh {name!r} {purchase} of {listed}; "
                "expected one of them (`purchases` or `lists` tell them apart)"
            )
    faults.end()
    return catalogue.completed(machines)
