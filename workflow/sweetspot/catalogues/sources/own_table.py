"""A table of one's own: a CSV file beside the study, or at an address."""

from datetime import UTC, datetime

from sweetspot.catalogues.downloads import Downloads, shown
from sweetspot.catalogues.readers import read_plain
from sweetspot.catalogues.sources.source import Asked, Fetched, Source
from sweetspot.files import checksum
from sweetspot.study.catalogue_map import OwnPart


def fetch(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The table. Its prices are of the day that study.yaml says, else of its last change or of the download."""
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


SOURCE = Source("a table of one's own", "", True, fetch)
