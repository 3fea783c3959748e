"""What is known of mutants: outcomes of earlier trials, and those that change nothing."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from one_token import Mutant
from trials import Outcome, digest, tests_of

LIBRARY = Path("workflow") / "sweetspot"
EQUIVALENT = Path(__file__).parent / "equivalent.yaml"


class Equivalent(NamedTuple):
    """A mutant that no test could notice, and why."""

    file: str
    before: str
    after: str
    reason: str


def equivalents(path: Path = EQUIVALENT) -> dict[tuple[str, str, str], Equivalent]:
    """The list by file, line and mutated line."""
    listed = [Equivalent(file, **row) for file, rows in yaml.safe_load(path.read_text()).items() for row in rows]
    return {(each.file, each.before, each.after): each for each in listed}


def in_order(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """A seeded order in which an edit elsewhere moves nothing: each mutant's place hangs on itself alone."""
    met: dict[tuple[str, ...], int] = {}
    places = {}
    for mutant in mutants:
        itself = (mutant.file, mutant.before, mutant.after, mutant.old, mutant.new)
        met[itself] = met.get(itself, 0) + 1
        places[mutant] = digest([str(seed), *itself, str(met[itself])])
    return sorted(places, key=places.__getitem__)


class Record:
    """Outcomes by mutant, a line each in a file, so that an invocation that was stopped goes on where it was.

    A mutant once noticed stays so while its source file and the test that noticed it are what they were; one that
    survived is tried again after any edit of the library or of the room's tests.
    """

    def __init__(self, project: Path, folder: Path, room: str) -> None:
        self._project = project
        tests = project / "tests"
        watched = [*(project / LIBRARY).rglob("*.py"), *tests_of(project, room, "*.py")]
        watched += (tests / "support").glob("*.py")
        self._all = digest(file.read_bytes() for file in sorted(watched))
        folder.mkdir(exist_ok=True)
        self._file = folder / f"{room}.jsonl"
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        self._known: dict[str, dict[str, Any]] = {line["mutant"]: line for line in map(json.loads, lines)}

    def known(self, mutant: Mutant) -> Outcome | None:
        """The outcome of an earlier trial that still holds."""
        line = self._known.get(self._name(mutant))
        if line is None or line["under"] != self._under(line["noticed"], line["by"]):
            return None
        return Outcome(line["noticed"], line["by"], line["cpu_s"])

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Append an outcome to the file."""
        under = self._under(outcome.noticed, outcome.by)
        line = {"mutant": self._name(mutant), **mutant._asdict(), **outcome._asdict(), "under": under}
        self._known[line["mutant"]] = line
        with self._file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _name(self, mutant: Mutant) -> str:
        return digest([mutant.file, mutant.apply((self._project / LIBRARY / mutant.file).read_text())])

    def _under(self, noticed: bool, by: str) -> str:
        if not noticed:
            return self._all
        test = self._project / by.split("::")[0]
        return digest([test.read_bytes()]) if test.is_file() else "any"
