"""The networks as functions of their parameters, in JAX alone: as a plain JAX loop has them; here those of images.

Parameters are fp32 and computed with in the precision of the run; normalisations and the loss stay fp32.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sweetspot.harness import jax_transformers
from sweetspot.harness.image_networks import Conv, Dense, ImageNetwork, Mean, Pool, Residual, walk
from sweetspot.harness.jax_transformers import EPSILON, Draw, Tree
from sweetspot.harness.own_networks import Workload
from sweetspot.study.transformers import Shape

MOMENTUM = 0.9  # of batch normalisation
DROPOUT_SEED = 7


def build(
    workload: Workload, seed: int, kind: Any, draw: Draw | None = None
) -> tuple[Tree, Tree, Callable[..., tuple[jax.Array, Tree]]]:
    """Parameters, moving statistics, and `objective(parameters, statistics, inputs, labels) -> (loss, statistics)`.

    What is frozen beside adapters goes with the statistics: nothing learns it. `draw` makes the weights, else a normal
    distribution by `seed` does.
    """
    network, made = workload.network, draw or drawn(seed)
    if isinstance(network, Shape):
        parameters, statistics = jax_transformers.start(network, made, kind)
        forward = partial(jax_transformers.logits, network, kind)
    else:
        parameters, statistics = _image(network, made)
        forward = partial(_image_logits, network, kind)

    def objective(parameters: Tree, statistics: Tree, inputs: jax.Array, labels: jax.Array) -> tuple[jax.Array, Tree]:
        values, told = forward(parameters, statistics, inputs)
        return cross_entropy(values, labels), told

    return parameters, statistics, objective


def drawn(seed: int) -> Draw:
    """Weights of a normal distribution, in fp32."""
    random = np.random.default_rng(seed)

    def draw(sizes: tuple[int, ...], deviation: float) -> np.ndarray:
        values = random.standard_normal(sizes, dtype="float32")
        values *= np.float32(deviation)
        return values

    return draw


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean over all but the last axis, in fp32."""
    logits = logits.astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def _image(network: ImageNetwork, draw: Draw) -> tuple[Tree, Tree]:
    parameters: list[Tree] = []
    statistics: list[Tree] = []
    for layer, channels, side in walk(network):
        weights: Tree = []
        moving: Tree = []
        if isinstance(layer, Conv):
            weights, moving = _conv_start(layer, channels, draw)
        elif isinstance(layer, Residual):
            pairs = [_conv_start(part, inner, draw) for part, inner, _ in layer.parts(channels, side)]
            pairs += [_conv_start(layer.shortcut, channels, draw)] if layer.shortcut else []
            weights, moving = [list(values) for values in zip(*pairs, strict=True)]
        elif isinstance(layer, Dense):
            inputs = side**2 * channels
            weights = {"kernel": draw((inputs, layer.units), inputs**-0.5), "bias": np.zeros(layer.units, "float32")}
        parameters.append(weights)
        statistics.append(moving)
    return parameters, statistics


def _conv_start(layer: Conv, channels: int, draw: Draw) -> tuple[Tree, Tree]:
    shape = (layer.kernel, layer.kernel, channels, layer.filters)
    kernel = draw(shape, (2 / (layer.kernel**2 * layer.filters)) ** 0.5)
    zeros, ones = np.zeros(layer.filters, "float32"), np.ones(layer.filters, "float32")
    if not layer.norm:
        return {"kernel": kernel, "bias": zeros}, []
    return {"kernel": kernel, "scale": ones, "bias": zeros}, {"mean": zeros, "variance": ones}


def _conv(layer: Conv, weights: Tree, moving: Tree, inputs: jax.Array) -> tuple[jax.Array, Tree]:
    sides = [(layer.padding, layer.padding)] * 2
    values = lax.conv_general_dilated(
        inputs,
        weights["kernel"].astype(inputs.dtype),
        (layer.stride, layer.stride),
        sides,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    if layer.norm:
        plain = values.astype(jnp.float32)
        # As Flax has it: the mean of the squares less the square of the mean, one look at the values instead of two.
        mean = plain.mean((0, 1, 2))
        variance = jnp.maximum(lax.square(plain).mean((0, 1, 2)) - lax.square(mean), 0.0)
        moving = {
            "mean": MOMENTUM * moving["mean"] + (1 - MOMENTUM) * mean,
            "variance": MOMENTUM * moving["variance"] + (1 - MOMENTUM) * variance,
        }
        factor = weights["scale"] * lax.rsqrt(variance + EPSILON)
        values = (plain * factor + (weights["bias"] - mean * factor)).astype(inputs.dtype)
    else:
        values = values + weights["bias"].astype(inputs.dtype)
    return (jax.nn.relu(values) if layer.relu else values), moving


def _residual(layer: Residual, weights: Tree, moving: Tree, inputs: jax.Array) -> tuple[jax.Array, Tree]:
    values, told = inputs, []
    parts = zip(layer.body, weights, moving, strict=False)
    for part, own, statistic in parts:
        values, statistic = _conv(part, own, statistic, values)
        told.append(statistic)
    if layer.shortcut is not None:
        inputs, statistic = _conv(layer.shortcut, weights[-1], moving[-1], inputs)
        told.append(statistic)
    return jax.nn.relu(values + inputs), told


def _pool(layer: Pool, inputs: jax.Array) -> jax.Array:
    window, strides = (1, layer.kernel, layer.kernel, 1), (1, layer.stride, layer.stride, 1)
    sides = [(0, 0), *[(layer.padding, layer.padding)] * 2, (0, 0)]
    return lax.reduce_window(inputs, -jnp.inf, lax.max, window, strides, sides)


def _dense(layer: Dense, weights: Tree, inputs: jax.Array, number: int) -> jax.Array:
    flat = inputs.reshape(len(inputs), -1)
    values = flat @ weights["kernel"].astype(flat.dtype) + weights["bias"].astype(flat.dtype)
    values = jax.nn.relu(values) if layer.relu else values
    if layer.dropout:
        kept = jax.random.bernoulli(jax.random.key(DROPOUT_SEED + number), 1 - layer.dropout, values.shape)
        values = jnp.where(kept, values / (1 - layer.dropout), 0)
    return values


def _image_logits(
    network: ImageNetwork, kind: Any, parameters: Tree, statistics: Tree, inputs: jax.Array
) -> tuple[jax.Array, Tree]:
    values, told = inputs.astype(kind), []
    for number, (layer, weights, moving) in enumerate(zip(network.layers, parameters, statistics, strict=True)):
        if isinstance(layer, Conv):
            values, moving = _conv(layer, weights, moving, values)
        elif isinstance(layer, Residual):
            values, moving = _residual(layer, weights, moving, values)
        elif isinstance(layer, Pool):
            values = _pool(layer, values)
        elif isinstance(layer, Mean):
            values = values.mean((1, 2))
        else:
            values = _dense(layer, weights, values, number)
        told.append(moving)
    return values, told
