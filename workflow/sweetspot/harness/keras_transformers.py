"""The transformers in Keras' own layers, for TensorFlow."""

import keras
from keras import layers, ops

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
