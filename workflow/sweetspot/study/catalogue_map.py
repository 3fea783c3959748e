"""`catalogue` of study.yaml: which name an instance of the study has in other people's price catalogues."""

import re
from collections.abc import Collection, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from sweetspot.errors import Faults
from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import Closed, Slug, Text

Refreshed = Literal["on_demand", "spot", "preemptible", "reserved"]
CONTRACTS: Refreshed = "reserved"
RATES: tuple[Refreshed, ...] = ("on_demand", "spot", "preemptible")
SEVERAL_NODES = re.compile(r"-x\d+$")  # an instance of some nodes is named for one of them
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$", max_length=2000)]


def _without_contracts(purchases: list[Refreshed]) -> list[Refreshed]:
    if CONTRACTS in purchases:
        raise ValueError(f"{', '.join(RATES)}: it has no contracts, which aws and azure have")
    return purchases


class Part(Closed):
    """What one file or region of a catalogue is asked for."""

    lists: list[Slug] = Field(description="Price lists of the study that it refreshes", min_length=1)
    purchases: list[Refreshed] = Field(
        list(RATES),
        description="Offers that it refreshes, others of the same machines stay; `reserved` only where it is named: "
        "contracts paid by the hour, which aws and azure have",
        min_length=1,
    )
    instances: dict[Slug, Text] = Field(
        description="Name in the catalogue by instance; of an instance of several nodes, the name of one of them",
        min_length=1,
    )


class FilePart(Part):
    """One provider's file of SkyPilot's or gpuhunt's catalogue."""

    _no_contracts = field_validator("purchases")(_without_contracts)

    file: Slug | None = Field(None, description="Provider's name in the catalogue (aws, lambda); absent: this key")
    place: Text | None = Field(None, description="Zone or region, or how it begins; absent: the cheapest")


class RegionPart(Part):
    """A region of AWS' or Azure's own public prices; the key is its code unless `region` says another."""

    region: Slug | None = Field(None, description="Code of the region (us-east-1, eastus); absent: this key")


class OwnPart(Part):
    """A table of one's own: CSV with columns instance and per_hour, and those that `import-prices csv` reads."""

    _no_contracts = field_validator("purchases")(_without_contracts)

    file: Text | None = Field(None, description="The file, relative to the study's folder")
    url: Url | None = Field(None, description="Its address")
    as_of: date | None = Field(
        None, description="Day of its prices; absent: when the file was changed, or the download's"
    )
    place: Text | None = Field(None, description="Place of the table to take; absent: the cheapest")

    @model_validator(mode="after")
    def _one_origin(self) -> "OwnPart":
        if (self.file is None) == (self.url is None):
            raise ValueError("exactly one of file, url")
        return self


class Shipped(Closed):
    """Price lists that the names of the library refresh."""

    rates: list[Slug] = Field([], description="Price lists with rates an hour, on demand or spot")
    contracts: list[Slug] = Field([], description="Price lists with contracts paid by the hour, which azure has")


class CatalogueMap(Closed):
    """Sources of `sweetspot refresh-prices`, and the names of the study's instances there."""

    skypilot: dict[Slug, FilePart] = Field({}, description="SkyPilot's published catalogue, a file a provider")
    gpuhunt: dict[Slug, FilePart] = Field({}, description="Gpuhunt's published catalogue, a file a provider")
    aws: dict[Slug, RegionPart] = Field({}, description="AWS' public price list, by region: on demand only")
    azure: dict[Slug, RegionPart] = Field({}, description="Azure's public retail prices, by region")
    csv: dict[Slug, OwnPart] = Field({}, description="Tables of one's own, as a file or at an address")
    shipped: Shipped = Field(
        Shipped(),
        description="Price lists whose machines are refreshed by the names of the library's facts/catalogue_names.csv, "
        "where no part here names them",
    )

    def parts(self) -> Iterator[tuple[str, str, Part]]:
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
        skypilot, azure, asked = dict(self.skypilot), dict(self.azure), self.shipped
        for (source, file, place), named in found.items():
            key = f"shipped-{file}-{place}".strip("-")
            if source == "skypilot" and asked.rates:
                skypilot[key] = FilePart(lists=asked.rates, file=file, place=place or None, instances=named)
            if source == "azure" and asked.rates:
                azure[key] = RegionPart(lists=asked.rates, region=file, instances=named)
            if source == "azure" and asked.contracts:
                azure[f"{key}-contracts"] = RegionPart(
                    lists=asked.contracts, purchases=[CONTRACTS], region=file, instances=named
                )
        return self.model_copy(update={"skypilot": skypilot, "azure": azure, "shipped": Shipped()})


def checked_catalogue(
    catalogue: CatalogueMap | None, machines: Collection[str], price_lists: Collection[str], file: str | Path
) -> CatalogueMap:
    """The map with the names of the library (`completed`); empty where a study has none.

    Raises UserError: a name that nobody declared, and an offer that two parts would refresh.
    """
    catalogue = catalogue or CatalogueMap()
    faults, taken = Faults(), dict[tuple[str, str, str], str]()
    for kind, names in catalogue.shipped:
        for name in names:
            if name not in price_lists:
                faults.add(
                    f"{file}: catalogue.shipped.{kind} names {name!r}; expected some of {', '.join(price_lists)}"
                )
    for source, key, part in catalogue.parts():
        where = f"catalogue.{source}.{key}"
        for name in part.lists:
            if name not in price_lists:
                faults.add(f"{file}: {where}.lists names {name!r}; expected some of {', '.join(price_lists)}")
        for name in part.instances:
            if name not in machines:
                faults.add(f"{file}: {where}.instances names {name!r}; expected an instance of instances.yaml")
        for offer in _offers(part):
            first = taken.setdefault(offer, where)
            if first != where:
                listed, name, purchase = offer
                faults.add(
                    f"{file}: {where} and {first} both refresh {name!r} {purchase} of {listed}; expected one of them "
                    "(`purchases` or `lists` tell them apart)"
                )
                break
    faults.end()
    return catalogue.completed(machines)


def _offers(part: Part) -> Iterator[tuple[str, str, str]]:
    for listed in part.lists:
        for name in part.instances:
            for purchase in part.purchases:
                yield listed, name, purchase
