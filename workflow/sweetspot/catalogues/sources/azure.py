"""Azure's public retail prices: an interface without credentials that answers JSON, page by page."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from sweetspot.catalogues.downloads import Download, Downloads, shown
from sweetspot.catalogues.listing import Asked, Catalogue, Fetched, Line, Listing
from sweetspot.errors import UserError
from sweetspot.study.catalogue_map import CONTRACTS, RegionPart

CONSUMPTION, RESERVATION = "Consumption", "Reservation"
HOURS_A_YEAR = 8760.0  # a reservation's price is that of its whole term, whatever its unit of measure says
PAGES = 100  # of one machine in one region there is one
# Windows has the same meter name as Linux, and another product name.
OTHER_PRODUCTS = ("windows", "dedicated", "cloud services", "cloudservices")
OTHER_METERS = ("low priority", "expired")


def fetch_azure(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The prices of each machine in the region, on the day of the answer."""
    assert isinstance(asked.part, RegionPart)
    region = asked.part.region or asked.key
    kinds = [CONSUMPTION] if set(asked.part.purchases) - {CONTRACTS} else []
    kinds += [RESERVATION] if CONTRACTS in asked.part.purchases else []
    pages = [page for name in asked.names for kind in kinds for page in _pages(name, region, kind, downloads, base)]
    catalogue = Catalogue(pages[0].path)
    for page in pages:
        items = (item for item in _content(page)["Items"] if isinstance(item, dict))
        for number, item in enumerate(items, start=1):
            _take(number, item, catalogue, region)
    day = min(page.fetched for page in pages).date()
    return Fetched(catalogue, f"Azure retail prices, {region}, {day}", day, [str(page) for page in pages])


def _pages(name: str, region: str, kind: str, downloads: Downloads, base: str) -> Iterator[Download]:
    wanted = {"serviceName": "Virtual Machines", "priceType": kind, "armRegionName": region}
    wanted["armSkuName"] = name
    told = " and ".join(f"{key} eq '{value.replace(chr(39), chr(39) * 2)}'" for key, value in wanted.items())
    address, seen = f"{base}/api/retail/prices?$filter={quote(told)}", set[str]()
    while address:
        if address in seen or len(seen) == PAGES:
            raise UserError(f"{shown(address)}: its pages do not end ({name}); expected at most {PAGES}")
        seen.add(address)
        page = downloads.get(address, "Azure's retail prices as JSON")
        yield page
        # The link names the host of the original; a mirror's pages come from the mirror.
        link = _content(page).get("NextPageLink") or ""
        address = f"{base}{urlsplit(link).path}?{urlsplit(link).query}" if isinstance(link, str) and link else ""


def _content(page: Download) -> dict[str, Any]:
    try:
        content = json.loads(page.path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise UserError(f"{shown(page.url)}: the answer is no whole JSON; try again later") from None
    if not isinstance(content, dict) or not isinstance(content.get("Items"), list):
        raise UserError(f"{shown(page.url)}: the answer has no list 'Items'; expected Azure's retail prices")
    counted = content.get("Count", len(content["Items"]))
    if counted != len(content["Items"]):
        raise UserError(f"{shown(page.url)}: {len(content['Items'])} of {counted} prices came; try again later")
    return content


def _take(number: int, item: dict[str, Any], catalogue: Catalogue, region: str) -> None:
    """Add the listing of a price of a whole Linux machine; other products are passed over."""
    line = Line(number, {key: "" if value is None else str(value) for key, value in item.items()})
    product, meter = line.text("productName").lower(), line.text("meterName").lower()
    if line.text("type") not in (CONSUMPTION, RESERVATION) or line.text("armRegionName") != region:
        return
    if any(word in product for word in OTHER_PRODUCTS) or any(word in meter for word in OTHER_METERS):
        return
    if item.get("isPrimaryMeterRegion") is False:
        return
    with catalogue.or_left_out(number, line.text("armSkuName")):
        if line.text("unitOfMeasure") != "1 Hour":
            line.fail("unitOfMeasure", line.text("unitOfMeasure"), "1 Hour")
        name, title = line.name("armSkuName")
        price, months = line.needed_price("retailPrice"), _term(line)
        purchase = CONTRACTS if months else "spot" if meter.endswith(" spot") else "on_demand"
        if months:
            price = price / (months / 12 * HOURS_A_YEAR)
        currency = line.text("currencyCode") or None
        catalogue.listings.append(
            Listing(number, name, purchase, price, place=region, currency=currency, title=title, term_months=months)
        )


def _term(line: Line) -> float | None:
    """Months of a reservation; None of what is paid by use."""
    if line.text("type") != RESERVATION:
        return None
    found = re.fullmatch(r"(\d{1,2}) Years?", line.text("reservationTerm"))
    if found is None:
        line.fail("reservationTerm", line.text("reservationTerm"), "1 Year or 3 Years")
    return 12.0 * int(found[1])
