"""Files from addresses, with a checksum and a day."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from urllib.parse import urlsplit

from sweetspot.errors import UserError

TIMEOUTS_S = (10.0, 60.0)  # to connect, and between two bytes
IDENTITY = {"Accept-Encoding": "identity"}  # A gzipped answer may stop unnoticed.


@dataclass(frozen=True)
class Download:
    """A file that was fetched. address: without what may be a secret. day: of the last change as the server said it,
    else that of the download (UTC). sha256: beginning of the checksum, as sources print it.
    """

    address: str
    content: bytes
    day: date
    sha256: str


def public_url(url: str) -> str:
    """Return the address without user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def current_day() -> date:
    """Return today's date in UTC."""
    return datetime.now(UTC).date()


def download(url: str, expected: str) -> Download:
    """Fetch the file at an address, such as a price catalogue, with its day and checksum. Raises UserError if it
    cannot be fetched or is a web page; `expected` ('a CSV file') says in the message what should be there.
    """
    import requests

    address = public_url(url)
    try:
        answer = requests.get(url, timeout=TIMEOUTS_S, headers=IDENTITY)
    except requests.RequestException as error:
        raise UserError(f"{address}: cannot be fetched ({type(error).__name__}); try again later") from None
    if answer.status_code != 200:
        raise UserError(f"{address}: answers {answer.status_code} ({answer.reason}); expected {expected}")
    start = answer.content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start or start.startswith(b"<"):  # Proxies and portals send a web page with code 200.
        raise UserError(f"{address}: answers {'a web page' if start else 'nothing'}; expected {expected}")
    day = current_day()
    with suppress(KeyError, ValueError):
        day = parsedate_to_datetime(answer.headers["Last-Modified"]).astimezone(UTC).date()
    return Download(address, answer.content, day, sha256(answer.content).hexdigest()[:12])
