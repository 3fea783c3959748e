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
import math
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

from sweetspot.catalogues.downloads import Downloads, cache_folder
from sweetspot.catalogues.listing import Asked, Fetched
from sweetspot.catalogues.published_prices import SOURCES
from sweetspot.catalogues.refreshing import Found, judged, rows
from sweetspot.catalogues.stock_files import BASE, KEY, fetch_lambda
from sweetspot.commands.refresh_stock import machines_of, refresh_stock
from sweetspot.commands.refresh_writing import Refreshed, changed_lists, write_lists
from sweetspot.errors import Faults, UserError
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.study.catalogue_map import CatalogueMap, Part, checked_catalogue
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList, load_price_list, newest_day
from sweetspot.study.study import Study, load_study

AHEAD = timedelta(days=7)
LONGEST_REUSE = 87_600  # hours: ten years
ZONES = timedelta(days=1)  # where it is tomorrow already


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
    """Hours as typed. Raises ArgumentTypeError."""
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0 <= hours <= LONGEST_REUSE:
        raise argparse.ArgumentTypeError(f"{text!r} given; expected hours from 0 to {LONGEST_REUSE:,}")
    return hours


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
    bases = _bases(options.mirror)
    downloads = Downloads(
        options.cache or cache_folder(), offline=options.offline, reuse=timedelta(hours=options.reuse_hours)
    )
    if options.stock:
        machines = machines_of(prices.values(), instances, options.provider)
        fetch = partial(_fetch, "skypilot", downloads=downloads, base=bases["skypilot"])
        key = os.environ.get(KEY)
        api = partial(fetch_lambda, downloads, bases["lambda"], key) if key else None
        refresh_stock(folder, machines, fetch, api, options.dry_run)
        return
    parts = _asked_parts(catalogue, instances, options.provider)
    found: list[Found] = []
    for source, key, part in parts:
        found += _ask(source, Asked(key, part, folder), prices, instances, downloads, bases[source], options.accept)
    done = changed_lists(folder / "prices", prices, found, instances, study, options.confirm)
    sys.stdout.write("".join(f"{line}\n" for refreshed in done for line in refreshed.lines()))
    sys.stdout.write("".join(f"stays: {line}\n" for line in _staying(found, prices, parts, instances, options)))
    kept = [] if options.dry_run else write_lists(done)
    sys.stdout.write(_summary(found, done, kept, study, options.confirm))


def _ask(
    source: str,
    asked: Asked,
    prices: dict[str, PriceList],
    instances: dict[str, Instance],
    downloads: Downloads,
    base: str,
    accepted: Sequence[str],
) -> list[Found]:
    """What one part of the map finds for its offers. Raises UserError where its source gives no prices."""
    fetched = _fetch(source, asked, downloads, base)
    return [
        judged(row, prices[name], asked.part, fetched, instances[row.offer.instance], accepted)
        for name in asked.part.lists
        for row in rows(name, prices[name], asked.part)
    ]


def _fetch(source: str, asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The catalogue of today. Raises UserError where its source gives no prices."""
    fetched = SOURCES[source].fetch(asked, downloads, base)
    sys.stdout.write("".join(f"{SOURCES[source].title}: {told}\n" for told in fetched.told))
    if fetched.as_of > downloads.now().date() + ZONES:
        raise UserError(f"{fetched.source}: says that its prices are of a day to come; nothing is written")
    if SOURCES[source].whole and not fetched.catalogue.listings:
        faults = fetched.catalogue.left_out()
        why = f"{faults[0]} (and no other price is left)" if faults else f"{fetched.told[0]}: holds no price at all"
        raise UserError(f"{why}; nothing is written")
    return fetched


def _asked_parts(
    catalogue: CatalogueMap, instances: dict[str, Instance], providers: Sequence[str] | None
) -> list[tuple[str, str, Part]]:
    """The parts of the map, each with the machines of `providers` alone."""
    known = sorted({instances[name].provider for _, _, part in catalogue.parts() for name in part.instances})
    faults = Faults()
    for name in providers or ():
        if name not in known:
            faults.add(f"--provider is {name!r}; expected some of {', '.join(known)}, which 'catalogue' knows")
    faults.end()
    found = []
    for source, key, part in catalogue.parts():
        wanted = {
            name: there
            for name, there in part.instances.items()
            if providers is None or instances[name].provider in providers
        }
        if wanted:
            found.append((source, key, part.model_copy(update={"instances": wanted})))
    return found


def _bases(mirrors: Sequence[str]) -> dict[str, str]:
    """The address of each source."""
    bases = {name: source.base for name, source in SOURCES.items()} | {"lambda": BASE}
    for given in mirrors:
        name, _, url = given.partition("=")
        if name not in bases or not url.startswith(("http://", "https://")):
            raise UserError(f"--mirror is {given!r}; expected SOURCE=URL with one of {', '.join(bases)}")
        bases[name] = url.rstrip("/")
    return bases


def _staying(
    found: Sequence[Found],
    prices: dict[str, PriceList],
    parts: Sequence[tuple[str, str, Part]],
    instances: dict[str, Instance],
    options: argparse.Namespace,
) -> list[str]:
    """What keeps its price, by list and reason; machines that no catalogue names, and lists that none refreshes."""
    alike: dict[tuple[str, str], list[str]] = {}
    for hit in found:
        if hit.stays and not hit.same:
            alike.setdefault((hit.row.price_list, hit.stays), []).append(hit.row.name)
    lines = [f"{listed}: {', '.join(names)}: {reason}" for (listed, reason), names in alike.items()]
    asked = {(hit.row.price_list, hit.row.place) for hit in found}
    refreshed = {name for _, _, part in parts for name in part.lists}
    for name in sorted(refreshed):
        alone = [
            offer.instance
            for place, offer in enumerate(prices[name].offers)
            if (name, place) not in asked
            and (options.provider is None or instances[offer.instance].provider in options.provider)
        ]
        if alone:
            lines.append(f"{name}: in no catalogue of study.yaml: {', '.join(dict.fromkeys(alone))}")
    others = [name for name in prices if name not in refreshed]
    return [*lines, f"lists that no catalogue refreshes: {', '.join(others)}"] if others else lines


def _summary(found: Sequence[Found], done: Sequence[Refreshed], kept: Sequence[Path], study: Study, all_: bool) -> str:
    """What was done, in a sentence or two."""
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
