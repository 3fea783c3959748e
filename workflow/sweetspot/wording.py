"""Words that every page uses: what a bill pays for, money, titles within sentences, numbers, probabilities."""

import re
from dataclasses import dataclass, replace

# A common noun with more words behind it: `office box with ...`, not `p3.2xlarge (spot)` nor `Paperspace P6000`.
COMMON = re.compile(r"[a-z]+(-[a-z]+)* [^(\[]")
# Titles that say whose or how much it is take no article.
OWNED = ("your ", "what you have", "all on ", "most on ", "some on ", "nothing bought")


@dataclass(frozen=True)
class Money:
    """The currency in which people read money: its code, and USD for one unit of it."""

    code: str = "USD"
    usd_per_unit: float = 1.0

    def of(self, usd: float) -> float:
        """An amount of USD in this currency."""
        return usd / self.usd_per_unit

    def words(self, usd: float) -> str:
        """An amount of USD, as people read money: `43.5 EUR`."""
        return f"{money(self.of(usd))} {self.code}"

    def counted(self, value: float, unit: str) -> tuple[float, str]:
        """A value of that unit, in this currency where the unit has USD in it: `USD/hour`, `EUR/hour`."""
        return (self.of(value), unit.replace("USD", self.code)) if "USD" in unit else (value, unit)


DOLLARS = Money()


@dataclass(frozen=True)
class Words:
    """`each`: behind a sum of money (nothing for a training); `many`: several of them; `usd`, `hours`: labels.

    `hours` is empty where a bill is for a month, which has its hours whatever the machine. `money`: in which currency.
    """

    each: str
    many: str
    usd: str
    hours: str
    money: Money = DOLLARS


WORDS = {
    "train": Words("", "trainings", "USD to train {model} once", "hours to train {model}"),
    "run": Words(" a run", "runs", "USD of a run", "hours of a run"),
    "task": Words(" a task", "tasks", "USD of a task", "hours of a task"),
    "month": Words(" a month", "months", "USD a month", ""),
}


def words_of(counts: str, money: Money = DOLLARS) -> Words:
    """The words of a study's `counts`, in its currency."""
    words = WORDS[counts]
    return replace(words, usd=words.usd.replace("USD", money.code), money=money)


def the(title: str) -> str:
    """A title within a sentence: with its article where it is a common noun, which begins with a small letter."""
    return f"the {title}" if COMMON.match(title) and not title.startswith(OWNED) else title


def begun(sentence: str) -> str:
    """A sentence that may begin with a title's article, with a capital there."""
    return sentence[0].upper() + sentence[1:] if sentence.startswith(("the ", *OWNED)) else sentence


def money(value: float) -> str:
    """An amount for people: whole from 100 on, one decimal from 10, cents from 0.1, below two figures."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def times(value: float) -> str:
    """How many times: two figures, three where the first two would say 1.0."""
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value - 1) < 0.1 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def listed(names: list[str]) -> str:
    """Names as a person lists them: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


TOO_CLOSE = 0.8
CLEAR = 0.95
TIE = "too close to call"  # the least sure of the three
SHARE, ROUNDS, DISPATCH = "share", "rounds", "dispatch"  # the three costs
MINUTES = 60


def amount(value: float) -> str:
    """A number to three figures, whole from 100 on, thousands separated: 0.224, 79.1, 14,234."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def confidence(probability: float) -> str:
    """Clear (at least 0.95: the 90 % interval excludes a tie), likely (at least 0.8), or too close to call."""
    if probability >= CLEAR:
        return "clear"
    return "likely" if probability >= TOO_CLOSE else TIE


def percent(probability: float) -> str:
    """A simulated probability; a finite number of draws never shows that something is certain."""
    return "over 99 %" if probability > 0.99 else "under 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"


def span(hours: float) -> str:
    """A time, in minutes below an hour: `2.83 h`, `18 min`."""
    return f"{amount(hours)} h" if hours >= 1 else f"{amount(hours * MINUTES)} min"
