"""A pytest plugin that notes what each test costs and which lines of a room it runs, and then runs those asked for."""

import functools
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import hypothesis
import pytest

Lines = dict[str, list[int]]  # by file of the room, under the library
CHILD = "a process of its own"  # in Lines: which lines such a test reaches is not seen


class Seen(NamedTuple):
    """What a test was seen to do without a mutant."""

    took_s: float
    alone_s: float  # with the dearest fixture that it shares, whichever test made that
    lines: Lines


class Watcher:
    """Orders the tests, and writes what each cost, which lines it ran and which failed."""

    def __init__(self, wanted: Sequence[str], report: Path) -> None:
        self._wanted = {test: place for place, test in enumerate(wanted)}  # none: all
        self._file = report
        self._costs: dict[str, float] = defaultdict(float)
        self._shared: dict[str, float] = {}
        self._uses: dict[str, list[str]] = {}  # shared fixtures by test
        self._lines: dict[str, dict[str, set[int]]] = {"": {}}  # by test or shared fixture
        self._now = [""]
        self._failed = ""
        self._folder = ""

    def trace(self, library: Path, room: str) -> None:
        """Note from now on which lines of a room each test runs, in this process."""
        self._folder = f"{library}{os.sep}"
        within = f"{library / room}{os.sep}"
        ours: dict[str, str] = {}

        def called(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
            file = frame.f_code.co_filename
            if file not in ours:
                mine = file.startswith(within) or (room == "ground" and Path(file).parent == library)
                ours[file] = file.removeprefix(self._folder) if mine else ""
            return line if ours[file] else None

        def line(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
            if event == "line":
                lines = self._lines[self._now[-1]]
                lines.setdefault(ours[frame.f_code.co_filename], set()).add(frame.f_lineno)
            return line

        def audited(event: str, _: object) -> None:
            if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
                self._lines[self._now[-1]].setdefault(CHILD, set()).add(0)

        sys.settrace(called)
        threading.settrace(called)
        sys.addaudithook(audited)

    @contextmanager
    def _noting(self, name: str) -> Iterator[None]:
        self._lines.setdefault(name, {})
        self._now.append(name)
        try:
            yield
        finally:
            self._now.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """The test with its own fixtures; what an earlier one left in a cache is computed again."""
        if self._folder:
            for name, module in list(sys.modules.items()):
                if name.startswith("sweetspot.") and (module.__file__ or "").startswith(self._folder):
                    for value in vars(module).values():
                        if isinstance(value, functools._lru_cache_wrapper):
                            value.cache_clear()
        self._uses[item.nodeid] = [
            _named(several[-1]) for several in item._fixtureinfo.name2fixturedefs.values() if _is_shared(several[-1])
        ]
        with self._noting(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        """A fixture of several tests: what it runs counts for each of them."""
        if not _is_shared(fixturedef):
            return (yield)
        with self._noting(_named(fixturedef)):
            return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """No search for a smaller example: one is enough. Nothing kept from mutant to mutant."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", parent=hypothesis.settings(), database=None, phases=phases)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Only the wanted ones, in their order."""
        if self._wanted:
            items[:] = [item for item in items if item.nodeid in self._wanted]
            items.sort(key=lambda item: self._wanted[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what the fixtures and what the test itself took."""
        self._costs[report.nodeid] += report.duration
        if report.when == "setup":
            for name in self._uses[report.nodeid]:
                self._shared[name] = max(self._shared.get(name, 0.0), report.duration)
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def write(self) -> None:
        """Tell the parent."""
        sys.settrace(None)
        seen = {}
        for test, uses in self._uses.items():
            lines: dict[str, set[int]] = defaultdict(set)
            for name in (test, *uses):
                for file, found in self._lines.get(name, {}).items():
                    lines[file] |= found
            alone = self._costs[test] + max((self._shared.get(name, 0.0) for name in uses), default=0.0)
            seen[test] = Seen(self._costs[test], alone, {file: sorted(found) for file, found in lines.items()})
        self._file.write_text(json.dumps({"seen": seen, "failed": self._failed}))


def _named(fixture: Any) -> str:
    return f"{fixture.baseid}::{fixture.argname}"


def _is_shared(fixture: Any) -> bool:
    return fixture.scope != "function" and bool(fixture.baseid)
