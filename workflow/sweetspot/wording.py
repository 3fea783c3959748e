"""Words that every page uses: what a bill pays for, money, titles within sentences, numbers, probabilities."""

import re
from dataclasses import dataclass, replace

# A common noun with more words behind it: `office box with ...`, not `p3.2xlarge (spot)` nor `Paperspace P6000`.
COMMON = re.compile(r"[a-z]+(-[a-z]+)* [^(\[]")
# Titles that say whose or how much it is take no article.
OWNED = ("your ", "what you have")


@dataclass(frozen=True)
class Money:
    """The currency in which people read money: its code, and USD for one unit of it."""

    code: str = "USD"
    usd_per_unit: float = 1.0

    def of(self, usd: float) -> float:
        """Return an amount in USD converted to this currency."""
        return usd / self.usd_per_unit

    def words(self, usd: float) -> str:
        """Return an amount in USD as text in this currency, such as `43.5 EUR`."""
        return f"{money(self.of(usd))} {self.code}"

    def counted(self, value: float, unit: str) -> tuple[float, str]:
        """Return value and unit, converted to this currency where the unit contains USD: `USD/hour` to `EUR/hour`."""
        return (self.of(value), unit.replace("USD", self.code)) if "USD" in unit else (value, unit)


DOLLARS = Money()


@dataclass(frozen=True)
class Words:
    """Words of a bill: `each` behind an amount of money ('' for a training), `many` the plural, `usd` a chart's label.
    `money` is the currency in which people read the amounts.
    """

    each: str
    many: str
    usd: str
    money: Money = DOLLARS


WORDS = {
    "train": Words("", "trainings", "USD of one training: {model}"),
    "run": Words(" a run", "runs", "USD of a run"),
    "task": Words(" a task", "tasks", "USD of a task"),
    "month": Words(" a month", "months", "USD a month"),
}


def words_of(counts: str, money: Money = DOLLARS) -> Words:
    """Return the words for what a study's bills pay for (`counts`: train, run, task, month), in its currency."""
    words = WORDS[counts]
    return replace(words, usd=words.usd.replace("USD", money.code), money=money)


def the(title: str) -> str:
    """Return a title as it stands within a sentence: behind the article `the` if it begins with a common noun."""
    return f"the {title}" if COMMON.match(title) and not title.startswith(OWNED) else title


def begun(sentence: str) -> str:
    """Return a sentence with a capital first letter if it begins with `the` or a title of OWNED."""
    return sentence[0].upper() + sentence[1:] if sentence.startswith(("the ", *OWNED)) else sentence


def money(value: float) -> str:
    """Return money as text for reports: whole from 100 on, one decimal from 10, two from 0.1, else two digits."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def times(value: float) -> str:
    """Return a factor as text: whole from 10 on, else two digits, and three between 1 and 1.1."""
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value - 1) < 0.1 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def listed(names: list[str]) -> str:
    """Return names joined as in a sentence: 'a, b and c'; '' for no name."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


TOO_CLOSE = 0.8
CLEAR = 0.95
TIE = "too close to call"  # the least sure of the three
SHARE, ROUNDS, DISPATCH = "share", "rounds", "dispatch"  # the three costs
MINUTES = 60


def amount(value: float) -> str:
    """Return a number as text with three digits, whole from 100 on with separated thousands: 0.224, 79.1, 14,234."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def confidence(probability: float) -> str:
    """Return the words for a probability (0 to 1): clear (from 0.95), likely (from 0.8) or too close to call."""
    if probability >= CLEAR:
        return "clear"
    return "likely" if probability >= TOO_CLOSE else TIE


def percent(probability: float) -> str:
    """Return a simulated probability (0 to 1) as text: `87 %`, at the ends `over 99 %` and `under 1 %`."""
    return "over 99 %" if probability > 0.99 else "under 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"


def span(hours: float) -> str:
    """Return a time given in hours as text, in minutes below an hour: `2.83 h`, `18 min`."""
    return f"{amount(hours)} h" if hours >= 1 else f"{amount(hours * MINUTES)} min"
