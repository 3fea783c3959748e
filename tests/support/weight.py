"""How heavy the project is, as Markdown: modules, lines and tests of each room, words of each document.

    python tests/support/weight.py         # make weight; a second
    python tests/support/weight.py --cpu   # make weight CPU=1: with the CPU time of each room's fast tests; minutes

Lines are all lines of Python, empty ones and comments included. Goals are those of the round of November 2026.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
GOALS = {
    "study": 2800, "catalogues": 1500, "matrix": 1150, "harness": 4000, "logs": 950, "throughput": 1500,
    "transfer": 900, "scaling": 1950, "bills": 2500, "decision and mixes": 5500, "claims": 700, "report": 4700,
    "commands": 2200, "the library": 34_000, "tests": 28_000,
}  # fmt: skip
# For readers: at most 18,000 words in all.
EIGHT = ("reading-the-report", "studies", "prices", "decision", "measuring", "scaling", "cluster", "architecture")
TOGETHER = {"decision": "decision and mixes", "mixes": "decision and mixes"}


class Room(NamedTuple):
    """What one room holds: modules and their lines, test files and theirs, CPU-seconds of the tests that are fast."""

    modules: int = 0
    lines: int = 0
    tests: int = 0
    test_lines: int = 0
    cpu: float = 0.0

    def plus(self, other: "Room") -> "Room":
        return Room(*(one + more for one, more in zip(self, other, strict=True)))


def lines_of(files: Iterable[Path]) -> int:
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def rooms(root: Path) -> dict[str, Room]:
    """Each folder of the library with the tests of its name, the ground, and the other folders of tests."""
    library, tests = root / "workflow" / "sweetspot", root / "tests"
    found: dict[str, Room] = {}
    for folder in [library, *sorted(path for path in library.iterdir() if path.is_dir()), root / "research"]:
        name = "ground" if folder == library else folder.name
        own = list(folder.glob("*.py") if folder == library else folder.rglob("*.py"))
        if own:
            key = TOGETHER.get(name, name)
            found[key] = found.get(key, Room()).plus(Room(len(own), lines_of(own)))
    for folder in sorted(path for path in tests.iterdir() if path.is_dir()):
        own = list(folder.rglob("*.py"))
        if own:
            key = TOGETHER.get(folder.name, folder.name)
            found[key] = found.get(key, Room()).plus(Room(0, 0, len(own), lines_of(own)))
    return found


def words_of(root: Path) -> dict[str, int]:
    """Words of the documents that people read: README and docs/, evidence apart."""
    folders = (root / "docs", root / "docs" / "evidence")
    files = [root / "README.md", *(file for folder in folders for file in sorted(folder.glob("*.md")))]
    return {str(file.relative_to(root)): len(file.read_text(encoding="utf-8").split()) for file in files}


def fast_tests_cpu(folder: Path) -> float:
    """CPU-seconds of a folder's tests that are not slow, start of the process included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "not slow", str(folder)], cwd=ROOT, stdout=sys.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def document(found: dict[str, Room], words: dict[str, int]) -> str:
    """The tables; a row whose CPU time was not taken has none."""
    library = [room for name, room in found.items() if room.modules and name != "research"]
    rows = found | {
        "the library": sum_of(library),
        "tests": Room(0, 0, *sum_of(list(found.values()))[2:]),
    }
    text = ["# How heavy it is", "", "Made by `make weight`; a test holds it to what is there, within a tenth.", ""]
    text += [
        "| room | modules | lines | goal | test files | lines of tests | CPU-s of fast tests |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, room in rows.items():
        shown = [room.modules, room.lines, GOALS.get(name, 0), room.tests, room.test_lines, round(room.cpu)]
        text.append(f"| {name} | " + " | ".join(f"{number:,}" if number else "" for number in shown) + " |")
    text += ["", "| document | words |", "|---|---|"]
    text += [f"| {name} | {count:,} |" for name, count in words.items()]
    eight = sum(words.get(f"docs/{name}.md", 0) for name in EIGHT)
    readers = sum(count for name, count in words.items() if "evidence" not in name)
    sums = [f"| the eight pages (goal 18,000) | {eight:,} |", f"| all but evidence | {readers:,} |"]
    return "\n".join([*text, *sums, ""])


def sum_of(found: list[Room]) -> Room:
    total = Room()
    for room in found:
        total = total.plus(room)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="time the fast tests of each room")
    found = rooms(ROOT)
    if parser.parse_args().cpu:
        for folder in sorted({path.parent for path in (ROOT / "tests").glob("*/test_*.py")}):
            key = TOGETHER.get(folder.name, folder.name)
            found[key] = found[key].plus(Room(cpu=fast_tests_cpu(folder)))
    print(document(found, words_of(ROOT)), end="")


if __name__ == "__main__":
    main()
