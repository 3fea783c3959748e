"""The training process of one run: `python -m sweetspot.harness.train REQUEST_JSON`.

Speaks to its supervisor in JSON lines on stdout: {"facts": ...} once, {"seconds": s, "timed": bool} a step.
It is a process of its own because a framework that dies must not take the run's record with it.
"""

import json
import os
import sys
import time
from typing import Any

from sweetspot.errors import exit_on_user_error
from sweetspot.harness.request import Request


def say(**fact: Any) -> None:
    """One JSON line to the supervisor."""
    print(json.dumps(fact), flush=True)


def finished(request: Request, timed: list[float]) -> bool:
    """Whether the protocol's stop rule holds: enough steps, or enough seconds with a few steps."""
    slow = sum(timed) >= request.min_seconds and len(timed) >= request.min_steps_slow
    return len(timed) >= request.min_steps or slow


def main(request: Request) -> None:
    """Train until the stop rule holds, telling every step."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = request.cell.framework
    from sweetspot.harness.devices import tensorflow_devices
    from sweetspot.harness.facts import framework_facts
    from sweetspot.harness.variants import training_step

    devices = tensorflow_devices(request)
    say(facts=framework_facts(request))
    import keras

    keras.utils.set_random_seed(request.run)
    step = training_step(request, devices)
    for _ in range(request.warmup_steps):
        start = time.perf_counter()
        float(step())
        say(seconds=time.perf_counter() - start, timed=False)
    timed: list[float] = []
    while not finished(request, timed):
        start = time.perf_counter()
        loss = float(step())
        timed.append(time.perf_counter() - start)
        say(seconds=timed[-1], timed=True, loss=loss)


if __name__ == "__main__":
    with exit_on_user_error():
        main(Request.from_json(sys.argv[1]))
