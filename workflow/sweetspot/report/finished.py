"""What needs no table: templates filled, results/index.html over all studies, and pages on paper."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sweetspot.errors import UserError
from sweetspot.files import write_whole

if TYPE_CHECKING:
    from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
ANSWER = "report/answer.json"
SENTENCES = 2
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-background-networking")
TIME_LIMIT_S = 180


def asset(*files: str) -> "Markup":
    """Styles or programs of the pages, as they are."""
    from markupsafe import Markup  # the doctor asks for browsers where nothing is installed

    return Markup("".join((ASSETS / file).read_text(encoding="utf-8") for file in files))


def rendered(template: str, context: Mapping[str, Any]) -> str:
    """Fill a template of a page. Text from tables and configuration is escaped by the template engine."""
    from sweetspot.report.sentences import filled

    return filled(f"{template}.html.j2", context)


class StudySummary(NamedTuple):
    """One study: its folder below results/, name, date of its prices, when written, what is wrong.

    `sentences`: the first of its answer; `claims`: those that it recomputes and leads with.
    """

    folder: str
    title: str
    as_of: str
    written: str
    sentences: list[str]
    claims: list[str]
    fault: str


def _read_summary(file: Path) -> StudySummary:
    folder = file.parent.parent.name
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))
        study, claims = answer["study"], [str(sentence) for sentence in answer.get("claims", [])]
        sentences = [str(sentence) for sentence in answer["sentences"] if sentence not in claims]
        return StudySummary(
            folder, str(study["title"]), str(study["as_of"]), written, sentences[:SENTENCES], claims, ""
        )
    except (ValueError, KeyError, TypeError) as error:
        fault = f"{ANSWER} cannot be read ({type(error).__name__}); make the study again."
        return StudySummary(folder, folder, "unknown", written, [], [], fault)


def write_index(results: str | Path, page: str | Path) -> None:
    """Write the page over the studies below `results` that have an answer, newest first; a broken one says so."""
    files = [file for file in Path(results).glob(f"*/{ANSWER}") if file.is_file()]
    summaries = [_read_summary(file) for file in sorted(files, key=lambda file: (-file.stat().st_mtime, str(file)))]
    with write_whole(Path(page)) as temporary:
        temporary.write_text(rendered("index", {"studies": summaries, "style": asset("page.css")}), encoding="utf-8")


def print_pdf(page: Path, output: Path) -> None:
    """Print an HTML file as PDF by headless Chromium, whole; folds that are closed on the page are not printed.

    `--no-sandbox`: the page is our own and loads nothing. Raises UserError without a Chromium, and where it fails.
    """
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise UserError(f"{output}: no Chromium found to print it with; expected one of {', '.join(BROWSERS)} on PATH")
    with tempfile.TemporaryDirectory() as profile, write_whole(output) as temporary:
        paths = f"--user-data-dir={profile}", f"--print-to-pdf={temporary}", page.resolve().as_uri()
        try:
            result = subprocess.run(
                [browser, *FLAGS, *paths], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise UserError(f"{output}: {browser} printed nothing within {TIME_LIMIT_S} s") from None
        if result.returncode != 0 or not temporary.exists():
            last = (result.stderr.strip().splitlines() or ["no message"])[-1]
            raise UserError(f"{output}: {browser} ended with code {result.returncode}: {last}")
