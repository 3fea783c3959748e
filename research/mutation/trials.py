"""Runs a room's own fast tests against a mutant, in a copy of the project and in a process forked for it.

Libraries and earlier rooms are imported once, before the first fork: a mutant then costs little more than the tests
that run until one notices it. Only tests that reach its statement run, as a rehearsal found them: those that noticed
another mutant of the file come first, then the quick ones.
"""

import ast
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from one_token import Mutant
from watcher import CHILD, Seen, Watcher

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: a fork has none of its parent's threads

# In the order of the flow: a room imports those before it.
ROOMS = ("ground", "study", "matrix", "logs", "harness", "throughput", "transfer", "tokens", "scaling", "bills",
         "availability", "mixes", "decision", "claims", "catalogues", "report", "use", "commands")  # fmt: skip
# Those of the harness that only compute; the others start processes and frameworks, and want a machine to be tested.
PURE = ("facts", "request", "runfile", "sampling", "step_times", "stop_rule")
# Rooms of which others' tests count too, where those call it by name.
TESTS = {
    "commands": ("commands", "use"),  # The commands of use are tested where use is.
    "bills": ("bills", "study"),  # `check_scenarios`, with the scenarios.
    "throughput": ("throughput", "scaling"),  # `against_published` and `calibrate`, of what is extrapolated.
    "scaling": ("scaling", "transfer"),  # `check_figure`, with the figures that are transferred.
}
# Tests that alone count for a file, and which of them.
OWN_TESTS: dict[str, tuple[str, str]] = {}
LIBRARIES = ("numpy", "pandas", "scipy.optimize", "scipy.stats", "pyarrow.parquet", "pydantic", "yaml", "filelock")
# Tests of the commands read .github; what tools leave in other hidden folders is large.
NOT_COPIED = ("results", ".git", ".venv", ".mutants", ".snakemake", ".hypothesis", "*cache*", "*.egg-info")
NO_VERDICT = (3, 4, 5)  # exit codes of pytest: an error of its own, of the command line, and no tests
MEMORY = 5 << 30  # bytes: a mutant that fills the machine is noticed too


def digest(parts: Iterable[bytes | str]) -> str:
    """A short name of contents."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else part)
        whole.update(b"\0")
    return whole.hexdigest()[:16]


def tests_of(project: Path, room: str, pattern: str) -> list[Path]:
    """Files of the tests that count for a room."""
    folders = TESTS.get(room, (room,))
    return [file for folder in folders for file in (project / "tests" / folder).glob(pattern)]


class Outcome(NamedTuple):
    """How a trial ended."""

    noticed: bool
    by: str  # the test that failed first; "import" or "time" where none got to the end
    cpu_s: float


class RoomFailsError(Exception):
    """The tests of a room fail as it stands."""


class Workshop:
    """A copy of the project in which one room is mutated."""

    def __init__(self, project: Path, copy: Path, room: str, kept: Path) -> None:
        self.copy, self.room, self._kept = copy, room, kept
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        (copy / "results").mkdir()
        self._library = copy / "workflow" / "sweetspot"
        self._report = copy.parent / "report.json"
        self._seen: dict[str, Seen] = {}
        self._noticed_before: dict[str, list[str]] = {}
        self._trials = 0
        os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (copy / "workflow", copy / "tests" / "support")))
        sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
        for name in (*LIBRARIES, *self._rooms_before()):
            importlib.import_module(name)
        loaded = sorted(name for name in sys.modules if name.startswith(f"sweetspot.{room}."))
        if loaded:
            raise RoomFailsError(f"a room before {room} imports it, so that no mutant would be seen: {loaded[0]}")

    def _rooms_before(self) -> list[str]:
        """Modules that no module of the room can change: the ground and the rooms before it, frameworks left out."""
        earlier = ROOMS[: ROOMS.index(self.room)]
        rooms = ["" if room == "ground" else room for room in earlier if room != "harness"]
        files = [file for room in rooms for file in sorted((self._library / room).glob("*.py"))]
        files = [file for file in files if file.stem != "__main__"]
        return [".".join(file.relative_to(self._library.parent).with_suffix("").parts) for file in files]

    def rehearse(self) -> float:
        """Seconds of the tests without a mutant; learns what each costs and reaches. Raises RoomFailsError.

        Kept by file of tests until that, what all share, or the library changes.
        """
        files = sorted(tests_of(self.copy, self.room, "test_*.py"))
        shared = [*self._library.rglob("*.py"), *(self.copy / "tests" / "support").rglob("*.py")]
        shared += (self.copy / "tests").glob("**/conftest.py")
        all_share = digest(file.read_bytes() for file in sorted(shared))
        names = {str(file.relative_to(self.copy)): digest([all_share, file.read_bytes()]) for file in files}
        known = json.loads(self._kept.read_text()) if self._kept.exists() else {}
        known = {file: row for file, row in known.items() if row["of"] == names.get(file)}
        new = [file for file in names if file not in known]
        if new:
            done, report = self._fork(None, new, [], 3600)
            if done.noticed:
                told = self._report.with_suffix(".txt").read_text()[-2000:] if done.by == "import" else ""
                raise RoomFailsError(f"tests of {self.room} fail without any mutant: {done.by}\n{told}".rstrip())
            for file in new:
                seen = {test: each for test, each in report["seen"].items() if test.startswith(f"{file}::")}
                known[file] = {"of": names[file], "seen": seen}
            self._kept.write_text(json.dumps(known))
        self._seen = {test: Seen(*each) for row in known.values() for test, each in row["seen"].items()}
        return sum(seen.took_s for seen in self._seen.values())

    def trial(self, mutant: Mutant) -> Outcome:
        """Run the tests that reach the mutant until one notices it."""
        target = self._library / mutant.file
        times = target.stat()
        source = target.read_text()
        wanted = [] if mutant.file in OWN_TESTS else self._wanted(mutant, source)
        if not wanted and mutant.file not in OWN_TESTS:
            return Outcome(False, "", 0.0)
        files = sorted({test.split("::")[0] for test in wanted})
        target.write_text(mutant.apply(source))
        # A second of its own: bytecode is told by time and size, and that of the mutant before may have both the same.
        self._trials += 1
        os.utime(target, (times.st_atime, int(times.st_mtime) + self._trials))
        try:
            limit_s = 20 + 4 * sum(self._seen[test].took_s for test in wanted)
            done, _ = self._fork(mutant, files, wanted, limit_s if wanted else 600)
        finally:
            target.write_text(source)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
            shutil.rmtree(self.copy / ".hypothesis", ignore_errors=True)
        if "::" in done.by:
            known = self._noticed_before.setdefault(mutant.file, [])
            self._noticed_before[mutant.file] = [done.by, *(test for test in known if test != done.by)]
        return done

    def _wanted(self, mutant: Mutant, source: str) -> list[str]:
        """Tests that reach the mutant's statement: those that noticed others of the file, then the cheap ones.

        What runs when a module is imported can change all of it: tests that run any line of the file, then all others.
        """
        span = statement_at(source, mutant.line)

        def reaches(seen: Seen) -> bool:
            lines = seen.lines.get(mutant.file, [])
            return CHILD in seen.lines or (bool(span.intersection(lines)) if span else bool(lines))

        first = self._noticed_before.get(mutant.file, [])

        def place(test: str) -> tuple[int, int, str]:
            if test in first:
                return -1, first.index(test), ""
            return sum(self._seen[test].alone_s > bound for bound in (0.02, 0.2, 1.0)), 0, test.split("::")[0]

        found = sorted((test for test, seen in self._seen.items() if reaches(seen)), key=place)
        if not span:  # constants that only other modules and tests read
            found += sorted(self._seen.keys() - set(found), key=place)
        return found

    def _fork(
        self, mutant: Mutant | None, files: list[str], wanted: list[str], limit_s: float
    ) -> tuple[Outcome, dict[str, Any]]:
        self._report.unlink(missing_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._run_tests(mutant, files, wanted, limit_s)
        code = _wait(child, 5 * limit_s)
        if code in NO_VERDICT:
            raise RoomFailsError(f"pytest ended with {code}: {self._report.with_suffix('.txt').read_text()[-2000:]}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads(self._report.read_text()) if self._report.exists() else {}
        by = "time" if code < 0 else report.get("failed") or "import"
        return Outcome(code != 0, by if code else "", sum(after[:2]) - sum(before[:2])), report

    def _run_tests(self, mutant: Mutant | None, files: list[str], wanted: list[str], limit_s: float) -> None:
        """The child's whole life."""
        code = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            os.chdir(self.copy)
            for stream in (1, 2):
                os.dup2(os.open(self._report.with_suffix(".txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            own, marked = OWN_TESTS.get(mutant.file, ("", "not slow")) if mutant else ("", "not slow")
            watcher = Watcher(wanted, self._report)
            if mutant is None:
                watcher.trace(self._library, self.room)
            asked = [*([own] if own else files), "-m", marked, "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
            asked += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Hypothesis is imported before the fork.
            code = int(pytest.main(asked, plugins=[watcher]))
            watcher.write()
        finally:
            os._exit(code)


def statement_at(source: str, line: int) -> set[int]:
    """Lines of the innermost statement at a line, of a compound one its head; none where it runs at import."""
    around = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt) and node.lineno <= line]
    around = [node for node in around if line <= (node.end_lineno or node.lineno)]
    functions = [node for node in around if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line]
    if not functions:
        return set()
    inner = max(around, key=lambda node: node.lineno)
    body = getattr(inner, "body", None)
    last = body[0].lineno - 1 if body else inner.end_lineno or inner.lineno
    return set(range(inner.lineno, max(last, inner.lineno) + 1))


def _wait(child: int, wall_limit_s: float) -> int:
    """Exit code of a child (negative: the signal that ended it); ends it and all it started after the limit."""
    until = time.monotonic() + wall_limit_s
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(0.02)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)
