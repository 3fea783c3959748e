"""Files from addresses: a few tries, a checksum, and a copy for days without network."""

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sweetspot.errors import UserError
from sweetspot.files import checksum, write_whole

TRIES = 4
TIMEOUTS_S = (10.0, 60.0)  # to connect, and between two bytes
CHUNK = 1 << 16
SIZE_LIMIT = 200_000_000
TRY_AGAIN = {408, 429, 500, 502, 503, 504}


class TemporaryError(Exception):
    """A fault that another try may mend."""


@dataclass(frozen=True)
class Download:
    """A file that was fetched: from where, when (UTC), its checksum and the day of its last change, if it is known."""

    path: Path
    url: str
    fetched: datetime
    sha256: str
    modified: date | None = None
    cached: bool = False

    def __str__(self) -> str:
        copy = " (from the cache)" if self.cached else ""
        return f"{public_url(self.url)}, {self.fetched:%Y-%m-%d %H:%M} UTC, sha256 {self.sha256[:12]}{copy}"


def public_url(url: str) -> str:
    """The address without user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def cache_folder() -> Path:
    """Where downloads are kept unless the command line says otherwise."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "sweetspot" / "catalogues"


@dataclass
class Downloads:
    """Fetches files into `folder`.

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
        url : str
            Its address.
        expected : str
            What the sentence of refusal says was expected there, e.g. 'a CSV file'.
        size_limit : int
            Largest size that is accepted.

        Returns
        -------
        Download

        Raises
        ------
        UserError
            No such file, no network, a web page or an empty answer instead, or a damaged copy.
        """
        copy = self._copy(url)
        if copy is not None and (self.offline or self.now() - copy.fetched < self.reuse):
            return copy
        if self.offline:
            raise UserError(f"{public_url(url)}: no whole copy is in {self.folder}, and --offline fetches nothing")
        for attempt in range(TRIES):
            try:
                return self._fetch(url, expected, size_limit)
            except TemporaryError as error:
                fault = str(error)
                self.sleep(2.0**attempt)
        instead = f" (--offline takes the copy of {copy.fetched:%Y-%m-%d})" if copy else ""
        raise UserError(f"{public_url(url)}: {fault} in {TRIES} tries; try again later{instead}")

    def _file(self, url: str) -> Path:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", public_url(url).partition("//")[2])[-80:].lstrip("-.")
        return self.folder / f"{sha256(url.encode()).hexdigest()[:16]}-{name}"

    def _copy(self, url: str) -> Download | None:
        file = self._file(url)
        try:
            record = json.loads(file.with_name(f"{file.name}.json").read_text(encoding="utf-8"))
            modified = date.fromisoformat(record["modified"]) if record["modified"] else None
            fetched = datetime.fromisoformat(record["fetched"])
            is_intact = checksum(file) == record["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return Download(file, url, fetched, record["sha256"], modified, cached=True) if is_intact else None

    def _fetch(self, url: str, expected: str, size_limit: int) -> Download:
        import requests

        file = self._file(url)
        try:  # asked for as it is: of a gzipped answer nobody can see that it stops before its end
            with requests.get(
                url, stream=True, timeout=self.timeouts_s, headers={"Accept-Encoding": "identity"}
            ) as answer:
                _check_status(answer, url)
                with write_whole(file) as temporary:
                    _save(answer, temporary, size_limit, url)
                    _check_content(temporary, url, expected)
                modified = _day(answer.headers.get("Last-Modified", ""))
        except (requests.exceptions.InvalidURL, requests.exceptions.MissingSchema):
            raise UserError(f"{public_url(url)}: is no address; expected one that begins with https://") from None
        except requests.RequestException as error:
            raise TemporaryError(f"cannot be fetched ({type(error).__name__})") from None
        download = Download(file, url, self.now(), checksum(file), modified)
        record = {"url": public_url(url), "fetched": download.fetched.isoformat(), "sha256": download.sha256}
        record["modified"] = modified.isoformat() if modified else ""
        with write_whole(file.with_name(f"{file.name}.json")) as temporary:
            temporary.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return download


def _check_status(answer: Any, url: str) -> None:
    if answer.status_code in TRY_AGAIN:
        raise TemporaryError(f"answers {answer.status_code}")
    if answer.status_code != 200:
        raise UserError(f"{public_url(url)}: answers {answer.status_code} ({answer.reason}); expected a file")


def _save(answer: Any, file: Path, size_limit: int, url: str) -> None:
    with file.open("wb") as stream:
        for chunk in answer.iter_content(CHUNK):
            if stream.tell() + len(chunk) > size_limit:
                raise UserError(f"{public_url(url)}: more than {size_limit:,} bytes; expected a catalogue")
            stream.write(chunk)


def _check_content(file: Path, url: str, expected: str) -> None:
    """Refuse an empty answer and a web page, which proxies and portals send with code 200."""
    with file.open("rb") as stream:
        start = stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start or start.startswith(b"<"):
        kind = "a web page" if start else "nothing"
        raise UserError(f"{public_url(url)}: answers {kind}; expected {expected}")


def _day(header: str) -> date | None:
    """The day of a Last-Modified header; None where there is none that can be read."""
    try:
        return parsedate_to_datetime(header).astimezone(UTC).date()
    except (TypeError, ValueError):
        return None
