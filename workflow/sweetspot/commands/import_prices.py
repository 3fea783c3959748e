"""Turn a price file that a person has into a price list."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from sweetspot.bills.lint.rules import lint
from sweetspot.bills.offers import offers_in_usd
from sweetspot.catalogues.readers import read_catalogue
from sweetspot.catalogues.spot_history import averages, choose_zones, read_history
from sweetspot.errors import UserError
from sweetspot.number_text import parse_number
from sweetspot.study.base import validated
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.transfer.device_names import device_of

SPOT_HISTORY, MONTH_DAYS = "aws-spot-history", 30.5


@dataclass(frozen=True)
class ImportRequest:
    """The options of `sweetspot import-prices`: a price file, and how to read it."""

    file_format: str
    file: str
    as_of: date | None
    zone: str | None
    only: Sequence[str]
    currency: str | None
    rates: Sequence[str]
    rate_source: str
    provider: str
    product: str
    start: str | None
    end: str | None
    part: str

    def heading(self, as_of: date, method: str) -> dict[str, Any]:
        """Return the keys of an imported price list besides its offers: currency, day `as_of`, source (with `method`,
        how prices were chosen), exchange rates (--rate). UserError for a day to come or a malformed rate.
        """
        if as_of > date.today():
            raise UserError(f"--as-of is {as_of}, a day to come; expected the day of the prices (else --end)")
        source = f"{Path(self.file).name} ({self.file_format}), {method}"
        heading = {"currency": self.currency or "USD", "as_of": as_of, "source": source}
        rates = []
        for text in self.rates:
            currency, equals, usd = text.partition("=")
            if not equals:
                raise UserError(f"--rate is {text!r}; expected a currency and its USD, such as EUR=1.09")
            value = parse_number(usd, f"--rate {currency}")
            # YAML would write an alias of the day above if it were the same object.
            rates.append({"currency": currency, "usd": value, "as_of": as_of.replace(), "source": self.rate_source})
        return heading | ({"rates": rates} if rates else {})


def run(request: ImportRequest) -> None:
    """Run `sweetspot import-prices`: print the price file in `request` as YAML, and the lint's remarks to stderr."""
    read = _history_list if request.file_format == SPOT_HISTORY else _catalogue_list
    data, instances = read(request)
    prices = validated(PriceList, data, request.file)
    check_together(prices, request.file)
    content = data if request.part == "prices" else instances
    if not content:
        raise UserError(f"{request.file}: says nothing of the machines; write instances.yaml by hand")
    sys.stdout.write(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110))
    for remark in _remarks(prices, instances):
        print(remark, file=sys.stderr)


def _history_list(request: ImportRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make a price list of a file with AWS' spot price history: per machine the mean USD/h over time, with its 5 to 95
    % range. Return (the list as plain values, {}: such a file does not describe machines).
    """
    start, end = _moment("--start", request.start), _moment("--end", request.end)
    history = read_history(request.file)
    if request.only:
        history = history[history["instance"].isin(request.only)]
        if history.empty:
            raise UserError(f"{request.file}: none of the instances of --only is in the history")
    chosen, offers = choose_zones(averages(history, request.product, start, end), request.zone), []
    for entry in chosen.itertuples():
        mean = round(entry.mean, 6)
        # A price that holds nearly always can leave the mean outside its own 5 to 95 % range.
        per_hour = {"value": mean, "low": min(entry.low, mean), "high": max(entry.high, mean)}
        note = f"{entry.zone}, {request.product}, {entry.start} to {entry.end}"
        offers.append({"instance": entry.instance, "purchase": "spot", "per_hour": per_hour, "note": note})
    as_of = request.as_of or chosen["end"].max().date()
    return request.heading(as_of, "time-weighted mean") | {"offers": offers}, {}


def _moment(flag: str, text: str | None) -> pd.Timestamp | None:
    """Parse a flag's time (--start, --end), a date or ISO 8601, to UTC; None stays None. UserError for other text."""
    try:
        return None if text is None else pd.to_datetime(text, utc=True)
    except ValueError:
        raise UserError(f"{flag} is {text!r}; expected a date or an ISO 8601 time") from None


def _catalogue_list(request: ImportRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make a price list of a provider's catalogue file, of each machine its cheapest offer. Return (price list,
    {machine: entry of instances.yaml}) as plain values to be written as YAML.
    """
    if request.as_of is None:
        raise UserError(f"--as-of is missing: {Path(request.file).name} does not say of which day its prices are")
    catalogue = read_catalogue(request.file_format, request.file)
    listings = catalogue.cheapest(request.zone, request.only or None)
    if not listings:
        raise UserError(f"{request.file}: no price is left; expected another --zone or --only")
    for reason in catalogue.skipped():
        print(f"left out: {reason}", file=sys.stderr)
    names_currency = request.file_format == "gpuhunt" or all(entry.currency for entry in listings)
    if request.currency is None and not names_currency:
        print(f"note: {request.file} names no currency; USD is assumed (else: --currency, --rate)", file=sys.stderr)
    offers, instances = list[dict[str, Any]](), dict[str, Any]()
    for entry in listings:
        offer = {
            "instance": entry.instance,
            "purchase": entry.purchase,
            "per_hour": entry.per_hour,
            "currency": entry.currency,
            "source": entry.source,
            "note": ", ".join(filter(None, (entry.title, entry.zone))),
        }
        machine = {
            "title": entry.title or entry.instance,
            "provider": request.provider,
            "gpu": device_of(entry) if entry.gpu else "CPU",
            "gpus": entry.gpus or 1,
            "vcpus": entry.vcpus,
            "memory_gib": entry.memory_gib,
        }
        offers.append({key: value for key, value in offer.items() if value})
        instances.setdefault(entry.instance, {key: value for key, value in machine.items() if value})
    return request.heading(request.as_of, "cheapest place") | {"offers": offers}, instances


def _remarks(prices: PriceList, instances: dict[str, Any]) -> list[str]:
    """Return what the price lint finds odd in an imported list, as texts `severity: message` for the user.
    `instances`: its machines as plain values by name; devices are judged only where they are named.
    """
    names = [offer.instance for offer in prices.offers]
    unknown = {"provider": "unknown", "gpu": "CPU", "gpus": 1}
    machines = {name: validated(Instance, instances.get(name, unknown | {"title": name}), name) for name in names}
    offers, _ = offers_in_usd("imported", prices, machines, MONTH_DAYS)
    findings = lint(prices, offers, machines, prices.as_of)
    # That spot prices have no rate of interruptions holds for every import.
    return list(dict.fromkeys(f"{row.severity}: {row.message}" for row in findings if row.rule != "spot_terms"))
