"""A Keras network on JAX and one device: one jitted function of the state, always compiled with XLA."""

import os
from collections.abc import Callable
from typing import Any

from sweetspot.harness.backends import keras_training as training
from sweetspot.harness.request import Request

INSTALL = "pip install jax"


def launch(request: Request) -> tuple[list[str], dict[str, str] | None]:
    """One training process."""
    return training.command(request), None


def prepare(request: Request) -> None:
    """Choose Keras' backend; memory is taken as needed, else the peak would be what JAX reserved."""
    training.choose_keras(request)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if request.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"


def devices(request: Request) -> list[str]:
    """The processor or the one GPU. Raises UserError if it is not there, or the cell needs more."""
    training.require_one_device(request)
    if request.device == "cpu":
        return training.the_processor(request)
    import jax

    return training.the_gpus(request, [device.device_kind for device in jax.devices() if device.platform == "gpu"])


def facts(request: Request) -> dict[str, Any]:
    """Name of the GPU."""
    if request.device == "cpu":
        return {}
    import jax

    return {"device_name": jax.devices()[0].device_kind}


place = training.alone
rates = training.rates


def build_step(request: Request, devices: list[str]) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that makes one training step and returns its loss when it is done, and its arithmetic."""
    import jax

    training.start_keras(request)
    workload = training.workload(request)
    model, scale = workload.network, training.loss_scale(request)
    inputs, labels = (jax.device_put(array) for array in training.data(request, workload))
    values = [variable.value for variable in model.trainable_variables]
    others = [variable.value for variable in model.non_trainable_variables]
    state = [values, others]

    def objective(values: Any, others: Any, inputs: Any, labels: Any) -> tuple[Any, Any]:
        logits, others = model.stateless_call(values, others, inputs, training=True)
        loss = training.cross_entropy(labels, logits)
        return loss * scale, (loss, others)

    def update(values: Any, others: Any, inputs: Any, labels: Any) -> tuple[Any, Any, Any]:
        gradients, (loss, others) = jax.grad(objective, has_aux=True)(values, others, inputs, labels)
        rate = training.LEARNING_RATE / scale
        moved = [value - rate * part for value, part in zip(values, gradients, strict=True)]
        return loss, moved, others

    compiled = jax.jit(update, donate_argnums=(0, 1))

    def step() -> float:
        loss, *state[:] = compiled(*state, inputs, labels)
        jax.block_until_ready(state)
        return float(loss)

    return step, training.arithmetic(workload, request)
