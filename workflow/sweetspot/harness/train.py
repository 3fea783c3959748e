"""The training process of one run: `python -m sweetspot.harness.train REQUEST_JSON`.

Speaks to its supervisor in JSON lines on stdout: {"facts": ...} once, {"seconds": s, "timed": bool} a step.
It is a process of its own because a framework that dies must not take the run's record with it.
"""

import json
import os
import sys
import time
from collections.abc import Callable
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


def training_step(request: Request) -> Callable[[], Any]:
    """A compiled step: forward, cross-entropy, backward, SGD update, on images resident on the device."""
    import tensorflow as tf

    from sweetspot.harness.fused import with_fused_normalisation
    from sweetspot.harness.networks import build_network

    device = "/GPU:0" if request.device == "gpu" else "/CPU:0"
    with tf.device(device):
        network, shape, classes = build_network(request.cell.model)
        model = with_fused_normalisation(network)
        images = tf.random.stateless_uniform((request.cell.batch_size, *shape), (1, request.run))
        labels = tf.random.stateless_uniform((request.cell.batch_size,), (2, request.run), 0, classes, tf.int32)
    variables = [variable.value for variable in model.trainable_variables]

    @tf.function(jit_compile=request.xla)
    def step() -> tf.Tensor:
        with tf.device(device):
            with tf.GradientTape() as tape:
                logits = model(images, training=True)
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(0.01 * gradient)
        return loss

    return step


def main(request: Request) -> None:
    """Train until the stop rule holds, telling every step."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = request.cell.framework
    from sweetspot.harness.facts import framework_facts

    say(facts=framework_facts(request))
    step = training_step(request)
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
