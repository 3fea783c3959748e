"""The training process of one run: `python -m sweetspot.harness.train REQUEST_JSON`.

Speaks to its supervisor in JSON lines on stdout: {"facts": ...}, {"seconds": s, "timed": bool, "loss": l, "steps": n} a
step, or a window of n steps that took s each.
It is a process of its own because a framework that dies must not take the run's record with it.
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
from sweetspot.harness.disturbance import CpuWatch
from sweetspot.harness.facts import device_facts
from sweetspot.harness.launcher import die_with_supervisor
from sweetspot.harness.request import Request
from sweetspot.harness.run_memory import framework_peak
from sweetspot.harness.step_times import DIVERGED
from sweetspot.harness.stop_rule import MeasuredSteps

WINDOW_S = 0.5
MIN_WINDOW_STEPS = 4
LONG_STEP_S = 2.0


def say(**fact: Any) -> None:
    """One JSON line to the supervisor, written at once: lines of several processes must not run into each other."""
    sys.stdout.write(f"{json.dumps(fact)}\n")
    sys.stdout.flush()


def train(
    request: Request,
    step: Step,
    tell: Callable[..., None] = say,
    agree: Agree = int,
    watch: CpuWatch | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Make the steps of the protocol, telling each window.

    On a GPU a window is many steps, waited for once: waiting for each would keep Python from running ahead of the
    device, which is how it is used.

    Parameters
    ----------
    request
        The run and its protocol.
    step
        One training step.
    tell
        Writes facts to the supervisor.
    agree
        Asked before each window how many steps it has, so that all processes make the same; 0 ends the run.
    watch
        Watches what others do on this machine; None: nobody does.
    clock
        Seconds on any clock.
    """
    measured, seconds = MeasuredSteps(request, tell, watch), math.inf
    while measured.warming_up:
        seconds, loss = timed_steps(step, 1, clock)
        measured.add(seconds, 1, loss, clock())
    window = steps_per_window(request, seconds)
    while count := agree(0 if measured.enough() else window):
        seconds, loss = timed_steps(step, count, clock)
        measured.add(seconds, count, loss, clock())
    tell(facts={**measured.facts(), "window_steps": window}, trained=True)


def steps_per_window(request: Request, step_s: float) -> int:
    """Return the steps that are waited for together: half a second of a GPU's, but at least four.

    It is one where a step is so long that waiting costs nothing, and on a processor, which does not run ahead.
    """
    if request.device == "cpu" or step_s >= LONG_STEP_S:
        return 1
    return max(MIN_WINDOW_STEPS, math.ceil(WINDOW_S / step_s))


def timed_steps(step: Step, count: int, clock: Callable[[], float] = time.perf_counter) -> tuple[float, float]:
    """Make steps and time them; end the process where the loss is no number any more.

    Parameters
    ----------
    step
        One training step.
    count
        How many, waited for together.
    clock
        Seconds on any clock.

    Returns
    -------
    tuple of float
        Seconds of one step, and the last loss.
    """
    start = clock()
    for _ in range(count - 1):
        step.launch()
    loss = step.finish(step.launch())
    seconds = (clock() - start) / count
    if not math.isfinite(loss):
        print(
            f"the loss is {loss}: such steps train nothing and are no throughput; try another precision",
            file=sys.stderr,
        )
        raise SystemExit(DIVERGED)
    return seconds, loss


def main(request: Request) -> None:
    """Train until the stop rule holds, reporting every step; then report the peak memory."""
    framework = backend(request.cell.framework)
    framework.prepare(request)
    devices = framework.devices(request)
    is_first, agree = framework.process_role(request)
    tell = say if is_first else _say_nothing
    tell(facts={**device_facts(request), **framework.facts(request)})
    step, arithmetic = framework.build_step(request, devices)
    tell(facts=arithmetic)
    train(request, step, tell, agree, CpuWatch() if is_first else None)
    tell(facts=framework_peak(request))


def _say_nothing(**fact: Any) -> None:
    """Report nothing: of several processes only the first does."""


def run(request: Request) -> None:
    """Run `main` and report its failure: launchers have an exit code of their own, and tracebacks last lines."""
    try:
        main(request)
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
