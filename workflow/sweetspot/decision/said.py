"""What the answer speaks of: one model, with its row of the headline and its contenders."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sweetspot.decision.contenders import Contenders
from sweetspot.decision.counted import DOLLARS, Money, Words, words_of
from sweetspot.decision.options import Row


class Said(NamedTuple):
    """One model: its row of the headline, without sentences, its contenders, and in which currency to speak."""

    row: Mapping[str, Any]
    who: Contenders
    money: Money = DOLLARS

    @property
    def words(self) -> Words:
        """Words by what the study counts."""
        return words_of(self.row["counts"], self.money)

    @property
    def loser(self) -> Row | None:
        """Who the winner is held against."""
        return self.who.alternative if self.who.cheapest is self.who.reference else self.who.reference

    def bill(self, option: Row) -> str:
        """What an option costs: `0.50 USD a run`."""
        return f"{self.words.money.words(option['usd'])}{self.words.each}"
