"""Inception v4 (Szegedy et al. 2016, arXiv:1602.07261, figures 3 to 9), which keras.applications lacks."""

from typing import TypeAlias

import keras
from keras import layers

Tensor: TypeAlias = keras.KerasTensor
Kernel = int | tuple[int, int]


def inception4(classes: int) -> keras.Model:
    """The network for 299 x 299 images, giving logits; no auxiliary head, as the paper draws it."""
    inputs = keras.Input((299, 299, 3))
    x = _stem(inputs)
    for _ in range(4):
        x = _block_a(x)
    x = _reduction(x, [(384, 3, 2)], [(192, 1), (224, 3), (256, 3, 2)])
    for _ in range(7):
        x = _block_b(x)
    x = _reduction(x, [(192, 1), (192, 3, 2)], [(256, 1), (256, (1, 7)), (320, (7, 1)), (320, 3, 2)])
    for _ in range(3):
        x = _block_c(x)
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(inputs, layers.Dense(classes)(x), name="inception4")


def _convolve(x: Tensor, filters: int, kernel: Kernel, strides: int = 1, padding: str | None = None) -> Tensor:
    padding = padding or ("same" if strides == 1 else "valid")
    x = layers.Conv2D(filters, kernel, strides=strides, padding=padding, use_bias=False)(x)
    x = layers.BatchNormalization(scale=False)(x)  # no scale: the next layer is linear up to ReLU
    return layers.Activation("relu")(x)


def _chain(x: Tensor, *steps: tuple) -> Tensor:
    for step in steps:
        x = _convolve(x, *step)
    return x


def _join(*parts: Tensor) -> Tensor:
    return layers.Concatenate()(list(parts))


def _stem(x: Tensor) -> Tensor:
    x = _chain(x, (32, 3, 2), (32, 3, 1, "valid"), (64, 3))
    x = _join(layers.MaxPooling2D(3, 2)(x), _convolve(x, 96, 3, 2))
    short = _chain(x, (64, 1), (96, 3, 1, "valid"))
    x = _join(short, _chain(x, (64, 1), (64, (1, 7)), (64, (7, 1)), (96, 3, 1, "valid")))
    return _join(_convolve(x, 192, 3, 2), layers.MaxPooling2D(3, 2)(x))


def _pooled(x: Tensor, filters: int) -> Tensor:
    return _convolve(layers.AveragePooling2D(3, 1, padding="same")(x), filters, 1)


def _block_a(x: Tensor) -> Tensor:
    deep = _chain(x, (64, 1), (96, 3), (96, 3))
    return _join(_convolve(x, 96, 1), _chain(x, (64, 1), (96, 3)), deep, _pooled(x, 96))


def _block_b(x: Tensor) -> Tensor:
    middle = _chain(x, (192, 1), (224, (1, 7)), (256, (7, 1)))
    deep = _chain(x, (192, 1), (192, (7, 1)), (224, (1, 7)), (224, (7, 1)), (256, (1, 7)))
    return _join(_convolve(x, 384, 1), middle, deep, _pooled(x, 128))


def _block_c(x: Tensor) -> Tensor:
    middle = _convolve(x, 384, 1)
    deep = _chain(x, (384, 1), (448, (3, 1)), (512, (1, 3)))
    split = [_convolve(part, 256, kernel) for part in (middle, deep) for kernel in ((1, 3), (3, 1))]
    return _join(_convolve(x, 256, 1), *split, _pooled(x, 256))


def _reduction(x: Tensor, short: list[tuple], deep: list[tuple]) -> Tensor:
    return _join(layers.MaxPooling2D(3, 2)(x), _chain(x, *short), _chain(x, *deep))
