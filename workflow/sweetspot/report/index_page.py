"""results/index.html: every study made here, newest first, each with its answer."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined, select_autoescape
from markupsafe import Markup

from sweetspot.files import write_whole

ASSETS = Path(__file__).parent / "assets"
ANSWER = "report/answer.json"
SENTENCES = 2


class Made(NamedTuple):
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


def studies_made(results: Path) -> list[Made]:
    """The studies below `results` that have an answer, newest first; one whose file is broken says so."""
    files = [file for file in results.glob(f"*/{ANSWER}") if file.is_file()]
    return [_made(file) for file in sorted(files, key=lambda file: (-file.stat().st_mtime, str(file)))]


def _made(file: Path) -> Made:
    folder = file.parent.parent.name
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))
        study, claims = answer["study"], [str(sentence) for sentence in answer.get("claims", [])]
        sentences = [str(sentence) for sentence in answer["sentences"] if sentence not in claims]
        return Made(folder, str(study["title"]), str(study["as_of"]), written, sentences[:SENTENCES], claims, "")
    except (ValueError, KeyError, TypeError) as error:
        fault = f"{ANSWER} cannot be read ({type(error).__name__}); make the study again."
        return Made(folder, folder, "unknown", written, [], [], fault)


def write_index(results: str | Path, page: str | Path) -> None:
    """Write the page over all studies below `results`. Text from the files is escaped by the template engine."""
    environment = Environment(autoescape=select_autoescape(default=True), undefined=StrictUndefined, trim_blocks=True)
    style = Markup((ASSETS / "page.css").read_text(encoding="utf-8"))
    template = environment.from_string((ASSETS / "index.html.j2").read_text(encoding="utf-8"))
    with write_whole(Path(page)) as temporary:
        temporary.write_text(template.render(studies=studies_made(Path(results)), style=style), encoding="utf-8")
