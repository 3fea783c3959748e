"""A run of one's own script: `python -m sweetspot.harness.script_run REQUEST_JSON`, in place of a training process.

Starts the script, reads what it tells of its steps, speaks of them to the supervisor as `train` does, and ends the
script, with all that it started, once the stop rule holds. It ends as the script ends: by signal 9 where that was
killed so, with DIVERGED and one sentence (what went wrong, the last words) where the script failed.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import NamedTuple, NoReturn

import psutil

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness.backends import command as backend
from sweetspot.harness.disturbance import CpuWatch
from sweetspot.harness.facts import device_facts
from sweetspot.harness.launcher import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from sweetspot.harness.request import Request
from sweetspot.harness.run_memory import memory_error
from sweetspot.harness.script_output import Repeats, Splitter, StepClock, Told, reader
from sweetspot.harness.step_times import DIVERGED, NO_MEMORY
from sweetspot.harness.stop_rule import MeasuredSteps
from sweetspot.harness.train import say
from sweetspot.steps import VARIABLE
from sweetspot.study.scripts import JsonLines, Lines, Script, filled
from sweetspot.warnings import Warned

CHUNK = 1 << 16
LOOK_S = 0.005  # how often a file of steps is looked at
SILENT_LINES, SILENT_S = 50, 60.0  # without a step, after which it is said
GRACE_S = 3.0  # that a script has to end by itself when it is asked to


class Chunk(NamedTuple):
    """What was read, from the output or from the file of steps, and when."""

    raw: bytes
    now: float
    of_file: bool


class Started:
    """The script's process, what it says, and its end."""

    def __init__(self, script: Script, argv: list[str], environment: dict[str, str], file: Path | None) -> None:
        """Start it. Raises UserError where there is no such program or folder."""
        self._said: SimpleQueue[Chunk] = SimpleQueue()
        self.file = file
        self._before = file.stat().st_size if file is not None and file.is_file() else 0
        try:
            self.process = subprocess.Popen(
                argv, cwd=script.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )  # fmt: skip
        except OSError as error:
            what = argv[0] if Path(script.folder).is_dir() else script.folder
            raise UserError(f"the script's command cannot be started: {what}: {error.strerror or error}") from None
        for read in (self._output, *([self._steps] if file else [])):
            threading.Thread(target=read, daemon=True).start()

    def _output(self) -> None:
        assert self.process.stdout is not None
        while chunk := os.read(self.process.stdout.fileno(), CHUNK):
            self._said.put(Chunk(chunk, time.perf_counter(), of_file=False))
            while self._said.qsize() > 64:  # never a gigabyte here: the script waits
                time.sleep(0.001)

    def _steps(self) -> None:
        assert self.file is not None
        while not self.file.is_file() or self.file.stat().st_size == self._before > 0:
            time.sleep(LOOK_S)
        with self.file.open("rb") as told:
            # What an earlier run left there tells nothing of this one, unless the script began the file anew.
            told.seek(self._before if self.file.stat().st_size > self._before else 0)
            while True:
                chunk = told.read(CHUNK)
                if chunk:
                    self._said.put(Chunk(chunk, time.perf_counter(), of_file=True))
                time.sleep(0 if chunk else LOOK_S)

    def said(self) -> Iterator[Chunk]:
        """What it says, until it has ended and nothing more comes; what it started may hold its output open."""
        while True:
            try:
                yield self._said.get(timeout=0.2)
            except Empty:
                if self.process.poll() is not None:
                    return

    def end(self) -> None:
        """End it with all that it started: asked first, then killed."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(GRACE_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        for _ in range(100):  # who is killed may have started another meanwhile
            rest = psutil.Process().children(recursive=True)
            for process in rest:
                with suppress(psutil.Error, ChildProcessError):
                    process.kill()
                    os.waitpid(process.pid, os.WNOHANG)
            if not rest:
                break
            time.sleep(0.02)
        self.process.wait()


def _environment(script: Script, values: dict[str, str], steps: Path) -> dict[str, str]:
    library = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), library]))
    own = {name: filled(text, values) for name, text in script.environment.items()}
    if script.steps == "lightning":  # rich, which draws its bar, draws none into a file unless it is told to
        own = {"FORCE_COLOR": "1", "COLUMNS": "200", **own}
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": path, VARIABLE: str(steps), **own}


def expected(script: Script) -> str:
    """How this script was to tell its steps, in words."""
    if isinstance(script.steps, Lines):
        return f"lines that match {script.steps.pattern!r}"
    if isinstance(script.steps, JsonLines):
        return f"JSON lines in {script.steps.json_lines or 'its output'}"
    return "the iterator of sweetspot.steps" if script.steps == "iterator" else f"the lines of {script.steps}"


def listen(request: Request, script: Script, started: Started, splitter: Splitter, measured: MeasuredSteps) -> bool:
    """Tell its steps until the stop rule holds (True) or it has ended (False)."""
    samples = script.samples(request.cell)
    read = reader(script, samples, request.cell.gpus)
    every = script.steps.every if isinstance(script.steps, Lines | JsonLines) else 1
    clock, repeats, of_file, by_file = StepClock(every), Repeats(), Splitter(), started.file is not None
    enough, silence = False, Silence()
    for chunk in started.said():
        for line, moment in (of_file if chunk.of_file else splitter).lines(chunk.raw, chunk.now):
            told = _read(read, line, started) if chunk.of_file == by_file else None
            if told is None:
                if chunk.of_file == by_file and silence.is_news(moment):
                    say(
                        news=f"no step was told yet by {expected(script)[:90]}; the last line is {line.strip()[:150]!r}"
                    )
                continue
            silence.broken = True
            if told.loss is not None and not abs(told.loss) < float("inf"):
                fail(f"the loss is {told.loss}: such steps train nothing and are no throughput", started)
            repeats.told(told, moment)
            interval = clock.told(told, moment)
            if interval is not None and not enough:
                if measured.warming_up:
                    clock.comparison.forget()
                measured.add(*interval, told.loss, moment)
                enough = measured.enough()
        if enough:
            break
    warnings = [*_told_of(repeats.together(), clock.apart)]
    if script.steps != "iterator" and clock.comparison.disagrees():  # the iterator leaves out loading, by intent
        warnings.append(rate_disagrees(clock, samples, script.unit))
    say(facts={"ended_early": enough, "told": warnings})
    return enough


class Silence:
    """Notices, once, that a script has said much and nothing of a step."""

    def __init__(self) -> None:
        self.broken = False
        self._lines = 0
        self._first: float | None = None

    def is_news(self, now: float) -> bool:
        """Whether a line that tells no step is the first after 60 s or 50 lines without one."""
        self._lines += 1
        self._first = now if self._first is None else self._first
        if self.broken or (self._lines < SILENT_LINES and now - self._first < SILENT_S):
            return False
        self.broken = True
        return True


def _read(read: Callable[[str], Told | None], line: str, started: Started) -> Told | None:
    try:
        return read(line)
    except UserError as error:
        fail(f"{error}; name the group 'steps_per_s'", started)


def rate_disagrees(clock: StepClock, samples: int, unit: str) -> Warned:
    """Say what the script's own lines and the clock make of the same steps.

    Parameters
    ----------
    clock
        What timed the steps.
    samples
        Units that one step trains on, all devices together.
    unit
        What is counted, such as images.
    """
    compared = clock.comparison
    reported, timed = (
        f"{samples * compared.steps / seconds:.4g} {unit}/s ({seconds / compared.steps:.3g} s a step)"
        for seconds in (compared.reported_s, compared.clock_s)
    )
    used = "the clock's figure" if clock.numbered else "the script's figure"
    checks = "samples_per_step, `every`, the unit of the pattern's groups, and whether a rate is of one device"
    return Warned(
        "rate_disagrees",
        f"the script's own lines say {reported}, the clock {timed}; {used} is used; check {checks}",
    )


def _told_of(together: int, apart: int) -> Iterator[Warned]:
    """Warnings of what the lines were: `repeated_lines`, `validation`."""
    if together > 1:
        words = f"lines of steps come {together} at a time: where {together} processes print each step, the figure is"
        remedy = "let one of them print, or have the lines tell the step's number"
        yield Warned("repeated_lines", f"{words} {together} times too high; {remedy}")
    if apart:
        words = f"{apart} spells between steps (validation, a checkpoint, the end of an epoch)"
        yield Warned("validation", f"{words} are left out of the time of steps")


def fail(sentence: str, started: Started | None = None, code: int = DIVERGED) -> NoReturn:
    """End with one sentence."""
    if started is not None:
        started.end()
    print(sentence, file=sys.stderr, flush=True)
    raise SystemExit(code)


def last_words(script: Script, splitter: Splitter, measured: MeasuredSteps) -> str:
    """How far it came, and what it said last."""
    told = len(measured.timed) + measured.warmup
    far = f"{told} intervals told" if told else f"no step was told by {expected(script)[:90]}"
    return f"{far}; its last words: {splitter.words() or 'none'}"


def main(request: Request) -> None:
    """Run the script until the stop rule holds."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    script = backend.script(request)
    devices = backend.devices(request)
    named = {} if request.device == "cpu" else {"device_name": devices[0]}
    say(facts={**device_facts(request), **backend.facts(request), **named, "devices": devices})
    with tempfile.TemporaryDirectory(prefix="sweetspot-script-") as scratch:
        values = script.values(request.cell, request.run, scratch)
        argv, iterator = script.argv(values), Path(scratch, ".steps.jsonl")
        versions = backend.interpreter_versions(argv)
        say(facts={"script": argv, "script_files": backend.digests(script, argv), "versions": versions})
        file = iterator if script.steps == "iterator" else None
        if isinstance(script.steps, JsonLines) and script.steps.json_lines:
            file = Path(script.folder, filled(script.steps.json_lines, values))
        started = Started(script, argv, _environment(script, values, iterator), file)
        splitter, measured = Splitter(), MeasuredSteps(request, say, CpuWatch())
        _end_with_us(lambda: last_words(script, splitter, measured), started)
        enough = listen(request, script, started, splitter, measured)
        code = started.process.poll()
        whole = enough or (code == 0 and len(measured.timed) >= request.min_steps_slow)
        say(facts=measured.facts(), trained=whole)
        started.end()
        if not whole:
            _ended(request, code, measured, last_words(script, splitter, measured), splitter)


def _ended(request: Request, code: int | None, measured: MeasuredSteps, words: str, splitter: Splitter) -> None:
    """Say how a script ended that made too few steps. A shell tells of a killed program by 128 and the signal."""
    if code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        print(words, file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if code == 0:
        count = len(measured.timed)
        fail(f"the script ended after {count} timed intervals, expected {request.min_steps_slow}; {words}")
    how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    fail(f"the script ended {how}; {words}", code=NO_MEMORY if memory_error("\n".join(splitter.last)) else DIVERGED)


def _end_with_us(words: Callable[[], str], started: Started) -> None:
    """Where the supervisor ends this process (time limit, interrupt) or dies, the script ends too."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        said = words()
        started.end()
        fail(said)

    signal.signal(signal.SIGTERM, stop)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    with exit_on_user_error():
        main(Request.from_json(sys.argv[1]))
