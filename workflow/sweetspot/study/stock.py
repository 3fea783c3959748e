"""What is known of having a machine: stock, waits, dates, delivery, failures; of the library and of a study.

facts/availability.csv has what was published, config/studies/<study>/availability.yaml what a team knows better.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from sweetspot.errors import Faults, refuse
from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import Closed, Count, Number, Purchase, Slug, Text, validated
from sweetspot.study.energy_facts import AsKnown
from sweetspot.study.instances import Instance
from sweetspot.study.spelling import hint
from sweetspot.study.yamlfile import load_yaml

AHEAD = timedelta(days=1)  # where it is tomorrow already

Quantity = Literal[
    "stock_share", "wait_days", "any_share", "start_days", "delivery_weeks", "boot_minutes",
    "failures_per_device_hour", "restart_minutes", "checkpoint_minutes", "lost_devices_per_year", "repair_days",
    "spare_devices", "interruptions_per_hour", "longest_run_days",
]  # fmt: skip
SHARES = ("stock_share", "any_share", "lost_devices_per_year")
# Bounds of a figure: ten years of waiting or a failure an hour of every device are slips.
MOST = {"failures_per_device_hour": 1.0, "interruptions_per_hour": 1.0} | dict.fromkeys(SHARES, 1.0)
LARGEST = 3653.0
MOST_YEARS_APART = 2  # a figure of another time says nothing of a study's: stock turns within months
KEYS = ("price_list", "provider", "gpu", "gpus", "purchase")
SAYS_QUANTITY = (
    "stock_share: share of time in which one machine is to be had; wait_days: mean wait if not; any_share: "
    "share of time with one at any of the smaller clouds; start_days: days until a date from which it is certain (a "
    "block); delivery_weeks: of what is bought; boot_minutes; failures_per_device_hour: stops of a job; "
    "restart_minutes: to notice a failure and start again; checkpoint_minutes: to write one; lost_devices_per_year: "
    "share of devices that break; repair_days: until a broken one is replaced; spare_devices: at hand, for the devices "
    "of one option; interruptions_per_hour: of a spot machine whose price list has no rate; longest_run_days: after so "
    "many a run ends and another start is needed"
)


def _quoted(day: Any) -> Any:
    """A day that YAML read as one, as text."""
    return day.isoformat() if isinstance(day, date) else day


class StockFact(Closed):
    """A figure that somebody published or observed; without `value` it is said to be unknown."""

    quantity: Quantity = Field(description=SAYS_QUANTITY)
    price_list: Slug | None = Field(None, description="Of the offers of this price list alone; absent: of all")
    provider: Slug | None = Field(
        None, description="Of this provider alone, as instances.yaml names it; absent: of all"
    )
    gpu: Text | None = Field(None, description="Of this device alone, as instances.yaml names it; absent: of all")
    gpus: Count | None = Field(None, description="Of machines with so many devices alone; absent: of all sizes")
    purchase: Purchase | None = Field(None, description="Of this way of paying alone; absent: of all")
    value: Number | None = Field(None, description="Central value; absent: not known, anything within low and high")
    low: Number | None = Field(None, description="Lower end of the range, at most the value")
    high: Number | None = Field(None, description="Upper end of the range, at least the value")
    as_of: Annotated[AsKnown, BeforeValidator(_quoted)] = Field(
        description='When it was so, as precise as known and in quotes: "2026", "2026-08" or "2026-08-22"'
    )
    confidence: Literal["good", "middling", "weak", "unknown"] | None = Field(None, description="How sure it is")
    source: Text = Field(description="Where it was read or observed, or that it is assumed and from what")

    def _expected(self) -> Iterator[str]:
        ends = [end for end in (self.low, self.value, self.high) if end is not None]
        most = MOST.get(self.quantity, LARGEST)
        share = " (a share, not a percentage)" if self.quantity in SHARES else ""
        yield from (f"{self.quantity} from 0 to {most:g}{share}, found {end:g}" for end in ends if not 0 <= end <= most)
        if ends != sorted(ends):
            yield f"low <= value <= high, found {', '.join(f'{end:g}' for end in ends)}"
        if self.value is None and None in (self.low, self.high) and self.quantity != "stock_share":
            yield f"a value of {self.quantity}, or both low and high; found neither"

    @property
    def ends(self) -> tuple[float, float, float]:
        """Value (nan: not known), low and high; of an unknown share 0 and 1."""
        least, most = (0.0, 1.0) if self.value is None else (self.value, self.value)
        low, high = least if self.low is None else self.low, most if self.high is None else self.high
        return (math.nan if self.value is None else self.value, low, high)

    @property
    def about(self) -> dict[str, Any]:
        """Of which offers it is, by KEYS; keys that it leaves open are absent."""
        return {key: getattr(self, key) for key in self._given(*KEYS)}


class Availability(Closed):
    """config/studies/<study>/availability.yaml: what a team knows better than the library."""

    facts: list[StockFact] = Field(description="Figures, each with date and source; the closest to an offer counts")

    def _expected(self) -> Iterator[str]:
        named = [(fact.quantity, fact.about) for fact in self.facts]
        for quantity, about in (one for place, one in enumerate(named) if one in named[:place]):
            yield f"each figure once, found {' '.join(map(str, [quantity, *about.values()]))} twice"


class Known:
    """The figures of a study, its own before the library's; the one that says most of an offer counts."""

    def __init__(self, own: Sequence[StockFact], shipped: Sequence[StockFact]) -> None:
        self._facts = [(True, fact) for fact in own] + [(False, fact) for fact in shipped]

    def find(self, quantity: str, offer: Mapping[str, Any]) -> StockFact | None:
        """The figure for an offer by KEYS; None where there is none. A study's own goes before any of the library's."""
        found = [
            (own, fact)
            for own, fact in self._facts
            if fact.quantity == quantity and all(offer.get(key) == value for key, value in fact.about.items())
        ]
        return max(found, key=_closeness)[1] if found else None

    def is_own(self, fact: StockFact) -> bool:
        """Whether a figure is the study's own."""
        return any(own and fact is one for own, one in self._facts)


def _closeness(one: tuple[bool, StockFact]) -> tuple[bool, bool, bool, int]:
    own, fact = one
    # Who pays by spot or contract asks about that, whatever the machine.
    return own, fact.purchase is not None, fact.provider is not None, len(fact.about)


def shipped_facts(as_of: date) -> list[StockFact]:
    """The library's figures that are of the time of a study of that date, within MOST_YEARS_APART years."""
    rows = [row for row in table("availability") if abs(int(row["as_of"][:4]) - as_of.year) <= MOST_YEARS_APART]
    return [_fact(row | {"gpu": gpu}) for row in rows for gpu in row["gpu"].split(" ; ")]


def _fact(row: Mapping[str, str]) -> StockFact:
    read = {"value": float, "low": float, "high": float, "gpus": int}
    return StockFact.model_validate({name: read.get(name, str)(text) for name, text in row.items() if text})


def own_facts(file: Path) -> list[StockFact]:
    """The figures of a study's availability.yaml. Raises UserError naming file and key, also for a date to come."""
    facts, today = validated(Availability, load_yaml(file), file).facts, date.today()
    newest = (today + AHEAD).isoformat()
    refuse(
        f"{file}: key 'facts[{place}].as_of' is {fact.as_of!r}; expected a date that has been, at most {today}"
        for place, fact in enumerate(facts)
        if fact.as_of > newest[: len(fact.as_of)]
    )
    return facts


def named_facts(file: Path, machines: Collection[Instance], price_lists: Collection[str]) -> list[StockFact]:
    """`own_facts`; raises UserError also where a list is none of the study's, and where a provider or device is nearly
    one of its `machines`: such a figure would count for nothing. Others may be those of another study.
    """
    facts, faults = own_facts(file), Faults()
    known = {"price_list": sorted(price_lists), "provider": sorted({machine.provider for machine in machines})}
    known["gpu"] = sorted({machine.gpu for machine in machines})
    for place, fact in enumerate(facts):
        for key, names in known.items():
            name = fact.about.get(key)
            if name is None or name in names:
                continue
            meant = hint(name, names) or _containing(name, names)
            if meant or key == "price_list":
                faults.add(f"{file}: key 'facts[{place}].{key}' is {name!r}; expected one of the study's{meant}")
    faults.end()
    return facts


def _containing(name: str, names: Iterable[str]) -> str:
    """A hint at a name that has all words of `name`, such as `H100 SXM` for `H100`; nothing where none has."""
    words = set(name.lower().split())
    found = next((other for other in names if words <= set(other.lower().split())), None)
    return "" if found is None else f": did you mean '{found}'?"


def load_availability(path: str | Path | None, as_of: date) -> Known:
    """Return the figures of a study's availability.yaml, where it has one, before the library's of that time.

    Raises UserError naming file and key.
    """
    return Known(own_facts(Path(path)) if path is not None else [], shipped_facts(as_of))
