"""Keras' networks against what is published of them, and against the stock layers."""

import numpy as np
import pytest
from sweetspot.frameworks import BUILDERS, has_network, keras_application


@pytest.mark.slow
def test_a_network_to_train_has_the_outputs_of_the_stock_one_without_its_idle_biases():
    import keras
    from sweetspot.harness.tensorflow_training import FusedBatchNormalization, build_network

    made = build_network("resnet50")
    assert made.count_params() == 25_557_032 + 53_120  # torchvision's ResNet-50, and moving statistics
    assert sum(isinstance(layer, FusedBatchNormalization) for layer in made.layers) == 53  # one behind each convolution
    stock = keras.applications.ResNet50(weights=None, classifier_activation=None)
    biases = {id(layer.bias) for layer in stock.layers if isinstance(layer, keras.layers.Conv2D)}
    made.set_weights([weight for weight in stock.weights if id(weight) not in biases])
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


@pytest.mark.slow
def test_fused_normalisation_computes_what_the_stock_layer_computes():
    import keras
    import tensorflow as tf
    from sweetspot.harness.tensorflow_training import FusedBatchNormalization

    rng = np.random.default_rng(3)
    data = rng.normal(2.0, 3.0, (4, 5, 6, 7)).astype("float32")
    weight = tf.constant(rng.normal(size=data.shape).astype("float32"))
    results = []
    for kind in (keras.layers.BatchNormalization, FusedBatchNormalization):
        layer = kind(momentum=0.9, epsilon=1e-3)
        layer.build(data.shape)
        layer.gamma.assign(np.linspace(0.5, 1.5, 7))
        layer.beta.assign(np.linspace(-1, 1, 7))
        inputs = tf.constant(data)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = layer(inputs, training=True)
            loss = tf.reduce_sum(outputs * weight)
        gradients = tape.gradient(loss, [inputs, layer.gamma.value, layer.beta.value])
        moving = [layer.moving_mean.numpy(), layer.moving_variance.numpy()]
        inference = layer(inputs, training=False)
        results.append([np.asarray(value) for value in (outputs, *gradients, *moving, inference)])
    for stock, fused in zip(*results, strict=True):
        np.testing.assert_allclose(fused, stock, rtol=2e-4, atol=2e-4)
