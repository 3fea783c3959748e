"""Catalogues of today: SkyPilot's and gpuhunt's files, one per provider."""

import json
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import quote

from sweetspot.catalogues.downloads import Downloads, public_url
from sweetspot.catalogues.listing import Catalogue
from sweetspot.catalogues.readers import read_catalogue
from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.study.catalogue_map import FilePart

# HOSTED_CATALOG_DIR_URL and CATALOG_SCHEMA_VERSION of SkyPilot's sky/skylet/constants.py.
SKYPILOT = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
CHANGES = "https://api.github.com/repos/skypilot-org/skypilot-catalog/commits"
# CATALOG_URL of src/gpuhunt/_internal/catalog.py (dstackai/gpuhunt@35841515); all its prices are in USD.
GPUHUNT = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"
UNPACKED_LIMIT = 500_000_000


@dataclass(frozen=True)
class CatalogueRequest:
    """What is asked of a source: the part of study.yaml and its key, the provider unless the part names its file."""

    key: str
    part: FilePart


@dataclass(frozen=True)
class FetchedCatalogue:
    """A catalogue of today: what price lists give as its source, the day of its prices, and a line per file."""

    catalogue: Catalogue
    source: str
    as_of: date
    files: list[str]


@dataclass(frozen=True)
class CatalogueSource:
    """A source: its name for people, its address, which a mirror may replace, and how a part is fetched."""

    title: str
    base_url: str
    fetch: Callable[[CatalogueRequest, Downloads, str], FetchedCatalogue]


def fetch_skypilot(request: CatalogueRequest, downloads: Downloads, base_url: str) -> FetchedCatalogue:
    """Fetch a provider's vms.csv; its prices are of the day of its last change, else of the download.

    Parameters
    ----------
    request, downloads, base_url
        What is asked for, how files are fetched, and the address of the source.
    """
    provider = request.part.file or request.key
    download = downloads.get(f"{base_url}/{provider}/vms.csv", "a CSV file of SkyPilot's catalogue")
    day = download.modified or download.fetched.date()
    files = [str(download)]
    if base_url == SKYPILOT and download.modified is None:  # GitHub's host does not say the day of a file.
        url = f"{CHANGES}?path={quote(f'catalogs/v8/{provider}/vms.csv')}&per_page=1"
        try:
            answer = downloads.get(url, "a list of commits as JSON").path.read_text(encoding="utf-8")
            day = date.fromisoformat(json.loads(answer)[0]["commit"]["committer"]["date"][:10])
        except (UserError, ValueError, KeyError, IndexError, TypeError) as error:
            files.append(f"{public_url(url)}: no day of a commit, so the download's is taken: {error}")
    source = f"SkyPilot's catalogue, {provider}/vms.csv of {day}, sha256 {download.sha256[:12]}"
    return FetchedCatalogue(read_catalogue("skypilot", download.path), source, day, files)


def fetch_gpuhunt(request: CatalogueRequest, downloads: Downloads, base_url: str) -> FetchedCatalogue:
    """Fetch the newest version of a provider's zipped CSV, which the file `version` names, e.g. 20260819-1204.

    Parameters
    ----------
    request, downloads, base_url
        As `fetch_skypilot` takes them.
    """
    provider = request.part.file or request.key
    version_file = downloads.get(f"{base_url}/{provider}/version", "the version of gpuhunt's catalogue", 1000)
    version = version_file.path.read_text(encoding="utf-8", errors="replace").strip()
    try:
        if not re.fullmatch(r"\d{8}(-\d{1,9})?", version):
            raise ValueError
        day = datetime.strptime(version[:8], "%Y%m%d").date()
    except ValueError:
        address = public_url(version_file.url)
        raise UserError(f"{address}: is {version[:40]!r}; expected a version such as 20260819-1204") from None
    packed = downloads.get(f"{base_url}/{provider}/{version}/catalog.zip", "a zipped catalogue of gpuhunt")
    file = packed.path.with_name(f"{packed.path.name}-{provider}.csv")
    address = public_url(packed.url)
    try:
        with zipfile.ZipFile(packed.path) as archive, write_whole(file) as temporary:
            if archive.getinfo(f"{provider}.csv").file_size > UNPACKED_LIMIT:
                raise UserError(f"{address}: unpacks to more than {UNPACKED_LIMIT:,} bytes")
            temporary.write_bytes(archive.read(f"{provider}.csv"))
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        raise UserError(f"{address}: is no whole zip file with {provider}.csv; try again later") from None
    source = f"gpuhunt's catalogue, {provider} {version}, sha256 {packed.sha256[:12]}"
    return FetchedCatalogue(read_catalogue("gpuhunt", file), source, day, [str(packed)])


SOURCES = {
    "skypilot": CatalogueSource("SkyPilot's catalogue", SKYPILOT, fetch_skypilot),
    "gpuhunt": CatalogueSource("gpuhunt's catalogue", GPUHUNT, fetch_gpuhunt),
}
"""By the key of `catalogue` in study.yaml."""
