"""Small workloads of the 2017 framework study, the 2018 tweet classifier, and a tiny network for tests.

Layers and shapes are those of the studies' published programs (minimaxir/keras-cntk-benchmark v2 and
RaRe-Technologies/benchmark_GPU_platforms); data are synthetic and every network is updated by plain SGD here,
where those programs used RMSprop, Adadelta or Adam.
"""

from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import layers

Stack = list[keras.layers.Layer]


class Small(NamedTuple):
    """The layers of a network giving logits, and the shapes of its data."""

    layers: Callable[[], Stack]
    shape: tuple[int, ...]
    classes: int
    vocabulary: int | None = None


def _mnist_mlp() -> Stack:
    hidden = [[layers.Dense(512, activation="relu"), layers.Dropout(0.2)] for _ in range(2)]
    return [*hidden[0], *hidden[1], layers.Dense(10)]


def _mnist_cnn() -> Stack:
    return [
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Dropout(0.25),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(10),
    ]


def _cifar10_cnn() -> Stack:
    stack: Stack = []
    for filters in (32, 64):
        stack += [
            layers.Conv2D(filters, 3, padding="same", activation="relu"),
            layers.Conv2D(filters, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
        ]
    return [*stack, layers.Flatten(), layers.Dense(512, activation="relu"), layers.Dropout(0.5), layers.Dense(10)]


def _text_classifier(vocabulary: int) -> Stack:
    return [
        layers.Embedding(vocabulary, 128),
        layers.Bidirectional(layers.LSTM(64)),
        layers.Dropout(0.5),
        layers.Dense(1),
    ]


def _tiny_cnn() -> Stack:
    """A few thousand parameters: the same path through the harness in a second."""
    return [
        layers.Conv2D(8, 3, strides=2),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10),
    ]


IMDB_WORDS, TWEET_WORDS = 20_000, 274_562
SMALL = {
    "mnist_mlp": Small(_mnist_mlp, (784,), 10),
    "mnist_cnn": Small(_mnist_cnn, (28, 28, 1), 10),
    "cifar10_cnn": Small(_cifar10_cnn, (32, 32, 3), 10),
    "imdb_bilstm": Small(lambda: _text_classifier(IMDB_WORDS), (100,), 1, IMDB_WORDS),
    "lstm_text": Small(lambda: [layers.LSTM(128), layers.Dense(57)], (40, 57), 57),
    "tweet_bilstm": Small(lambda: _text_classifier(TWEET_WORDS), (36,), 1, TWEET_WORDS),
    "tiny_cnn": Small(_tiny_cnn, (32, 32, 3), 10),
}
