"""JAX as its users have it: one process, one jitted function, data and parameters sharded over a mesh of devices."""

import os
from typing import Any

from sweetspot.errors import UserError
from sweetspot.harness import nodes
from sweetspot.harness.backends import Agree, Step, best_rates, process_a_node, rate_sizes, the_gpus, the_processor
from sweetspot.harness.own_networks import arithmetic_of
from sweetspot.harness.request import Request

INSTALL = {"cpu": "pip install jax", "gpu": "pip install 'jax[cuda13]'"}
HOST_DEVICES = "--xla_force_host_platform_device_count"
launch = process_a_node


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
        names = the_processor(request) * len(jax.local_devices(backend="cpu"))
        if len(names) != request.local_gpus:
            raise UserError(f"--gpus is {request.local_gpus}; XLA_FLAGS makes {len(names)} devices of this processor")
        return names
    return the_gpus(request, [device.device_kind for device in jax.local_devices() if device.platform == "gpu"])


def facts(request: Request) -> dict[str, Any]:
    """Name of the GPU, and by what it multiplies: for fp32 TF32 where a GPU has it, unless JAX is told not to."""
    import jax

    found: dict[str, Any] = {"program": "jax", "mesh": [request.cell.gpus]}
    if request.device == "cpu":
        return found
    device = jax.local_devices()[0]
    capability = [int(part) for part in str(getattr(device, "compute_capability", "0.0")).split(".")]
    asked = str(getattr(jax.config, "jax_default_matmul_precision", None) or "default")
    found |= {"device_name": device.device_kind, "compute_capability": [capability]}
    if request.cell.precision in ("fp32", "tf32"):
        exact = asked in ("highest", "float32") or capability < [8, 0]
        found["products"] = "fp32" if exact else "tf32"
    return found


def place(request: Request) -> tuple[bool, Agree]:
    """One process drives all devices of a node; of several nodes the first tells, and the others learn from it."""
    if request.nodes == 1:
        return True, int
    import jax
    import numpy as np
    from jax.experimental import multihost_utils

    return jax.process_index() == 0, lambda wanted: int(multihost_utils.broadcast_one_to_all(np.asarray(wanted)))


def build_step(request: Request, devices: list[str]) -> tuple[Step, dict[str, Any]]:
    """A training step, and the arithmetic of a sample."""
    asked = arithmetic_of(request)
    from sweetspot.harness.jax_training import training_step

    return training_step(request), asked


def rates(request: Request, devices: list[str]) -> dict[str, float]:
    """FLOP/s of a matrix product and of a 3 x 3 convolution, all devices of a node; parts of a processor count once."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    from sweetspot.harness.jax_training import KINDS

    kind = KINDS.get(request.cell.precision, jnp.float32)
    size, images = rate_sizes(request)
    matrix, batch = jnp.ones((size, size), kind), jnp.ones((images, 28, 28, 128), kind)
    kernel = jnp.ones((3, 3, 128, 128), kind)
    order = ("NHWC", "HWIO", "NHWC")
    product = jax.jit(lambda: matrix @ matrix)
    folded = jax.jit(lambda: lax.conv_general_dilated(batch, kernel, (1, 1), "SAME", dimension_numbers=order))
    count = 1 if request.device == "cpu" else len(devices)
    return best_rates(request, lambda: product().block_until_ready(), lambda: folded().block_until_ready(), count)
