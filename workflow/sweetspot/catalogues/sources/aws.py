"""AWS' public price list: one large CSV file a region, without credentials. It knows no spot prices."""

import csv
import re
from collections.abc import Collection, Iterator
from datetime import date, datetime
from io import TextIOWrapper

from sweetspot.catalogues.downloads import Download, Downloads, shown
from sweetspot.catalogues.listing import Asked, Catalogue, Fetched, Line, Listing
from sweetspot.errors import UserError
from sweetspot.study.catalogue_map import CONTRACTS, RegionPart

MOST_BYTES = 4_000_000_000  # us-east-1 alone has some hundred MB
ABOVE = 5  # lines of metadata before the heading
# What tells a machine's own hour from reservations, dedicated hosts, capacity blocks, licences and unused capacity.
TELLING = {
    "Tenancy": ("Shared",),
    "Operating System": ("Linux",),
    "CapacityStatus": ("Used",),
    "Unit": ("Hrs",),
    "Pre Installed S/W": ("", "NA"),
    "MarketOption": ("", "OnDemand"),
    "Location Type": ("", "AWS Region"),
}
TERMS = {"1yr": 12.0, "3yr": 36.0}
# Of contracts those that are paid by the hour alone and bind to the machine.
CONTRACT = {"PurchaseOption": "No Upfront", "OfferingClass": "standard"}
NEEDED = ("Instance Type", "PricePerUnit", "Currency", "TermType", "Tenancy", "Operating System", "CapacityStatus")


def fetch_aws(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The region's file; the day of its prices is the file's Publication Date."""
    assert isinstance(asked.part, RegionPart)
    region = asked.part.region or asked.key
    url = f"{base}/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
    found = downloads.get(url, "AWS' price list as CSV", MOST_BYTES)
    catalogue, day = read_price_list(found, region, asked.names, CONTRACTS in asked.part.purchases)
    source = f"AWS price list, {region}, published {day}, sha256 {found.sha256[:12]}"
    return Fetched(catalogue, source, day, [str(found)])


def read_price_list(found: Download, region: str, names: Collection[str], contracts: bool) -> tuple[Catalogue, date]:
    """On-demand prices (Linux, shared tenancy) of the machines `names`, and the day of publication; with `contracts`
    also those of one and three years that are paid by the hour.

    Lines that name none of them are passed over unread. Raises UserError where the file is none or not whole.
    """
    catalogue = Catalogue(found.path)
    _require_end(found)
    try:
        with found.path.open(encoding="utf-8", newline="") as stream:
            day = _published(stream, found)
            at = [ABOVE]
            reader = csv.DictReader(_naming(stream, names, at), strict=True)
            missing = [name for name in NEEDED if name not in (reader.fieldnames or [])]
            if missing:
                raise UserError(f"{shown(found.url)}: column '{missing[0]}' is missing; expected AWS' price list")
            for row in reader:
                _take(Line(at[0], row), catalogue, region, names, contracts)
    except (csv.Error, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{shown(found.url)}: not CSV in UTF-8: {reason}") from None
    return catalogue, day


def _require_end(found: Download) -> None:
    with found.path.open("rb") as stream:
        stream.seek(found.bytes - 1)  # an empty answer is no download
        if stream.read() != b"\n":
            raise UserError(f"{shown(found.url)}: its last line has no end, so the file is not whole; fetch it again")


def _published(stream: TextIOWrapper, found: Download) -> date:
    """The Publication Date, which stands in the lines above the heading."""
    above = [stream.readline() for _ in range(ABOVE)]
    for name, *values in csv.reader(above):
        if name == "Publication Date" and values and re.match(r"\d{4}-\d\d-\d\d", values[0]):
            return datetime.fromisoformat(values[0][:10]).date()
    raise UserError(f"{shown(found.url)}: no 'Publication Date' in its first lines; expected AWS' price list")


def _naming(stream: TextIOWrapper, names: Collection[str], at: list[int]) -> Iterator[str]:
    """The heading, and the lines that hold one of the names in quotes; `at[0]` is the number of the last one."""
    quoted = tuple(f'"{name}"' for name in names)
    for number, text in enumerate(stream, start=ABOVE + 1):
        if number == ABOVE + 1 or any(name in text for name in quoted):
            at[0] = number
            yield text


def _take(line: Line, catalogue: Catalogue, region: str, names: Collection[str], contracts: bool) -> None:
    machine, months = line.text("Instance Type"), _months(line) if contracts else None
    if months is None and line.text("TermType") != "OnDemand":
        return
    if machine not in names or any(line.text(column) not in values for column, values in TELLING.items()):
        return
    if None in line.row or None in line.row.values():
        catalogue.leave_out(line.number, "not as many fields as the heading has columns", machine)
        return
    if line.text("Region Code") not in ("", region):
        return
    with catalogue.or_left_out(line.number, machine):
        price = line.needed_price("PricePerUnit")
        name, title = line.name("Instance Type")
        catalogue.listings.append(Listing(
            line.number, name, "on_demand" if months is None else CONTRACTS, price, place=region, title=title,
            currency=line.text("Currency") or None, gpus=line.whole("GPU"), vcpus=line.whole("vCPU"),
            term_months=months,
        ))  # fmt: skip


def _months(line: Line) -> float | None:
    """Months of a contract that is paid by the hour; None of all else."""
    alone = all(line.text(column) == value for column, value in CONTRACT.items())
    return TERMS.get(line.text("LeaseContractLength")) if line.text("TermType") == "Reserved" and alone else None
