"""Start the training process, watch it, and write down how it ended."""

import json
import resource
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from sweetspot.harness.facts import machine_facts
from sweetspot.harness.request import Request
from sweetspot.harness.runfile import write_run

REFUSED = 2  # the training process's exit code for a UserError: nothing was measured, nothing is written
OUT_OF_MEMORY = ("ResourceExhausted", "OOM when allocating", "out of memory", "MemoryError", "bad_alloc")


def supervise(request: Request) -> int:
    """Measure one run; return the exit code. An outcome of any kind is a run file and 0; a refusal is 2 and no file."""
    facts: dict[str, Any] = machine_facts(request, sys.argv)
    command = [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def stop(number: int, frame: object) -> None:
        process.kill()
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    timer = threading.Timer(request.time_limit_s, process.kill)
    timer.daemon = True
    timer.start()
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True)
    reader.start()
    started = time.monotonic()
    timed = _listen(process, request, facts, started)
    code = process.wait()
    timed_out = not timer.is_alive()
    timer.cancel()
    reader.join()
    facts["memory_peak_bytes"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    text = "".join(errors)
    if code == REFUSED:
        print(text.strip().splitlines()[-1], file=sys.stderr)
        return REFUSED
    status, message = outcome(code, text, timed_out, request.time_limit_s)
    if status == "ok" and facts.get("emulated"):
        message = "fp16 on a processor is emulation, not a speed-up"
    write_run(request, timed if status == "ok" else [], facts, status, message)
    print(f"{request.output}: {status}{': ' + message if message else ''}", file=sys.stderr, flush=True)
    return 0


def _listen(process: subprocess.Popen[str], request: Request, facts: dict[str, Any], started: float) -> list[float]:
    """Collect timed steps from the training process, showing progress."""
    cell = request.cell
    name = f"{cell.model} batch {cell.batch_size} x {cell.gpus} on {cell.instance}, run {request.run}"
    print(f"{name}: starting {cell.framework}", file=sys.stderr, flush=True)
    timed: list[float] = []
    warm = 0
    for line in process.stdout:
        said = json.loads(line)
        facts.update(said.get("facts", {}))
        if "seconds" not in said:
            continue
        if said["timed"]:
            timed.append(said["seconds"])
        else:
            warm += 1
        left = max(request.min_steps - len(timed), 0) * said["seconds"]
        rate = cell.batch_size * cell.gpus / said["seconds"]
        step = (
            f"step {len(timed)} of {request.min_steps}"
            if said["timed"]
            else f"warm-up {warm} of {request.warmup_steps}"
        )
        spent = time.monotonic() - started
        print(
            f"{name}: {step}, {rate:.1f} images/s, {spent:.0f} s spent, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
    return timed


def outcome(code: int, errors: str, timed_out: bool, limit: int) -> tuple[str, str | None]:
    """Status and message of a training process that ended with `code` (negative: by that signal)."""
    last = errors.strip().splitlines()[-1][:300] if errors.strip() else ""
    if code == 0:
        return "ok", None
    if timed_out:
        return "failed", f"not finished after the time limit of {limit} s"
    if code == -signal.SIGKILL:
        return "oom", "the process was killed (signal 9), as the kernel does when memory runs out"
    if any(sign in errors for sign in OUT_OF_MEMORY):
        return "oom", last
    ended = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return "failed", f"{ended}: {last}" if last else ended
