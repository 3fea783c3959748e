"""Which machines are in stock: the files of facts/stock_catalogues.csv and Lambda's interface list no others."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sweetspot.catalogues.listing import Listing
from sweetspot.catalogues.sources.source import Fetched
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.study.stock import Look, Machine

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
