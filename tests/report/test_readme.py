"""The README is short, and its four answers are those of docs/studies.md."""

import re

from project_copy import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
QUESTIONS = {"eight-gpus-2026", "office-box-2026", "lab-of-five", "parkopedia-2018"}


def test_it_has_at_most_800_words_and_the_manual_9_000():
    assert len(README.split()) <= 800
    pages = [file for file in (ROOT / "docs").glob("*.md") if file.name not in ("index.md", "tables.md")]
    assert len(pages) == 7
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 9000


def test_its_four_answers_are_those_of_the_manual():
    """tests/workflow/test_studies_graph.py holds the manual to what the studies compute."""
    manual = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    items = re.findall(r"(?m)^- `([\w-]+)`: (.*(?:\n  .*)*)", manual)
    told = {name: " ".join(words.split()) for name, words in items}
    rows = re.findall(r"^\| \*\*.*? \| (.*?) \| `make report(?: STUDY=([\w-]+))?` \|$", README, re.M)
    found = {study or "parkopedia-2018": answer for answer, study in rows}
    assert found == {name: told[name] for name in QUESTIONS}
