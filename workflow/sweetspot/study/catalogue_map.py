"""`catalogue` of study.yaml: which name an instance of the study has in other people's price catalogues."""

import re
from collections.abc import Collection, Iterator
from itertools import product
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from sweetspot.errors import refuse
from sweetspot.facts.shipped_tables import table
from sweetspot.spelling import hint
from sweetspot.study.base import Closed, Slug, Text

Refreshed = Literal["on_demand", "spot", "preemptible"]
RATES: tuple[Refreshed, ...] = get_args(Refreshed)
SEVERAL_NODES = re.compile(r"-x\d+$")  # an instance of some nodes is references for one of them


class FilePart(Closed):
    """Machines whose prices come from one provider's file of SkyPilot's or gpuhunt's catalogue."""

    lists: list[Slug] = Field(min_length=1)
    """Price lists of the study that it refreshes"""
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
        """Yield each (source, its key there, part) of the map, SkyPilot's before gpuhunt's, for `refresh-prices`."""
        for source, parts in (("skypilot", self.skypilot), ("gpuhunt", self.gpuhunt)):
            for key, part in parts.items():
                yield source, key, part

    def completed(self, machines: Collection[str]) -> "CatalogueMap":
        """Return the map with further parts for those of a study's `machines` (instance names) whose catalogue names
        the library knows and the study does not state, so that their prices can be refreshed too.
        """
        if not self.shipped.rates:
            return self
        rows = {name: row for row in table("catalogue_names") for name in (row["instance"], *row["names"].split(" ; "))}
        declared = {name for *_, part in self.parts() for name in part.instances}
        skypilot = dict(self.skypilot)
        for name in machines:
            row = rows.get(SEVERAL_NODES.sub("", name))
            if row is not None and name not in declared:
                key = f"shipped-{row['file']}-{row['place']}".strip("-")
                instances = (skypilot[key].instances if key in skypilot else {}) | {name: row["machine"]}
                place = row["place"] or None
                skypilot[key] = FilePart(lists=self.shipped.rates, file=row["file"], place=place, instances=instances)
        return self.model_copy(update={"skypilot": skypilot})


def checked_catalogue(
    catalogue: CatalogueMap | None, machines: Collection[str], price_lists: Collection[str], file: str | Path
) -> CatalogueMap:
    """Check that the names in a study's catalogue map (None: an empty one) are those of its machines and price lists,
    and return it completed from the library, ready for `refresh-prices`.

    Parameters
    ----------
    catalogue, machines, price_lists, file
        The map, and the names of the study's instances and price lists: others are refused by a UserError; the
        study.yaml, for messages.
    """
    catalogue = catalogue or CatalogueMap()
    parts = {f"catalogue.{source}.{key}": part for source, key, part in catalogue.parts()}
    references = [("catalogue.shipped.rates", catalogue.shipped.rates, price_lists)]
    for key, part in parts.items():
        references += [(f"{key}.lists", part.lists, price_lists), (f"{key}.instances", [*part.instances], machines)]
    sentences = [
        f"{file}: {key} names {name!r}; expected one of the study's{hint(name, declared)}"
        for key, names, declared in references
        for name in sorted({*names} - {*declared})
    ]
    part_of_offer: dict[tuple[str, str, str], str] = {}
    for key, part in parts.items():
        sentences += [
            f"{file}: {part_of_offer[offer]} and {key} both refresh {' '.join(offer)}; expected one of them"
            for offer in product(part.lists, part.instances, part.purchases)
            if part_of_offer.setdefault(offer, key) != key
        ][:1]
    refuse(sentences)
    return catalogue.completed(machines)
