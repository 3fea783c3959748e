"""The parts of a price list: amounts, tax, fees, billing terms, interruptions, ownership."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, GetJsonSchemaHandler, StringConstraints, Tag, model_validator
from pydantic_core import CoreSchema

from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import CURRENCY, SMALLEST, Closed, Count, Number, PastDay, Ranged, Share, Text, within
from sweetspot.study.trends import Resale

Currency = Annotated[str, StringConstraints(pattern=CURRENCY)]
LONGEST_MONTHS = 600
# No building draws less than its machines; the worst of old server rooms draws about three times as much.
LARGEST_PUE = 3.0
SHARE = "a share (not a percentage)"


class Amount(Ranged):
    """A number, with its range where it is uncertain: `1.0` or `{value: 1.0, low: 0.8, high: 1.2}`."""

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, data: Any) -> Any:
        """Return a plain number as {value: number}; a mapping or an Amount unchanged."""
        return data if isinstance(data, dict | Amount) else {"value": data}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON schema of an amount, the plain number included, which editors must accept."""
        return {"anyOf": [{"type": "number"}, handler(core)]}


ZERO, UNITY = Amount(value=0.0), Amount(value=1.0)
Positive = Annotated[Amount, within(SMALLEST)]
LoadShare = Annotated[Positive, within(0, 1, SHARE)]
Pue = Annotated[Amount, within(1, LARGEST_PUE)]
Months = Annotated[Positive, within(0, LONGEST_MONTHS)]
NotNegative = Annotated[Amount, within(0)]
Days = Annotated[Positive, within(SMALLEST, 31, "days a month")]


def _form(residual: Any) -> str:
    """Return the tag of a residual value: `(curve)` of a resale curve, else `(amount)`."""
    curve = isinstance(residual, Resale) or (isinstance(residual, dict) and {"curve", "points"} & set(residual))
    return "(curve)" if curve else "(amount)"


Residual = Annotated[Annotated[NotNegative, Tag("(amount)")] | Annotated[Resale, Tag("(curve)")], Discriminator(_form)]


class Rate(Closed):
    """What one unit of a currency is worth, on a day."""

    currency: Currency
    """Currency converted, such as EUR"""
    usd: Positive
    """USD for one unit of it"""
    as_of: PastDay
    """Day of the rate"""
    source: Text
    """Where the rate was read, or how it was inferred"""


class Vat(Closed):
    """Value added tax of the prices."""

    rate: float = Field(ge=0, le=0.5)
    """Rate, such as 0.2"""
    included: bool
    """Whether the prices include it as printed"""
    reclaimed: bool = True
    """Whether the buyer gets it back; then costs are shown without it"""


class Fee(Closed):
    """A further line of the bill; exactly one of per_month, per_start, per_hour."""

    name: Text
    """Line of the bill, such as 'scheduler rules'"""
    per_month: NotNegative | None = None
    """Price of one a month"""
    per_start: NotNegative | None = None
    """Price of one each time the machine is started"""
    per_hour: NotNegative | None = None
    """Price of one per billed hour"""
    count: NotNegative = UNITY
    """How many of it"""
    note: Text | None = None
    """Remark for the reader"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message unless exactly one price is given."""
        if len(self._keys_set("per_month", "per_start", "per_hour")) != 1:
            yield "exactly one of per_month, per_start, per_hour"


class Storage(Closed):
    """Disk kept for the job."""

    gb: NotNegative
    """Size in GB"""
    per_gb_month: NotNegative
    """Price of one GB for a month"""


class Egress(Closed):
    """Data sent out of the provider's network."""

    gb: NotNegative
    """GB sent out per workload"""
    per_gb: NotNegative
    """Price of one GB"""


class Billing(Closed):
    """How use becomes a bill: max(minimum, use rounded up to the granularity) x rate + fees."""

    granularity: Literal["millisecond", "second", "minute", "hour", "month"] | None = None
    """Use is rounded up to whole ones of these; absent: not rounded"""
    minimum_s: float = Field(0.0, ge=0)
    """Least seconds billed a start"""
    setup: NotNegative = ZERO
    """Paid once, when the machine is ordered"""
    monthly: NotNegative = ZERO
    """Flat fee a month"""
    monthly_minimum: NotNegative = ZERO
    """Least that a month's use costs"""
    prorated: bool = True
    """Whether monthly sums are charged by the hour; else by whole months"""
    storage: Storage | None = None
    """Disk kept for the job"""
    egress: Egress | None = None
    """Data sent out"""
    fees: list[Fee] = []
    """Further lines of the bill"""


class MachinePart(Closed):
    """One part of a composed machine."""

    name: Text
    """Name as printed, such as n1-standard-8"""
    per_hour: Positive
    """Price of one for an hour"""
    vcpus: Count | None = None
    """Its virtual processors; the lint compares price per one"""


class Compose(Closed):
    """A machine and the accelerators put into it."""

    machine: MachinePart
    """The machine without accelerators"""
    gpu: MachinePart
    """One accelerator"""
    count: Count
    """How many accelerators"""


class Commitment(Closed):
    """Paying for a term, used or not."""

    term_months: Months
    """Months committed to"""
    upfront: NotNegative = ZERO
    """Paid at the start of the term"""
    per_month: NotNegative = ZERO
    """Paid each month of the term"""
    per_hour: NotNegative = ZERO
    """Hourly price within the term"""
    charged: Literal["always", "used"] = "always"
    """Whether the hourly price is due for every hour of the term or for hours used"""


class Interruptions(Closed):
    """What it costs that a machine can be taken away."""

    per_hour: NotNegative
    """Interruptions per hour of running; 0: never"""
    checkpoint_s: Positive
    """Seconds to write one checkpoint"""
    restore_s: NotNegative = ZERO
    """Seconds to read it back and start again"""
    wait_s: NotNegative = ZERO
    """Seconds until a machine is there again; not billed"""
    every_s: Positive | None = None
    """Seconds between checkpoints; absent: Daly's best interval"""
    source: Text
    """Where these come from"""


class Ownership(Closed):
    """A machine bought (docs/studies.md); with a discount rate the same figures as present values."""

    capex: NotNegative
    """Purchase, one machine; 0 for one that is there already"""
    months: Months
    """Months over which it is used"""
    residual: Residual = ZERO
    """What it sells for at the end, at most the purchase; or a curve by age"""
    maintenance_per_month: NotNegative = ZERO
    """Contract or repairs a month"""
    kw: NotNegative
    """Power under load in kW"""
    kw_basis: Literal["measured", "declared"] = "declared"
    """Whether that was measured at the plug or is declared (data sheet, assumption)"""
    load_share: LoadShare = UNITY
    """Share of that power drawn on average, at most 1"""
    pue: Pue = UNITY
    """Power of the building over power of the machine, from 1 to 3"""
    per_kwh: NotNegative
    """Price of electricity"""
    days_per_month: Days
    """Days of use a month, 24 hours each"""
    downtime_share: float = Field(0.0, ge=0, lt=1)
    """Share of the planned days in which it is broken"""
    discount_rate: Share = 0.0
    """Yearly discount rate for present values"""
    boxes: Count = 1
    """How many such machines are bought"""
    staff_hours_per_month: NotNegative = ZERO
    """Hours of care a month, one machine"""
    staff_per_hour: NotNegative = ZERO
    """What one of them costs"""

    def _expected(self) -> Iterator[str]:
        # Both ends may meet: the owner's cheapest case takes the low purchase and the high resale.
        """Yield a clause of the user's error message where the machine could sell for more than it costs."""
        lowest, highest = self.capex.ends[0], 0.0 if isinstance(self.residual, Resale) else self.residual.ends[1]
        if highest > lowest:
            yield f"residual of at most capex, found residual {highest:g} and capex {lowest:g}"


class Printed(Closed):
    """What the source prints beside the price, for the lint to hold against it."""

    per_hour: Number | None = None
    """Hourly price stated in the text or as a total"""
    per_day: Number | None = None
    """Price of a day as printed"""
    per_week: Number | None = None
    """Price of a week as printed"""
    per_month: Number | None = None
    """Price of a month as printed"""
    discount: Number | None = None
    """What the source calls the discount against on demand"""


BESIDE = 1.1  # a bank's own rate, or one of the days around the turn of a year, is within this of the year's range
INVERTED = 1.02  # a rate whose inverse lies within the range must lie there itself
LATER = 1.5  # so far a currency may have moved beyond the years of the table


def wrong_rate(currency: str, usd: float, day: date) -> str | None:
    """Check an exchange rate of a price list against the ECB's; return a clause that says what is expected, None where
    it is right or the currency unknown.

    Parameters
    ----------
    currency, usd, day
        Code, USD for one unit, and day of the rate; it is compared with the lowest and highest of that year.
    """
    if currency == "USD":
        return None if usd == 1 else "expected 1, or no rate of USD"
    rows = [row for row in table("currencies") if row["currency"] == currency]
    if not rows:
        return None
    nearest = min(rows, key=lambda row: abs(int(row["year"]) - day.year))
    year, low, high = int(nearest["year"]), float(nearest["low"]), float(nearest["high"])
    is_inverted = low <= 1 / usd <= high
    margin = INVERTED if is_inverted else BESIDE if year == day.year else LATER
    if low / margin <= usd <= high * margin:
        return None
    expected = f"{1 / usd:.4g}, the rate turned round, or another" if is_inverted else "one"
    return f"expected {expected} beside the {low:g} to {high:g} USD of {year} (ECB)"


class DisplayCurrency(Closed):
    """The currency of a study's page, with its rate and where that was read."""

    code: Currency
    """Currency in which money is shown, such as EUR"""
    usd_per_unit: float = Field(ge=1e-6, le=1e6)
    """USD for one unit of it"""
    as_of: PastDay
    """Day of the rate"""
    source: Text
    """Where the rate was read"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message for a rate that the currency did not have in that year."""
        if wrong := wrong_rate(self.code, self.usd_per_unit, self.as_of):
            yield f"a rate that was one; usd_per_unit is {self.usd_per_unit:g} for {self.code}: {wrong}"

    def in_words(self) -> str:
        """Return the one line beside the answer: `EUR at 1.08 USD, ECB 2026-09-18`."""
        return f"{self.code} at {self.usd_per_unit:g} USD, {self.source} {self.as_of}"
