"""A Llama as functions of its parameters, whole or with adapters (LoRA) on a frozen base."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sweetspot.harness.own_networks import RMS_EPSILON, rotation
from sweetspot.study.transformers import Shape

Tree = Any  # nested lists and dictionaries of arrays


def start(shape: Shape, draw: Callable[..., Any], kind: Any) -> tuple[Tree, Tree]:
    """What is trained, and what is not: of a whole Llama nothing, beside adapters the base in the precision of the run.

    `draw(sizes, deviation)` makes the weights.
    """
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


def logits(shape: Shape, kind: Any, base: Tree, adapters: Tree, inputs: jax.Array) -> jax.Array:
    """(batch, tokens, vocabulary) of each next token, by the embedding itself."""
    words = base["words"].astype(kind)
    angles = rotation(shape)
    values = words[inputs]
    for number, weights in enumerate(base["layers"]):
        values = _layer(shape, weights, adapters[number] if adapters else {}, values, angles)
    return _norm(base["norm"], values) @ words.T


def _norm(scale: Any, values: jax.Array) -> jax.Array:
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


def _attend(shape: Shape, weights: Tree, adapters: Tree, values: jax.Array, angles: np.ndarray) -> jax.Array:
    batch, tokens, hidden = values.shape

    def heads(name: str, count: int) -> jax.Array:
        return _product(weights[name], adapters.get(name), values).reshape(batch, tokens, count, -1)

    query, key = (_rotated(heads(*part), angles) for part in (("query", shape.heads), ("key", shape.kv_heads)))
    mixed = jax.nn.dot_product_attention(query, key, heads("value", shape.kv_heads), is_causal=True)
    return _product(weights["project"], None, mixed.reshape(batch, tokens, hidden))


def _layer(shape: Shape, weights: Tree, adapters: Tree, values: jax.Array, angles: np.ndarray) -> jax.Array:
    first, second = weights["norms"]
    values = values + _attend(shape, weights, adapters, _norm(first, values), angles)
    normal = _norm(second, values)
    wide = jax.nn.silu(_product(weights["gate"], None, normal)) * _product(weights["widen"], None, normal)
    return values + _product(weights["narrow"], None, wide)
