"""Files from addresses: with time-outs, a limit in all, a few tries, a checksum, and a copy for days without network.

A proxy is taken from the environment (HTTPS_PROXY, NO_PROXY). Every fault ends in one sentence (UserError); a file
is in the cache whole or not at all.
"""

import gzip
import hashlib
import json
import os
import re
import signal
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sweetspot.errors import UserError
from sweetspot.files import checksum, write_whole

TRIES = 4
LONGEST_PAUSE_S = 60.0  # that a server may ask for; our own pauses are 1, 2 and 4 s
TIMEOUTS_S = (10.0, 60.0)  # to connect, and between two bytes
LIMIT_S = 900.0  # of a file in all its tries: a server that sends a byte a second meets every other time-out
CHUNK = 1 << 16
MOST_BYTES = 200_000_000
LATER = {408, 429, 500, 502, 503, 504}
"""Answers that another try may change."""


class LaterError(Exception):
    """A fault that another try may mend; `after_s`: how long the server asks to wait."""

    def __init__(self, said: str, after_s: float | None = None) -> None:
        super().__init__(said)
        self.after_s = after_s


@dataclass(frozen=True)
class Download:
    """A file that was fetched: where from, when (UTC, to the second), and its checksum.

    `modified`: the day of its last change, where the server tells it.
    """

    path: Path
    url: str
    fetched: datetime
    sha256: str
    bytes: int
    modified: date | None = None
    cached: bool = False

    def __str__(self) -> str:
        when, kept = f"{self.fetched:%Y-%m-%d %H:%M} UTC", " (from the cache)" if self.cached else ""
        return f"{shown(self.url)}, {when}, {self.bytes:,} bytes, sha256 {self.sha256[:12]}{kept}"


def shown(url: str) -> str:
    """The address without what may be a secret of its reader: user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def cache_folder() -> Path:
    """Where downloads are kept unless the command line says otherwise: the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "sweetspot" / "catalogues"


@dataclass
class Downloads:
    """Fetches files into `folder`. `offline`: takes what is there, of whatever day. `reuse`: how old a copy may be to
    be taken without asking again. `sleep` and `now` are for tests.
    """

    folder: Path = field(default_factory=cache_folder)
    offline: bool = False
    reuse: timedelta = timedelta(0)
    timeouts_s: tuple[float, float] = TIMEOUTS_S
    limit_s: float = LIMIT_S
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC).replace(microsecond=0)

    def get(self, url: str, what: str, most_bytes: int = MOST_BYTES, bearer: str = "") -> Download:
        """The file at `url`. `what`: what is expected there, for the sentence, such as "CSV". `bearer`: a key that is
        sent and nowhere kept.

        Raises UserError: no such file, no network, a damaged copy, a web page instead, not whole after all tries.
        """
        kept = self._kept(url)
        if self.offline:
            if kept is None:
                words = f"no copy is in {self.folder}; expected one, since --offline fetches nothing"
                raise UserError(f"{shown(url)}: {words}")
            return kept
        if kept is not None and self.now() - kept.fetched < self.reuse:
            return kept
        try:
            return self._fetch(url, what, most_bytes, bearer)
        except UserError as error:
            if kept is None:
                raise
            raise UserError(f"{error} (--offline takes the copy of {kept.fetched:%Y-%m-%d})") from None

    def _kept(self, url: str) -> Download | None:
        file = self._file(url)
        record = file.with_name(f"{file.name}.json")
        try:
            told = json.loads(record.read_text(encoding="utf-8"))
            fetched = datetime.fromisoformat(told["fetched"])
            modified = date.fromisoformat(told["modified"]) if told["modified"] else None
            found = Download(file, url, fetched, told["sha256"], told["bytes"], modified, cached=True)
            same = checksum(file) == found.sha256
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            if not self.offline:
                return None
            raise UserError(f"{file}: the copy of {shown(url)} is not what was fetched; remove it and fetch it again")
        return found

    def _file(self, url: str) -> Path:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", shown(url).partition("//")[2])[-80:].lstrip("-.")
        return self.folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{name}"

    def _fetch(self, url: str, what: str, most_bytes: int, bearer: str) -> Download:
        from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

        def pause(state: RetryCallState) -> float:
            asked = getattr(state.outcome.exception() if state.outcome else None, "after_s", None)
            return float(asked) if asked is not None else 2.0 ** (state.attempt_number - 1)

        later = retry_if_exception_type(LaterError)
        again = Retrying(stop=stop_after_attempt(TRIES), wait=pause, retry=later, sleep=self.sleep, reraise=True)
        try:
            with _within(self.limit_s, f"{shown(url)}: is not here after {self.limit_s:g} s; try again later"):
                return again(self._once, url, what, most_bytes, bearer)
        except LaterError as error:
            raise UserError(f"{shown(url)}: {error} in {TRIES} tries; try again later") from None

    def _once(self, url: str, what: str, most_bytes: int, bearer: str) -> Download:
        """One try. The body is read as sent and unpacked here: what unpacks on the fly takes half a file for whole."""
        import requests
        from urllib3.exceptions import HTTPError

        file = self._file(url)
        headers = {"Accept-Encoding": "gzip"} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
        try:
            with requests.get(url, stream=True, timeout=self.timeouts_s, headers=headers) as answer:
                _require_file(answer, url)
                with write_whole(file) as temporary:
                    _save(answer.raw.stream(CHUNK, decode_content=False), temporary, most_bytes, url)
                    _unpack(temporary, answer.headers.get("Content-Encoding", ""), url, most_bytes)
                    _require_kind(temporary, url, what)
        except (requests.Timeout, TimeoutError):
            raise LaterError("does not answer in time") from None
        except requests.RequestException as error:
            raise _refused(url, error) from None
        except HTTPError as error:
            raise LaterError(f"the answer stops before its end ({type(error).__name__})") from None
        modified = _day(answer.headers.get("Last-Modified", ""))
        found = Download(file, url, self.now(), checksum(file), file.stat().st_size, modified)
        record = {"url": shown(url), "fetched": found.fetched.isoformat(), "sha256": found.sha256,
                  "modified": modified and modified.isoformat(), "bytes": found.bytes}  # fmt: skip
        with write_whole(file.with_name(f"{file.name}.json")) as temporary:
            temporary.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return found


@contextmanager
def _within(limit_s: float, said: str) -> Iterator[None]:
    """End the block after `limit_s`, whatever it waits for. Raises UserError.

    Only the main thread of a program on Unix can be interrupted so, as that of every command is.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise UserError(said)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _day(header: str) -> date | None:
    """The day of a Last-Modified header; nothing where there is none that can be read."""
    try:
        return parsedate_to_datetime(header).astimezone(UTC).date()
    except (TypeError, ValueError):
        return None


def _refused(url: str, error: Exception) -> Exception:
    """What a person can mend at once, or a fault to try again."""
    import requests

    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
        return UserError(f"{shown(url)}: is no address; expected one that begins with https://")
    if isinstance(error, requests.TooManyRedirects):
        return UserError(f"{shown(url)}: redirects without end; expected a file")
    if isinstance(error, requests.exceptions.ProxyError):
        return LaterError("the proxy of the environment (HTTPS_PROXY) does not answer")
    if isinstance(error, requests.exceptions.SSLError):
        return UserError(f"{shown(url)}: its certificate is not trusted; expected one that this machine knows")
    return LaterError("cannot be reached")


def _require_file(answer: Any, url: str) -> None:
    """Raises where the answer has no file: LaterError where another try may help."""
    if answer.status_code in LATER:
        asked = answer.headers.get("Retry-After", "")
        after = float(asked) if re.fullmatch(r"\d{1,6}", asked) else None
        if after is not None and after > LONGEST_PAUSE_S:
            raise UserError(f"{shown(url)}: answers {answer.status_code} and asks to wait {after:g} s; try again then")
        raise LaterError(f"answers {answer.status_code}", after)
    if answer.status_code != 200:
        raise UserError(f"{shown(url)}: answers {answer.status_code} ({answer.reason}); expected a file")


def _save(chunks: Iterable[bytes], file: Path, most_bytes: int, url: str) -> None:
    with file.open("wb") as stream:
        for chunk in chunks:
            if stream.tell() + len(chunk) > most_bytes:
                raise UserError(f"{shown(url)}: more than {most_bytes:,} bytes; expected a catalogue")
            stream.write(chunk)


def _unpack(file: Path, encoding: str, url: str, most_bytes: int) -> None:
    """Replace a file that was sent gzipped by its content, at most `most_bytes` of it."""
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        if encoding.strip().lower() not in ("", "identity"):
            raise UserError(f"{shown(url)}: is encoded as {encoding[:40]!r}; expected gzip or nothing")
        return
    packed = file.with_name(f"{file.name}.gz")
    file.rename(packed)
    try:
        with gzip.open(packed) as source:
            _save(iter(partial(source.read, CHUNK), b""), file, most_bytes, url)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise LaterError("the gzipped answer is not whole") from None
    finally:
        packed.unlink()


def _require_kind(file: Path, url: str, what: str) -> None:
    """Raises UserError for an empty answer and for a web page, which proxies and portals send with code 200."""
    with file.open("rb") as stream:
        start = stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise UserError(f"{shown(url)}: the answer is empty; expected {what}")
    if start.startswith(b"<"):
        begins = start[:15].decode("latin-1")
        raise UserError(f"{shown(url)}: answers a web page (it begins with {begins!r}); expected {what}")
