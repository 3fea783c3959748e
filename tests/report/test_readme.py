"""The README: short before its reference part, and its four answers are those of docs/studies.md."""

import re

from project_copy import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST = README.split("\n## Reference\n", 1)[0]
QUESTIONS = {"eight-gpus-2026", "office-box-2026", "lab-of-five", "parkopedia-2018"}


def test_the_part_that_everybody_reads_has_at_most_900_words():
    assert FIRST != README
    assert len(FIRST.split()) <= 900


def test_its_four_answers_are_those_of_the_manual():
    """tests/workflow/test_studies_graph.py holds the manual to what the studies compute."""
    manual = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    items = re.findall(r"(?m)^- `([\w-]+)`: (.*(?:\n  .*)*)", manual)
    told = {name: " ".join(words.split()) for name, words in items}
    rows = re.findall(r"^\| \*\*.*? \| (.*?) \| `make report(?: STUDY=([\w-]+))?` \|$", FIRST, re.M)
    found = {study or "parkopedia-2018": answer for answer, study in rows}
    assert found == {name: told[name] for name in QUESTIONS}
