"""Multiply-adds of single layers, counted by hand. Keras takes longer to start than all fast tests of the harness."""

import os

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def keras():
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    return pytest.importorskip("keras")


def counted(keras, shape, make):
    from sweetspot.harness.flops import layer_multiply_adds

    inputs = keras.Input(shape)
    layer = make(keras.layers)
    layer(inputs)
    return layer_multiply_adds(layer)


@pytest.mark.parametrize(
    ("shape", "make", "by_hand"),
    [
        ((5,), lambda layers: layers.Dense(7), 5 * 7),
        ((8, 8, 2), lambda layers: layers.Conv2D(4, 3, padding="same"), 8 * 8 * 9 * 2 * 4),
        ((9, 9, 2), lambda layers: layers.Conv2D(4, 3, strides=2), 4 * 4 * 9 * 2 * 4),
        ((8, 8, 4), lambda layers: layers.Conv2D(4, 3, padding="same", groups=2), 8 * 8 * 9 * 2 * 4),
        ((9, 7, 2), lambda layers: layers.Conv2D(4, 3), 7 * 5 * 9 * 2 * 4),
        ((8, 8, 2), lambda layers: layers.DepthwiseConv2D(3, padding="same"), 8 * 8 * 9 * 2),
        # each input channel by itself, 9 a position, then 2 channels to 4
        ((8, 8, 2), lambda layers: layers.SeparableConv2D(4, 3, padding="same"), 8 * 8 * (2 * 9 + 2 * 4)),
        ((9, 9, 2), lambda layers: layers.SeparableConv2D(4, 3, 2, depth_multiplier=3), 4 * 4 * (6 * 9 + 6 * 4)),
        ((8, 8, 2), lambda layers: layers.MaxPooling2D(2), 0),
        ((8, 8, 2), lambda layers: layers.BatchNormalization(), 0),
    ],
)  # fmt: skip
def test_multiply_adds_of_a_layer(keras, shape, make, by_hand):
    assert counted(keras, shape, make) == by_hand


def test_a_training_step_is_three_forward_passes_less_the_gradient_of_the_data(keras):
    from sweetspot.harness.flops import training_flop

    layers = keras.layers
    inner = keras.Sequential([keras.Input((6,)), layers.Dense(4), layers.Dense(2)])
    network = keras.Sequential([keras.Input((5,)), layers.Flatten(), layers.Dense(6), inner])
    # 30 + 24 + 8 multiply-adds, two operations each; the first layer, 60, has no gradient of its inputs
    assert training_flop(network) == 3 * 124 - 60
    assert training_flop(keras.Sequential([keras.Input((5,)), layers.Flatten()])) == 0
