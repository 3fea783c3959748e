"""Measure a script in place of a training process: `python -m sweetspot.harness.script_run REQUEST_JSON`.

It starts the script, reads its steps, reports them to the supervisor as `train` does, and ends the script with all
that it started once the stop rule holds. Where the script fails it exits with DIVERGED and one sentence, or by signal 9
where the script was killed so.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NamedTuple, NoReturn

import psutil

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness.backends import command as backend
from sweetspot.harness.disturbance import CpuWatch
from sweetspot.harness.facts import device_facts
from sweetspot.harness.launcher import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from sweetspot.harness.request import Request
from sweetspot.harness.run_memory import memory_error
from sweetspot.harness.script_output import LineSplitter, RepeatDetector, StepClock, StepReader
from sweetspot.harness.step_times import DIVERGED, NO_MEMORY
from sweetspot.harness.stop_rule import MeasuredSteps
from sweetspot.harness.train import say
from sweetspot.steps import VARIABLE
from sweetspot.study.scripts import JsonLines, Lines, Script, filled
from sweetspot.warnings import Warned

CHUNK_BYTES = 1 << 16
POLL_S = 0.005  # how often a file of steps is read
IDLE_S = 0.2  # without output, after which it is asked whether the script has ended
SILENT_LINES, SILENT_S = 50, 60.0  # without a step, after which the supervisor is told
GRACE_S = 3.0  # for a script to end after SIGTERM


class Chunk(NamedTuple):
    """Bytes that were read at `now`, from the script's output or from its file of steps."""

    raw: bytes
    now: float
    is_of_file: bool


class ScriptProcess:
    """The script's process and what it writes.

    Parameters
    ----------
    script
        The description.
    argv
        Program and arguments.
    environment
        All variables.
    file
        The file to which it writes its steps; None: its output.

    Raises
    ------
    UserError
        If there is no such program or folder.
    """

    def __init__(self, script: Script, argv: list[str], environment: dict[str, str], file: Path | None) -> None:
        self.file = file
        self._handle: BinaryIO | None = None
        self._old_size = file.stat().st_size if file is not None and file.is_file() else 0
        try:
            self.process = subprocess.Popen(
                argv,
                cwd=script.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        except OSError as error:
            name = argv[0] if Path(script.folder).is_dir() else script.folder
            raise UserError(f"the script's command cannot be started: {name}: {error.strerror or error}") from None
        assert self.process.stdout is not None
        self._outputs = [self.process.stdout]

    def chunks(self) -> Iterator[Chunk]:
        """Yield what it writes until it has ended and is silent; its children may keep its output open."""
        while True:
            has_ended = self.process.poll() is not None
            written = self._read_output()
            if written:
                yield Chunk(written, time.perf_counter(), is_of_file=False)
            steps = self._read_file()
            if steps:
                yield Chunk(steps, time.perf_counter(), is_of_file=True)
            if has_ended and not written and not steps:
                return

    def _read_output(self) -> bytes:
        """Return what it wrote, after IDLE_S at the latest; a file of steps must not wait so long."""
        readable, _, _ = select.select(self._outputs, [], [], IDLE_S if self.file is None else POLL_S)
        written = os.read(readable[0].fileno(), CHUNK_BYTES) if readable else b""
        if readable and not written:
            self._outputs = []  # it closed its output
        return written

    def _read_file(self) -> bytes:
        if self.file is None:
            return b""
        if self._handle is None:
            size = self.file.stat().st_size if self.file.is_file() else 0
            if size in (0, self._old_size):
                return b""
            self._handle = self.file.open("rb")
            # Lines of an earlier run are passed over, unless the script began the file again.
            self._handle.seek(self._old_size if size > self._old_size else 0)
        return self._handle.read(CHUNK_BYTES)

    def end(self) -> None:
        """End it with all that it started, by SIGTERM and then by SIGKILL."""
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(GRACE_S)
        for _ in range(100):  # a process may start another before it is killed
            children = psutil.Process().children(recursive=True)
            for child in children:
                with suppress(psutil.Error):
                    child.kill()
            if not psutil.wait_procs(children, timeout=GRACE_S)[0]:
                break
        self.process.wait()


def _environment(script: Script, values: dict[str, str], steps_file: Path) -> dict[str, str]:
    library = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), library]))
    variables = {name: filled(text, values) for name, text in script.environment.items()}
    if script.steps == "lightning":  # rich draws no bar into a pipe by itself
        variables = {"FORCE_COLOR": "1", "COLUMNS": "200", **variables}
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": path, VARIABLE: str(steps_file), **variables}


def describe_steps(script: Script) -> str:
    """Say in words how this script reports its steps."""
    if isinstance(script.steps, Lines):
        return f"lines that match {script.steps.pattern!r}"[:90]
    if isinstance(script.steps, JsonLines):
        return f"JSON lines in {script.steps.json_lines or 'its output'}"[:90]
    return "the iterator of sweetspot.steps" if script.steps == "iterator" else f"the lines of {script.steps}"


class ScriptRun:
    """One run of a script: its output, read until the stop rule holds.

    Parameters
    ----------
    request
        The run and its protocol.
    script
        The description.
    process
        The script's process.
    measured
        Gets its intervals.
    """

    def __init__(self, request: Request, script: Script, process: ScriptProcess, measured: MeasuredSteps) -> None:
        self._script = script
        self._process = process
        self._samples = script.samples(request.cell)
        self._reader = StepReader(script, self._samples, request.cell.gpus)
        self._clock = StepClock(script.steps.every if isinstance(script.steps, Lines | JsonLines) else 1)
        self._repeats = RepeatDetector()
        self._lines_without_step = 0
        self._first_moment: float | None = None
        self._is_news = True  # that no step was reported
        self.measured = measured
        self.output = LineSplitter()

    def read_steps(self) -> bool:
        """Report steps until the stop rule holds (True) or the script has ended (False)."""
        file_lines = LineSplitter()
        reads_file = self._process.file is not None
        is_enough = False
        for chunk in self._process.chunks():
            splitter = file_lines if chunk.is_of_file else self.output
            for line, moment in splitter.split(chunk.raw, chunk.now):
                is_enough = is_enough or (chunk.is_of_file == reads_file and self._add_line(line, moment))
            if is_enough:
                break
        say(facts={"ended_early": is_enough, "told": self._warnings()})
        return is_enough

    def _add_line(self, line: str, moment: float) -> bool:
        try:
            report = self._reader.read(line)
        except UserError as error:
            self.fail(f"{error}; name the group 'steps_per_s'")
        if report is None:
            self._note_silence(line, moment)
            return False
        self._is_news = False
        if report.loss is not None and not abs(report.loss) < float("inf"):
            self.fail(f"the loss is {report.loss}: such steps train nothing and are no throughput")
        self._repeats.add(report, moment)
        interval = self._clock.add(report, moment)
        if interval is None:
            return False
        if self.measured.warming_up:
            self._clock.comparison.clear()
        self.measured.add(*interval, report.loss, moment)
        return self.measured.enough()

    def _note_silence(self, line: str, moment: float) -> None:
        """Tell the supervisor once that the script wrote much and no step."""
        self._lines_without_step += 1
        self._first_moment = moment if self._first_moment is None else self._first_moment
        is_silent = self._lines_without_step >= SILENT_LINES or moment - self._first_moment >= SILENT_S
        if self._is_news and is_silent:
            self._is_news = False
            expected = describe_steps(self._script)
            say(news=f"no step was told yet by {expected}; the last line is {line.strip()[:150]!r}")

    def _warnings(self) -> list[Warned]:
        warnings = []
        processes, pauses, compared = self._repeats.lines_per_step(), self._clock.pauses, self._clock.comparison
        if processes > 1:
            fault = f"lines of steps come {processes} at a time: where {processes} processes print each step"
            remedy = "let one of them print, or have the lines tell the step's number"
            text = f"{fault}, the figure is {processes} times too high; {remedy}"
            warnings.append(Warned("repeated_lines", text))
        if pauses:
            text = f"{pauses} spells between steps (validation, a checkpoint, the end of an epoch) are left out"
            warnings.append(Warned("validation", f"{text} of the time of steps"))
        # The iterator leaves out loading by intent.
        if self._script.steps != "iterator" and compared.disagrees():
            reported, clock = (
                f"{self._samples * compared.steps / seconds:.4g} {self._script.unit}/s "
                f"({seconds / compared.steps:.3g} s a step)"
                for seconds in (compared.reported_s, compared.clock_s)
            )
            used = "the clock's figure" if self._clock.has_numbers else "the script's figure"
            checks = "samples_per_step, `every`, the unit of the pattern's groups, and whether a rate is of one device"
            text = f"the script's own lines say {reported}, the clock {clock}; {used} is used; check {checks}"
            warnings.append(Warned("rate_disagrees", text))
        return warnings

    def ending(self) -> str:
        """Say how far the script came, and its last lines."""
        count = len(self.measured.timed) + self.measured.warmup
        steps = f"{count} intervals told" if count else f"no step was told by {describe_steps(self._script)}"
        return f"{steps}; its last words: {self.output.ending() or 'none'}"

    def fail(self, sentence: str, code: int = DIVERGED) -> NoReturn:
        """End the script, and this process with one sentence."""
        self._process.end()
        print(sentence, file=sys.stderr, flush=True)
        raise SystemExit(code)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """End the script because the supervisor ends this process (time limit, interrupt) or died."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.fail(self.ending())

    def finish(self, is_enough: bool, min_steps: int) -> None:
        """End the script; exit with a sentence where it made too few steps.

        Parameters
        ----------
        is_enough
            Whether the stop rule holds.
        min_steps
            Timed intervals that a script which ended by itself must have made.
        """
        code = self._process.process.poll()
        count = len(self.measured.timed)
        is_complete = is_enough or (code == 0 and count >= min_steps)
        say(facts=self.measured.facts(), trained=is_complete)
        self._process.end()
        if is_complete:
            return
        ending = self.ending()
        if code == 0:
            self.fail(f"the script ended after {count} timed intervals, expected {min_steps}; {ending}")
        if code in (-signal.SIGKILL, 128 + signal.SIGKILL):  # a shell reports a killed program by 128 and the signal
            print(ending, file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        manner = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        lacked_memory = memory_error("\n".join(self.output.last_lines))
        self.fail(f"the script ended {manner}; {ending}", NO_MEMORY if lacked_memory else DIVERGED)


def main(request: Request) -> None:
    """Run the script until the stop rule holds."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    script = backend.script(request)
    devices = backend.devices(request)
    facts = {**device_facts(request), **backend.facts(request), "devices": devices}
    if request.device == "gpu":
        facts["device_name"] = devices[0]
    with tempfile.TemporaryDirectory(prefix="sweetspot-script-") as scratch:
        values = script.values(request.cell, request.run, scratch)
        argv = script.argv(values)
        facts |= {"script": argv, "script_files": backend.digests(script, argv)}
        say(facts=facts | {"versions": backend.interpreter_versions(argv)})
        steps_file = Path(scratch, ".steps.jsonl")
        file = steps_file if script.steps == "iterator" else None
        if isinstance(script.steps, JsonLines) and script.steps.json_lines:
            file = Path(script.folder, filled(script.steps.json_lines, values))
        process = ScriptProcess(script, argv, _environment(script, values, steps_file), file)
        run = ScriptRun(request, script, process, MeasuredSteps(request, say, CpuWatch()))
        signal.signal(signal.SIGTERM, run.stop)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        run.finish(run.read_steps(), request.min_steps_slow)


if __name__ == "__main__":
    with exit_on_user_error():
        main(Request.from_json(sys.argv[1]))
