"""Files from addresses: a few tries, a checksum, and a copy for days without network."""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from sweetspot.errors import UserError
from sweetspot.files import checksum, write_whole

TRIES = 4
TIMEOUTS_S = (10.0, 60.0)  # to connect, and between two bytes
CHUNK_BYTES = 1 << 16
SIZE_LIMIT = 200_000_000
TEMPORARY_FAULTS = {408, 429, 500, 502, 503, 504}


class TemporaryError(Exception):
    """A fault that another try may mend; leaves no file."""


@dataclass(frozen=True)
class Download:
    """A file that was fetched: from which address, when (UTC), and its checksum."""

    path: Path
    url: str
    fetched: datetime
    sha256: str
    cached: bool = False

    @property
    def modified(self) -> date | None:
        """Day of the last change as the server said it; None if it did not."""
        day = _day_file(self.path).read_text(encoding="ascii")
        return date.fromisoformat(day) if day else None

    def __str__(self) -> str:
        copy = " (from the cache)" if self.cached else ""
        return f"{public_url(self.url)}, {self.fetched:%Y-%m-%d %H:%M} UTC, sha256 {self.sha256[:12]}{copy}"


def public_url(url: str) -> str:
    """Return the address without user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _day_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.day")


def cache_folder() -> Path:
    """Return where downloads are kept unless the command line says otherwise."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "sweetspot" / "catalogues"


@dataclass
class Downloads:
    """Fetches files into `folder`, whose times of change say when.

    offline: take the copy, of whatever day. reuse: age up to which a copy is taken without asking again.
    """

    folder: Path = field(default_factory=cache_folder)
    offline: bool = False
    reuse: timedelta = timedelta(0)
    timeouts_s: tuple[float, float] = TIMEOUTS_S
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC).replace(microsecond=0)

    def get(self, url: str, expected: str, size_limit: int = SIZE_LIMIT) -> Download:
        """Fetch a file, or take the copy of an earlier day.

        Parameters
        ----------
        url
            Its address.
        expected
            What the sentence of refusal says was expected there, e.g. 'a CSV file'.
        size_limit
            Largest size in bytes that is accepted.

        Raises
        ------
        UserError
            No such file, no network, a web page or an empty answer instead.
        """
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", public_url(url).partition("//")[2])[-80:].lstrip("-.")
        file = self.folder / f"{sha256(url.encode()).hexdigest()[:16]}-{name}"
        fetched = (
            datetime.fromtimestamp(file.stat().st_mtime, UTC) if file.is_file() and _day_file(file).is_file() else None
        )
        if fetched is not None and (self.offline or self.now() - fetched < self.reuse):
            return Download(file, url, fetched, checksum(file), cached=True)
        if self.offline:
            raise UserError(f"{public_url(url)}: no copy is in {self.folder}, and --offline fetches nothing")
        for attempt in range(TRIES):
            fault = self._fetch(url, file, expected, size_limit)
            if not fault:
                now = self.now()
                os.utime(file, (now.timestamp(), now.timestamp()))
                return Download(file, url, now, checksum(file))
            self.sleep(2.0**attempt)
        instead = f" (--offline takes the copy of {fetched:%Y-%m-%d})" if fetched else ""
        raise UserError(f"{public_url(url)}: {fault} in {TRIES} tries; try again later{instead}")

    def _fetch(self, url: str, file: Path, expected: str, size_limit: int) -> str:
        """Write the file; return the fault that another try may mend, '' if there is none."""
        import requests

        day = ""
        address = public_url(url)
        encoding = {"Accept-Encoding": "identity"}  # A gzipped answer may stop unnoticed.
        try:
            with (
                requests.get(url, stream=True, timeout=self.timeouts_s, headers=encoding) as answer,
                write_whole(file) as temporary,
                temporary.open("wb") as stream,
            ):
                if answer.status_code in TEMPORARY_FAULTS:
                    raise TemporaryError(f"answers {answer.status_code}")
                if answer.status_code != 200:
                    raise UserError(f"{address}: answers {answer.status_code} ({answer.reason}); expected a file")
                with suppress(TypeError, ValueError):
                    modified = parsedate_to_datetime(answer.headers.get("Last-Modified", ""))
                    day = modified.astimezone(UTC).date().isoformat()
                start = b""
                for chunk in answer.iter_content(CHUNK_BYTES):
                    start = start or chunk.lstrip(b"\xef\xbb\xbf \t\r\n")
                    if stream.tell() + len(chunk) > size_limit:
                        raise UserError(f"{address}: more than {size_limit:,} bytes; expected a catalogue")
                    stream.write(chunk)
                if not start or start.startswith(b"<"):  # Proxies and portals send a web page with code 200.
                    raise UserError(f"{address}: answers {'a web page' if start else 'nothing'}; expected {expected}")
        except (requests.exceptions.InvalidURL, requests.exceptions.MissingSchema):
            raise UserError(f"{address}: is no address; expected one that begins with https://") from None
        except TemporaryError as error:
            return str(error)
        except requests.RequestException as error:
            return f"cannot be fetched ({type(error).__name__})"
        _day_file(file).write_text(day, encoding="ascii")
        return ""
