"""Lambda's own interface, for those who have a key: which of its machines are in stock now. Its prices are not read."""

import json
import re
from collections.abc import Iterator

from sweetspot.catalogues.downloads import Download, Downloads, shown
from sweetspot.catalogues.listing import Catalogue, Listing
from sweetspot.catalogues.sources.source import Fetched
from sweetspot.errors import UserError

KEY = "LAMBDA_API_KEY"  # of the environment
BASE = "https://cloud.lambda.ai/api/v1"
TYPE = re.compile(r"gpu_(\d{1,2})x_(\w+)")  # gpu_8x_h100_sxm5


def fetch_lambda(downloads: Downloads, base: str, key: str) -> Fetched:
    """The types of machines with capacity in some region (`GET instance-types`), each as a listing a region.

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
            named, usd = TYPE.fullmatch(name), float(machine["price_cents_per_hour"]) / 100
            for region in regions if named else ():
                assert named is not None
                place = str(region["name"])
                yield Listing(number, name, "on_demand", usd, place=place, gpu=named[2], gpus=int(named[1]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(
            f"{shown(page.url)}: has no types with 'regions_with_capacity_available'; expected Lambda's instance types"
        ) from None
