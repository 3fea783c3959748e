"""A Llama in Keras' own layers, for TensorFlow: whole or with adapters (LoRA) on a frozen base."""

import keras
import numpy as np
from keras import layers, ops

from sweetspot.harness.keras_transformers import TiedHead
from sweetspot.harness.own_networks import RMS_EPSILON, rotation
from sweetspot.study.transformers import Shape


class SharedAttention(layers.Layer):
    """Causal attention of queries (batch, tokens, heads, width) whose keys and values several heads share, rotated."""

    def __init__(self, shape: Shape, **options: str) -> None:
        super().__init__(**options)
        self.shape = shape
        angles = rotation(shape)[:, None, :]
        self.cosine, self.sine = np.cos(angles), np.sin(angles)

    def call(self, query: keras.KerasTensor, key: keras.KerasTensor, value: keras.KerasTensor) -> keras.KerasTensor:
        """(batch, tokens, hidden) of the queries' width."""
        shape = self.shape
        query = self._rotated(ops.reshape(query, (-1, shape.sequence, shape.heads, self._width())))
        keys, values = (ops.reshape(part, (-1, shape.sequence, shape.kv_heads, self._width())) for part in (key, value))
        mixed = ops.dot_product_attention(query, self._rotated(keys), values, is_causal=True)
        return ops.reshape(mixed, (-1, shape.sequence, shape.hidden))

    def _width(self) -> int:
        return self.shape.hidden // self.shape.heads

    def _rotated(self, values: keras.KerasTensor) -> keras.KerasTensor:
        """Each half of a head turned against the other by the angles of the position (RoPE, Su et al. 2021)."""
        first, second = ops.split(values, 2, axis=-1)
        cosine, sine = ops.cast(self.cosine, values.dtype), ops.cast(self.sine, values.dtype)
        return ops.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)


class _Parts:
    """Makes the layers by name: of a base beside adapters frozen, and kept in the precision that is computed with."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.options = {"dtype": keras.config.dtype_policy().compute_dtype, "trainable": False} if shape.rank else {}
        self.start = keras.initializers.RandomNormal(stddev=0.02)

    def dense(self, name: str, width: int) -> layers.Layer:
        return layers.Dense(width, use_bias=False, kernel_initializer=self.start, name=name, **self.options)

    def norm(self, name: str) -> layers.Layer:
        return layers.RMSNormalization(epsilon=RMS_EPSILON, name=name, **self.options)

    def adapted(self, name: str, width: int, values: keras.KerasTensor) -> keras.KerasTensor:
        """The product of the base, and beside it a narrow pair that is trained and starts at nothing."""
        made = self.dense(name, width)(values)
        if not self.shape.rank:
            return made
        down = layers.Dense(self.shape.rank, use_bias=False, kernel_initializer=self.start, name=f"{name}_down")
        up = layers.Dense(width, use_bias=False, kernel_initializer="zeros", name=f"{name}_up")
        return layers.add([made, up(down(values))])


def _layer(parts: _Parts, number: int, values: keras.KerasTensor) -> keras.KerasTensor:
    shape, name = parts.shape, f"layer{number}_"
    normal = parts.norm(f"{name}first")(values)
    query = parts.adapted(f"{name}query", shape.hidden, normal)
    value = parts.adapted(f"{name}value", shape.kv, normal)
    mixed = SharedAttention(shape)(query, parts.dense(f"{name}key", shape.kv)(normal), value)
    values = layers.add([values, parts.dense(f"{name}project", shape.hidden)(mixed)])
    normal = parts.norm(f"{name}second")(values)
    gate = layers.Activation("silu")(parts.dense(f"{name}gate", shape.wide)(normal))
    wide = layers.multiply([gate, parts.dense(f"{name}widen", shape.wide)(normal)])
    return layers.add([values, parts.dense(f"{name}narrow", shape.hidden)(wide)])


def llama(shape: Shape, name: str) -> keras.Model:
    """The network; gives logits (batch, tokens, vocabulary) of each next token, by the embedding itself."""
    parts = _Parts(shape)
    inputs = keras.Input((shape.sequence,), dtype="int32")
    words = layers.Embedding(
        shape.vocabulary, shape.hidden, embeddings_initializer=parts.start, name="words", **parts.options
    )
    values = words(inputs)
    for number in range(shape.layers):
        values = _layer(parts, number, values)
    return keras.Model(inputs, TiedHead(words)(parts.norm("norm")(values)), name=name)
