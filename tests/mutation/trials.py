"""Runs a room's own fast tests against a mutant, in a copy of the project and in a process forked for it.

Libraries and earlier rooms are imported once, before the first fork: a mutant then costs little more than the tests
that run until one notices it. Tests that noticed another mutant of the file come first, then the quick ones, and among
equals those that call a function of the file.
"""

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import hypothesis
import pytest
from one_token import Mutant

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: a fork has none of its parent's threads

# In the order of the flow: a room imports those before it.
ROOMS = ("ground", "study", "matrix", "harness", "logs", "throughput", "transfer", "tokens", "scaling", "bills",
         "availability", "mixes", "decision", "claims", "catalogues", "report", "use", "commands")  # fmt: skip
# Those of the harness that only compute; the others start processes and frameworks, and want a machine to be tested.
PURE = ("facts", "flops", "nodes", "processor", "request", "runfile", "sampling", "step_times", "units")
# Tests that alone count for a file, and which of them. What the decision says is made of what it finds. The others are
# marked slow, since Keras is imported or all shipped figures are fitted.
OWN_TESTS = {
    "decision_words.py": ("tests/decision", "not slow"),
    "harness/flops.py": ("tests/harness/test_harness_flops.py", ""),
} | {
    f"commands/{name}.py": (f"tests/commands/test_{tests}.py", "")
    for tests, names in {
        "scaling_command": ("validate_scaling", "figures_csv"),
        "transfer_commands": ("validate_transfer", "predict"),
        "new_study": ("create_study", "study_of_today"),
        "new_study_ask": ("new_study", "study_questions"),
        "add_offer": ("add_offer", "offer_files", "offer_line", "scratch"),
    }.items()
    for name in names
}
LIBRARIES = ("numpy", "pandas", "scipy.optimize", "scipy.stats", "pyarrow.parquet", "pydantic", "yaml", "filelock")
# Tests of the commands read .github; what tools leave in other hidden folders is large.
NOT_COPIED = ("results", ".git", ".venv", ".mutants", ".snakemake", ".hypothesis", "*cache*", "*.egg-info")
NO_VERDICT = (3, 4, 5)  # exit codes of pytest: an error of its own, of the command line, and no tests
MEMORY = 5 << 30  # bytes: a mutant that fills the machine is noticed too


class Outcome(NamedTuple):
    """How a trial ended."""

    noticed: bool
    by: str  # the test that failed first; "import" or "time" where none got to the end
    cpu_s: float


class RoomFailsError(Exception):
    """The tests of a room fail as it stands."""


class Workshop:
    """A copy of the project in which one room is mutated."""

    def __init__(self, project: Path, copy: Path, room: str) -> None:
        self.copy, self.room = copy, room
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        (copy / "results").mkdir()
        self._report = copy.parent / "report.json"
        self._costs: dict[str, float] = {}
        self._reached: dict[str, list[str]] = {}  # files by test
        self._noticed_before: dict[str, list[str]] = {}
        os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (copy / "workflow", copy / "tests" / "support")))
        sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
        for name in (*LIBRARIES, *self._rooms_before()):
            importlib.import_module(name)
        loaded = sorted(name for name in sys.modules if name.startswith(f"sweetspot.{room}."))
        if loaded:
            raise RoomFailsError(f"a room before {room} imports it, so that no mutant would be seen: {loaded[0]}")

    def _rooms_before(self) -> list[str]:
        """Modules that no module of the room can change: the ground and the rooms before it, frameworks left out."""
        library = self.copy / "workflow" / "sweetspot"
        earlier = ROOMS[: ROOMS.index(self.room)]
        rooms = ["" if room == "ground" else room for room in earlier if room != "harness"]
        files = [file for room in rooms for file in sorted((library / room).glob("*.py")) if file.stem != "__main__"]
        return [".".join(file.relative_to(library.parent).with_suffix("").parts) for file in files]

    def rehearse(self) -> float:
        """CPU-seconds of the tests without a mutant; learns what each costs. Raises RoomFailsError."""
        done = self._fork(None, 3600)
        if done.noticed:
            told = self._report.with_suffix(".txt").read_text()[-2000:] if done.by == "import" else ""
            raise RoomFailsError(f"tests/{self.room} fail without any mutant: {done.by}\n{told}".rstrip())
        return done.cpu_s

    def trial(self, mutant: Mutant, cpu_limit_s: float) -> Outcome:
        """Run the tests until one notices the mutant."""
        target = self.copy / "workflow" / "sweetspot" / mutant.file
        times = target.stat()
        source = target.read_text()
        target.write_text(mutant.apply(source))
        try:
            done = self._fork(mutant, cpu_limit_s)
        finally:
            target.write_text(source)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))  # the bytecode beside it is good again
            shutil.rmtree(self.copy / ".hypothesis", ignore_errors=True)
        if "::" in done.by:
            known = self._noticed_before.setdefault(mutant.file, [])
            self._noticed_before[mutant.file] = [done.by, *(test for test in known if test != done.by)]
        return done

    def _fork(self, mutant: Mutant | None, cpu_limit_s: float) -> Outcome:
        self._report.unlink(missing_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._run_tests(mutant, cpu_limit_s)
        code = _wait(child, 5 * cpu_limit_s)
        if code in NO_VERDICT:
            raise RoomFailsError(f"pytest ended with {code}: {self._report.with_suffix('.txt').read_text()[-2000:]}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads(self._report.read_text()) if self._report.exists() else {}
        self._costs = self._costs or report.get("costs", {})
        self._reached = self._reached or report.get("reached", {})
        by = "time" if code < 0 else report.get("failed") or "import"
        return Outcome(code != 0, by if code else "", sum(after[:2]) - sum(before[:2]))

    def _run_tests(self, mutant: Mutant | None, cpu_limit_s: float) -> None:
        """The child's whole life."""
        code = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit_s) + 1, int(cpu_limit_s) + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            os.chdir(self.copy)
            for stream in (1, 2):
                os.dup2(os.open(self._report.with_suffix(".txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            every = (f"tests/{self.room}", "not slow")
            tests, marked = OWN_TESTS.get(mutant.file, every) if mutant else every
            sys.dont_write_bytecode = mutant is not None
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1" if mutant else ""
            first = self._noticed_before.get(mutant.file, []) if mutant else []
            reaching = {test for test, files in self._reached.items() if mutant and mutant.file in files}
            watcher = Watcher(first, reaching, self._costs, self._report)
            if mutant is None:
                watcher.look_at(self.copy / "workflow" / "sweetspot")
            asked = [tests, "-m", marked, "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
            code = int(pytest.main(asked, plugins=[watcher]))
            watcher.write()
        finally:
            os._exit(code)


class Watcher:
    """A pytest plugin: orders the tests, and writes what each cost, which files it reached and which failed."""

    def __init__(self, first: Sequence[str], reaching: Set[str], costs: dict[str, float], report: Path) -> None:
        self._first, self._reaching, self._known, self._file = list(first), reaching, costs, report
        self._costs: dict[str, float] = {}
        self._reached: dict[str, set[str]] = {}
        self._failed = ""
        self._library = ""

    def look_at(self, library: Path) -> None:
        """Note from now on of which files each test calls a function, in this process."""
        self._library = f"{library}{os.sep}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """The test with its fixtures."""
        if not self._library:
            return (yield)
        files = self._reached.setdefault(item.nodeid, set())

        def called(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(self._library):
                files.add(frame.f_code.co_filename.removeprefix(self._library))

        sys.setprofile(called)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """No search for a smaller example: one is enough. Nothing kept from mutant to mutant."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", parent=hypothesis.settings(), database=None, phases=phases)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Those that noticed before, then by the power of ten of their cost: fixtures of a module are made rarely.

        A test that shares a dear fixture costs what the fixture does, whichever test the rehearsal made it for.
        """
        shared: dict[tuple[str, str], float] = {}
        for item in items:
            dear = self._known.get(f"{item.nodeid} setup", 0.0)
            for fixture in _own_fixtures(item):
                shared[fixture] = max(shared.get(fixture, 0.0), dear)

        def place(item: pytest.Item) -> tuple[int, int, str]:
            if item.nodeid in self._first:
                return -1, self._first.index(item.nodeid), ""
            other = item.nodeid not in self._reaching  # waits as if it were ten times as dear
            cost = self._known.get(item.nodeid, 0.0) + max([shared[name] for name in _own_fixtures(item)], default=0.0)
            return other + sum(cost > bound for bound in (0.02, 0.2, 1.0)), 0, item.nodeid.split("::")[0]

        if self._known:
            items.sort(key=place)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what the fixtures and what the test itself took."""
        if report.when in ("setup", "call"):
            self._costs[report.nodeid + (" setup" if report.when == "setup" else "")] = report.duration
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def write(self) -> None:
        """Tell the parent."""
        reached = {test: sorted(files) for test, files in self._reached.items()}
        self._file.write_text(json.dumps({"costs": self._costs, "reached": reached, "failed": self._failed}))


def _own_fixtures(item: pytest.Item) -> list[tuple[str, str]]:
    """The fixtures of a test's own module that serve several tests."""
    found = item._fixtureinfo.name2fixturedefs
    module = item.nodeid.split("::")[0]
    return [(module, name) for name, several in found.items() if several[-1].scope != "function" and several[-1].baseid]


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
