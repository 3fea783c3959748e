"""The networks of Keras by name, with the shapes of the synthetic data that they train on.

Small ones are those of the 2017 framework study, the 2018 tweet classifier, and a tiny network for tests: layers and
shapes of the studies' published programs (minimaxir/keras-cntk-benchmark v2 and
RaRe-Technologies/benchmark_GPU_platforms), updated by plain SGD here, where those used RMSprop, Adadelta or Adam.
Inception v4 is that of Szegedy et al. 2016 (arXiv:1602.07261, figures 3 to 9), which keras.applications lacks.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import keras
from keras import layers

from sweetspot.errors import UserError
from sweetspot.harness import own_networks
from sweetspot.harness.keras_transformers import llama, transformer
from sweetspot.matrix.possible import architecture, expected
from sweetspot.study.transformers import SHAPES

Tensor: TypeAlias = keras.KerasTensor
Stack = list[keras.layers.Layer]
Branches = list[list[Any]]
CLASSES = 1001  # ImageNet's thousand and a background class, as tf_cnn_benchmarks and TF-Slim count
DEFAULT_SIZE = 224
SIZES = {  # the size a network was published with, where it is not 224 (keras.io/api/applications)
    "InceptionV3": 299,
    "InceptionResNetV2": 299,
    "Xception": 299,
    "NASNetLarge": 331,
    **{f"EfficientNetB{number}": size for number, size in enumerate((224, 240, 260, 300, 380, 456, 528, 600))},
    **{f"EfficientNetV2B{number}": size for number, size in enumerate((224, 240, 260, 300))},
    "EfficientNetV2S": 384,
    "EfficientNetV2M": 480,
    "EfficientNetV2L": 480,
}


class BuiltNetwork(NamedTuple):
    """An untrained network giving logits, and the shapes of one sample."""

    network: keras.Model
    shape: tuple[int, ...]  # of one sample, without the batch
    classes: int  # 1: one logit for a yes-or-no question
    vocabulary: int | None = None  # inputs are whole numbers below it, not real ones
    labels: tuple[int, ...] = ()  # of one sample: () one class; else as many as the logits without their last axis
    adamw: bool = False  # updated by AdamW, not by plain SGD


def _mlp() -> Stack:
    hidden = [[layers.Dense(512, activation="relu"), layers.Dropout(0.2)] for _ in range(2)]
    return [*hidden[0], *hidden[1], layers.Dense(10)]


def _cnn(blocks: list[tuple[int, int, str]], units: int) -> Stack:
    """Blocks of two convolutions (filters of each, padding of the first) and a pooling, then two dense layers."""
    stack: Stack = []
    for first, second, padding in blocks:
        stack.append(layers.Conv2D(first, 3, padding=padding, activation="relu"))
        stack += [layers.Conv2D(second, 3, activation="relu"), layers.MaxPooling2D(2), layers.Dropout(0.25)]
    return [*stack, layers.Flatten(), layers.Dense(units, activation="relu"), layers.Dropout(0.5), layers.Dense(10)]


def _text_classifier(vocabulary: int) -> Stack:
    words = [layers.Embedding(vocabulary, 128), layers.Bidirectional(layers.LSTM(64))]
    return [*words, layers.Dropout(0.5), layers.Dense(1)]


def _tiny_cnn() -> Stack:
    """A few thousand parameters: the same path through the harness in a second."""
    convolved = [layers.Conv2D(8, 3, strides=2), layers.BatchNormalization(), layers.ReLU()]
    return [*convolved, layers.GlobalAveragePooling2D(), layers.Dense(10)]


IMDB_WORDS, TWEET_WORDS = 20_000, 274_562
# Layers giving logits; shape of a sample, classes and vocabulary of the data, as of a BuiltNetwork.
SMALL: dict[str, tuple[Callable[[], Stack], tuple[int, ...], int, int | None]] = {
    "mnist_mlp": (_mlp, (784,), 10, None),
    "mnist_cnn": (lambda: _cnn([(32, 64, "valid")], 128), (28, 28, 1), 10, None),
    "cifar10_cnn": (lambda: _cnn([(32, 32, "same"), (64, 64, "same")], 512), (32, 32, 3), 10, None),
    "imdb_bilstm": (lambda: _text_classifier(IMDB_WORDS), (100,), 1, IMDB_WORDS),
    "lstm_text": (lambda: [layers.LSTM(128), layers.Dense(57)], (40, 57), 57, None),
    "tweet_bilstm": (lambda: _text_classifier(TWEET_WORDS), (36,), 1, TWEET_WORDS),
    "tiny_cnn": (_tiny_cnn, (32, 32, 3), 10, None),
}


def build_workload(name: str, checkpoint: str = "") -> BuiltNetwork:
    """The network of that name (channels last), with new weights or those of a Keras weights file.

    Names are the slugs of the study (`resnet50`), small workloads (`mnist_mlp`), `inception4`, or any class of
    `keras.applications` in any case (`mobilenetv2`, `EfficientNetB0`). Raises UserError for another name, or a file
    that does not hold this network's weights.
    """
    if name in SMALL:
        stack, shape, classes, vocabulary = SMALL[name]
        entry = keras.Input(shape, dtype="int32" if vocabulary else None)
        workload = BuiltNetwork(keras.Sequential([entry, *stack()], name=name), shape, classes, vocabulary)
    elif name in SHAPES:
        made = own_networks.workload(name)
        network = (llama if SHAPES[name].kind == "llama" else transformer)(SHAPES[name], name)
        workload = BuiltNetwork(network, made.inputs, made.classes, made.vocabulary, made.labels, made.adamw)
    elif name == "inception4":
        workload = BuiltNetwork(inception4(CLASSES), (299, 299, 3), CLASSES)
    elif found := architecture(name):
        shape = (SIZES.get(found, DEFAULT_SIZE),) * 2 + (3,)
        options = {"weights": None, "classes": CLASSES, "classifier_activation": None, "input_shape": shape}
        workload = BuiltNetwork(getattr(keras.applications, found)(**options), shape, CLASSES)
    else:
        raise UserError(f"--model is {name!r}; expected {expected(name)}")
    if checkpoint:
        try:
            workload.network.load_weights(checkpoint)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:160]
            raise UserError(f"--checkpoint is {checkpoint!r}; expected a weights file of {name}: {reason}") from None
    return workload


# Branches of Inception v4, each a chain of convolutions (filters, kernel, stride, padding) and of poolings.
GREATEST, MEAN = "greatest", "mean"
BLOCK_A: Branches = [[(96, 1)], [(64, 1), (96, 3)], [(64, 1), (96, 3), (96, 3)], [MEAN, (96, 1)]]
BLOCK_B: Branches = [
    [(384, 1)],
    [(192, 1), (224, (1, 7)), (256, (7, 1))],
    [(192, 1), (192, (7, 1)), (224, (1, 7)), (224, (7, 1)), (256, (1, 7))],
    [MEAN, (128, 1)],
]
REDUCTION_A: Branches = [[GREATEST], [(384, 3, 2)], [(192, 1), (224, 3), (256, 3, 2)]]
REDUCTION_B: Branches = [[GREATEST], [(192, 1), (192, 3, 2)], [(256, 1), (256, (1, 7)), (320, (7, 1)), (320, 3, 2)]]
STEM: list[Branches] = [
    [[(32, 3, 2), (32, 3, 1, "valid"), (64, 3)]],
    [[GREATEST], [(96, 3, 2)]],
    [[(64, 1), (96, 3, 1, "valid")], [(64, 1), (64, (1, 7)), (64, (7, 1)), (96, 3, 1, "valid")]],
    [[(192, 3, 2)], [GREATEST]],
]


def inception4(classes: int) -> keras.Model:
    """Inception v4 for 299 x 299 images, giving logits; no auxiliary head, as the paper draws it."""
    inputs = x = keras.Input((299, 299, 3))
    for branches in [*STEM, *[BLOCK_A] * 4, REDUCTION_A, *[BLOCK_B] * 7, REDUCTION_B]:
        x = _join(_chain(x, *branch) for branch in branches)
    for _ in range(3):
        ends = _chain(x, (384, 1)), _chain(x, (384, 1), (448, (3, 1)), (512, (1, 3)))
        split = [_chain(end, (256, kernel)) for end in ends for kernel in ((1, 3), (3, 1))]
        x = _join([_chain(x, (256, 1)), *split, _chain(x, MEAN, (256, 1))])
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(inputs, layers.Dense(classes)(x), name="inception4")


def _join(parts: Iterable[Tensor]) -> Tensor:
    first, *others = parts
    return layers.Concatenate()([first, *others]) if others else first


def _chain(x: Tensor, *steps: Any) -> Tensor:
    for step in steps:
        if step == GREATEST:
            x = layers.MaxPooling2D(3, 2)(x)
        elif step == MEAN:
            x = layers.AveragePooling2D(3, 1, padding="same")(x)
        else:
            filters, kernel, strides, *padded = step if len(step) > 2 else (*step, 1)
            padding = padded[0] if padded else "same" if strides == 1 else "valid"
            x = layers.Conv2D(filters, kernel, strides=strides, padding=padding, use_bias=False)(x)
            x = layers.BatchNormalization(scale=False)(x)  # no scale: the next layer is linear up to ReLU
            x = layers.Activation("relu")(x)
    return x
