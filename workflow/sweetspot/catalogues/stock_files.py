"""Which machines are in stock: the files of facts/stock_catalogues.csv and Lambda's interface list no others."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sweetspot.catalogues.downloads import Download, Downloads, shown
from sweetspot.catalogues.listing import Catalogue, Fetched, Listing
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.study.stock import Look, Machine

KEY = "LAMBDA_API_KEY"  # of the environment
BASE = "https://cloud.lambda.ai/api/v1"
TYPE = re.compile(r"gpu_(\d{1,2})x_(\w+)")  # gpu_8x_h100_sxm5
BOARDS = ("sxm", "pcie")
TWO_BOARDS = ("a100", "a10080gb", "h100")  # sold as SXM and as PCIe: where a name does not say SXM, it is PCIe
# What names of one device may have or not: "RTX A6000" is A6000 in catalogues, and A100 the one of 40 GB.
LOOSE = re.compile(r"nvidia|geforce|tesla|instinct|sxm\d?|pcie|40gb|rtx[ -]?(?=a\d)|[^a-z0-9]")


@dataclass(frozen=True)
class StockFile:
    """One provider's rows of a file that lists only what is in stock; `prefix`: how their names begin there."""

    file: str
    provider: str
    prefix: str
    board: str
    purchases: tuple[str, ...]

    def has(self, listing: Listing, machine: Machine) -> bool:
        """Whether a line of the file is of that machine, in whatever region."""
        _, gpu, gpus, purchase = machine
        name = (listing.title or listing.instance).lower()
        if not name.startswith(self.prefix) or (listing.gpus, listing.purchase) != (gpus, purchase):
            return False
        device, wanted = _device(listing.gpu), _device(gpu)
        board = self.board or _board(name) or ("pcie" if device in TWO_BOARDS else "")
        return device == wanted and (_board(gpu) in ("", board) or not board)


OWN_LAMBDA = StockFile("", "lambda", "gpu_", "", ("on_demand",))  # its own interface, with a key


def stock_files(machines: Collection[Machine], own_lambda: bool) -> Mapping[str, list[tuple[StockFile, Machine]]]:
    """The machines that a file of stock could list, by file ('': Lambda's interface, which goes before others)."""
    found: dict[str, list[tuple[StockFile, Machine]]] = {}
    rows = [
        StockFile(row["file"], row["provider"], row["prefix"], row["board"], (*row["purchases"].split(" ; "),))
        for row in table("stock_catalogues")
        if not (own_lambda and row["provider"] == OWN_LAMBDA.provider)
    ]
    for part in [*rows, *[OWN_LAMBDA] * own_lambda]:
        for machine in sorted(machines):
            if machine[0] == part.provider and machine[3] in part.purchases:
                found.setdefault(part.file, []).append((part, machine))
    return found


def looks_of(fetched: Fetched, asked: Collection[tuple[StockFile, Machine]]) -> Iterator[Look]:
    """What a file of stock says of each machine. Raises UserError where the file is not whole: what it lacks would be
    taken for sold out.
    """
    broken = [told for told in fetched.catalogue.left_out() if "not as many fields" in told]
    if broken:
        raise UserError(f"{broken[0]}; the file may be cut off, so nothing is said of stock; try again later")
    for part, machine in asked:
        there = any(part.has(listing, machine) for listing in fetched.catalogue.listings)
        yield Look(fetched.as_of, *machine, there, fetched.source)


def _device(name: str) -> str:
    return LOOSE.sub("", name.lower())


def _board(name: str) -> str:
    return next((board for board in BOARDS if board in name.lower()), "")


def fetch_lambda(downloads: Downloads, base: str, key: str) -> Fetched:
    """Lambda's own interface, for those who have a key: the types with capacity in some region (`GET
    instance-types`), each as a listing a region; its prices are not read.

    Raises UserError where the key is refused and where the answer is another than Lambda documents.
    """
    page = downloads.get(f"{base}/instance-types", "Lambda's instance types as JSON", bearer=key)
    catalogue = Catalogue(page.path, list(_listings(page)))
    source = f"Lambda's interface, {page.fetched:%Y-%m-%d %H:%M} UTC"
    return Fetched(catalogue, source, page.fetched.date(), [str(page)])


def _listings(page: Download) -> Iterator[Listing]:
    try:
        types = json.loads(page.path.read_text(encoding="utf-8"))["data"]
        told = [(name, each["instance_type"], each["regions_with_capacity_available"]) for name, each in types.items()]
        for number, (name, machine, regions) in enumerate(told, start=1):
            if named := TYPE.fullmatch(name):
                usd, gpus, gpu = float(machine["price_cents_per_hour"]) / 100, int(named[1]), named[2]
                for region in regions:
                    yield Listing(number, name, "on_demand", usd, place=str(region["name"]), gpu=gpu, gpus=gpus)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(
            f"{shown(page.url)}: has no types with 'regions_with_capacity_available'; expected Lambda's instance types"
        ) from None
