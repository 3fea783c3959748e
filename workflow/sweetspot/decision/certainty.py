"""Numbers and certainty in words, the same wherever the decision speaks."""

TOO_CLOSE = 0.8
CLEAR = 0.95
TIE = "too close to call"  # the least sure of the three


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
