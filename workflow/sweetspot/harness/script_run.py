"""Measure a script in place of a training process: `python -m sweetspot.harness.script_run REQUEST_JSON`. It starts
the script, reads its steps, reports them to the supervisor as `train` does, and ends the script with all that it
started once the stop rule holds. Where the script fails it exits with DIVERGED and one sentence, or by the signal 9.
"""

import math
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
from typing import NamedTuple, NoReturn

import psutil

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness.backends.command import script_facts
from sweetspot.harness.facts import memory_error
from sweetspot.harness.launcher import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from sweetspot.harness.request import DIVERGED, NO_MEMORY, Request
from sweetspot.harness.script_output import MAX_LINES, LineSplitter, StepClock, StepReader, lines_per_step
from sweetspot.harness.stop_rule import MeasuredSteps
from sweetspot.harness.train import say
from sweetspot.steps import VARIABLE
from sweetspot.study.scripts import JsonLines, Lines, Script, filled, load_script

CHUNK_BYTES = 1 << 16
POLL_S = 0.005  # how often a file of steps is read
IDLE_S = 0.2  # without output, after which it is asked whether the script has ended
SILENT_LINES, SILENT_S = 50, 60.0  # without a step, after which the supervisor is told
GRACE_S = 3.0  # for a script to end after SIGTERM
MAX_KILL_ROUNDS = 100  # a process may start another before it is killed


class Chunk(NamedTuple):
    """Bytes that were read at `now`, from the script's output or from its file of steps."""

    raw: bytes
    now: float
    is_of_file: bool


class ScriptProcess:
    """The script's process, in a session of its own, and what it writes.  `argv` has all placeholders filled in,
    `environment` all variables; `file`: to which the script writes its steps (None: they are lines of its output).
    """

    def __init__(self, script: Script, argv: list[str], environment: dict[str, str], file: Path | None) -> None:
        self.file = file
        # Lines of an earlier run are passed over, unless the script begins the file again.
        self._position = file.stat().st_size if file is not None and file.is_file() else 0
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
        """Yield the bytes that the script writes, with the moment of reading, until it ended and no more come."""
        while True:
            has_ended = self.process.poll() is not None
            chunks = [Chunk(self._read_output(), time.perf_counter(), is_of_file=False)]
            chunks.append(Chunk(self._read_file(), time.perf_counter(), is_of_file=True))
            written = [chunk for chunk in chunks if chunk.raw]
            yield from written
            if has_ended and not written:
                return

    def _read_output(self) -> bytes:
        """Return the script's new output (bytes), to find steps in; b'' if none comes in 0.2 s (5 ms beside a file)."""
        readable, _, _ = select.select(self._outputs, [], [], IDLE_S if self.file is None else POLL_S)
        written = os.read(readable[0].fileno(), CHUNK_BYTES) if readable else b""
        if readable and not written:
            self._outputs = []  # it closed its output
        return written

    def _read_file(self) -> bytes:
        """Return what the script added to its file of steps since the last call, to find steps in; b'' for nothing."""
        if self.file is None or not self.file.is_file():
            return b""
        with self.file.open("rb") as steps:
            if self._position > os.fstat(steps.fileno()).st_size:
                self._position = 0
            steps.seek(self._position)
            written = steps.read(CHUNK_BYTES)
        self._position += len(written)
        return written

    def end(self) -> None:
        """End the script and all that it started, to free its devices: by SIGTERM and, after 3 s, by SIGKILL."""
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(GRACE_S)
        for _ in range(MAX_KILL_ROUNDS):
            children = psutil.Process().children(recursive=True)
            for child in children:
                with suppress(psutil.Error):
                    child.kill()
            if not psutil.wait_procs(children, timeout=GRACE_S)[0]:
                break
        self.process.wait()


class ScriptRun:
    """One run of a script: its output, read until the stop rule of the request holds."""

    def __init__(self, request: Request, script: Script, process: ScriptProcess) -> None:
        self._request = request
        self._script = script
        self._process = process
        self._samples = script.samples(request.cell)
        self._reader = StepReader(script, self._samples, request.cell.gpus)
        self._clock = StepClock(script.steps.every if isinstance(script.steps, Lines | JsonLines) else 1)
        self._bare_moments: list[float] = []  # of lines that report a step without number or time
        self._lines_without_step = 0
        self._first_moment = math.nan
        self._may_be_silent = True  # until it reports a step, or the supervisor is told
        self.measured = MeasuredSteps(request, say)
        self.output = LineSplitter()

    def read_steps(self) -> bool:
        """Time the steps that the script reports and pass them to the supervisor (which writes the run file); return
        True once the protocol's stop rule holds (enough steps), False if the script ended before.
        """
        file_lines = LineSplitter()
        has_file = self._process.file is not None
        is_enough = False
        for chunk in self._process.chunks():
            splitter = file_lines if chunk.is_of_file else self.output
            for line, moment in splitter.split(chunk.raw, chunk.now):
                is_enough = is_enough or (chunk.is_of_file == has_file and self._add_line(line, moment))
            if is_enough:
                break
        say(facts={"told": list(self._warnings())})
        return is_enough

    def _add_line(self, line: str, moment: float) -> bool:
        """Time the step that a line of the script reports, read at `moment` (s), if it does; return True once the stop
        rule holds. A loss that is not finite ends the run; long silence is told to the supervisor.
        """
        report = self._reader.read(line)
        if report is None:
            self._lines_without_step += 1
            if self._lines_without_step == 1:
                self._first_moment = moment
            is_silent = self._lines_without_step >= SILENT_LINES or moment - self._first_moment >= SILENT_S
            if self._may_be_silent and is_silent:
                self._may_be_silent = False
                say(news=f"{self._no_step()} yet; the last line is {line.strip()[:150]!r}")
            return False
        self._may_be_silent = False
        if report.loss is not None and not math.isfinite(report.loss):
            self.fail(f"the loss is {report.loss}: such steps train nothing and are no throughput")
        is_bare = report.step is None and report.time is None and report.seconds is None
        if is_bare and len(self._bare_moments) < MAX_LINES:
            self._bare_moments.append(moment)
        interval = self._clock.add(report, moment)
        if interval is None:
            return False
        if self.measured.warming_up:
            self._clock.comparison.clear()
        self.measured.add(interval, report.loss, moment)
        return self.measured.enough()

    def _no_step(self) -> str:
        """Return a clause for messages: no step was reported, and which lines would report one."""
        return f"no step was told by lines of {getattr(self._script.steps, 'pattern', self._script.steps)!r}"[:120]

    def _warnings(self) -> Iterator[tuple[str, str]]:
        """Yield (rule, message), a slug and a sentence for the run file, for what makes this run's speed doubtful:
        repeated lines, pauses, a rate that the clock contradicts.
        """
        processes, pauses, compared = lines_per_step(self._bare_moments), self._clock.pauses, self._clock.comparison
        if processes > 1:
            fault = f"lines of steps come {processes} at a time: where {processes} processes print each step"
            remedy = "let one of them print, or have the lines tell the step's number"
            yield "repeated_lines", f"{fault}, the figure is {processes} times too high; {remedy}"
        if pauses:
            spells = f"{pauses} spells between steps (validation, a checkpoint, the end of an epoch)"
            yield "validation", f"{spells} are left out of the time of steps"
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
            yield "rate_disagrees", text

    def ending(self) -> str:
        """Return a sentence with the number of timed and warm-up intervals so far and the script's last lines."""
        count = len(self.measured.timed) + self.measured.warmup
        steps = f"{count} intervals told" if count else self._no_step()
        return f"{steps}; its last words: {self.output.ending() or 'none'}"

    def fail(self, sentence: str, code: int = DIVERGED) -> NoReturn:
        """End the script, print the sentence on stderr, and exit this process with `code`."""
        self._process.end()
        print(sentence, file=sys.stderr, flush=True)
        raise SystemExit(code)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """End the script as a signal handler: the supervisor ended this process (time limit, interrupt) or died."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.fail(self.ending())

    def finish(self, is_enough: bool) -> None:
        """End the script and this process's part: return if it made enough steps (`is_enough`: the stop rule held),
        else exit with a code and a sentence that say why it failed.
        """
        code = self._process.process.poll()
        count = len(self.measured.timed)
        min_steps = self._request.min_steps_slow
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
    """Time a user's training script: run it, and report its steps to the supervisor until the stop rule holds."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    script = load_script(Path(request.script or f"config/commands/{request.cell.model}.yaml"))
    with tempfile.TemporaryDirectory(prefix="sweetspot-script-") as scratch:
        values = script.values(request.cell, request.run, scratch)
        argv = script.argv(values)
        say(facts=script_facts(request, script, argv))
        steps_file = Path(scratch, ".steps.jsonl")
        file = steps_file if script.steps == "iterator" else None
        if isinstance(script.steps, JsonLines) and script.steps.json_lines:
            file = Path(script.folder, filled(script.steps.json_lines, values))
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", VARIABLE: str(steps_file)}
        library = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), library]))
        if script.steps == "lightning":  # rich draws no bar into a pipe by itself
            environment |= {"FORCE_COLOR": "1", "COLUMNS": "200"}
        environment |= {name: filled(text, values) for name, text in script.environment.items()}
        process = ScriptProcess(script, argv, environment, file)
        run = ScriptRun(request, script, process)
        signal.signal(signal.SIGTERM, run.stop)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        run.finish(run.read_steps())


if __name__ == "__main__":
    with exit_on_user_error():
        main(Request.from_json(sys.argv[1]))
