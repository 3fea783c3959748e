"""Fetch today's prices of a study's machines, show what changes, and write its price lists."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from sweetspot.catalogues.fetching import ADDRESSES, FETCHERS
from sweetspot.catalogues.price_file import with_values
from sweetspot.catalogues.refreshing import PriceUpdate, price_updates
from sweetspot.commands.render import render
from sweetspot.errors import UserError, refuse
from sweetspot.files import write_text
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.study.catalogue_map import CatalogueMap, FilePart, checked_catalogue
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList, history_file, load_price_list, newest_day
from sweetspot.study.study import load_study

TIME_ZONES = timedelta(days=1)  # where it is tomorrow already


@dataclass(frozen=True)
class RefreshRequest:
    """The options of `sweetspot refresh-prices`: the study whose price lists are refreshed, and from where."""

    study: str
    providers: Sequence[str]
    dry_run: bool
    accept: Sequence[str]
    mirrors: Sequence[str]
    config: Path


@dataclass(frozen=True)
class RefreshedList:
    """One price list before and after, with the updates that change it."""

    file: Path
    old_text: str
    text: str
    old: PriceList
    new: PriceList
    updates: Sequence[PriceUpdate]


def run(request: RefreshRequest) -> None:
    """Run `sweetspot refresh-prices`: print what catalogues change in a study's prices; write it unless `dry_run`."""
    folder = request.config / "studies" / request.study
    study = load_study(folder)
    if study.catalogue is None:
        raise UserError(f"{folder / 'study.yaml'}: key 'catalogue' is missing; expected names of its machines there")
    instances = load_instances(*instance_files(request.config, request.study))
    names = price_list_names(folder / "prices")
    catalogue = checked_catalogue(study.catalogue, instances, names, folder / "study.yaml")
    prices = {name: load_price_list(folder / "prices" / f"{name}.yaml") for name in names}
    addresses = dict(ADDRESSES)
    for mirror in request.mirrors:
        name, _, url = mirror.partition("=")
        if name not in addresses or not url.startswith(("http://", "https://")):
            raise UserError(f"--mirror is {mirror!r}; expected SOURCE=URL with one of {', '.join(addresses)}")
        addresses[name] = url.rstrip("/")
    parts = _requested_parts(request.providers, instances, catalogue)
    updates: list[PriceUpdate] = []
    for source, key, part in parts:
        fetched = FETCHERS[source](part.file or key, addresses[source])
        print(f"{fetched.source}, sha256 {fetched.sha256}")
        if fetched.as_of > date.today() + TIME_ZONES:
            raise UserError(f"{fetched.source}: says that its prices are of a day to come; nothing is written")
        for name in part.lists:
            updates += price_updates(name, prices[name], part, fetched, instances, request.accept)
    lists = refreshed_lists(folder / "prices", prices, updates)
    refreshed_names = {name for _, _, part in parts for name in part.lists}
    text = render(
        "refresh.txt",
        lists=lists,
        staying=[update for update in updates if update.stays and not update.is_unchanged],
        changed=sum(not update.stays for update in updates),
        unchanged=sum(update.is_unchanged for update in updates),
        unrefreshed=[name for name in names if name not in refreshed_names],
        as_of=study.as_of,
        newest=max((newest_day(refreshed.new) for refreshed in lists), default=study.as_of),
        history=[] if request.dry_run else _write_lists(lists),
    )
    print(text, end="")


def _requested_parts(
    providers: Sequence[str], instances: Mapping[str, Instance], catalogue: CatalogueMap
) -> list[tuple[str, str, FilePart]]:
    """Return which catalogues to fetch for `refresh-prices`: a (source, key of its file, part) for each part of
    study.yaml's catalogue map, with only the machines of `providers` (none given: all). UserError for an unknown one.
    """
    providers_in_map = sorted({instances[name].provider for *_, part in catalogue.parts() for name in part.instances})
    refuse(
        f"--provider is {name!r}; expected some of {', '.join(providers_in_map)}, which 'catalogue' knows"
        for name in providers
        if name not in providers_in_map
    )
    requested = []
    for source, key, part in catalogue.parts():
        names = [name for name in part.instances if not providers or instances[name].provider in providers]
        if names:
            machines = {name: part.instances[name] for name in names}
            requested.append((source, key, part.model_copy(update={"instances": machines})))
    return requested


def refreshed_lists(
    folder: Path, prices: Mapping[str, PriceList], updates: Sequence[PriceUpdate]
) -> list[RefreshedList]:
    """Return the price lists in which a price changes, each with its old and its new text, to be shown and then
    written.

    Parameters
    ----------
    folder, prices
        Folder of the price lists, and the lists before, by name.
    updates
        Updates of all lists. Raises UserError if a new list would not be the old one with the new values.
    """
    lists = []
    for name, old in prices.items():
        changes = [row for row in updates if row.price_list == name and row.values]
        if changes:
            file = folder / f"{name}.yaml"
            old_text = file.read_bytes().decode()  # with its line ends
            values = {update.position: update.values for update in changes}
            text = with_values(old_text, values)
            lists.append(RefreshedList(file, old_text, text, old, _parse_list(text, file, old, values), changes))
    return lists


def _parse_list(text: str, file: Path, old: PriceList, values: Mapping[int, Mapping[str, Any]]) -> PriceList:
    """Check an edited price list before it is written: return the list in the new `text`, or raise UserError unless it
    is `old` with the new `values` {position of the offer: {key: value}}.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_text(Path(folder) / file.name, text)
        new = load_price_list(Path(folder) / file.name)
    expected: dict[str, Any] = old.model_dump()
    for position, changes in values.items():
        expected["offers"][position] |= changes
    if PriceList.model_validate(expected) != new:
        raise UserError(f"{file}: cannot be edited as it is written; expected an offer as in docs/studies.md")
    return new


def _write_lists(lists: Sequence[RefreshedList]) -> list[Path]:
    """Write the refreshed price lists, each after its old text is saved in prices/history/; return the paths of these.
    UserError, before anything is written, if a list was edited meanwhile.
    """
    for refreshed in lists:
        if refreshed.file.read_bytes().decode() != refreshed.old_text:
            raise UserError(f"{refreshed.file}: was edited meanwhile; start again, and nothing of your edit is lost")
    history = {history_file(row.file.parent, row.file.stem, row.old, row.old_text): row.old_text for row in lists}
    for path, text in (*history.items(), *((row.file, row.text) for row in lists)):
        write_text(path, text)
    return list(history)
