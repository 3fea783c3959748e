"""What every source of prices has: an address that can be another, and a way to fetch what a study asks it for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sweetspot.catalogues.downloads import Downloads
from sweetspot.catalogues.listing import Catalogue
from sweetspot.study.catalogue_map import Part


@dataclass(frozen=True)
class Asked:
    """What is asked of a source: the part of study.yaml and its key, and where the study lies."""

    key: str
    part: Part
    folder: Path

    @property
    def names(self) -> list[str]:
        """The catalogue's names that are wanted, each once."""
        return list(dict.fromkeys(self.part.instances.values()))


@dataclass(frozen=True)
class Fetched:
    """A catalogue of today. `source`: what a price list says of it; `as_of`: day of the prices; `told`: each file."""

    catalogue: Catalogue
    source: str
    as_of: date
    told: Sequence[str]


@dataclass(frozen=True)
class Source:
    """`title`: for people. `base`: its address, which a mirror may replace. `whole`: whether a file holds all that the
    source offers, so that one without any price is no answer.
    """

    title: str
    base: str
    whole: bool
    fetch: Callable[[Asked, Downloads, str], Fetched]
