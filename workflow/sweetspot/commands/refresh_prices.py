"""Fetch today's prices of a study's machines, show what changes, and write its price lists.

Reads `catalogue` of study.yaml: which name each instance has in SkyPilot's or gpuhunt's published catalogue, AWS'
price list, Azure's retail prices, or a table of your own. Of an offer whose price changed, `per_hour`, `as_of` and
`source` are written; comments and all else of a list stay. The list before goes to prices/history/<date>/. An offer
that no catalogue knows, and a price that cannot be right, stay as they are and are named. A source that fails ends the
command in one sentence, and nothing is written.

With --stock no price changes: which of the study's machines are to be had is appended to prices/history/stock.csv, from
catalogues that list only what is in stock, and from Lambda's interface where LAMBDA_API_KEY is set. Once a day is best;
after a month one's own share counts more than the library's.

    sweetspot refresh-prices eight-gpus-2026 --dry-run
    sweetspot refresh-prices eight-gpus-2026 --provider aws lambda
    sweetspot refresh-prices eight-gpus-2026 --offline
    sweetspot refresh-prices eight-gpus-2026 --stock
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sweetspot.bills.lint.rules import lint
from sweetspot.bills.offers import offers_in_usd
from sweetspot.catalogues.downloads import Downloads, cache_folder
from sweetspot.catalogues.listing import Asked, Fetched
from sweetspot.catalogues.price_file import with_values
from sweetspot.catalogues.published_prices import SOURCES
from sweetspot.catalogues.refreshing import Found, judged, rows
from sweetspot.catalogues.stock_files import BASE, KEY, fetch_lambda, looks_of, stock_files
from sweetspot.commands.scratch import read_text, write_texts
from sweetspot.errors import UserError, refuse
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.number_text import number_argument
from sweetspot.study.catalogue_map import CatalogueMap, FilePart, Part, checked_catalogue
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList, load_price_list, newest_day, place_for
from sweetspot.study.stock import Look, Machine, days_of, looks_file, new_looks, read_looks, share_of, write_looks
from sweetspot.study.study import Study, load_study

AHEAD = timedelta(days=7)
LONGEST_REUSE = 87_600  # hours: ten years
ZONES = timedelta(days=1)  # where it is tomorrow already


@dataclass(frozen=True)
class Refreshed:
    """One price list before and after; `found`: its rows that change; `remarks`: what the lint did not say before."""

    file: Path
    old_text: str
    text: str
    old: PriceList
    new: PriceList
    found: Sequence[Found]
    remarks: Sequence[str]

    def lines(self) -> Iterator[str]:
        """The list's name, a line for each price that changes, and the lint's remarks."""
        yield f"{self.file.name}: USD an hour" if self.new.currency == "USD" else f"{self.file.name}: an hour"
        width = max(len(hit.row.name) for hit in self.found)
        for hit in self.found:
            assert hit.values is not None
            figures = f"{hit.old:>10.10g} -> {hit.new:<10.10g} {hit.change:>+8.1%}"
            yield f"  {hit.row.name:<{width}} {figures}  {hit.row.as_of} -> {hit.values['as_of']}"
        for remark in self.remarks:
            yield f"  lint: {remark}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot refresh-prices`."""
    add = parser.add_argument
    add("study", metavar="STUDY", help="a folder under config/studies/")
    add("--provider", nargs="+", metavar="NAME", help="only machines of these providers of instances.yaml")
    add("--dry-run", action="store_true", help="show what would change, and write nothing")
    add("--offline", action="store_true", help="take the files fetched before, of whatever day, and fetch nothing")
    add("--accept", nargs="+", default=[], metavar="INSTANCE", help="take a price that jumps")
    add("--stock", action="store_true", help="keep what is in stock in place of prices")
    add("--confirm", action="store_true", help="date and source also where the price is still the same")
    add("--reuse-hours", type=_hours, default=1.0, metavar="HOURS", help="take a file fetched within these (1)")
    add("--mirror", nargs="+", default=[], metavar="SOURCE=URL", help="another address of a source, such as a mirror")
    add("--cache", type=Path, default=None, metavar="FOLDER", help=f"where files are kept ({cache_folder()})")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def _hours(text: str) -> float:
    hours = number_argument(text)
    if not 0 <= hours <= LONGEST_REUSE:
        raise argparse.ArgumentTypeError(f"{text!r} given; expected hours from 0 to {LONGEST_REUSE:,}")
    return hours


class Whole(NamedTuple):
    """The study that is refreshed, and how it was asked for."""

    options: argparse.Namespace
    folder: Path
    study: Study
    instances: dict[str, Instance]
    prices: dict[str, PriceList]

    def asks(self, machine: str) -> bool:
        """Whether the machine is of the providers that were asked for."""
        asked = self.options.provider
        return asked is None or self.instances[machine].provider in asked

    def require_providers(self, machines: Iterable[str], whose: str) -> None:
        """Raises UserError for one of --provider that has none of the machines."""
        known = sorted({self.instances[name].provider for name in machines})
        refuse(
            f"--provider is {name!r}; expected some of {', '.join(known)}, {whose}"
            for name in self.options.provider or ()
            if name not in known
        )


def run(options: argparse.Namespace) -> None:
    """Print what changes, and write it unless --dry-run. Raises UserError."""
    folder = options.config / "studies" / options.study
    study = load_study(folder)
    if study.catalogue is None and not options.stock:
        raise UserError(f"{folder / 'study.yaml'}: key 'catalogue' is missing; expected names of its machines there")
    instances = load_instances(*instance_files(options.config, options.study))
    names = price_list_names(folder / "prices")
    catalogue = checked_catalogue(study.catalogue, instances, names, folder / "study.yaml")
    prices = {name: load_price_list(folder / "prices" / f"{name}.yaml") for name in names}
    of, bases = Whole(options, folder, study, instances, prices), _bases(options.mirror)
    reuse = timedelta(hours=options.reuse_hours)
    downloads = Downloads(options.cache or cache_folder(), offline=options.offline, reuse=reuse)
    if options.stock:
        _refresh_stock(of, downloads, bases)
        return
    parts = _asked_parts(of, catalogue)
    found: list[Found] = []
    for source, key, part in parts:
        fetched = _fetch(source, Asked(key, part, folder), downloads, bases[source])
        found += [
            judged(row, prices[name], part, fetched, instances[row.offer.instance], options.accept)
            for name in part.lists
            for row in rows(name, prices[name], part)
        ]
    done = changed_lists(of, found)
    lines = [line for refreshed in done for line in refreshed.lines()]
    lines += [f"stays: {line}" for line in _staying(of, found, parts)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    kept = [] if options.dry_run else _write_lists(done)
    sys.stdout.write(_summary(found, done, kept, study))


def _fetch(source: str, asked: Asked, downloads: Downloads, base: str) -> Fetched:
    fetched = SOURCES[source].fetch(asked, downloads, base)
    sys.stdout.write("".join(f"{SOURCES[source].title}: {told}\n" for told in fetched.told))
    if fetched.as_of > downloads.now().date() + ZONES:
        raise UserError(f"{fetched.source}: says that its prices are of a day to come; nothing is written")
    if SOURCES[source].whole and not fetched.catalogue.listings:
        faults = fetched.catalogue.left_out()
        why = f"{faults[0]} (and no other price is left)" if faults else f"{fetched.told[0]}: holds no price at all"
        raise UserError(f"{why}; nothing is written")
    return fetched


def _asked_parts(of: Whole, catalogue: CatalogueMap) -> list[tuple[str, str, Part]]:
    """The parts of the map, each with the machines of the providers that were asked for alone."""
    of.require_providers({name for *_, part in catalogue.parts() for name in part.instances}, "which 'catalogue' knows")
    found = []
    for source, key, part in catalogue.parts():
        if wanted := {name: there for name, there in part.instances.items() if of.asks(name)}:
            found.append((source, key, part.model_copy(update={"instances": wanted})))
    return found


def _bases(mirrors: Sequence[str]) -> dict[str, str]:
    bases = {name: source.base for name, source in SOURCES.items()} | {"lambda": BASE}
    for given in mirrors:
        name, _, url = given.partition("=")
        if name not in bases or not url.startswith(("http://", "https://")):
            raise UserError(f"--mirror is {given!r}; expected SOURCE=URL with one of {', '.join(bases)}")
        bases[name] = url.rstrip("/")
    return bases


def _staying(of: Whole, found: Sequence[Found], parts: Sequence[tuple[str, str, Part]]) -> list[str]:
    """What keeps its price, by list and reason; machines that no catalogue names, and lists that none refreshes."""
    alike: dict[tuple[str, str], list[str]] = {}
    for hit in found:
        if hit.stays and not hit.same:
            alike.setdefault((hit.row.price_list, hit.stays), []).append(hit.row.name)
    lines = [f"{listed}: {', '.join(names)}: {reason}" for (listed, reason), names in alike.items()]
    asked = {(hit.row.price_list, hit.row.place) for hit in found}
    refreshed = {name for _, _, part in parts for name in part.lists}
    for name in sorted(refreshed):
        left = [one.instance for place, one in enumerate(of.prices[name].offers) if (name, place) not in asked]
        if alone := [machine for machine in dict.fromkeys(left) if of.asks(machine)]:
            lines.append(f"{name}: in no catalogue of study.yaml: {', '.join(alone)}")
    others = [name for name in of.prices if name not in refreshed]
    return [*lines, f"lists that no catalogue refreshes: {', '.join(others)}"] if others else lines


def _summary(found: Sequence[Found], done: Sequence[Refreshed], kept: Sequence[Path], study: Study) -> str:
    changed, same = sum(hit.stays == "" for hit in found), sum(hit.same for hit in found)
    rest = len(found) - changed - same
    lists = ", ".join(refreshed.file.name for refreshed in done) or "none"
    told = f"{changed} prices change, {same} stay the same, {rest} cannot be refreshed; lists: {lists}\n"
    if kept:
        told += f"written; what they were: {', '.join(sorted({str(file.parent) for file in kept}))}\n"
    elif done:
        told += "nothing is written (--dry-run)\n"
    newest = max((newest_day(refreshed.new) for refreshed in done), default=study.as_of)
    if newest > study.as_of + AHEAD:
        told += f"the study speaks of {study.as_of}; with as_of: {newest} in study.yaml these prices are of its day\n"
    return told


def _refresh_stock(of: Whole, downloads: Downloads, bases: Mapping[str, str]) -> None:
    file, machines, key = looks_file(of.folder), _machines(of), os.environ.get(KEY)
    kept = read_looks(file) if file.is_file() else []
    found: list[Look] = []
    for name, asked in stock_files(machines, own_lambda=bool(key)).items():
        if name or not key:
            part = FilePart(lists=["stock"], file=name or None, instances={"any": "any"})
            fetched = _fetch("skypilot", Asked(name, part, of.folder), downloads, bases["skypilot"])
        else:
            fetched = fetch_lambda(downloads, bases["lambda"], key)
        found += looks_of(fetched, asked)
    fresh = new_looks(found, kept)
    every, told_of = [*kept, *fresh], {look.machine for look in found}
    seen = days_of(every)
    lines = [_said(look, seen) for look in found]
    if silent := [machine for machine in machines if machine not in told_of and machine[3] != "own"]:
        names = ", ".join(sorted({machine[0] for machine in silent}))
        lines.append(f"no catalogue says what is in stock: {len(silent)} kinds of machine of {names}")
    there = sum(look.in_stock for look in found)
    lines.append(f"{there} of {len(found)} are in stock; {len(fresh)} new looks, {len(every)} in all")
    if of.options.dry_run or not fresh:
        lines.append("nothing is written (--dry-run)" if of.options.dry_run else "nothing is new")
    else:
        write_looks(file, every)
        lines.append(f"written: {file}")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _machines(of: Whole) -> list[Machine]:
    """Each kind of machine that the study's offers rent, by provider, device, devices of one node and purchase.

    Raises UserError for a provider whose machines no list offers.
    """
    offered = {(offer.instance, offer.purchase) for listed in of.prices.values() for offer in listed.offers}
    of.require_providers({name for name, _ in offered}, "whose machines the study rents")
    known = [(of.instances[name], purchase) for name, purchase in offered if of.asks(name)]
    return sorted({(one.provider, one.gpu, one.gpus // one.nodes, purchase) for one, purchase in known if one.gpu})


def _said(look: Look, seen: dict[Machine, dict[date, float]]) -> str:
    provider, gpu, gpus, purchase = look.machine
    machine = f"{provider} {gpus} x {gpu} ({purchase})"
    if look.machine not in seen:
        return f"{machine}: not listed, and never was: no look of it counts"
    share, now = share_of(seen[look.machine], None), "in stock" if look.in_stock else "none"
    return f"{machine}: {now}; on {share.with_stock:.3g} of the last {share.days} days of looks"


def changed_lists(of: Whole, found: Sequence[Found]) -> list[Refreshed]:
    """The lists that have a row with another price; with --confirm also those whose price is the same.

    Raises UserError where a new list would not be what was meant.
    """
    done, confirm = [], of.options.confirm
    for name, old in of.prices.items():
        hits = [hit for hit in found if hit.row.price_list == name and hit.values and (confirm or not hit.same)]
        if hits:
            file = of.folder / "prices" / f"{name}.yaml"
            before, values = read_text(file), {hit.row.place: dict(hit.values or {}) for hit in hits}
            text = with_values(before, values)
            new = _checked(text, file, old, values)
            done.append(Refreshed(file, before, text, old, new, hits, _remarks(name, old, new, of)))
    return done


def _write_lists(done: Sequence[Refreshed]) -> list[Path]:
    """Keep what each list was, then write what it is; returns where the old ones are. Raises UserError."""
    for refreshed in done:
        if read_text(refreshed.file) != refreshed.old_text:
            raise UserError(f"{refreshed.file}: was edited meanwhile; start again, and nothing of your edit is lost")
    kept = {place_for(one.file.parent, one.file.stem, one.old, one.old_text): one.old_text for one in done}
    write_texts(Path(), kept)
    write_texts(Path(), {one.file: one.text for one in done})
    return list(kept)


def _checked(text: str, file: Path, old: PriceList, values: Mapping[int, Mapping[str, Any]]) -> PriceList:
    """The list that the text holds. Raises UserError where it is not the old one with the new values."""
    with tempfile.TemporaryDirectory() as folder:
        write_texts(Path(folder), {file.name: text})
        new = load_price_list(Path(folder) / file.name)
    meant: dict[str, Any] = old.model_dump()
    for place, changes in values.items():
        for name, value in changes.items():
            *within, key = name.split(".")
            offer = meant["offers"][place]
            (offer[within[0]] if within else offer)[key] = value
    if PriceList.model_validate(meant) != new:
        raise UserError(f"{file}: cannot be edited as it is written; expected an offer as in docs/prices.md")
    return new


def _remarks(name: str, old: PriceList, new: PriceList, of: Whole) -> list[str]:
    """What the lint finds in the new list and did not find in the old one, at the day of the new prices."""

    def said(prices: PriceList, day: date) -> dict[tuple[str, str], str]:
        month = of.study.month_days
        offers, _ = offers_in_usd(name, prices, of.instances, month)
        found = lint(prices, offers, of.instances, day, month)
        return {(finding.rule, finding.instance): f"{finding.severity}: {finding.message}" for finding in found}

    before = said(old, of.study.as_of)
    after = said(new, max(of.study.as_of, newest_day(new)))
    return [f"{words} ({rule})" for (rule, instance), words in after.items() if (rule, instance) not in before]
