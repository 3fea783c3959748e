"""`refresh-prices --stock`: what catalogues say today of the stock of a study's machines, appended to its history."""

import sys
from collections.abc import Callable, Collection, Iterable
from datetime import date
from pathlib import Path

from sweetspot.catalogues.listing import Asked, Fetched
from sweetspot.catalogues.stock_files import looks_of, stock_files
from sweetspot.errors import refuse
from sweetspot.study.catalogue_map import FilePart
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.stock import Look, Machine, days_of, looks_file, new_looks, read_looks, share_of, write_looks

Fetch = Callable[[Asked], Fetched]
Api = Callable[[], Fetched]


def machines_of(
    prices: Iterable[PriceList], instances: dict[str, Instance], providers: Collection[str] | None
) -> list[Machine]:
    """Each kind of machine that the study's offers rent, by provider, device, devices of one node and purchase.

    Raises UserError for one of `providers` whose machines no list offers.
    """
    offered = {(offer.instance, offer.purchase) for listed in prices for offer in listed.offers}
    sellers = sorted({instances[name].provider for name, _ in offered})
    refuse(
        f"--provider is {name!r}; expected some of {', '.join(sellers)}, whose machines the study rents"
        for name in providers or ()
        if name not in sellers
    )
    return sorted(
        {
            (machine.provider, machine.gpu, machine.gpus // machine.nodes, purchase)
            for name, purchase in offered
            if (machine := instances[name]).gpu and (providers is None or machine.provider in providers)
        }
    )


def refresh_stock(folder: Path, machines: Collection[Machine], fetch: Fetch, api: Api | None, dry_run: bool) -> None:
    """Print what is in stock, and append it to the study's history unless `dry_run`. Raises UserError.

    `fetch`: a file of SkyPilot's; `api`: Lambda's own interface, where there is a key to it.
    """
    file = looks_file(folder)
    kept = read_looks(file) if file.is_file() else []
    found: list[Look] = []
    for name, asked in stock_files(machines, own_lambda=api is not None).items():
        part = FilePart(lists=["stock"], file=name or None, instances={"any": "any"})
        found += looks_of(fetch(Asked(name, part, folder)) if name or api is None else api(), asked)
    fresh = new_looks(found, kept)
    every, asked_of = [*kept, *fresh], {look.machine for look in found}
    seen = days_of(every)
    for look in found:
        sys.stdout.write(f"{_named(look.machine)}: {_said(look, seen)}\n")
    silent = [machine for machine in machines if machine not in asked_of and machine[3] != "own"]
    if silent:
        names = ", ".join(sorted({machine[0] for machine in silent}))
        sys.stdout.write(f"no catalogue says what is in stock: {len(silent)} kinds of machine of {names}\n")
    there = sum(look.in_stock for look in found)
    sys.stdout.write(f"{there} of {len(found)} are in stock; {len(fresh)} new looks, {len(every)} in all\n")
    if dry_run or not fresh:
        sys.stdout.write("nothing is written (--dry-run)\n" if dry_run else "nothing is new\n")
    else:
        write_looks(file, every)
        sys.stdout.write(f"written: {file}\n")


def _named(machine: Machine) -> str:
    provider, gpu, gpus, purchase = machine
    return f"{provider} {gpus} x {gpu} ({purchase})"


def _said(look: Look, seen: dict[Machine, dict[date, float]]) -> str:
    if look.machine not in seen:
        return "not listed, and never was: no look of it counts"
    share = share_of(seen[look.machine], None)
    now = "in stock" if look.in_stock else "none"
    return f"{now}; on {share.with_stock:.3g} of the last {share.days} days of looks"
