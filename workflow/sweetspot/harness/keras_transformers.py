"""The transformers in Keras' own layers, for TensorFlow; a Llama whole or with adapters (LoRA) on a frozen base."""

import keras
import numpy as np
from keras import layers, ops

from sweetspot.harness.own_networks import RMS_EPSILON, rotation
from sweetspot.study.transformers import Shape

CAUSAL = {"use_causal_mask": True}


class Positions(layers.Layer):
    """Adds a learnt vector to each position; of vision it puts a learnt token before all."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(name="positions")
        self.shape = shape

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Make the vectors."""
        size = (self.shape.sequence, self.shape.hidden)
        self.table = self.add_weight(shape=size, initializer=keras.initializers.RandomNormal(stddev=0.02), name="table")
        if self.shape.kind == "vision":
            self.first = self.add_weight(shape=(1, 1, self.shape.hidden), initializer="zeros", name="first")

    def call(self, values: keras.KerasTensor) -> keras.KerasTensor:
        """`values` (batch, tokens, hidden) with the positions."""
        if self.shape.kind == "vision":
            first = ops.broadcast_to(ops.cast(self.first, values.dtype), (ops.shape(values)[0], 1, self.shape.hidden))
            values = ops.concatenate([first, values], axis=1)
        return values + ops.cast(self.table, values.dtype)


class TiedHead(layers.Layer):
    """Logits of the next token by the embedding itself (GPT-2)."""

    def __init__(self, words: layers.Embedding) -> None:
        super().__init__(name="tied_head")
        self.words = words

    def call(self, values: keras.KerasTensor) -> keras.KerasTensor:
        """(batch, tokens, hidden) to (batch, tokens, vocabulary)."""
        table = ops.cast(self.words.embeddings, values.dtype)
        return ops.matmul(values, ops.transpose(table))


def _norm() -> layers.Layer:
    return layers.LayerNormalization(epsilon=1e-5)


def _layer(shape: Shape, values: keras.KerasTensor) -> keras.KerasTensor:
    attention = layers.MultiHeadAttention(shape.heads, shape.hidden // shape.heads)
    options = CAUSAL if shape.kind == "decoder" else {}
    widen, narrow = layers.Dense(shape.wide, activation="gelu"), layers.Dense(shape.hidden)
    first, second = _norm(), _norm()
    if shape.kind == "encoder":
        values = first(layers.add([values, attention(values, values, **options)]))
        return second(layers.add([values, narrow(widen(values))]))
    normal = first(values)
    values = layers.add([values, attention(normal, normal, **options)])
    return layers.add([values, narrow(widen(second(values)))])


def transformer(shape: Shape, name: str) -> keras.Model:
    """The network; gives logits (batch, ..., classes): of images, of each token's next, or of where answers lie."""
    if shape.kind == "vision":
        inputs = keras.Input((shape.image, shape.image, 3))
        cut = layers.Conv2D(shape.hidden, shape.patch, strides=shape.patch)(inputs)
        values = layers.Reshape((shape.sequence - 1, shape.hidden))(cut)
    else:
        inputs = keras.Input((shape.sequence,), dtype="int32")
        words = layers.Embedding(shape.vocabulary, shape.hidden)
        values = words(inputs)
    values = Positions(shape)(values)
    if shape.kind == "encoder":
        values = _norm()(values)  # every sequence is one segment: its vector is part of the positions
    for _ in range(shape.layers):
        values = _layer(shape, values)
    if shape.kind == "encoder":
        outputs = layers.Permute((2, 1))(layers.Dense(2)(values))
    elif shape.kind == "decoder":
        outputs = TiedHead(words)(_norm()(values))
    else:
        outputs = layers.Dense(shape.vocabulary)(_norm()(values)[:, 0])
    return keras.Model(inputs, outputs, name=name)


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


def _llama_layer(parts: _Parts, number: int, values: keras.KerasTensor) -> keras.KerasTensor:
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
        values = _llama_layer(parts, number, values)
    return keras.Model(inputs, TiedHead(words)(parts.norm("norm")(values)), name=name)
