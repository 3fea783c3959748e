"""The price list: config/studies/<study>/prices/<price_list>.yaml as a closed, described model."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import count
from pathlib import Path
from typing import Literal

from pydantic import Field

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import UserError, refuse
from sweetspot.study import terms
from sweetspot.study.base import Closed, Count, Day, PastDay, Purchase, Slug, Text, Title, validated
from sweetspot.study.terms import Days, NotNegative, Positive, wrong_rate
from sweetspot.study.trends import Trend
from sweetspot.study.yamlfile import load_yaml

# Hours of each unit that a rate can be printed in; None: those of the list's month.
RATE_HOURS = {"per_minute": 1 / 60, "per_hour": 1.0, "per_month": None}
CONTRACTS = ("reserved", "committed")


class PricedOffer(Closed):
    """One machine, one way to pay for it; one price: a rate, `compose`, `commitment` or `own`."""

    instance: Slug
    """Machine of instances.yaml"""
    purchase: Purchase = "on_demand"
    """How it is had"""
    per_minute: Positive | None = None
    """Price of a minute"""
    per_hour: Positive | None = None
    """Price of an hour"""
    per_month: Positive | None = None
    """Price of a month"""
    compose: terms.Compose | None = None
    """Machine + count x accelerator"""
    commitment: terms.Commitment | None = None
    """A term paid for; purchase is reserved or committed"""
    own: terms.Ownership | None = None
    """A machine bought; purchase is own"""
    billing: terms.Billing | None = None
    """Terms of this offer instead of the list's"""
    interruptions: terms.Interruptions | None = None
    """Of this offer instead of the list's"""
    days_per_month: Days | None = None
    """Days of use a month that a commitment is judged by"""
    on_demand_per_hour: Positive | None = None
    """On-demand price of the same machine where this list does not offer it; spot is held against it"""
    trend: Trend | None = None
    """How its price moves in the months to come: a preset's name or a path (docs/studies.md)"""
    available_from_weeks: NotNegative | None = None
    """Weeks from the day of the price until what is bought or signed for is there; or a range"""
    available_from: Day | None = None
    """The day from which it is there, instead of weeks"""
    until: Day | None = None
    """Last day on which the offer stands"""
    currency: terms.Currency | None = None
    """Currency of this offer instead of the list's"""
    vat: terms.Vat | None = None
    """Tax of this offer instead of the list's"""
    printed: terms.Printed | None = None
    """Figures that the source prints beside the price"""
    basis: Literal["published", "equivalent", "stand_in"] = "published"
    """How the price came to be"""
    as_of: PastDay | None = None
    """Day of this price instead of the list's"""
    source: Text | None = None
    """Where this price was read, instead of the list's"""
    note: Text | None = None
    """Remark for the reader"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: not one price, a purchase or terms that do not fit it."""
        kinds = [*RATE_HOURS, "compose", "commitment", "own"]
        prices = self._keys_set(*kinds)
        if len(prices) != 1:
            yield f"exactly one price, found {', '.join(prices) or 'none'} (one of {', '.join(kinds)})"
        purchases = {"commitment": CONTRACTS, "own": ("own",)}.get(prices[0])
        if purchases is not None and self.purchase not in purchases:
            yield f"purchase {' or '.join(purchases)} for a price of kind {prices[0]}, found {self.purchase}"
        if purchases is None and self.purchase == "own":
            yield f"key own for purchase own, found {prices[0]}"
        is_fixed = self.purchase in ("own", *CONTRACTS)
        if self.trend is not None and is_fixed:
            yield f"trend only on demand or interruptible (a contract keeps its price), found {self.purchase}"
        waits = self._keys_set("available_from_weeks", "available_from")
        if len(waits) > 1:
            yield "one of available_from_weeks, available_from"
        if waits and not is_fixed:
            yield f"{waits[0]} only of what is bought or signed for, found {self.purchase}"
        if self.interruptions is not None and self.purchase not in INTERRUPTIBLE:
            yield f"interruptions only for spot or preemptible, found {self.purchase}"


class PriceList(Closed):
    """One file of prices: where they were read, when, in which currency, and what is offered."""

    title: Title = None
    currency: terms.Currency = "USD"
    """Currency of all prices without their own"""
    as_of: PastDay
    """Day of the prices"""
    source: Text
    """Where they were read"""
    max_age_days: Count | None = None
    """Prices older than this get a warning"""
    project_months: Positive | None = None
    """Length of the project; no commitment may be longer"""
    days_per_month: Days | None = None
    """Days of use a month that commitments are judged by"""
    rates: list[terms.Rate] = []
    """Dated exchange rates of the currencies used"""
    vat: terms.Vat | None = None
    """Tax of the prices"""
    billing: terms.Billing = terms.Billing()
    """Terms of every offer without its own"""
    interruptions: terms.Interruptions | None = None
    """Of every spot or preemptible offer without its own"""
    offers: list[PricedOffer] = Field(min_length=1)
    """What is offered"""


def load_price_list(path: str | Path) -> PriceList:
    """Read and check one price list. Raises UserError, one sentence for each mistake, with file and key."""
    prices = validated(PriceList, load_yaml(path), path)
    check_together(prices, path)
    return prices


def check_together(prices: PriceList, path: str | Path) -> None:
    """Raise UserError for what no single key shows: repeated offers, wrong exchange rates, too long terms."""
    refuse(f"{path}: {sentence}" for sentence in _mistakes(prices))


def _mistakes(prices: PriceList) -> Iterator[str]:
    """Yield a sentence (without the file's name) per mistake of a price list that shows only when its keys are taken
    together: repeated offers, exchange rates, terms longer than the project.
    """
    currencies, machines = {"USD"}, set[tuple[str, str]]()
    for number, rate in enumerate(prices.rates):
        if expected := wrong_rate(rate.currency, rate.usd.value, rate.as_of):
            yield f"rates[{number}] is {rate.usd.value:g} USD for one {rate.currency}; {expected}"
        if rate.currency in currencies and rate.currency != "USD":
            yield f"rates[{number}] is a second rate of {rate.currency}; expected one"
        currencies.add(rate.currency)
    for number, offer in enumerate(prices.offers):
        entry, currency = f"offers[{number}]", offer.currency or prices.currency
        if (offer.instance, offer.purchase) in machines:
            yield f"{entry} offers '{offer.instance}' {offer.purchase} a second time; expected once"
        machines.add((offer.instance, offer.purchase))
        if currency not in currencies:
            yield f"{entry} has its price in {currency}; expected a dated rate for {currency} in 'rates'"
        term, project = offer.commitment and offer.commitment.term_months.value, prices.project_months
        if term and project and term > project.value:
            expected = f"expected at most project_months {project.value:g}: the rest of it would be paid for nothing"
            yield f"{entry}.commitment.term_months is {term:g}; {expected}"


# prices/history/<date>/<price_list>.yaml: what lists were before they were refreshed; <date> is the newest day of a
# price in the list. Nothing of the workflow reads these as price lists of today.
HISTORY = "history"


def newest_day(prices: PriceList) -> date:
    """Return the newest date of the price list: its own, or that of an offer."""
    return max([prices.as_of, *(offer.as_of for offer in prices.offers if offer.as_of is not None)])


def history_file(folder: Path, name: str, prices: PriceList, text: str) -> Path:
    """Return where to keep an old price list (prices/history/), never the path of a file with another text.

    Parameters
    ----------
    folder, name, prices, text
        The study's prices/, name of the list, the list (its newest day names the folder), and the text of its file.
    """
    day = newest_day(prices).isoformat()
    files = (folder / HISTORY / (f"{day}_{n}" if n > 1 else day) / f"{name}.yaml" for n in count(1))
    return next(file for file in files if not file.is_file() or file.read_text(encoding="utf-8") == text)


def history_days(folder: Path) -> list[date]:
    """Return the dates of the folders in prices/history/, oldest first. Raises UserError if a name is no date."""
    return sorted({_day_and_number(entry)[0] for entry in (folder / HISTORY).glob("*/")})


def lists_at(folder: Path, names: Sequence[str], day: date) -> dict[str, Path]:
    """Return {name: file} of the price lists as they were on a day, to decide the study under old prices; of a list
    without one so old, the oldest known.

    Parameters
    ----------
    folder, names, day
        The study's prices/, names of the lists, and the day. UserError if a file in the history is no price list.
    """
    files_by_name = {}
    old_folders = sorted((folder / HISTORY).glob("*/"), key=_day_and_number)
    for name in names:
        files = [file for parent in (*old_folders, folder) if (file := parent / f"{name}.yaml").is_file()]
        past = [file for file in files if newest_day(load_price_list(file)) <= day]
        files_by_name[name] = (past or files)[-1 if past else 0]
    return files_by_name


def _day_and_number(folder: Path) -> tuple[date, int]:
    """Return (date, number) of a folder in prices/history/, to sort by: `2026-11-22_2` has number 2, `2026-11-22` 0."""
    day, _, number = folder.name.partition("_")
    try:
        return date.fromisoformat(day), int(number or 0)
    except ValueError:
        raise UserError(f"{folder}: the folder's name is no day; expected one such as 2026-11-22") from None
