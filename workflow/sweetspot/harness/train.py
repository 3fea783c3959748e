"""The training process of one run: `python -m sweetspot.harness.train REQUEST_JSON`. Speaks to its supervisor in JSON
lines on stdout: {"facts": ...}, {"seconds": s, "timed": bool, "loss": l, "steps": n} a step, or a window of n steps
that took s each. It is a process of its own because a framework that dies must not take the run's record with it.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness.backends import Agree, Step, backend
from sweetspot.harness.launcher import die_with_supervisor
from sweetspot.harness.request import DIVERGED, Request
from sweetspot.harness.step_times import Interval
from sweetspot.harness.stop_rule import MeasuredSteps

WINDOW_S = 0.5
MIN_WINDOW_STEPS = 4
LONG_STEP_S = 2.0


def say(**fact: Any) -> None:
    """Write keywords as one JSON line to the supervisor (stdout), at once: lines of several processes must not mix."""
    sys.stdout.write(f"{json.dumps(fact)}\n")
    sys.stdout.flush()


def say_first(**fact: Any) -> None:
    """Write keywords as one JSON line to the supervisor, of several processes only in the first (RANK 0)."""
    if os.environ.get("RANK", "0") == "0":
        say(**fact)


def train(
    request: Request,
    step: Step,
    agree: Agree = int,
    tell: Callable[..., None] = say_first,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Train until the protocol lets the run end, and report each window of steps to the supervisor, which writes their
    times to the run file. On a GPU a window is many steps, waited for once: waiting for each would keep Python from
    running ahead of the device, which is how it is used.

    Parameters
    ----------
    request, step, agree, tell, clock
        The run with its protocol; one training step; function called before each window (returns its number of steps,
        equal in all processes; 0 ends the run); function that sends keywords to the supervisor; seconds.
    """
    measured = MeasuredSteps(request, tell)
    window = 1
    while measured.warming_up:
        interval, loss = time_steps(step, 1, clock)
        measured.add(interval, loss, clock())
        window = steps_per_window(request, interval.seconds)
    while count := agree(0 if measured.enough() else window):
        interval, loss = time_steps(step, count, clock)
        measured.add(interval, loss, clock())
    tell(facts={**measured.facts(), "window_steps": window}, trained=True)


def steps_per_window(request: Request, step_s: float) -> int:
    """Return how many steps are launched before one wait, given the seconds of a step: half a second of a GPU's steps,
    but at least four. It is 1 where a step takes 2 s or more, so that waiting costs nothing and on a processor.
    """
    if request.device == "cpu" or step_s >= LONG_STEP_S:
        return 1
    return max(MIN_WINDOW_STEPS, math.ceil(WINDOW_S / step_s))


def time_steps(step: Step, count: int, clock: Callable[[], float] = time.perf_counter) -> tuple[Interval, float]:
    """Make `count` training steps, time them together, and return (interval: mean seconds of a step and their number;
    last loss); exit with code DIVERGED if the loss is not finite.

    Parameters
    ----------
    step, count, clock
        One training step, the number of steps, which are waited for together, and a function that gives seconds.
    """
    start = clock()
    for _ in range(count - 1):
        step.launch()
    loss = step.finish(step.launch())
    seconds = (clock() - start) / count
    if not math.isfinite(loss):
        sentence = f"the loss is {loss}: such steps train nothing and are no throughput; try another precision"
        print(sentence, file=sys.stderr)
        raise SystemExit(DIVERGED)
    return Interval(seconds, count), loss


def run(request: Request) -> None:
    """Build the framework's training step and train until the stop rule holds; report facts, each step, peak memory
    and any failure to the supervisor. A failure is reported since launchers have exit codes of their own.
    """
    framework = backend(request.cell.framework)
    try:
        say_first(facts=framework.prepare(request))
        step, facts = framework.build_step(request)
        say_first(facts=facts)
        train(request, step, framework.agreement(request))
        if request.device == "gpu":
            say_first(facts={"peak_memory_bytes": framework.peak_memory_bytes(request)})
    except UserError as error:
        say(refused=str(error))
        raise
    except Exception as error:
        sentence = (str(error).splitlines() or [""])[0]
        process = f" in process {os.environ['RANK']}" if "RANK" in os.environ else ""
        say(failure=f"{type(error).__name__}{process}: {sentence}")
        raise


if __name__ == "__main__":
    die_with_supervisor()
    with exit_on_user_error():
        run(Request.from_json(sys.argv[1]))
