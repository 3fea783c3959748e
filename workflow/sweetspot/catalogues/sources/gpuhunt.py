"""Gpuhunt's published catalogue: a file `version` and a zipped CSV a provider. Its library is not needed."""

import re
import zipfile
import zlib
from datetime import date, datetime
from pathlib import Path
from typing import IO

from sweetspot.catalogues.downloads import CHUNK, MOST_BYTES, Download, Downloads, shown
from sweetspot.catalogues.readers import read_gpuhunt
from sweetspot.catalogues.sources.source import Asked, Fetched, Source
from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.study.catalogue_map import FilePart

VERSION = re.compile(r"(20\d{6})(-\d{1,9})?")


def fetch(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The newest version of the provider's CSV; the day of its prices is that of the version (20260819-1204)."""
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


# CATALOG_URL of src/gpuhunt/_internal/catalog.py (dstackai/gpuhunt@35841515); all its prices are in USD.
SOURCE = Source(
    "gpuhunt's catalogue",
    "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3",
    True,
    fetch,
)
