"""The price list: config/studies/<study>/prices/<price_list>.yaml as a closed, described model."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sweetspot.errors import Faults
from sweetspot.study.base import INTERRUPTIBLE, Closed, Count, Purchase, Slug, Text, validated
from sweetspot.study.terms import (
    Billing,
    Commitment,
    Compose,
    Currency,
    Interruptions,
    NotNegative,
    Own,
    Positive,
    Printed,
    Rate,
    Sustained,
    Vat,
    wrong_rate,
)
from sweetspot.study.trends import Trend
from sweetspot.study.yamlfile import load_yaml

LONGEST_MONTH = 31
# Hours of each unit that a rate can be printed in; None: those of the list's month.
RATE_HOURS = {
    "per_second": 1 / 3600,
    "per_minute": 1 / 60,
    "per_hour": 1.0,
    "per_day": 24.0,
    "per_week": 168.0,
    "per_month": None,
}


class Offer(Closed):
    """One machine, one way to pay for it; one price: a rate, `compose`, `same_price_as`, `commitment` or `own`."""

    instance: Slug = Field(description="Machine of instances.yaml")
    purchase: Purchase = Field("on_demand", description="How it is had")
    per_second: Positive | None = Field(None, description="Price of a second")
    per_minute: Positive | None = Field(None, description="Price of a minute")
    per_hour: Positive | None = Field(None, description="Price of an hour")
    per_day: Positive | None = Field(None, description="Price of a day")
    per_week: Positive | None = Field(None, description="Price of a week")
    per_month: Positive | None = Field(None, description="Price of a month")
    compose: Compose | None = Field(None, description="Machine + count x accelerator")
    same_price_as: Slug | None = Field(None, description="Instance of this list whose on-demand price is taken")
    commitment: Commitment | None = Field(None, description="A term paid for; purchase is reserved or committed")
    own: Own | None = Field(None, description="A machine bought; purchase is own")
    billing: Billing | None = Field(None, description="Terms of this offer instead of the list's")
    sustained: Sustained | None = Field(None, description="Discount earned by use over the month")
    interruptions: Interruptions | None = Field(None, description="Of this offer instead of the list's")
    days_per_month: Positive | None = Field(None, description="Days of use a month that a commitment is judged by")
    on_demand_per_hour: Positive | None = Field(
        None,
        description="On-demand price of the same machine where this list does not offer it; spot is held against it",
    )
    trend: Trend | None = Field(
        None, description="How its price moves in the months to come: a preset's name or a path (docs/prices.md)"
    )
    available_from_weeks: NotNegative | None = Field(
        None, description="Weeks from the day of the price until what is bought or signed for is there; or a range"
    )
    available_from: date | None = Field(None, description="The day from which it is there, instead of weeks")
    until: date | None = Field(None, description="Last day on which the offer stands")
    currency: Currency | None = Field(None, description="Currency of this offer instead of the list's")
    vat: Vat | None = Field(None, description="Tax of this offer instead of the list's")
    printed: Printed | None = Field(None, description="Figures that the source prints beside the price")
    basis: Literal["published", "equivalent", "stand_in"] = Field("published", description="How the price came to be")
    as_of: date | None = Field(None, description="Day of this price instead of the list's")
    source: Text | None = Field(None, description="Where this price was read, instead of the list's")
    note: Text | None = Field(None, description="Remark for the reader")

    @model_validator(mode="after")
    def _one_price(self) -> "Offer":
        kinds = [*RATE_HOURS, "compose", "same_price_as", "commitment", "own"]
        given = [name for name in kinds if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"exactly one price, found {', '.join(given) or 'none'} (one of {', '.join(kinds)})")
        needed = {"commitment": ("reserved", "committed"), "own": ("own",)}.get(given[0])
        if needed is not None and self.purchase not in needed:
            raise ValueError(f"purchase {' or '.join(needed)} for a price of kind {given[0]}, found {self.purchase}")
        if needed is None and self.purchase == "own":
            raise ValueError(f"key own for purchase own, found {given[0]}")
        if self.trend is not None and self.purchase in ("own", "reserved", "committed"):
            raise ValueError(
                f"trend only on demand or interruptible (a contract keeps its price), found {self.purchase}"
            )
        waits = [name for name in ("available_from_weeks", "available_from") if getattr(self, name) is not None]
        if len(waits) > 1:
            raise ValueError("one of available_from_weeks, available_from")
        if waits and self.purchase not in ("own", "reserved", "committed"):
            raise ValueError(f"{waits[0]} only of what is bought or signed for, found {self.purchase}")
        if self.interruptions is not None and self.purchase not in INTERRUPTIBLE:
            raise ValueError(f"interruptions only for spot or preemptible, found {self.purchase}")
        return self


class PriceList(Closed):
    """One file of prices: where they were read, when, in which currency, and what is offered."""

    title: Text | None = Field(None, description="Name for people")
    currency: Currency = Field("USD", description="Currency of all prices without their own")
    as_of: date = Field(description="Day of the prices")
    source: Text = Field(description="Where they were read")
    max_age_days: Count | None = Field(None, description="Prices older than this get a warning")
    age_at: Literal["study", "today"] = Field("study", description="Age is counted to the study's date or to today")
    month_days: Annotated[float, Field(strict=True, gt=27, lt=32)] | None = Field(
        None, description="Length of a month in days, instead of the study's"
    )
    project_months: Positive | None = Field(None, description="Length of the project; no commitment may be longer")
    days_per_month: Positive | None = Field(None, description="Days of use a month that commitments are judged by")
    rates: list[Rate] = Field([], description="Dated exchange rates of the currencies used")
    vat: Vat | None = Field(None, description="Tax of the prices")
    billing: Billing = Field(Billing(), description="Terms of every offer without its own")
    interruptions: Interruptions | None = Field(None, description="Of every spot or preemptible offer without its own")
    offers: list[Offer] = Field(description="What is offered", min_length=1)


def load_price_list(path: str | Path) -> PriceList:
    """Read one price list. Raises UserError: one sentence naming file and key."""
    prices = validated(PriceList, load_yaml(path), path)
    check_together(prices, path)
    return prices


def check_together(prices: PriceList, path: str | Path, places: Sequence[int] | None = None) -> None:
    """What no single key shows: repeated offers, rates that are none, too long terms. Raises UserError.

    `places`: where each offer stands in the file; absent: in their order.
    """
    faults = Faults()
    seen: set[tuple[str, str]] = set()
    rented = {
        offer.instance for offer in prices.offers if offer.same_price_as is None and offer.purchase == "on_demand"
    }
    known = {"USD"}
    for number, rate in enumerate(prices.rates):
        wrong = wrong_rate(rate.currency, rate.usd.value, rate.as_of)
        if wrong is not None:
            faults.add(f"{path}: rates[{number}] is {rate.usd.value:g} USD for one {rate.currency}; {wrong}")
        if rate.currency in known and rate.currency != "USD":
            faults.add(f"{path}: rates[{number}] is a second rate of {rate.currency}; expected one")
        known.add(rate.currency)
    for number, offer in zip(places or range(len(prices.offers)), prices.offers, strict=True):
        key = f"{path}: offers[{number}]"
        if (offer.instance, offer.purchase) in seen:
            faults.add(f"{key} offers '{offer.instance}' {offer.purchase} a second time; expected once")
        seen.add((offer.instance, offer.purchase))
        currency = offer.currency or prices.currency
        if currency not in known:
            faults.add(f"{key} has its price in {currency}; expected a dated rate for {currency} in 'rates'")
        for name in ("available_from", "until"):
            day, first = getattr(offer, name), offer.as_of or prices.as_of
            if day is not None and day < first:
                faults.add(f"{key}.{name} is {day}; expected no day before that of its price, {first}")
        if offer.same_price_as is not None and offer.same_price_as not in rented:
            faults.add(
                f"{key}.same_price_as is '{offer.same_price_as}'; expected an instance with an on_demand price here"
            )
        days = [offer.days_per_month, prices.days_per_month, None if offer.own is None else offer.own.days_per_month]
        most = max((amount.ends[1] for amount in days if amount is not None), default=0)
        if most > LONGEST_MONTH:
            faults.add(f"{key} is used {most:g} days a month (days_per_month); expected at most {LONGEST_MONTH}")
        term = offer.commitment.term_months.value if offer.commitment else 0
        if prices.project_months is not None and term > prices.project_months.value:
            faults.add(
                f"{key}.commitment.term_months is {term:g}; expected at most project_months "
                f"{prices.project_months.value:g}: a commitment longer than the project is paid for nothing"
            )
    faults.end()


HISTORY = "history"
FOLDER = re.compile(r"(\d{4}-\d\d-\d\d)(_\d+)?")


def newest_day(prices: PriceList) -> date:
    """The newest day that a price of the list speaks of."""
    return max([prices.as_of, *(offer.as_of for offer in prices.offers if offer.as_of is not None)])


def place_for(folder: Path, name: str, prices: PriceList, text: str) -> Path:
    """Where the list `name` of `folder` (prices/) with that text is kept: one file a state, none written over."""
    day, number = newest_day(prices).isoformat(), 1
    while True:
        file = folder / HISTORY / (day if number == 1 else f"{day}_{number}") / f"{name}.yaml"
        if not file.is_file() or file.read_bytes() == text.encode("utf-8"):
            return file
        number += 1


def days_kept(folder: Path) -> list[date]:
    """The days of which `folder` (prices/) keeps old lists, oldest first."""
    found = (FOLDER.fullmatch(entry.name) for entry in (folder / HISTORY).glob("*/"))
    return sorted({date.fromisoformat(match[1]) for match in found if match})


def lists_at(folder: Path, names: list[str], day: date) -> Mapping[str, Path]:
    """The file of each list as it was on `day`: its newest state that is not younger, else the oldest known.

    Raises UserError where a list of the history is none.
    """
    return {name: _state(folder, name, day) for name in names}


def _state(folder: Path, name: str, day: date) -> Path:
    kept = [file for file in (folder / HISTORY).glob(f"*/{name}.yaml") if FOLDER.fullmatch(file.parent.name)]
    states = [*sorted(kept, key=lambda file: _order(file.parent.name)), folder / f"{name}.yaml"]
    dated = [(file, newest_day(load_price_list(file))) for file in states]
    then = [file for file, newest in dated if newest <= day]
    return then[-1] if then else states[0]


def _order(name: str) -> tuple[str, int]:
    day, _, number = name.partition("_")
    return day, int(number or 1)
