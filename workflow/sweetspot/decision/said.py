"""What the answer speaks of: one model, with its row of the headline and its contenders."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sweetspot.decision.certainty import TIE, amount
from sweetspot.decision.contenders import Contenders
from sweetspot.decision.counted import DOLLARS, Money, Words, words_of
from sweetspot.decision.options import Row

MINUTES = 60


class Said(NamedTuple):
    """One model: its row of the headline, without sentences, its contenders, and in which currency to speak.

    `hangs`: on what its answer hangs most, in words, empty where that is not known; `deadlines`: in hours.
    """

    row: Mapping[str, Any]
    who: Contenders
    money: Money = DOLLARS
    hangs: str = ""
    deadlines: Sequence[float] = ()

    @property
    def words(self) -> Words:
        """Words by what the study counts."""
        return words_of(self.row["counts"], self.money)

    @property
    def model(self) -> str:
        """The name for people of the model."""
        return str(self.row.get("model_title") or self.row["model"])

    @property
    def loser(self) -> Row | None:
        """Who the winner is held against."""
        return self.who.alternative if self.who.cheapest is self.who.reference else self.who.reference

    @property
    def close(self) -> bool:
        """Whether the winner is too close to call."""
        return bool(self.row["confidence"] == TIE)

    @property
    def by_month(self) -> bool:
        """Whether the winner is paid for the whole month, used or not, and another by the hour."""
        return self.who.by_hour is not None

    def bill(self, option: Row) -> str:
        """What an option costs: `0.50 USD a run`."""
        return f"{self.words.money.words(option['usd'])}{self.words.each}"

    def time_and_bill(self, option: Row) -> str:
        """How long an option takes and what it costs: `46.1 h for 51.2 USD`."""
        return f"{span(option['hours'])} for {self.bill(option)}"


def span(hours: float) -> str:
    """A time, in minutes below an hour: `2.83 h`, `18 min`."""
    return f"{amount(hours)} h" if hours >= 1 else f"{amount(hours * MINUTES)} min"
