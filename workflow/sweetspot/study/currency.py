"""The currency in which a study's money is shown; tables and bills are in USD."""

from datetime import date
from typing import Annotated

from pydantic import Field

from sweetspot.study.base import Closed, Text
from sweetspot.study.terms import Currency


class ShownCurrency(Closed):
    """The currency of a study's page, with its rate and where that was read."""

    code: Currency = Field(description="Currency in which money is shown, such as EUR")
    usd_per_unit: Annotated[float, Field(strict=True, ge=1e-6, le=1e6)] = Field(description="USD for one unit of it")
    as_of: date = Field(description="Day of the rate")
    source: Text = Field(description="Where the rate was read")

    def in_words(self) -> str:
        """The one line beside the answer: `EUR at 1.08 USD, ECB 2026-09-18`."""
        return f"{self.code} at {self.usd_per_unit:g} USD, {self.source} {self.as_of}"
