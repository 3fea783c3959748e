"""Start the training process, watch it, and write down how it ended."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.files import require_room
from sweetspot.harness import nodes, run_memory
from sweetspot.harness.backends import backend, missing, require_known
from sweetspot.harness.cards import lacks, watched_cards
from sweetspot.harness.disturbance import ROOT_VARIABLE, disturbed_warning
from sweetspot.harness.facts import machine_facts
from sweetspot.harness.request import Request
from sweetspot.harness.runfile import is_damaged, write_run
from sweetspot.harness.sampling import Sampler
from sweetspot.harness.step_times import (
    DIVERGED,
    NO_MEMORY,
    UNSTEADY,
    Interval,
    duration,
    half_width,
    mean_step,
    step_warnings,
)
from sweetspot.matrix.reruns import asked_to_replace
from sweetspot.study.scripts import FRAMEWORK as COMMAND
from sweetspot.warnings import Warned

REFUSED = 2  # the training process's exit code for a UserError: nothing was measured, nothing is written
HELD_BACK = 0.05  # of the looks at the devices, from which their slowing down is told
SETTLED_S = 60.0  # of timed steps, from which a script's pace counts as seen
SHOWN_EVERY_S = 0.05  # a line for each of ten thousand quick steps takes longer than the steps
ALL_SHOWN = 10  # of the first each: who waits for a step that hangs sees which it is
# glibc's settings for a training process on a processor: one heap that is never given back. By default the large
# tensors of a step are returned to the kernel and faulted in again at the next: 1.6 GB a step of VGG16, a fifth of its
# time.
KEEP_MEMORY = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(1 << 28),
}


def supervise(request: Request) -> int:
    """Measure one run; return the exit code. An outcome of any kind is a run file and 0; a refusal is 2 and no file."""
    if request.device == "cpu" and request.cell.framework != COMMAND:  # a script runs as its owner runs it
        os.environ |= KEEP_MEMORY | os.environ  # for the process started below; this one has begun without
    require_known(request.cell.framework, request.cell.precision, request.cell.variant)
    started = time.monotonic()
    require_room(request.output)
    if finished_by_another(request):
        return _left(request)
    facts: dict[str, Any] = machine_facts(request, sys.argv)
    absent = missing(request.cell.framework, request.device)
    if absent is not None:
        return _filed(request, [], facts, "failed", f"{absent}, remove {request.output} and it is measured")
    watched = watched_cards(request)
    facts |= watched.told
    sampler = Sampler(watched.look, watched.joules)
    if sampler.reads_power():
        request = request._replace(least_seconds=max(request.least_seconds, request.least_seconds_power))
    command, environment = backend(request.cell.framework).launch(request)
    environment = {**(os.environ if environment is None else environment), ROOT_VARIABLE: str(os.getpid())}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # srun ends its workers, and what runs a script ends that, only if it may.
    end = process.kill if request.nodes == 1 and request.cell.framework != COMMAND else process.terminate
    _stop_with(end)
    timer = threading.Timer(request.time_limit_s, end)
    timer.daemon = True
    timer.start()
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    reader.start()
    timed = _listen(process, request, facts, sampler)
    code = process.wait()
    timed_out = not timer.is_alive()
    timer.cancel()
    reader.join()
    facts["memory_peak_bytes"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    text = "".join(errors)
    if code == REFUSED or "refused" in facts:
        print(f"error: {facts['refused'][0]}" if "refused" in facts else text.strip().splitlines()[-1], file=sys.stderr)
        return REFUSED
    if any(lacks(card, request.cell.precision) for card in facts.get("cards", [])):
        facts["emulated"] = True
    status, message = _ended(request, code, text, timed_out, facts)
    if status != "ok" and facts.get("trained") and timed:  # what went wrong came after the steps, which stand
        facts["after_steps"], status, message = message, "ok", None
    facts |= run_memory.peak(facts, request.device)
    if "joules_per_step" in facts:
        facts["joules_per_sample"] = facts["joules_per_step"] / samples(request, facts)
    warnings: list[Warned] = []
    if status == "ok":
        status, warnings = judged(request, timed, facts)
    facts["duration_s"] = time.monotonic() - started
    facts["mean_step_s"] = mean_step(timed) if timed else None
    return _filed(request, timed if status in ("ok", "unstable") else [], facts, status, message, warnings)


def finished_by_another(request: Request) -> bool:
    """Whether another invocation has made this run, of the same protocol, and this one was not asked to replace it.

    Two clones of a project may share their run files, and what was missing when a plan was made may be there by now.
    By hand (without `--asked`) every run is asked for.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(request.output)
    if not request.asked or not file.is_file() or asked_to_replace(request.output, Path(request.asked)):
        return False
    wanted = {**request.cell._asdict(), "run": request.run, "protocol": request.protocol}
    if is_damaged(file.read_bytes()):
        return False
    try:
        rows = pq.ParquetFile(file).read(columns=list(wanted), use_threads=False).slice(0, 1).to_pylist()
    except (pa.ArrowException, OSError):
        return False  # not whole
    return rows == [wanted]


def _ended(request: Request, code: int, text: str, timed_out: bool, facts: dict[str, Any]) -> tuple[str, str | None]:
    failures = facts.pop("failure", [])
    status, message = outcome(code, text, timed_out, request.time_limit_s, failures[0] if failures else None)
    if timed_out and request.cell.framework == COMMAND and text.strip():
        message = f"{message}; {text.strip().splitlines()[-1]}"[:300]
    if request.nodes > 1:
        facts |= nodes.joined(facts.pop("worker", []), request.device)
        message = message if timed_out or code == 0 else nodes.message(failures, text, message)
    there = run_memory.sentence(text, facts, request.device) if status == "oom" else None
    return status, "; ".join(filter(None, [message, there])) or None


def _filed(
    request: Request,
    timed: Sequence[Interval],
    facts: dict[str, Any],
    status: str,
    message: str | None,
    warnings: Sequence[Warned] = (),
) -> int:
    if finished_by_another(request):  # by one that holds no lease of this machine: from another, say
        return _left(request)
    write_run(request, timed, facts, status, message, warnings)
    told = "; ".join([*filter(None, [message]), *(f"{rule}: {words}" for rule, words in warnings)])
    _show(f"{request.output}: {status}{': ' + told if told else ''}")
    return 0


def _left(request: Request) -> int:
    _show(f"{request.output}: another invocation has measured this run; it stays (`-R run_benchmark` makes it again)")
    return 0


def _stop_with(end: Callable[[], None]) -> None:
    def stop(number: int, frame: object) -> None:
        end()
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def judged(request: Request, timed: Sequence[Interval], facts: dict[str, Any]) -> tuple[str, list[Warned]]:
    """Status and warnings of a run that ended well; adds its half-width, warnings and share of the machine's rate."""
    warnings = step_warnings(timed)
    cell = request.cell
    facts["half_width"] = half_width(timed) if len(timed) > 1 else None
    reached = samples(request, facts) / mean_step(timed) * facts.get("training_flop_per_sample", 0)
    for name in ("matmul", "conv"):
        if f"machine_{name}_flops" in facts:
            facts[f"share_of_{name}"] = reached / facts[f"machine_{name}_flops"]
    if "share_of_matmul" in facts:
        _show(
            f"reached {reached / 1e9:.1f} GFLOP/s, {facts['share_of_matmul']:.0%} of this machine's matrix product "
            f"({facts['machine_matmul_flops'] / 1e9:.1f}) and {facts['share_of_conv']:.0%} of its convolution "
            f"({facts['machine_conv_flops'] / 1e9:.1f})"
        )
    warnings = [*_told(request, timed, facts), *warnings]
    if facts.get("emulated"):
        what = "processor" if request.device == "cpu" else "device"
        words = f"this {what} computes {cell.precision} as fp32; no speed-up is to be had"
        warnings = [Warned("emulation", words), *warnings]
    facts["warnings"] = warnings
    return "unstable" if any(found.rule in UNSTEADY for found in warnings) else "ok", warnings


def _told(request: Request, timed: Sequence[Interval], facts: dict[str, Any]) -> Iterator[Warned]:
    """Warnings of what went on beside the steps: `disturbed`, `silent_device`, `held_back`, `after_steps`
    and what a script's output told (`told`); of how much was seen: `short_run`, `early_steps` (of a script that was
    ended while it trained on).
    """
    if disturbed := disturbed_warning(facts):
        yield disturbed
    if facts.get("gpu_silent"):
        names = " and ".join(str(place) for place in facts["gpu_silent"])
        yield Warned("silent_device", f"device {names} stopped answering NVML: its power, clock and use are of before")
    for reason, share in facts.get("gpu_held_back", {}).items():
        if share >= HELD_BACK:
            yield Warned("held_back", f"the devices were slowed down by {reason} in {share:.0%} of the looks at them")
    if "after_steps" in facts:
        yield Warned("after_steps", f"all steps were timed, then: {facts['after_steps']}"[:300])
    yield from (Warned(*pair) for pair in facts.get("told", ()))
    lasted = facts.get("timed_seconds", duration(timed))  # by the clock, which the stop rule counts too
    if lasted < request.least_seconds:
        words = "clocks, and counters that renew ten times a second, had not settled"
        yield Warned("short_run", f"timed for {lasted:.2g} s, expected {request.least_seconds:g} s: {words}")
    if facts.get("ended_early") and lasted < SETTLED_S:
        count = sum(steps for _, steps in timed)
        words = f"timed are {count} steps of {lasted:.3g} s near the script's beginning, then it was ended"
        yield Warned("early_steps", f"{words}: a pace that changes later is not seen (measure.least_seconds)")


def _listen(
    process: subprocess.Popen[str], request: Request, facts: dict[str, Any], sampler: Sampler
) -> list[Interval]:
    """Collect timed steps from the training process, showing progress and sampling while they run."""
    started = time.monotonic()
    name = run_name(request)
    _show(f"{name}: starting {request.cell.framework}, at most {request.time_limit_s} s")
    timed: list[Interval] = []
    warm, shown = 0, -SHOWN_EVERY_S
    for line in process.stdout or ():
        if not line.startswith("{"):  # libraries print too: gloo, how many it is connected to
            continue
        said = json.loads(line)
        facts.update(said.get("facts", {}))
        for word in nodes.WORDS & said.keys():
            facts.setdefault(word, []).append(said[word])
        if "news" in said:
            _show(f"{name}: {said['news']}")
        if "trained" in said:
            facts |= sampler.finish() | {"trained": said["trained"]}
        if "seconds" not in said:
            continue
        if said["timed"]:
            timed.append(Interval(said["seconds"], said.get("steps", 1)))
            sampler.stepped(said.get("steps", 1))
        else:
            warm += 1
            if warm == request.warmup_steps:
                sampler.start()
        last = said["seconds"]
        first = len(timed) <= ALL_SHOWN or len(timed) == request.min_steps
        # A line in a twentieth of the time spent: a run of hours says a hundred lines, not thousands.
        if first or time.monotonic() - shown >= max(SHOWN_EVERY_S, (shown - started) / 20):
            shown = time.monotonic()
            _show(f"{name}: {progress(request, timed, warm, last, facts)}, {shown - started:.0f} s spent")
    facts |= sampler.finish()
    return timed


def samples(request: Request, facts: Mapping[str, Any]) -> float:
    """Units that a step trains on, all devices together: batch x devices, unless what is trained counts otherwise."""
    return float(facts.get("samples_per_step") or request.cell.batch_size * request.cell.gpus)


def run_name(request: Request) -> str:
    """What is measured, for a reader of the progress."""
    cell = request.cell
    return f"{cell.model} batch {cell.batch_size} x {cell.gpus} on {cell.instance}, run {request.run}"


def progress(request: Request, timed: Sequence[Interval], warm: int, last: float, facts: dict[str, Any]) -> str:
    """Steps done, speed, and an estimate of the seconds left."""
    rate = samples(request, facts) / last
    speed = f"{rate:.1f} {facts.get('unit', 'images')}/s"
    lasted, warming = duration(timed), (request.warmup_steps - warm) * last
    steps_left = max((request.min_steps - len(timed)) * last, request.least_seconds - lasted, 0)
    seconds_left = max(request.min_seconds - lasted, (request.min_steps_slow - len(timed)) * last, 0)
    left = f"about {warming + min(steps_left, seconds_left):.0f} s left"
    if request.target_half_width > 0 and len(timed) >= request.min_steps:
        left = f"at most {seconds_left:.0f} s left, mean known to {half_width(timed):.1%}"
    least = f" of {request.min_steps}" if len(timed) <= request.min_steps else ""  # beyond it no number to end at
    done = f"step {len(timed)}{least}" if timed else f"warm-up {warm} of {request.warmup_steps}"
    return f"{done}, {speed}, {left}"


def _show(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def outcome(code: int, errors: str, timed_out: bool, limit: int, failure: str | None = None) -> tuple[str, str | None]:
    """Status and message of a training process that ended with `code` (negative: by that signal).

    failure: what the process itself said of the exception that ended it; else the last of `errors` counts. What a
    library printed on the way, such as an allocator that tried less memory next, ends nothing.
    """
    last = errors.strip().splitlines()[-1][:300] if errors.strip() else ""
    if code == 0:
        return "ok", None
    if timed_out:
        return "failed", f"not finished after the time limit of {limit} s"
    if code in (DIVERGED, NO_MEMORY):
        return "oom" if code == NO_MEMORY else "failed", last
    if code == -signal.SIGKILL:
        return "oom", "the process was killed (signal 9), as the kernel does when memory runs out"
    if sign := run_memory.ended_by(errors, failure):
        return "oom", (failure or sign)[:300]
    if failure:
        return "failed", failure[:300]
    ended = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return "failed", f"{ended}: {last}" if last else ended
