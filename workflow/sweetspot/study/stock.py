"""What is known of getting a machine: stock, waits, delivery, failures; of the library and of a study.
facts/availability.csv has what was published, config/studies/<study>/availability.yaml what a team knows better.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator

from sweetspot.errors import refuse
from sweetspot.facts.shipped_tables import table
from sweetspot.spelling import hint
from sweetspot.study.base import Closed, Count, DateText, Number, Purchase, Ranged, Slug, Text, not_once, validated
from sweetspot.study.instances import Instance
from sweetspot.study.yamlfile import load_yaml

# A year of waiting, five until it comes or ten hours between failures are slips.
LARGEST = {"stock_share": 1.0, "failures_per_device_hour": 0.1, "wait_days": 366.0, "delivery_weeks": 260.0}
LARGEST_YEARS = 2  # Stock turns within months: a figure of another time says nothing.
KEYS = ("price_list", "provider", "gpu", "gpus", "purchase")


class StockFact(Ranged):
    """A figure that somebody published or observed; without `value` it is said to be unknown."""

    quantity: Literal["stock_share", "wait_days", "delivery_weeks", "failures_per_device_hour"]
    """stock_share: share of attempts that find one machine; wait_days: mean wait of who finds none; delivery_weeks:
    until what is bought arrives or a block begins; failures_per_device_hour: stops of a job"""
    price_list: Slug | None = None
    """Of the offers of this price list alone; absent: of all"""
    provider: Slug | None = None
    """Of this provider alone, as instances.yaml names it; absent: of all"""
    gpu: Text | None = None
    """Of this device alone, as instances.yaml names it; absent: of all"""
    gpus: Count | None = None
    """Of machines with so many devices alone; absent: of all sizes"""
    purchase: Purchase | None = None
    """Of this way of paying alone; absent: of all"""
    value: Number | None = None  # type: ignore[assignment]
    """Central value; absent: not known, anything within low and high"""
    as_of: Annotated[DateText, BeforeValidator(lambda day: day.isoformat() if isinstance(day, date) else day)]
    """When it was so, as precise as known and in quotes (such as "2026", "2026-08" or "2026-08-22")"""
    confidence: Literal["good", "middling", "weak", "unknown"] | None = None
    """How sure it is"""
    source: Text
    """Where it was read or observed, or that it is assumed and from what"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: bounds out of order, an impossible number, or none."""
        numbers = [number for number in (self.low, self.value, self.high) if number is not None]
        largest = LARGEST[self.quantity]
        if numbers != sorted(numbers):
            yield f"low <= value <= high, found {', '.join(f'{number:g}' for number in numbers)}"
        if numbers and not 0 <= numbers[0] <= numbers[-1] <= largest:
            yield f"{self.quantity} from 0 to {largest:g}, found {max(numbers, key=abs):g}"
        if self.value is None and len(numbers) < 2 and self.quantity != "stock_share":
            yield f"a value of {self.quantity}, or both low and high; found neither"

    @property
    def bounds(self) -> tuple[float, float, float]:
        """Value, low and high; an unknown value is nan, an unknown share from 0 to 1."""
        value = math.nan if self.value is None else self.value
        low, high = (0.0, 1.0) if self.value is None else (self.value, self.value)
        return value, low if self.low is None else self.low, high if self.high is None else self.high

    @property
    def about(self) -> dict[str, Any]:
        """Which offers the fact is about: those of KEYS that it gives, with their values."""
        return {key: getattr(self, key) for key in self._keys_set(*KEYS)}


class Availability(Closed):
    """config/studies/<study>/availability.yaml: what a team knows better than the library."""

    facts: list[StockFact]
    """Figures, each with date and source; the closest to an offer counts"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause for each fact that is given twice for the same offers."""
        names = [" ".join(map(str, [fact.quantity, *fact.about.values()])) for fact in self.facts]
        yield from not_once(names, "facts")


class AvailabilityFacts(NamedTuple):
    """Facts of a study, which count before those of the library; the most specific to an offer counts."""

    study_facts: Sequence[StockFact]
    shipped: Sequence[StockFact]

    def find(self, quantity: str, offer: Mapping[str, Any]) -> StockFact | None:
        """Return the fact about getting an offered machine that fits it best, the study's if it has any, else the
        library's; None where nothing is known. `quantity`: a key of LARGEST; `offer`: values by KEYS.
        """
        for facts in self:
            matches = [fact for fact in facts if fact.quantity == quantity and fact.about.items() <= offer.items()]
            if matches:
                # Who pays by spot or contract asks about that, whatever the machine.
                return max(matches, key=lambda fact: (bool(fact.purchase), bool(fact.provider), len(fact.about)))
        return None


def study_facts(file: Path) -> list[StockFact]:
    """Return the facts of a team's availability.yaml. Raises UserError for its mistakes and for dates to come."""
    return validated(Availability, load_yaml(file), file).facts


def checked_facts(file: Path, machines: Collection[Instance], price_lists: Collection[str]) -> list[StockFact]:
    """Read a study's availability.yaml and check its names against those of the study, so that no fact is without
    effect.

    Parameters
    ----------
    file, machines, price_lists
        The availability.yaml, the instances of the study, and the names of its price lists. UserError for an unknown
        price list, and for a provider or device that resembles one of the study: such a figure would count for
        nothing. Other providers and devices may be those of another study.
    """
    facts = study_facts(file)
    names_by_key = {
        "price_list": price_lists,
        "provider": {machine.provider for machine in machines},
        "gpu": {machine.gpu for machine in machines},
    }
    refuse(
        f"{file}: key 'facts[{index}].{key}' is {name!r}; expected one of the study's{hint(name, names)}"
        for index, fact in enumerate(facts)
        for key, names in names_by_key.items()
        if (name := getattr(fact, key)) not in (None, *names) and (key == "price_list" or hint(name, names))
    )
    return facts


def load_availability(path: str | Path | None, as_of: date) -> AvailabilityFacts:
    """Return all that is known of getting machines (stock, waits, delivery, failures): the facts of a study's
    availability.yaml (None: it has none), and the library's of two years around `as_of`.
    """
    shipped = [
        StockFact.model_validate({key: text for key, text in {**row, "gpu": gpu}.items() if text}, strict=False)
        for row in table("availability")
        if abs(int(row["as_of"][:4]) - as_of.year) <= LARGEST_YEARS
        for gpu in row["gpu"].split(" ; ")
    ]
    return AvailabilityFacts(study_facts(Path(path)) if path is not None else [], shipped)
