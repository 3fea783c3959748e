"""Turn a price file that you have into a price list on stdout; nothing is fetched.

Reads FILE in one of these formats, and writes YAML as it belongs into config/studies/STUDY/prices/. What could not be
used and what the price lint says of the result go to stderr.

    aws-spot-history  JSON of `aws ec2 describe-spot-price-history`: the mean over time, 5 % and 95 % as range
    skypilot          a catalogue vms.csv of SkyPilot
    gpuhunt           a CSV of gpuhunt
    csv, json         columns instance and per_hour; optional purchase, place, currency, source and the machine's

    sweetspot import-prices csv prices.csv --as-of 2018-07-01 > config/studies/mine/prices/rent.yaml
"""

import argparse
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from sweetspot.bills.lint.rules import lint
from sweetspot.bills.offers import offers_in_usd
from sweetspot.catalogues.readers import READERS, cheapest
from sweetspot.catalogues.spot_history import averages, choose_zone, read_history
from sweetspot.errors import UserError
from sweetspot.number_text import number_argument, parse_number
from sweetspot.study.base import validated
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.transfer.device_names import device_of

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("aws-spot-history", *READERS)


def _moment(value: str | None, flag: str) -> "pd.Timestamp | None":
    import pandas as pd

    if value is None:
        return None
    try:
        stamp = pd.Timestamp(value)
    except ValueError:
        raise UserError(f"{flag} is {value!r}; expected a date or an ISO 8601 time") from None
    return stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")


def _history_list(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Price list and instances of a spot history: the time-weighted mean with the 5 % and 95 % prices as range."""
    start, end = _moment(options.start, "--start"), _moment(options.end, "--end")
    history = read_history(options.file)
    if options.only:
        history = history[history["instance"].isin(options.only)]
        if history.empty:
            raise UserError(f"{options.file}: none of the instances of --only is in the history")
    found = averages(history, options.product, start, end, options.max_gap_days, str(options.file))
    chosen, offers = choose_zone(found, options.zone), []
    for name, entry in chosen.items():
        mean = round(entry.mean, 6)
        # A price that holds nearly always can leave the mean outside its own 5 to 95 % range.
        hour = {"value": mean, "low": min(entry.low, mean), "high": max(entry.high, mean)}
        note = f"{entry.zone}, {entry.product}, {entry.start} to {entry.end}, {entry.changes} changes"
        offers.append({"instance": name, "purchase": "spot", "per_hour": hour, "note": note})
    day = max(entry.end for entry in chosen.values()).date()
    return _heading(options, options.as_of or day, "time-weighted mean") | {"offers": offers}, {}


def _catalogue_list(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Price list and instances of a catalogue: the cheapest place of each instance and purchase."""
    if options.as_of is None:
        raise UserError(f"--as-of is missing: {Path(options.file).name} does not say of which day its prices are")
    if options.as_of > date.today():
        raise UserError(f"--as-of is {options.as_of}, a day to come; expected the day of the prices")
    catalogue = READERS[options.format](options.file)
    listings = cheapest(catalogue, options.zone, frozenset(options.only) if options.only else None)
    for reason in catalogue.skipped():
        print(f"left out: {reason}", file=sys.stderr)
    if options.currency is None and options.format != "gpuhunt" and not all(entry.currency for entry in listings):
        example = "--currency EUR --rate EUR=1.14"
        print(f"note: {options.file} names no currency; USD is assumed (else: {example})", file=sys.stderr)
    offers: list[dict[str, Any]] = []
    instances: dict[str, Any] = {}
    for entry in listings:
        offer: dict[str, Any] = {"instance": entry.instance, "purchase": entry.purchase, "per_hour": entry.per_hour}
        note = ", ".join(part for part in (entry.title, entry.zone) if part)
        offers.append(offer | _given(currency=entry.currency, source=entry.source, note=note))
        facts = {"title": entry.title or entry.instance, "provider": options.provider}
        facts["gpu"] = device_of(entry) if entry.gpu else "CPU"
        more = _given(gpus=entry.gpus or 1, vcpus=entry.vcpus, memory_gib=entry.memory_gib)
        instances.setdefault(entry.instance, facts | more)
    return _heading(options, options.as_of, "cheapest place") | {"offers": offers}, instances


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _heading(options: argparse.Namespace, as_of: date, how: str) -> dict[str, Any]:
    source = options.source or f"{Path(options.file).name} ({options.format}), {how}"
    heading: dict[str, Any] = {"currency": options.currency or "USD", "as_of": as_of, "source": source}
    if options.rate:  # a day of its own: YAML would name the one above
        rates = [_rate(text) | {"as_of": as_of.replace(), "source": options.rate_source} for text in options.rate]
        heading["rates"] = rates
    return heading


def _rate(text: str) -> dict[str, Any]:
    """EUR=1.09 as a rate of a price list; the list's model says what is wrong with the currency or the sign."""
    currency, equals, usd = text.partition("=")
    if not equals:
        raise UserError(f"--rate is {text!r}; expected a currency and what one unit is in USD, such as EUR=1.09")
    return {"currency": currency, "usd": parse_number(usd, f"--rate {currency}")}


def _remarks(prices: PriceList, instances: dict[str, Any], as_of: date) -> list[str]:
    """What the lint finds in the imported prices; families are judged only where the file names the devices."""
    names = [offer.instance for offer in prices.offers]
    unknown = {name: {"title": name, "provider": "unknown", "gpu": "CPU", "gpus": 1} for name in names}
    machines = {name: Instance(**(unknown | instances)[name]) for name in names}
    offers, _ = offers_in_usd("imported", prices, machines, 30.5)
    found = lint(prices, offers, machines, as_of, 30.5)
    told = list(dict.fromkeys(f"{one.severity}: {one.message}" for one in found if one.rule != "spot_terms"))
    spot = sum(one.rule == "spot_terms" for one in found)
    return [*told, f"note: {spot} spot prices without an interruption rate; their cost assumes none"] if spot else told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot import-prices`."""
    add = parser.add_argument
    add("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    add("file", metavar="FILE", help="the file to read")
    add("--as-of", type=date.fromisoformat, metavar="DAY", help="day of the prices; needed for catalogues")
    add("--zone", help="zone (or region, for catalogues); default: the cheapest")
    add("--only", nargs="+", metavar="INSTANCE", help="instances to keep; default: all")
    add("--currency", help="currency of the prices (USD)")
    add("--rate", nargs="+", metavar="EUR=USD", help="USD for one unit of another currency, such as EUR=1.09")
    add("--rate-source", default="given when the prices were imported", metavar="TEXT", help="where the rate was read")
    add("--source", help="source to write into the list; default: the file's name")
    add("--provider", default="unknown", help="provider written with --print instances")
    add("--product", default="Linux/UNIX", help="product of a spot history (Linux/UNIX)")
    add("--start", metavar="TIME", help="begin of the window of a spot history: a date or an ISO 8601 time")
    add("--end", metavar="TIME", help="end of that window; default: the last change in the file")
    add(
        "--max-gap-days",
        type=number_argument,
        default=30.0,
        metavar="DAYS",
        help="longest silence of a spot history (30)",
    )
    add("--print", choices=("prices", "instances"), default="prices", dest="what", help="what to write")


def run(options: argparse.Namespace) -> None:
    """Write the list to stdout and the lint's remarks to stderr. Raises UserError."""
    data, instances = (_history_list if options.format == "aws-spot-history" else _catalogue_list)(options)
    prices = validated(PriceList, data, options.file)
    check_together(prices, options.file)
    shown = data if options.what == "prices" else instances
    if not shown:
        raise UserError(
            f"{options.file}: a {options.format} file says nothing of the machines; write instances.yaml by hand"
        )
    sys.stdout.write(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=110))
    for remark in _remarks(prices, instances, prices.as_of):
        print(remark, file=sys.stderr)
