"""Start the training process of one run, watch it, and write down how it ended."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sweetspot.errors import UserError
from sweetspot.files import require_space
from sweetspot.harness.backends import backend, missing, require_devices, require_supported
from sweetspot.harness.devices import emulates, watch_cards
from sweetspot.harness.facts import machine_facts, memory_error, peak_memory
from sweetspot.harness.request import DIVERGED, NO_MEMORY, REFUSED, Request
from sweetspot.harness.runfile import is_damaged, write_run
from sweetspot.harness.sampling import DeviceSampler
from sweetspot.harness.step_times import UNSTEADY, Interval, duration, half_width, mean_step, step_warnings
from sweetspot.harness.stop_rule import ROOT_VARIABLE
from sweetspot.matrix.reruns import must_replace
from sweetspot.study.scripts import FRAMEWORK as COMMAND
from sweetspot.warnings import Warned

# A run gets a warning from this share on: of CPU time taken by others, and of samples with devices slowed down.
WARNED_SHARE = 0.05
PROGRESS_INTERVAL_S = 0.05  # printing a line for each of ten thousand quick steps takes longer than the steps
FIRST_STEPS = 10  # each of them is printed
MAX_ERROR_LINES = 2000  # of stderr, of which the last exception counts
# glibc's settings for a training process on a processor: one heap that is never given back. By default the large
# tensors of a step go back to the kernel and are faulted in again: 1.6 GB a step of VGG16, a fifth of its time.
KEEP_MEMORY = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(1 << 28),
}


def supervise(request: Request) -> int:
    """Measure one run of a benchmark in a process of its own, write its run file (for a failure too) and return the
    exit code 0; `run_benchmark.py` calls it. UserError for an impossible cell, other devices or no space.
    """
    cell = request.cell
    if request.device == "cpu" and cell.framework != COMMAND:
        os.environ |= KEEP_MEMORY | os.environ  # for the process that is started below
    require_supported(request)
    started = time.monotonic()
    require_space(request.output)
    if is_already_measured(request):
        return _write(request, [], {}, "ok")
    facts = machine_facts(request, sys.argv)
    if install := missing(cell.framework):
        return _write(request, [], facts, "failed", f"{install}, remove {request.output} and it is measured")
    watch = watch_cards(request)
    facts |= watch.facts
    cards = facts.get("cards", [])
    require_devices(request, [facts["cpu"]] if request.device == "cpu" else [card["name"] for card in cards])
    facts["emulated"] |= any(emulates(card, cell.precision) for card in cards)
    sampler = DeviceSampler(watch)
    if sampler.reads_power():
        request = request._replace(least_seconds=max(request.least_seconds, request.least_seconds_power))
    process = TrainingProcess(request)
    timed = _collect_steps(process, request, facts, sampler)
    code, errors = process.wait()
    if code == REFUSED or "refused" in facts:
        raise UserError(facts.get("refused") or errors.splitlines()[-1].removeprefix("error: "))
    facts["memory_peak_bytes"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    status, message = outcome(code, errors, process.timed_out, request, facts.pop("failure", None))
    if status != "ok" and facts.get("trained") and timed:
        # What failed came after the steps, which stand.
        facts["after_steps"], status, message = message, "ok", None
    facts |= peak_memory(facts, request.device)
    if "joules_per_step" in facts:
        facts["joules_per_sample"] = facts["joules_per_step"] / samples_per_step(request, facts)
    facts["duration_s"] = time.monotonic() - started
    facts["mean_step_s"] = mean_step(timed) if timed else None
    if status != "ok":
        return _write(request, [], facts, status, message)
    status, warnings = assess(request, timed, facts)
    return _write(request, timed, facts, status, None, warnings)


class TrainingProcess:
    """The process that trains, ended at the time limit or when this process gets SIGTERM or SIGINT."""

    def __init__(self, request: Request) -> None:
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (closed by `wait`)
        self._process = subprocess.Popen(
            backend(request.cell.framework).launch(request),
            env={**os.environ, ROOT_VARIABLE: str(os.getpid())},
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        # The process of a script must be able to end the script.
        self._end = self._process.terminate if request.cell.framework == COMMAND else self._process.kill
        for number in signal.SIGTERM, signal.SIGINT:
            signal.signal(number, self._stop)
        self._timer = threading.Timer(request.time_limit_s, self._end)
        self._timer.daemon = True
        self._timer.start()
        self.timed_out = False
        self.lines = self._process.stdout or ()

    def _stop(self, number: int, frame: object) -> NoReturn:
        """End the training process as a signal handler, and exit with 128 + the signal's number."""
        self._end()
        raise SystemExit(128 + number)

    def wait(self) -> tuple[int, str]:
        """Wait until the training process ends; return (exit code, negative for a signal; the last 2000 lines of its
        stderr), from which the outcome of the run follows.
        """
        code = self._process.wait()
        self.timed_out = not self._timer.is_alive()
        self._timer.cancel()
        with self._process, self._errors:
            self._errors.seek(0)
            return code, "".join(deque(self._errors, MAX_ERROR_LINES)).strip()


def _collect_steps(
    process: TrainingProcess, request: Request, facts: dict[str, Any], sampler: DeviceSampler
) -> list[Interval]:
    """Read what a run's training process reports and return its timed intervals (mean seconds of a step, number of
    steps); its facts are added to `facts`, energy is sampled meanwhile, and progress is printed.
    """
    started = time.monotonic()
    printed = -PROGRESS_INTERVAL_S
    cell = request.cell
    name = f"{cell.model} batch {cell.batch_size} x {cell.gpus} on {cell.instance}, run {request.run}"
    _print(f"{name}: starting {cell.framework}, at most {request.time_limit_s} s")
    timed: list[Interval] = []
    warmup = 0
    for line in process.lines:
        if not line.startswith("{"):  # libraries print too
            continue
        message = json.loads(line)
        facts |= message.pop("facts", {})
        if news := message.pop("news", ""):
            _print(f"{name}: {news}")
        if "trained" in message:
            facts |= sampler.finish()
        if "seconds" not in message:
            facts |= message | facts  # of several processes the first one's `failure` or `refused`
            continue
        interval = Interval(message["seconds"], message["steps"])
        if message["timed"]:
            timed.append(interval)
            sampler.add_steps(interval.steps)
        else:
            warmup += 1
            if warmup == request.warmup_steps:
                sampler.start()
        # The pause grows with the time spent: a run of hours prints a hundred lines, not thousands.
        pause = max(PROGRESS_INTERVAL_S, (printed - started) / 20)
        if len(timed) <= FIRST_STEPS or time.monotonic() - printed >= pause:
            printed = time.monotonic()
            steps = f"step {len(timed)} of at least {request.min_steps}" if timed else f"warm-up {warmup}"
            rate = f"{samples_per_step(request, facts) / interval.seconds:.1f} {facts.get('unit', 'images')}/s"
            _print(f"{name}: {steps}, {rate}, {printed - started:.0f} s spent")
    facts |= sampler.finish()
    return timed


def samples_per_step(request: Request, facts: Mapping[str, Any]) -> float:
    """Return how many units (images, tokens, ...) one step trains on, all devices together."""
    return float(facts.get("samples_per_step") or request.cell.batch_size * request.cell.gpus)


def is_already_measured(request: Request) -> bool:
    """Return True if this run need not be measured: its file (`request.output`) has this protocol, and this invocation
    is not to replace it. Two clones of a project may share their run files. A run started by hand is always made.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(request.output)
    if not request.asked or not file.is_file() or must_replace(request.output, Path(request.asked)):
        return False
    expected = {**request.cell._asdict(), "run": request.run, "protocol": request.protocol}
    try:
        rows = pq.ParquetFile(file).read(columns=list(expected), use_threads=False).slice(0, 1).to_pylist()
    except (pa.ArrowException, OSError):  # an incomplete file
        return False
    return rows == [expected] and not is_damaged(file.read_bytes())


def outcome(
    code: int, errors: str, timed_out: bool, request: Request, failure: str | None = None
) -> tuple[str, str | None]:
    """Return how a training process ended, as recorded in the run file: the status (ok, failed, or oom: memory ran
    out) and a message (None if ok).

    Parameters
    ----------
    code, errors, timed_out
        Its exit code (negative: the signal), its stderr, and whether it was ended at the time limit.
    request, failure
        The run; the exception that the process reported itself (None: the last one in `errors` counts).
    """
    last_line = errors.splitlines()[-1] if errors else ""
    status = "failed"
    if code == 0:
        return "ok", None
    if timed_out:
        message = f"not finished after the time limit of {request.time_limit_s} s"
        if request.cell.framework == COMMAND and last_line:
            message += f"; {last_line}"
    elif code in (DIVERGED, NO_MEMORY):
        status, message = "oom" if code == NO_MEMORY else "failed", last_line
    elif code == -signal.SIGKILL:
        status, message = "oom", "the process was killed (signal 9), as the kernel does when memory runs out"
    elif error := memory_error(failure or errors):
        status, message = "oom", failure or error
    else:
        ending = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        message = failure or (f"{ending}: {last_line}" if last_line else ending)
    return status, message[:300]


def _write(
    request: Request,
    timed: Sequence[Interval],
    facts: dict[str, Any],
    status: str,
    message: str | None = None,
    warnings: Sequence[Warned] = (),
) -> int:
    """Write the run file (arguments of `write_run`), print the outcome and return the exit code 0. Nothing is written
    if another invocation measured the run meanwhile, on another machine that shares the folder.
    """
    if is_already_measured(request):
        text = "another invocation has measured this run; it stays (`-R run_benchmark` makes it again)"
    else:
        write_run(request, timed, facts, status, message, warnings)
        details = "; ".join([*filter(None, [message]), *map(": ".join, warnings)])
        text = ": ".join(filter(None, [status, details]))
    _print(f"{request.output}: {text}")
    return 0


def assess(request: Request, timed: Sequence[Interval], facts: dict[str, Any]) -> tuple[str, list[Warned]]:
    """Judge a run whose steps were timed: return its status (`ok`, or `unstable` where its mean depends on when it
    ran) and its warnings (rule, message), both for the run file and the report.

    Parameters
    ----------
    request, timed, facts
        The run, its timed intervals, and its facts, which get `half_width` (95 %, of the mean step) and `warnings`.
    """
    warnings: dict[str, str] = {}
    if facts.get("emulated"):
        warnings["emulation"] = f"this device computes {request.cell.precision} as fp32; no speed-up is to be had"
    share = facts.get("others_cpu_share", 0.0)
    if share >= WARNED_SHARE:
        warnings["disturbed"] = f"other processes or virtual machines took {share:.0%} of the CPU time of this run"
    if silent := facts.get("gpu_silent"):
        devices = " and ".join(map(str, silent))
        warnings["silent_device"] = f"device {devices} stopped answering NVML: its power, clock and use are of before"
    if slowdowns := {k: v for k, v in facts.get("gpu_held_back", {}).items() if v >= WARNED_SHARE}:
        reasons = ", ".join(f"{reason} in {share:.0%}" for reason, share in slowdowns.items())
        warnings["held_back"] = f"the devices were slowed down by {reasons} of the looks at them"
    if "after_steps" in facts:
        warnings["after_steps"] = f"all steps were timed, then: {facts['after_steps']}"[:300]
    seconds = facts.get("timed_seconds", duration(timed))  # by the clock, which the stop rule counts too
    if seconds < request.least_seconds:
        reason = "clocks, and counters that renew ten times a second, had not settled"
        warnings["short_run"] = f"timed for {seconds:.2g} s, expected {request.least_seconds:g} s: {reason}"
    of_script = [Warned(*pair) for pair in facts.get("told", ())]
    facts["warnings"] = [*map(Warned._make, warnings.items()), *of_script, *step_warnings(timed)]
    facts["half_width"] = half_width(timed) if len(timed) > 1 else None
    is_unsteady = any(warning.rule in UNSTEADY for warning in facts["warnings"])
    return "unstable" if is_unsteady else "ok", facts["warnings"]


def _print(text: str) -> None:
    """Print one line on stderr, at once."""
    print(text, file=sys.stderr, flush=True)
