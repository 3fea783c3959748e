"""What docs/evidence/weight.md says of the project's size is what is there: no room grows unseen."""

import re

import pytest
from project_copy import ROOT
from weight import Room, document, rooms, words_of

SAID = (ROOT / "docs" / "evidence" / "weight.md").read_text(encoding="utf-8")
MARGIN, LEAST = 0.1, 100  # a tenth, or so many lines or words
MEND = "`make weight` says what is there now; write less, or say that it grew"


def table(text: str, columns: int) -> dict[str, list[int]]:
    """Numbers by the first cell of the rows with so many columns of them; 0 where a cell is empty."""
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if len(row) == columns + 1 and re.search(r"\d", "".join(row[1:]))]
    return {row[0]: [int(cell.replace(",", "") or 0) for cell in row[1:]] for row in rows}


def near(now: int, said: int) -> bool:
    return abs(now - said) <= max(LEAST, MARGIN * said)


def test_lines_and_files_of_a_room_by_hand(tmp_path):
    for name, text in {
        "workflow/sweetspot/cells.py": "a = 1\n", "workflow/sweetspot/mixes/one.py": "\n\n",
        "workflow/sweetspot/decision/two.py": "# x\n", "workflow/sweetspot/facts/pools/data.csv": "1\n",
        "tests/decision/test_two.py": "b = 2\n\nc = 3\n",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert rooms(tmp_path) == {"ground": Room(1, 1), "decision and mixes": Room(2, 3, 1, 3)}


@pytest.mark.parametrize("column", [1, 4], ids=["library", "tests"])
def test_no_room_is_heavier_than_is_said(column):
    said, now = table(SAID, 6), table(document(rooms(ROOT), {}), 6)
    apart = {name: row[column] for name, row in now.items() if not near(row[column], said.get(name, [0] * 6)[column])}
    assert apart == {}, MEND


def test_no_document_is_longer_than_is_said():
    said = table(SAID, 1)
    words = {name: count for name, count in words_of(ROOT).items() if not name.endswith("weight.md")}
    assert {name: count for name, count in words.items() if not near(count, said.get(name, [0])[0])} == {}, MEND
