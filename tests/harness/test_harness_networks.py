"""Keras' networks against what is published of them, and against the stock layers."""

import numpy as np
import pytest
from sweetspot.frameworks import BUILDERS, has_network, keras_application


@pytest.mark.slow
def test_a_network_of_keras_is_the_published_one():
    from sweetspot.harness.tensorflow_training import build_network

    network = build_network("inception3")  # Keras' documentation: 23.9 M parameters, images of 299 pixels
    assert network.count_params() == 23_851_784
    assert network.input_shape == (None, 299, 299, 3)


@pytest.mark.slow
def test_a_fused_network_has_the_parameters_and_outputs_of_the_stock_one():
    import keras
    from sweetspot.harness.tensorflow_training import FusedBatchNormalization, build_network

    made = build_network("resnet50")
    assert made.count_params() == 25_636_712  # Keras' documentation of ResNet50: 25.6 M
    fused_layers = [layer for layer in made.layers if isinstance(layer, FusedBatchNormalization)]
    assert len(fused_layers) == 53  # one behind each convolution
    stock = keras.applications.ResNet50(weights=None, classifier_activation=None)
    made.set_weights(stock.get_weights())
    images = np.random.default_rng(0).random((2, 224, 224, 3), dtype="float32")
    for training in (False, True):
        expected = np.asarray(stock(images, training=training))
        np.testing.assert_allclose(np.asarray(made(images, training=training)), expected, rtol=2e-3, atol=2e-3)
    for fused, plain in zip(made.non_trainable_weights, stock.non_trainable_weights, strict=True):
        np.testing.assert_allclose(np.asarray(fused), np.asarray(plain), rtol=2e-3, atol=2e-3)  # moving statistics


@pytest.mark.slow
def test_the_names_of_the_applications_are_those_of_the_installed_keras():
    import keras

    classes = {name for name, value in vars(keras.applications).items() if callable(value)}
    assert classes == {*BUILDERS["tensorflow"].values()}


@pytest.mark.parametrize(
    ("name", "application"),
    [("inception3", "InceptionV3"), ("mobilenet_v2", "MobileNetV2"), ("ResNet50", "ResNet50"), ("inception4", None)],
)
def test_a_network_is_known_in_any_spelling(name, application):
    assert keras_application(name) == application
    assert has_network("tensorflow", name) is (application is not None)
