"""The networks as functions of their parameters, in JAX alone, as a plain JAX loop has them.

Parameters are fp32 and computed with in the precision of the run; normalisations and the loss stay fp32. A Llama is
trained whole or with adapters (LoRA) on a frozen base.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sweetspot.harness.own_networks import (
    RMS_EPSILON,
    Conv,
    Dense,
    ImageNetwork,
    Mean,
    Pool,
    Residual,
    Workload,
    rotation,
    walk,
)
from sweetspot.study.transformers import Shape

Tree = Any  # nested lists and dictionaries of arrays
Draw = Callable[[tuple[int, ...], float], Any]  # sizes and deviation to a weight
EPSILON = 1e-5  # of a normalisation
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
        parameters, statistics = start(network, made, kind)
        forward = partial(logits, network, kind)
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
            window, strides = (1, layer.kernel, layer.kernel, 1), (1, layer.stride, layer.stride, 1)
            sides = [(0, 0), *[(layer.padding, layer.padding)] * 2, (0, 0)]
            values = lax.reduce_window(values, -jnp.inf, lax.max, window, strides, sides)
        elif isinstance(layer, Mean):
            values = values.mean((1, 2))
        else:
            values = _dense(layer, weights, values, number)
        told.append(moving)
    return values, told


def start(shape: Shape, draw: Draw, kind: Any) -> tuple[Tree, Tree]:
    """What is trained, and what is not: nothing, but beside adapters the base in the precision of the run."""
    return _llama(shape, draw, kind) if shape.kind == "llama" else (_transformer(shape, draw), [])


def logits(shape: Shape, kind: Any, parameters: Tree, frozen: Tree, inputs: jax.Array) -> tuple[jax.Array, Tree]:
    """Logits whose last axis is that of classes: of images, next tokens, where answers lie; and `frozen`."""
    if shape.kind != "llama":
        return _transformer_logits(shape, kind, parameters, inputs), frozen
    base, adapters = (frozen, parameters) if shape.rank else (parameters, [{}] * shape.layers)
    words, angles = base["words"].astype(kind), rotation(shape)
    values = words[inputs]
    for weights, pairs in zip(base["layers"], adapters, strict=True):
        values = _llama_layer(shape, weights, pairs, values, angles)
    return _rms_norm(base["norm"], values) @ words.T, frozen


def _transformer(shape: Shape, draw: Draw) -> Tree:
    hidden, wide = shape.hidden, shape.wide

    def linear(inputs: int, outputs: int) -> Tree:
        return {"kernel": draw((inputs, outputs), 0.02), "bias": np.zeros(outputs, "float32")}

    def norm() -> Tree:
        return {"scale": np.ones(hidden, "float32"), "bias": np.zeros(hidden, "float32")}

    def table(*sizes: int) -> Any:
        return draw(sizes, 0.02)

    layers = [
        {
            "attention": linear(hidden, 3 * hidden),
            "project": linear(hidden, hidden),
            "widen": linear(hidden, wide),
            "narrow": linear(wide, hidden),
            "norms": [norm(), norm()],
        }
        for _ in range(shape.layers)
    ]
    tree = {"positions": table(shape.sequence, hidden), "layers": layers, "norm": norm()}
    if shape.kind == "vision":
        patches = linear(3 * shape.patch**2, hidden)
        return tree | {"patches": patches, "class": table(1, 1, hidden), "head": linear(hidden, shape.vocabulary)}
    tree |= {"words": table(shape.vocabulary, hidden)}
    return tree | ({"segments": table(2, hidden), "head": linear(hidden, 2)} if shape.kind == "encoder" else {})


def _linear(weights: Tree, values: jax.Array) -> jax.Array:
    return values @ weights["kernel"].astype(values.dtype) + weights["bias"].astype(values.dtype)


def _layer_norm(weights: Tree, values: jax.Array) -> jax.Array:
    plain = values.astype(jnp.float32)
    mean, variance = plain.mean(-1, keepdims=True), plain.var(-1, keepdims=True)
    return ((plain - mean) * lax.rsqrt(variance + EPSILON) * weights["scale"] + weights["bias"]).astype(values.dtype)


def _attend(shape: Shape, weights: Tree, values: jax.Array) -> jax.Array:
    batch, tokens, hidden = values.shape
    parts = _linear(weights["attention"], values).reshape(batch, tokens, 3, shape.heads, hidden // shape.heads)
    query, key, value = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
    mixed = jax.nn.dot_product_attention(query, key, value, is_causal=shape.kind == "decoder")
    return _linear(weights["project"], mixed.reshape(batch, tokens, hidden))


def _layer(shape: Shape, weights: Tree, values: jax.Array) -> jax.Array:
    def perceive(inputs: jax.Array) -> jax.Array:
        return _linear(weights["narrow"], jax.nn.gelu(_linear(weights["widen"], inputs), approximate=False))

    first, second = weights["norms"]
    if shape.kind == "encoder":
        values = _layer_norm(first, values + _attend(shape, weights, values))
        return _layer_norm(second, values + perceive(values))
    values = values + _attend(shape, weights, _layer_norm(first, values))
    return values + perceive(_layer_norm(second, values))


def _embed(shape: Shape, kind: Any, parameters: Tree, inputs: jax.Array) -> jax.Array:
    positions = parameters["positions"].astype(kind)
    if shape.kind != "vision":
        values = parameters["words"].astype(kind)[inputs] + positions
        if shape.kind == "encoder":
            values = _layer_norm(parameters["norm"], values + parameters["segments"].astype(kind)[0])
        return values
    count, side = len(inputs), shape.image // shape.patch
    cut = inputs.astype(kind).reshape(count, side, shape.patch, side, shape.patch, 3).transpose(0, 1, 3, 2, 4, 5)
    patches = _linear(parameters["patches"], cut.reshape(count, side * side, -1))
    first = jnp.broadcast_to(parameters["class"].astype(kind), (count, 1, shape.hidden))
    return jnp.concatenate([first, patches], 1) + positions


def _transformer_logits(shape: Shape, kind: Any, parameters: Tree, inputs: jax.Array) -> jax.Array:
    values = _embed(shape, kind, parameters, inputs)
    for weights in parameters["layers"]:
        values = _layer(shape, weights, values)
    if shape.kind == "encoder":
        return _linear(parameters["head"], values).transpose(0, 2, 1)
    values = _layer_norm(parameters["norm"], values)
    if shape.kind == "decoder":
        return values @ parameters["words"].astype(kind).T
    return _linear(parameters["head"], values[:, 0])


def _llama(shape: Shape, draw: Draw, kind: Any) -> tuple[Tree, Tree]:
    hidden, kv, wide = shape.hidden, shape.kv, shape.wide
    sizes = {"query": (hidden, hidden), "key": (hidden, kv), "value": (hidden, kv), "project": (hidden, hidden)}
    sizes |= {"gate": (hidden, wide), "widen": (hidden, wide), "narrow": (wide, hidden)}
    ones = np.ones(hidden, "float32")
    layers = [
        {**{name: draw(size, 0.02) for name, size in sizes.items()}, "norms": [ones, ones]} for _ in range(shape.layers)
    ]
    base = {"words": draw((shape.vocabulary, hidden), 0.02), "layers": layers, "norm": ones}
    if not shape.rank:
        return base, []

    def pair(width: int) -> Tree:
        return {"down": draw((hidden, shape.rank), 0.02), "up": np.zeros((shape.rank, width), "float32")}

    adapters = [{"query": pair(hidden), "value": pair(kv)} for _ in range(shape.layers)]
    return adapters, jax.tree.map(lambda weight: _cast(weight, kind), base)


def _cast(weight: Any, kind: Any) -> Any:
    if isinstance(weight, jax.ShapeDtypeStruct):
        return jax.ShapeDtypeStruct(weight.shape, kind)
    return weight.astype(kind)


def _rms_norm(scale: Any, values: jax.Array) -> jax.Array:
    plain = values.astype(jnp.float32)
    factor = lax.rsqrt(jnp.mean(plain * plain, -1, keepdims=True) + RMS_EPSILON)
    return (plain * factor * scale).astype(values.dtype)


def _product(weight: Any, adapter: Tree, values: jax.Array) -> jax.Array:
    made = values @ weight.astype(values.dtype)
    if adapter:
        made += (values @ adapter["down"].astype(values.dtype)) @ adapter["up"].astype(values.dtype)
    return made


def _rotated(values: jax.Array, angles: np.ndarray) -> jax.Array:
    """Each half of a head turned against the other by the angles of the position (RoPE, Su et al. 2021)."""
    first, second = jnp.split(values, 2, -1)
    cosine, sine = (jnp.asarray(part, values.dtype)[:, None] for part in (np.cos(angles), np.sin(angles)))
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def _llama_attend(shape: Shape, weights: Tree, adapters: Tree, values: jax.Array, angles: np.ndarray) -> jax.Array:
    batch, tokens, hidden = values.shape

    def heads(name: str, count: int) -> jax.Array:
        return _product(weights[name], adapters.get(name), values).reshape(batch, tokens, count, -1)

    query, key = (_rotated(heads(*part), angles) for part in (("query", shape.heads), ("key", shape.kv_heads)))
    mixed = jax.nn.dot_product_attention(query, key, heads("value", shape.kv_heads), is_causal=True)
    return _product(weights["project"], None, mixed.reshape(batch, tokens, hidden))


def _llama_layer(shape: Shape, weights: Tree, adapters: Tree, values: jax.Array, angles: np.ndarray) -> jax.Array:
    first, second = weights["norms"]
    values = values + _llama_attend(shape, weights, adapters, _rms_norm(first, values), angles)
    normal = _rms_norm(second, values)
    wide = jax.nn.silu(_product(weights["gate"], None, normal)) * _product(weights["widen"], None, normal)
    return values + _product(weights["narrow"], None, wide)
