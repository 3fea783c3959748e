"""A training step of JAX: one jitted function over a mesh of all devices; the compiler adds what they exchange."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from sweetspot.harness.backends import LOSS_SCALE, Step
from sweetspot.harness.jax_networks import Tree, build
from sweetspot.harness.own_networks import ADAMW, SGD_RATE, data, workload
from sweetspot.harness.request import Request

KINDS = {"fp16": jnp.float16, "bf16": jnp.bfloat16}
AXIS = "data"


def _shardings(tree: Tree, mesh: Mesh, variant: str) -> Tree:
    """Where each array lies: on every device, or (`fsdp`) cut along its longest axis that all devices divide."""

    def of(array: Any) -> NamedSharding:
        shape = np.shape(array)
        cut = [axis for axis, length in enumerate(shape) if length % mesh.size == 0 and length >= mesh.size]
        if variant != "fsdp" or not cut:
            return NamedSharding(mesh, PartitionSpec())
        longest = max(cut, key=lambda axis: shape[axis])
        return NamedSharding(mesh, PartitionSpec(*(AXIS if axis == longest else None for axis in range(len(shape)))))

    return jax.tree.map(of, tree)


def _start(parameters: Tree, adamw: bool) -> Tree:
    """The state of the optimizer: nothing for SGD; two moments and the number of the step for AdamW."""
    if not adamw:
        return {}
    zeros = jax.tree.map(np.zeros_like, parameters)
    return {"first": zeros, "second": jax.tree.map(np.zeros_like, parameters), "step": np.zeros((), "float32")}


def _updated(parameters: Tree, gradients: Tree, state: Tree) -> tuple[Tree, Tree]:
    """Parameters and state after one step of SGD or AdamW (Loshchilov & Hutter 2019, algorithm 2)."""
    if not state:
        return jax.tree.map(lambda value, part: value - SGD_RATE * part, parameters, gradients), state
    beta1, beta2, step = ADAMW["beta1"], ADAMW["beta2"], state["step"] + 1
    first = jax.tree.map(lambda old, part: beta1 * old + (1 - beta1) * part, state["first"], gradients)
    second = jax.tree.map(lambda old, part: beta2 * old + (1 - beta2) * part * part, state["second"], gradients)
    rate = ADAMW["lr"] * jnp.sqrt(1 - beta2**step) / (1 - beta1**step)

    def moved(value: Any, mean: Any, square: Any) -> Any:
        return value * (1 - ADAMW["lr"] * ADAMW["weight_decay"]) - rate * mean / (jnp.sqrt(square) + ADAMW["epsilon"])

    return jax.tree.map(moved, parameters, first, second), {"first": first, "second": second, "step": step}


def made(request: Request) -> tuple[Any, list[Tree], list[Any]]:
    """The compiled update `(loss, parameters, statistics, state)`, its three states, and inputs and labels."""
    cell, network = request.cell, workload(request.cell.model)
    kind = KINDS.get(cell.precision, jnp.float32)
    scale = LOSS_SCALE if kind is jnp.float16 else 1.0
    mesh = Mesh(np.array(jax.devices()[: cell.gpus]), (AXIS,))
    parameters, statistics, objective = build(network, request.run, kind)
    state = _start(parameters, network.adamw)
    trees = [parameters, statistics, state]
    places = [_shardings(tree, mesh, cell.variant) for tree in trees]
    held = [jax.device_put(tree, place) for tree, place in zip(trees, places, strict=True)]
    cut = NamedSharding(mesh, PartitionSpec(AXIS))
    batch = [jax.device_put(array, cut) for array in data(cell.model, cell.batch_size * cell.gpus, request.run)]

    def scaled(parameters: Tree, statistics: Tree, inputs: Any, labels: Any) -> tuple[Any, Any]:
        loss, told = objective(parameters, statistics, inputs, labels)
        return loss * scale, (loss, told)

    def update(parameters: Tree, statistics: Tree, state: Tree, inputs: Any, labels: Any) -> tuple[Any, ...]:
        gradients, (loss, told) = jax.grad(scaled, has_aux=True)(parameters, statistics, inputs, labels)
        if scale != 1.0:
            gradients = jax.tree.map(lambda part: part / scale, gradients)
        moved, after = _updated(parameters, gradients, state)
        return loss, moved, told, after

    whole = NamedSharding(mesh, PartitionSpec())
    return jax.jit(update, donate_argnums=(0, 1, 2), out_shardings=(whole, *places)), held, batch


def training_step(request: Request) -> Step:
    """One step; it is done when all devices have finished."""
    update, held, batch = made(request)

    def launch() -> Any:
        loss, *held[:] = update(*held, *batch)
        return loss

    def finish(loss: Any) -> float:
        jax.block_until_ready(held)
        return float(loss)

    return Step(launch, finish)
