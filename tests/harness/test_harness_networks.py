"""The networks against what is published of them: parameters, arithmetic, shapes."""

import numpy as np
import pytest
from harness_runs import request
from sweetspot.errors import UserError
from sweetspot.harness.backends import backend
from sweetspot.harness.own_networks import unit_of

# Multiply-adds of the forward pass in 1e9, as published with each network.
PUBLISHED_GIGA_MULTIPLY_ADDS = {
    "resnet50": 3.8,  # He et al. 2015, arXiv:1512.03385, table 1
    "vgg16": 15.3,  # the same paper, section 3.3, counts VGG-19 as 19.6; VGG-16 as 15.3 in its tables of ImageNet
    "inception3": 5.7,  # Szegedy et al. 2015, arXiv:1512.00567: "5 billion"; TF-Slim's table of models: 5.7
    "inception4": 12.3,  # TF-Slim and timm: 12.27
    "mobilenetv2": 0.3,  # Sandler et al. 2018, arXiv:1801.04381, table 4
}


def forward_flop(network):
    from sweetspot.harness.flops import layer_multiply_adds

    return 2 * sum(layer_multiply_adds(layer) for layer in network.layers)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "published"), PUBLISHED_GIGA_MULTIPLY_ADDS.items())
def test_arithmetic_counted_from_the_layers_is_the_published_one(name, published):
    from sweetspot.harness.flops import training_flop
    from sweetspot.harness.keras_networks import build_workload

    network = build_workload(name).network
    assert forward_flop(network) / 2e9 == pytest.approx(published, rel=0.02)
    assert 2.95 < training_flop(network) / forward_flop(network) < 3  # no input gradient at the first layer


@pytest.mark.slow
def test_inception4_has_the_published_parameters():
    import keras
    from sweetspot.harness.keras_networks import inception4

    network = inception4(1000)
    channels = [layer.moving_mean.shape[0] for layer in network.layers if hasattr(layer, "moving_mean")]
    trainable = sum(int(np.prod(weight.shape)) for weight in network.trainable_weights)
    assert len(channels) == 149  # convolutions of the paper's figures 3 to 9
    assert trainable + sum(channels) == 42_679_816  # timm's inception_v4, whose normalisation has a scale too
    assert isinstance(network.layers[-1], keras.layers.Dense)


# Parameters by hand from the layers of the studies' programs, with biases.
PARAMETERS = {
    "mnist_mlp": 785 * 512 + 513 * 512 + 513 * 10,
    "mnist_cnn": 10 * 32 + (9 * 32 + 1) * 64 + (12 * 12 * 64 + 1) * 128 + 129 * 10,  # 28 -> 26 -> 24 -> 12
    "cifar10_cnn": 28 * 32 + 289 * 32 + 289 * 64 + 577 * 64 + (6 * 6 * 64 + 1) * 512 + 513 * 10,
    "imdb_bilstm": 20_000 * 128 + 2 * 4 * 64 * (128 + 64 + 1) + 129,
    "lstm_text": 4 * 128 * (57 + 128 + 1) + 129 * 57,
    "tweet_bilstm": 274_562 * 128 + 2 * 4 * 64 * (128 + 64 + 1) + 129,
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), PARAMETERS.items())
def test_small_workloads_have_the_layers_of_their_studies_and_their_unit(name, parameters):
    from sweetspot.harness.keras_networks import build_workload

    workload = build_workload(name)
    assert workload.network.count_params() == parameters
    assert workload.network.output_shape == (None, workload.classes)
    assert unit_of(name) == ("images" if len(workload.shape) == 3 else "samples")


@pytest.mark.slow
def test_an_unknown_network_is_refused_with_the_known_names():
    from sweetspot.harness.keras_networks import build_workload

    with pytest.raises(UserError, match="--model is 'resnet5'; expected one of inception3, resnet50"):
        build_workload("resnet5")


@pytest.mark.slow
def test_a_run_starts_from_a_checkpoint_and_a_wrong_one_is_refused(tmp_path):
    from sweetspot.harness.backends.tensorflow_variants import with_fused_normalisation
    from sweetspot.harness.keras_networks import build_workload

    saved = build_workload("tiny_cnn").network
    saved.layers[0].bias.assign(np.linspace(-1, 1, 8))  # a bias before a normalisation goes into its mean
    saved.save_weights(tmp_path / "tiny.weights.h5")
    loaded = with_fused_normalisation(build_workload("tiny_cnn", str(tmp_path / "tiny.weights.h5")).network, True)
    images = np.random.default_rng(0).random((2, 32, 32, 3), dtype="float32")
    np.testing.assert_allclose(loaded(images, training=False), saved(images, training=False), rtol=1e-4, atol=1e-5)
    with pytest.raises(UserError, match="expected a weights file of mnist_mlp"):
        build_workload("mnist_mlp", str(tmp_path / "tiny.weights.h5"))


@pytest.mark.slow
def test_an_embedding_moves_by_the_rows_seen_as_the_whole_table_would():
    import tensorflow as tf
    from sweetspot.harness.backends.tensorflow_variants import descend

    table = np.random.default_rng(1).random((6, 3), dtype="float32")
    words = tf.constant([4, 1, 4])  # a word twice: its gradients add up
    sparse, dense = tf.Variable(table), tf.Variable(table)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(sparse, words) ** 2)
    gradient = tape.gradient(loss, sparse)
    assert isinstance(gradient, tf.IndexedSlices)
    descend(sparse, gradient, 0.1)
    descend(dense, tf.convert_to_tensor(gradient), 0.1)
    expected = table.copy()
    expected[[1, 4]] -= 0.1 * 2 * table[[1, 4]] * np.array([[1], [2]])
    np.testing.assert_allclose(sparse, expected, rtol=1e-5)
    np.testing.assert_allclose(dense, expected, rtol=1e-5)


def test_what_a_framework_is_not_measured_with_is_refused():
    with pytest.raises(UserError, match="--xla is given with --framework torch"):
        backend("torch").devices(request("--xla", framework="torch"))
    for framework in ("torch",):
        with pytest.raises(UserError, match=f"--framework {framework} starts from new weights"):
            backend(framework).build_step(request(framework=framework, checkpoint="x.weights.h5"), [])
