"""Keras' networks against what is published of them, and against the stock layers."""

import numpy as np
import pytest
from harness_runs import request
from sweetspot.errors import UserError
from sweetspot.harness.backends import backend
from sweetspot.study.frameworks import BUILDERS, FRAMEWORKS, VARIANTS, has_network, keras_application

# Multiply-adds of the forward pass in 1e9, as published with each network.
PUBLISHED_GIGA_MULTIPLY_ADDS = {
    "resnet50": 3.8,  # He et al. 2015, arXiv:1512.03385, table 1
    "vgg16": 15.3,  # the same paper, section 3.3, counts VGG-19 as 19.6; VGG-16 as 15.3 in its tables of ImageNet
    "inception3": 5.7,  # Szegedy et al. 2015, arXiv:1512.00567: "5 billion"; TF-Slim's table of models: 5.7
    "mobilenetv2": 0.3,  # Sandler et al. 2018, arXiv:1801.04381, table 4
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "published"), PUBLISHED_GIGA_MULTIPLY_ADDS.items())
def test_arithmetic_counted_from_the_layers_is_the_published_one(name, published):
    from sweetspot.harness.flops import layer_multiply_adds, training_flop
    from sweetspot.harness.keras_networks import build_network

    model = build_network(name).model
    multiply_adds = layer_multiply_adds(model)
    assert multiply_adds / 1e9 == pytest.approx(published, rel=0.02)
    # three passes of two operations, but no gradient of the image at the first layer
    assert 2.95 < training_flop(model) / (2 * multiply_adds) < 3


@pytest.mark.slow
def test_a_fused_network_has_the_parameters_and_outputs_of_the_stock_one():
    import keras
    from sweetspot.harness.keras_networks import FusedBatchNormalization, build_network

    made = build_network("resnet50")
    assert made.model.count_params() == 25_636_712  # Keras' documentation of ResNet50: 25.6 M
    fused_layers = [layer for layer in made.model.layers if isinstance(layer, FusedBatchNormalization)]
    assert len(fused_layers) == 53  # one behind each convolution
    stock = keras.applications.ResNet50(weights=None, classifier_activation=None)
    made.model.set_weights(stock.get_weights())
    images = np.random.default_rng(0).random((2, 224, 224, 3), dtype="float32")
    for training in (False, True):
        expected = np.asarray(stock(images, training=training))
        np.testing.assert_allclose(np.asarray(made.model(images, training=training)), expected, rtol=2e-3, atol=2e-3)
    for fused, plain in zip(made.model.non_trainable_weights, stock.non_trainable_weights, strict=True):
        np.testing.assert_allclose(np.asarray(fused), np.asarray(plain), rtol=2e-3, atol=2e-3)  # moving statistics


@pytest.mark.slow
def test_the_names_of_the_applications_are_those_of_the_installed_keras():
    import keras

    classes = {name for name, value in vars(keras.applications).items() if callable(value)}
    assert classes == {*BUILDERS["tensorflow"].values()}


@pytest.mark.slow
def test_an_unknown_network_is_refused_with_the_nearest_names():
    from sweetspot.harness.keras_networks import build_network

    with pytest.raises(UserError, match=r"--model is 'resnet5'; expected a network of keras.applications.*resnet50"):
        build_network("resnet5")


@pytest.mark.parametrize(
    ("name", "application"),
    [("inception3", "InceptionV3"), ("mobilenet_v2", "MobileNetV2"), ("ResNet50", "ResNet50"), ("inception4", None)],
)
def test_a_network_is_known_in_any_spelling(name, application):
    assert keras_application(name) == application
    assert has_network("tensorflow", name) is (application is not None)
    assert all({*ability.variants} <= {*VARIANTS} for ability in FRAMEWORKS.values())


def test_what_a_framework_is_not_measured_with_is_refused():
    with pytest.raises(UserError, match="--xla is given with --framework torch"):
        backend("torch").devices(request("--xla", framework="torch"))
