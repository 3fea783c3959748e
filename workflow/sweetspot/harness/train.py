"""The training process of one run: `python -m sweetspot.harness.train REQUEST_JSON`.

Speaks to its supervisor in JSON lines on stdout: {"facts": ...}, {"seconds": s, "timed": bool, "loss": l} a step.
It is a process of its own because a framework that dies must not take the run's record with it.
"""

import ctypes
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness import nodes
from sweetspot.harness.backends import backend
from sweetspot.harness.facts import device_facts
from sweetspot.harness.neighbours import Look
from sweetspot.harness.peak_memory import counted
from sweetspot.harness.request import Request
from sweetspot.harness.step_times import DIVERGED
from sweetspot.harness.stop_rule import Stopping, watcher


def say(**fact: Any) -> None:
    """One JSON line to the supervisor, written at once: lines of several processes must not run into each other."""
    sys.stdout.write(f"{json.dumps(fact)}\n")
    sys.stdout.flush()


def die_with_supervisor() -> None:
    """Have the kernel kill this process when its supervisor is killed: else it would train on cards no longer leased.

    Linux only (prctl PR_SET_PDEATHSIG, 1); elsewhere the broken pipe ends it at its next step.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)


def train(
    request: Request,
    step: Callable[[], float],
    tell: Callable[..., None] = say,
    agree: Callable[[bool], bool] = bool,
    look: Callable[[], Look | None] | None = None,
) -> None:
    """Make the steps of the protocol, telling each; `agree` is asked before each timed step whether to end.

    look: what others do on this machine (`stop_rule.watcher`); without it no step is left out.
    """
    stopping = Stopping(request, look) if look else Stopping(request)
    for _ in range(request.warmup_steps):
        seconds, loss = timed_step(step)
        tell(seconds=seconds, timed=False, loss=loss)
    stopping.begin()
    while not agree(stopping.enough()):
        seconds, loss = timed_step(step)
        stopping.add(seconds)
        tell(seconds=seconds, timed=True, loss=loss)
        if news := stopping.news():
            tell(news=news)
    tell(facts=stopping.facts())


def timed_step(step: Callable[[], float]) -> tuple[float, float]:
    """Make one step; its seconds and its loss. Ends the process where the loss is no number any more."""
    start = time.perf_counter()
    loss = step()
    seconds = time.perf_counter() - start
    if not math.isfinite(loss):
        print(
            f"the loss is {loss}: such steps train nothing and are no throughput; try another precision or checkpoint",
            file=sys.stderr,
        )
        raise SystemExit(DIVERGED)
    return seconds, loss


def main(request: Request) -> None:
    """Train until the stop rule holds, telling every step; then tell what the machine could have done."""
    chosen = backend(request.cell.framework)
    chosen.prepare(request)
    devices = chosen.devices(request)
    first, agree = chosen.place(request)
    tell = say if first else _nothing
    facts = {**device_facts(request), **chosen.facts(request)}
    tell(facts=facts)
    step, arithmetic = chosen.build_step(request, devices)
    tell(facts=arithmetic)
    train(request, step, tell, agree, watcher(request) if first else None)
    tell(facts=counted(request), trained=True)
    rates = chosen.rates(request, devices)
    if request.nodes == 1:
        tell(facts=rates)
    elif os.environ.get("LOCAL_RANK", "0") == "0":  # a node's first process tells for it
        say(worker={**rates, **nodes.worker_facts(request, facts)})


def _nothing(**fact: Any) -> None:
    """Processes other than the first tell no steps."""


def run(request: Request) -> None:
    """`main`, whose failure is told too: launchers have an exit code of their own, and tracebacks last lines."""
    if request.nodes > 1:
        signal.alarm(request.time_limit_s + nodes.GRACE_S)
    try:
        main(request)
    except UserError as error:
        say(refused=str(error))
        raise
    except Exception as error:
        said = (str(error).splitlines() or [""])[0]
        place = f" in process {os.environ['RANK']}" if "RANK" in os.environ else ""
        place += f" on {os.environ['SLURMD_NODENAME']}" if request.nodes > 1 else ""
        say(failure=f"{type(error).__name__}{place}: {said}")
        raise


if __name__ == "__main__":
    die_with_supervisor()
    with exit_on_user_error():
        run(Request.from_json(sys.argv[1]))
