"""Catalogues of today: SkyPilot's and gpuhunt's files, one per provider."""

import io
import json
import zipfile
import zlib
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import quote

from sweetspot.catalogues.downloads import download
from sweetspot.catalogues.listing import Catalogue
from sweetspot.catalogues.readers import parse_catalogue
from sweetspot.errors import UserError

# HOSTED_CATALOG_DIR_URL and CATALOG_SCHEMA_VERSION of SkyPilot's sky/skylet/constants.py.
SKYPILOT = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
CHANGES = "https://api.github.com/repos/skypilot-org/skypilot-catalog/commits"
# CATALOG_URL of src/gpuhunt/_internal/catalog.py (dstackai/gpuhunt@35841515); all its prices are in USD.
ADDRESSES = {"skypilot": SKYPILOT, "gpuhunt": "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"}


@dataclass(frozen=True)
class FetchedCatalogue:
    """A catalogue of today: source and checksum for price lists, and the day of its prices."""

    catalogue: Catalogue
    source: str
    sha256: str
    as_of: date


def fetch_skypilot(provider: str, base_url: str) -> FetchedCatalogue:
    """Fetch today's prices of a provider from SkyPilot's catalogue, `base_url`/provider/vms.csv, to refresh price
    lists. Their day is that of the file's last change, else of the download.
    """
    file = download(f"{base_url}/{provider}/vms.csv", "a CSV file of SkyPilot's catalogue")
    day, verb = file.day, "of"
    if base_url == SKYPILOT:  # GitHub's host does not say the day of a file.
        url = f"{CHANGES}?path={quote(f'catalogs/v8/{provider}/vms.csv')}&per_page=1"
        try:
            commits = json.loads(download(url, "a list of commits as JSON").content)
            day = date.fromisoformat(commits[0]["commit"]["committer"]["date"][:10])
        except (UserError, ValueError, KeyError, IndexError, TypeError):
            verb = "fetched"
    catalogue = parse_catalogue("skypilot", file.content, file.address)
    return FetchedCatalogue(catalogue, f"SkyPilot's catalogue, {provider}/vms.csv {verb} {day}", file.sha256, day)


def fetch_gpuhunt(provider: str, base_url: str) -> FetchedCatalogue:
    """Fetch today's prices of a provider from gpuhunt's catalogue, to refresh price lists: the zipped CSV at
    `base_url`/provider that the file `version` there names (20260819-1204), whose date is the prices' day.
    """
    answer = download(f"{base_url}/{provider}/version", "the version of gpuhunt's catalogue")
    version = answer.content.decode(errors="replace").strip()
    try:
        day = datetime.strptime(version[:8], "%Y%m%d").date()
    except ValueError:
        raise UserError(f"{answer.address}: is {version[:40]!r}; expected a version such as 20260819-1204") from None
    packed = download(f"{base_url}/{provider}/{version}/catalog.zip", "a zipped catalogue of gpuhunt")
    try:
        content = zipfile.ZipFile(io.BytesIO(packed.content)).read(f"{provider}.csv")
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError):
        raise UserError(f"{packed.address}: is no whole zip file with {provider}.csv; try again later") from None
    catalogue = parse_catalogue("gpuhunt", content, packed.address)
    return FetchedCatalogue(catalogue, f"gpuhunt's catalogue, {provider} {version}", packed.sha256, day)


FETCHERS = {"skypilot": fetch_skypilot, "gpuhunt": fetch_gpuhunt}
"""By the key of `catalogue` in study.yaml."""
