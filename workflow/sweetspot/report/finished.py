"""What needs no table: templates filled, results/index.html over all studies, the page on paper and as one file."""

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sweetspot.errors import UserError
from sweetspot.files import write_text, write_whole

if TYPE_CHECKING:
    from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
ANSWER = "report/answer.json"
MAX_SENTENCES = 2
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-background-networking")
LINK_TO_FILE = re.compile(r'<a\b[^>]* href="(?!#|https?:)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)


def asset(*files: str) -> "Markup":
    """Return the joined text of files in the assets folder (CSS or JavaScript), marked as safe HTML."""
    from markupsafe import Markup  # the doctor asks for browsers where nothing is installed

    return Markup("".join((ASSETS / file).read_text(encoding="utf-8") for file in files))


@dataclass(frozen=True)
class StudySummary:
    """A study's entry on the index page: title, first sentences of its answer, leading claims, fault (or '')."""

    folder: str
    written: str
    title: str
    as_of: str = "unknown"
    sentences: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    fault: str = ""


def _read_summary(file: Path) -> StudySummary:
    """Return a study's entry on the index page from its answer.json (`file`); `fault` says where that is unreadable."""
    folder = file.parent.parent.name
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))
        study, claims = answer["study"], answer["claims"]
        sentences = [sentence for sentence in answer["sentences"] if sentence not in claims]
        return StudySummary(folder, written, study["title"], study["as_of"], sentences[:MAX_SENTENCES], claims)
    except (ValueError, KeyError, TypeError) as error:
        fault = f"{ANSWER} cannot be read ({type(error).__name__}); make the study again."
        return StudySummary(folder, written, folder, fault=fault)


def write_index(results: str | Path, page: str | Path) -> None:
    """Write the HTML file `page` (results/index.html), which lists the studies in `results` by date, the latest first.
    A study is one with an answer.json; if that cannot be read, its entry says so, after all others.
    """
    from sweetspot.report.sentences import filled

    studies = [_read_summary(file) for file in sorted(Path(results).glob(f"*/{ANSWER}"))]
    studies.sort(key=lambda study: ("" if study.fault else study.as_of, study.written), reverse=True)
    context = {"studies": studies, "style": asset("page.css")}
    write_text(page, filled("index.html.j2", context))


def write_shared(page: Path, evidence: Path, output: Path) -> None:
    """Write a study's page and its evidence (in a frame) as one HTML file that opens offline, to send by mail.

    Parameters
    ----------
    page, evidence, output
        index.html and evidence.html of a study (links from them to other files become text); the file to write.
    """
    from markupsafe import escape

    first, second = (file.read_text(encoding="utf-8") for file in (page, evidence))
    first = re.sub(r'href="evidence\.html[^"]*"', 'href="#evidence"', first)
    first, second = (LINK_TO_FILE.sub(r"\1", text) for text in (first, second))
    second = second.replace("<head>", '<head><base href="about:srcdoc">')  # a link to a row stays in the frame
    frame = f'<iframe id="evidence" title="Evidence" srcdoc="{escape(second)}"></iframe></main>'
    write_text(output, first.replace("</main>", frame))


def print_pdf(page: Path, output: Path) -> None:
    """Print the HTML file `page` to the PDF file `output` by headless Chromium (`make pdf`); closed folds are left out.
    `--no-sandbox`: the page is our own and loads nothing. Raises UserError if Chromium is missing or fails.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise UserError(f"{output}: no Chromium found to print it with; expected one of {', '.join(BROWSERS)} on PATH")
    with tempfile.TemporaryDirectory() as profile, write_whole(output) as temporary:
        paths = f"--user-data-dir={profile}", f"--print-to-pdf={temporary}", page.resolve().as_uri()
        result = subprocess.run([browser, *FLAGS, *paths], capture_output=True, text=True, check=False)
        if result.returncode != 0 or not temporary.exists():
            message = (result.stderr.strip().splitlines() or ["no message"])[-1]
            raise UserError(f"{output}: {browser} ended with code {result.returncode}: {message}")
