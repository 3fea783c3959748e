"""JAX as its users have it: one process, one jitted function, data and parameters sharded over a mesh of devices."""

import os
import time
from collections.abc import Callable
from typing import Any

from sweetspot.errors import UserError
from sweetspot.harness import nodes
from sweetspot.harness.backends import keras_training as training
from sweetspot.harness.own_networks import arithmetic
from sweetspot.harness.request import Request

INSTALL = "pip install jax"
SECONDS = 0.3  # spent on each rate of the machine
HOST_DEVICES = "--xla_force_host_platform_device_count"


def launch(request: Request) -> tuple[list[str], dict[str, str] | None]:
    """One training process, whatever the devices; of several nodes one on each, by srun."""
    if request.nodes > 1:
        return nodes.command(request, "sweetspot.harness.train"), nodes.outer(os.environ)
    return training.command(request), None


def prepare(request: Request) -> None:
    """Memory is taken as needed, else the peak would be what JAX reserved; a processor is cut into as many devices."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if request.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    if request.device == "cpu" and request.local_gpus > 1:
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} {HOST_DEVICES}={request.local_gpus}".strip()
    if request.cell.precision == "tf32":
        import jax

        jax.config.update("jax_default_matmul_precision", "tensorfloat32")
    if request.nodes > 1:
        join(request)


def join(request: Request) -> None:
    """Find the processes of the other nodes; processors exchange by gloo, GPUs by NCCL."""
    import jax

    if request.device == "cpu":
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(
        f"{nodes.first_host(os.environ)}:{nodes.first_port(os.environ)}",
        num_processes=request.nodes,
        process_id=int(os.environ["SLURM_PROCID"]),
        local_device_ids=list(range(request.local_gpus)),
    )


def devices(request: Request) -> list[str]:
    """The parts of this node's processor, or all its GPUs. Raises UserError if they are not there."""
    import jax

    if request.device == "cpu":
        names = training.the_processor(request) * len(jax.local_devices(backend="cpu"))
        if len(names) != request.local_gpus:
            raise UserError(f"--gpus is {request.local_gpus}; XLA_FLAGS makes {len(names)} devices of this processor")
        return names
    return training.the_gpus(
        request, [device.device_kind for device in jax.local_devices() if device.platform == "gpu"]
    )


def facts(request: Request) -> dict[str, Any]:
    """Name of the GPU."""
    import jax

    found: dict[str, Any] = {"program": "jax", "mesh": [request.cell.gpus]}
    return found if request.device == "cpu" else found | {"device_name": jax.devices()[0].device_kind}


def place(request: Request) -> tuple[bool, Callable[[bool], bool]]:
    """One process drives all devices of a node; of several nodes the first tells, and the others learn from it."""
    if request.nodes == 1:
        return True, bool
    import jax
    import numpy as np
    from jax.experimental import multihost_utils

    return jax.process_index() == 0, lambda decided: bool(multihost_utils.broadcast_one_to_all(np.asarray(decided)))


def build_step(request: Request, devices: list[str]) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that makes one training step and returns its loss when it is done, and the arithmetic of a sample."""
    if request.checkpoint:
        raise UserError("--checkpoint is a Keras weights file; --framework jax starts from new weights, keras-jax not")
    from sweetspot.harness.jax_training import training_step

    cell = request.cell
    return training_step(request), arithmetic(cell.model, cell.batch_size, cell.gpus)


def rates(request: Request, devices: list[str]) -> dict[str, float]:
    """FLOP/s of a matrix product and of a 3 x 3 convolution, all devices of a node; parts of a processor count once."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    kind = {"fp16": jnp.float16, "bf16": jnp.bfloat16}.get(request.cell.precision, jnp.float32)
    size, images = (1024, 8) if request.device == "cpu" else (8192, 128)
    matrix, batch = jnp.ones((size, size), kind), jnp.ones((images, 28, 28, 128), kind)
    kernel = jnp.ones((3, 3, 128, 128), kind)
    order = ("NHWC", "HWIO", "NHWC")
    product = jax.jit(lambda: matrix @ matrix)
    folded = jax.jit(lambda: lax.conv_general_dilated(batch, kernel, (1, 1), "SAME", dimension_numbers=order))
    count = 1 if request.device == "cpu" else len(devices)
    return {
        "machine_matmul_flops": count * 2 * size**3 / _best_seconds(product),
        "machine_conv_flops": count * 2 * images * 28 * 28 * 9 * 128 * 128 / _best_seconds(folded),
    }


def _best_seconds(work: Callable[[], Any]) -> float:
    work().block_until_ready()
    best, deadline = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        work().block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best
