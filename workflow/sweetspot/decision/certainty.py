"""Numbers and certainty in words, the same wherever the decision speaks."""

import math

TOO_CLOSE = 0.8
CLEAR = 0.95
TIE = "too close to call"  # the least sure of the three
MINUTES = 60
EVEN = 0.05  # a probability nearer to a half than this is called even
PARTS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100)  # m in n: the n that people count in
LONG_PART = 0.01  # worth of a smaller n, in logits: 3 in 4 is said of 73 %, not 11 in 15


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


def chance(probability: float) -> str:
    """A probability in words and as a number: `a chance of about 6 in 7 (86 %)`."""
    number = percent(probability)
    if number.startswith("over"):
        return f"almost certain ({number})"
    if number.startswith("under"):
        return f"hardly a chance ({number})"
    if abs(probability - 0.5) <= EVEN:
        return f"an even chance ({number})"
    logit = math.log(probability / (1 - probability))

    def cost(part: tuple[int, int]) -> float:
        one, of = part
        return abs(math.log(one / (of - one)) - logit) + LONG_PART * of

    ways = ((max(1, min(of - 1, round(probability * of))), of) for of in PARTS)
    one, of = min(ways, key=cost)
    return f"a chance of about {one} in {of} ({number})"
