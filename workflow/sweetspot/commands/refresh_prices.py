"""Fetch today's prices of a study's machines, show what changes, and write its price lists.

Reads `catalogue` of study.yaml: which name each instance has in SkyPilot's or gpuhunt's published catalogue, or in a
table of your own. Of an offer whose price changed, `per_hour`, `as_of` and `source` are written; comments and all else
of a list stay. The list before goes to prices/history/<date>/. An offer that no catalogue knows, and a price that
cannot be right, stay as they are and are named. A source that fails ends the command, and nothing is written.

    sweetspot refresh-prices eight-gpus-2026 --dry-run
    sweetspot refresh-prices eight-gpus-2026 --provider aws lambda
    sweetspot refresh-prices eight-gpus-2026 --offline
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from sweetspot.bills.lint.rules import lint
from sweetspot.bills.offers import offers_in_usd
from sweetspot.catalogues.downloads import Downloads, cache_folder
from sweetspot.catalogues.fetching import SOURCES, CatalogueRequest, FetchedCatalogue
from sweetspot.catalogues.price_file import with_values
from sweetspot.catalogues.refreshing import PriceUpdate, offers_of_part, update_offer
from sweetspot.commands.scratch import read_text, write_texts
from sweetspot.errors import UserError, refuse
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.number_text import number_argument
from sweetspot.study.catalogue_map import CatalogueMap, FilePart, checked_catalogue
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList, history_file, load_price_list, newest_day
from sweetspot.study.study import Study, load_study

STUDY_AHEAD = timedelta(days=7)
LONGEST_REUSE_HOURS = 87_600  # ten years
TIME_ZONES = timedelta(days=1)  # where it is tomorrow already


@dataclass(frozen=True)
class RefreshRun:
    """The study that is refreshed, and how it was asked for."""

    options: argparse.Namespace
    folder: Path
    study: Study
    instances: dict[str, Instance]
    prices: dict[str, PriceList]

    def is_requested(self, machine: str) -> bool:
        """Whether the machine is of the providers that were asked for."""
        providers = self.options.provider
        return providers is None or self.instances[machine].provider in providers


@dataclass(frozen=True)
class RefreshedList:
    """One price list before and after, with the updates that change it."""

    file: Path
    old_text: str
    text: str
    old: PriceList
    new: PriceList
    updates: Sequence[PriceUpdate]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot refresh-prices`."""
    add = parser.add_argument
    add("study", metavar="STUDY", help="a folder under config/studies/")
    add("--provider", nargs="+", metavar="NAME", help="only machines of these providers of instances.yaml")
    add("--dry-run", action="store_true", help="show what would change, and write nothing")
    add("--offline", action="store_true", help="take the files fetched before, of whatever day, and fetch nothing")
    add("--accept", nargs="+", default=[], metavar="INSTANCE", help="take a price that jumps")
    add("--confirm", action="store_true", help="date and source also where the price is still the same")
    add("--reuse-hours", type=_hours, default=1.0, metavar="HOURS", help="take a file fetched within these (1)")
    add("--mirror", nargs="+", default=[], metavar="SOURCE=URL", help="another address of a source, such as a mirror")
    add("--cache", type=Path, default=None, metavar="FOLDER", help=f"where files are kept ({cache_folder()})")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def _hours(text: str) -> float:
    hours = number_argument(text)
    if not 0 <= hours <= LONGEST_REUSE_HOURS:
        raise argparse.ArgumentTypeError(f"{text!r} given; expected hours from 0 to {LONGEST_REUSE_HOURS:,}")
    return hours


def run(options: argparse.Namespace) -> None:
    """Print what changes, and write it unless --dry-run. Raises UserError."""
    folder = options.config / "studies" / options.study
    study = load_study(folder)
    if study.catalogue is None:
        raise UserError(f"{folder / 'study.yaml'}: key 'catalogue' is missing; expected names of its machines there")
    instances = load_instances(*instance_files(options.config, options.study))
    names = price_list_names(folder / "prices")
    catalogue = checked_catalogue(study.catalogue, instances, names, folder / "study.yaml")
    prices = {name: load_price_list(folder / "prices" / f"{name}.yaml") for name in names}
    run_of = RefreshRun(options, folder, study, instances, prices)
    addresses = _addresses(options.mirror)
    reuse = timedelta(hours=options.reuse_hours)
    downloads = Downloads(options.cache or cache_folder(), offline=options.offline, reuse=reuse)
    parts = _requested_parts(run_of, catalogue)
    updates: list[PriceUpdate] = []
    for source, key, part in parts:
        fetched = _fetch(source, CatalogueRequest(key, part), downloads, addresses[source])
        updates += [
            update_offer(listed, prices[name], part, fetched, instances[listed.offer.instance], options.accept)
            for name in part.lists
            for listed in offers_of_part(name, prices[name], part)
        ]
    lists = refreshed_lists(run_of, updates)
    for refreshed in lists:
        sys.stdout.write("".join(f"{line}\n" for line in _change_lines(refreshed, run_of)))
    sys.stdout.write("".join(f"stays: {line}\n" for line in _staying_lines(run_of, updates, parts)))
    kept = [] if options.dry_run else _write_lists(lists)
    sys.stdout.write(_summary(updates, lists, kept, study))


def _addresses(mirrors: Sequence[str]) -> dict[str, str]:
    addresses = {name: source.base_url for name, source in SOURCES.items()}
    for mirror in mirrors:
        name, _, url = mirror.partition("=")
        if name not in addresses or not url.startswith(("http://", "https://")):
            raise UserError(f"--mirror is {mirror!r}; expected SOURCE=URL with one of {', '.join(addresses)}")
        addresses[name] = url.rstrip("/")
    return addresses


def _requested_parts(run_of: RefreshRun, catalogue: CatalogueMap) -> list[tuple[str, str, FilePart]]:
    """The parts of the map, each with the machines of the providers that were asked for."""
    known = sorted({run_of.instances[name].provider for *_, part in catalogue.parts() for name in part.instances})
    refuse(
        f"--provider is {name!r}; expected some of {', '.join(known)}, which 'catalogue' knows"
        for name in run_of.options.provider or ()
        if name not in known
    )
    requested = []
    for source, key, part in catalogue.parts():
        wanted = {name: listed for name, listed in part.instances.items() if run_of.is_requested(name)}
        if wanted:
            requested.append((source, key, part.model_copy(update={"instances": wanted})))
    return requested


def _fetch(source: str, request: CatalogueRequest, downloads: Downloads, base_url: str) -> FetchedCatalogue:
    fetched = SOURCES[source].fetch(request, downloads, base_url)
    sys.stdout.write("".join(f"{SOURCES[source].title}: {file}\n" for file in fetched.files))
    if fetched.as_of > downloads.now().date() + TIME_ZONES:
        raise UserError(f"{fetched.source}: says that its prices are of a day to come; nothing is written")
    if not fetched.catalogue.listings:
        faults = fetched.catalogue.skipped()
        why = f"{faults[0]} (and no other price is left)" if faults else f"{fetched.files[0]}: holds no price at all"
        raise UserError(f"{why}; nothing is written")
    return fetched


def refreshed_lists(run_of: RefreshRun, updates: Sequence[PriceUpdate]) -> list[RefreshedList]:
    """The lists in which a price changes; with --confirm also those in which it is the same.

    Parameters
    ----------
    run_of : RefreshRun
        The study and the options.
    updates : sequence of PriceUpdate
        Of all its lists.

    Returns
    -------
    list of RefreshedList

    Raises
    ------
    UserError
        If a new list would not be what was meant.
    """
    lists, confirm = [], run_of.options.confirm
    for name, old in run_of.prices.items():
        changes = [
            update
            for update in updates
            if update.listed.price_list == name and update.values and (confirm or not update.is_unchanged)
        ]
        if changes:
            file = run_of.folder / "prices" / f"{name}.yaml"
            before = read_text(file)
            values = {update.listed.position: dict(update.values or {}) for update in changes}
            text = with_values(before, values)
            lists.append(RefreshedList(file, before, text, old, _checked(text, file, old, values), changes))
    return lists


def _checked(text: str, file: Path, old: PriceList, values: Mapping[int, Mapping[str, Any]]) -> PriceList:
    """The list that the text holds. Raises UserError where it is not the old one with the new values."""
    with tempfile.TemporaryDirectory() as folder:
        write_texts(Path(folder), {file.name: text})
        new = load_price_list(Path(folder) / file.name)
    meant: dict[str, Any] = old.model_dump()
    for position, changes in values.items():
        meant["offers"][position] |= changes
    if PriceList.model_validate(meant) != new:
        raise UserError(f"{file}: cannot be edited as it is written; expected an offer as in docs/prices.md")
    return new


def _change_lines(refreshed: RefreshedList, run_of: RefreshRun) -> Iterator[str]:
    yield f"{refreshed.file.name}: {'USD ' if refreshed.new.currency == 'USD' else ''}an hour"
    width = max(len(update.listed.name) for update in refreshed.updates)
    for update in refreshed.updates:
        old, new = update.old or 0.0, update.new or 0.0
        days = f"{update.listed.as_of} -> {(update.values or {})['as_of']}"
        change = new / old - 1 if old else 0.0
        yield f"  {update.listed.name:<{width}} {old:>10.10g} -> {new:<10.10g} {change:>+8.1%}  {days}"
    for remark in _new_findings(refreshed, run_of):
        yield f"  lint: {remark}"


def _new_findings(refreshed: RefreshedList, run_of: RefreshRun) -> list[str]:
    """What the lint finds in the new list and did not find in the old one, at the day of the new prices."""

    def found(prices: PriceList, day: date) -> dict[tuple[str, str], str]:
        month = run_of.study.month_days
        offers, _ = offers_in_usd(refreshed.file.stem, prices, run_of.instances, month)
        findings = lint(prices, offers, run_of.instances, day, month)
        return {(one.rule, one.instance): f"{one.severity}: {one.message}" for one in findings}

    before = found(refreshed.old, run_of.study.as_of)
    after = found(refreshed.new, max(run_of.study.as_of, newest_day(refreshed.new)))
    return [f"{words} ({rule})" for (rule, instance), words in after.items() if (rule, instance) not in before]


def _staying_lines(
    run_of: RefreshRun, updates: Sequence[PriceUpdate], parts: Sequence[tuple[str, str, FilePart]]
) -> Iterator[str]:
    """What keeps its price, by list and reason; machines that no catalogue names, and lists that none refreshes."""
    alike: dict[tuple[str, str], list[str]] = {}
    for update in updates:
        if update.stays and not update.is_unchanged:
            alike.setdefault((update.listed.price_list, update.stays), []).append(update.listed.name)
    for (name, reason), offers in alike.items():
        yield f"{name}: {', '.join(offers)}: {reason}"
    asked = {(update.listed.price_list, update.listed.position) for update in updates}
    refreshed = {name for _, _, part in parts for name in part.lists}
    for name in sorted(refreshed):
        rest = [one.instance for index, one in enumerate(run_of.prices[name].offers) if (name, index) not in asked]
        unknown = [machine for machine in dict.fromkeys(rest) if run_of.is_requested(machine)]
        if unknown:
            yield f"{name}: in no catalogue of study.yaml: {', '.join(unknown)}"
    others = [name for name in run_of.prices if name not in refreshed]
    if others:
        yield f"lists that no catalogue refreshes: {', '.join(others)}"


def _write_lists(lists: Sequence[RefreshedList]) -> list[Path]:
    """Keep what each list was, then write what it is; returns where the old ones are. Raises UserError."""
    for refreshed in lists:
        if read_text(refreshed.file) != refreshed.old_text:
            raise UserError(f"{refreshed.file}: was edited meanwhile; start again, and nothing of your edit is lost")
    kept = {history_file(one.file.parent, one.file.stem, one.old, one.old_text): one.old_text for one in lists}
    write_texts(Path(), kept)
    write_texts(Path(), {one.file: one.text for one in lists})
    return list(kept)


def _summary(updates: Sequence[PriceUpdate], lists: Sequence[RefreshedList], kept: Sequence[Path], study: Study) -> str:
    changed, same = sum(not update.stays for update in updates), sum(update.is_unchanged for update in updates)
    names = ", ".join(refreshed.file.name for refreshed in lists) or "none"
    rest = len(updates) - changed - same
    text = f"{changed} prices change, {same} stay the same, {rest} cannot be refreshed; lists: {names}\n"
    if kept:
        text += f"written; what they were: {', '.join(sorted({str(file.parent) for file in kept}))}\n"
    elif lists:
        text += "nothing is written (--dry-run)\n"
    newest = max((newest_day(refreshed.new) for refreshed in lists), default=study.as_of)
    if newest > study.as_of + STUDY_AHEAD:
        text += f"the study speaks of {study.as_of}; with as_of: {newest} in study.yaml these prices are of its day\n"
    return text
