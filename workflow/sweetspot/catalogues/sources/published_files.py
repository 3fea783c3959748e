"""Catalogues that are published as files: SkyPilot's and gpuhunt's, one a provider, and a table of one's own."""

import json
import re
import zipfile
import zlib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO
from urllib.parse import quote

from sweetspot.catalogues.downloads import CHUNK, MOST_BYTES, Download, Downloads, shown
from sweetspot.catalogues.listing import Asked, Fetched
from sweetspot.catalogues.readers import read_gpuhunt, read_plain
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.errors import UserError
from sweetspot.files import checksum, write_whole
from sweetspot.study.catalogue_map import FilePart, OwnPart

# HOSTED_CATALOG_DIR_URL and CATALOG_SCHEMA_VERSION of SkyPilot's sky/skylet/constants.py.
SKYPILOT = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
CHANGES = "https://api.github.com/repos/skypilot-org/skypilot-catalog/commits"
# CATALOG_URL of src/gpuhunt/_internal/catalog.py (dstackai/gpuhunt@35841515); all its prices are in USD.
GPUHUNT = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"
VERSION = re.compile(r"(20\d{6})(-\d{1,9})?")


def fetch_skypilot(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The provider's vms.csv; some are made anew every day, others once in a year. Its prices are of the day of its
    last change, else of the download's.
    """
    assert isinstance(asked.part, FilePart)
    provider = asked.part.file or asked.key
    found = downloads.get(f"{base}/{provider}/vms.csv", "a CSV file of SkyPilot's catalogue")
    day, told = found.modified or found.fetched.date(), [str(found)]
    if base == SKYPILOT and found.modified is None:  # that host tells no day of a file
        try:
            day = last_change(f"{CHANGES}?path={quote(f'catalogs/v8/{provider}/vms.csv')}&per_page=1", downloads)
        except UserError as error:
            told.append(f"the day of its last change is unknown, so the download's is taken: {error}")
    source = f"SkyPilot's catalogue, {provider}/vms.csv of {day}, sha256 {found.sha256[:12]}"
    return Fetched(read_skypilot(found.path), source, day, told)


def last_change(url: str, downloads: Downloads) -> date:
    """The day of the newest commit that GitHub's interface lists at `url`. Raises UserError."""
    found = downloads.get(url, "a list of commits as JSON")
    try:
        newest = json.loads(found.path.read_text(encoding="utf-8"))[0]
        return date.fromisoformat(newest["commit"]["committer"]["date"][:10])
    except (ValueError, KeyError, IndexError, TypeError):
        raise UserError(f"{shown(url)}: no day of a commit is in the answer; expected GitHub's list") from None


def fetch_gpuhunt(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The newest version of the provider's zipped CSV, which the file `version` names; its library is not needed. The
    day of its prices is that of the version (20260819-1204).
    """
    assert isinstance(asked.part, FilePart)
    provider = asked.part.file or asked.key
    told = downloads.get(f"{base}/{provider}/version", "the version of gpuhunt's catalogue", 1000)
    version, day = _version(told)
    packed = downloads.get(f"{base}/{provider}/{version}/catalog.zip", "a zipped catalogue of gpuhunt")
    source = f"gpuhunt's catalogue, {provider} {version}, sha256 {packed.sha256[:12]}"
    return Fetched(read_gpuhunt(_unpacked(packed, f"{provider}.csv")), source, day, [str(packed)])


def _version(told: Download) -> tuple[str, date]:
    text = told.path.read_bytes()[:200].decode("utf-8", "replace").strip()
    found = VERSION.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        return text, datetime.strptime(found[1], "%Y%m%d").date()
    except ValueError:
        raise UserError(f"{shown(told.url)}: is {text[:40]!r}; expected a version such as 20260819-1204") from None


def _unpacked(packed: Download, member: str) -> Path:
    """The CSV of a zipped catalogue, beside it. Raises UserError where the file is no whole zip or lacks it."""
    file = packed.path.with_name(f"{packed.path.name}-{member}")
    try:
        with zipfile.ZipFile(packed.path) as archive, archive.open(member) as source, write_whole(file) as temporary:
            _copy(source, temporary, packed)
    except KeyError:
        raise UserError(f"{shown(packed.url)}: holds no {member}; expected gpuhunt's catalogue") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        raise UserError(f"{shown(packed.url)}: is no whole zip file; try again later") from None
    return file


def _copy(source: IO[bytes], file: Path, packed: Download) -> None:
    with file.open("wb") as target:
        while chunk := source.read(CHUNK):
            if target.tell() + len(chunk) > MOST_BYTES:
                raise UserError(f"{shown(packed.url)}: unpacks to more than {MOST_BYTES:,} bytes; expected a catalogue")
            target.write(chunk)


def fetch_own(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """A CSV file beside the study, or at an address. Its prices are of the day that study.yaml says, else of its last
    change or of the download.
    """
    part = asked.part
    assert isinstance(part, OwnPart)
    if part.url is not None:
        found = downloads.get(part.url, "a CSV table of prices")
        day = part.as_of or found.modified or found.fetched.date()
        source = f"{shown(part.url)} of {day}, sha256 {found.sha256[:12]}"
        return Fetched(read_plain(found.path), source, day, [str(found)])
    file = asked.folder / str(part.file)
    catalogue = read_plain(file)
    day = part.as_of or datetime.fromtimestamp(file.stat().st_mtime, UTC).date()
    source = f"{part.file} of {day}, sha256 {checksum(file)[:12]}"
    return Fetched(catalogue, source, day, [f"{file}, of {day}"])
