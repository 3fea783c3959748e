"""SkyPilot's published catalogue: a file vms.csv a provider. Some are made anew every day, others once in a year."""

import json
from datetime import date
from urllib.parse import quote

from sweetspot.catalogues.downloads import Download, Downloads, shown
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.catalogues.sources.source import Asked, Fetched, Source
from sweetspot.errors import UserError
from sweetspot.study.catalogue_map import FilePart

# HOSTED_CATALOG_DIR_URL and CATALOG_SCHEMA_VERSION of SkyPilot's sky/skylet/constants.py.
BASE = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
CHANGES = "https://api.github.com/repos/skypilot-org/skypilot-catalog/commits"


def fetch(asked: Asked, downloads: Downloads, base: str) -> Fetched:
    """The provider's vms.csv. Its prices are of the day of its last change, else of the download's."""
    assert isinstance(asked.part, FilePart)
    provider = asked.part.file or asked.key
    found = downloads.get(f"{base}/{provider}/vms.csv", "a CSV file of SkyPilot's catalogue")
    day, told = found.modified or found.fetched.date(), [str(found)]
    if base == BASE and found.modified is None:  # that host tells no day of a file
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
        return _committed(found)
    except (ValueError, KeyError, IndexError, TypeError):
        raise UserError(f"{shown(url)}: no day of a commit is in the answer; expected GitHub's list") from None


def _committed(found: Download) -> date:
    newest = json.loads(found.path.read_text(encoding="utf-8"))[0]
    return date.fromisoformat(newest["commit"]["committer"]["date"][:10])


SOURCE = Source("SkyPilot's catalogue", BASE, True, fetch)
