"""Shapes and arithmetic of the networks that torch and jax build, against what is published and by hand."""

import numpy as np
import pytest
from sweetspot.errors import UserError
from sweetspot.harness import own_networks
from sweetspot.harness.own_networks import Conv, Dense, Mean, Pool, Residual, arithmetic, data, unit_of, workload
from sweetspot.study import transformers
from sweetspot.study.frameworks import OWN_NETWORKS
from sweetspot.study.transformers import SHAPES

# torchvision's documentation of the weights of resnet50 and vgg16: parameters, GFLOPS (multiply-adds).
PUBLISHED = {"resnet50": (25_557_032, 4.09), "vgg16": (138_357_544, 15.47)}


@pytest.mark.parametrize(("name", "parameters", "giga"), [(name, *facts) for name, facts in PUBLISHED.items()])
def test_networks_of_images_are_the_published_ones(name, parameters, giga):
    found = own_networks.counted(own_networks.IMAGE_NETWORKS[name])
    assert found.parameters == parameters
    assert sum(found.multiply_adds) / 1e9 == pytest.approx(giga, abs=0.005)


# GPT-2's model card; torchvision's vit_b_16; BertForQuestionAnswering of bert-base-uncased has 108,893,186 with 512
# positions, of which 128 x 768 are not here; bert-large 334,094,338 with 128 x 1024 more.
PARAMETERS = {
    "gpt2_small": 124_439_808,
    "vit_b16": 86_567_656,
    "bert_base": 108_893_186 - 128 * 768,
    "bert_large": 334_094_338 - 128 * 1024,
}


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS.items())
def test_transformers_have_the_published_parameters(name, parameters):
    assert transformers.parameters(SHAPES[name]) == parameters
    assert arithmetic(name, 1, 1)["parameters"] == parameters


def test_arithmetic_of_a_transformer_by_hand():
    # two layers of 128: 12 x 128^2 weights each; a head of 1000 x 128; 64 tokens
    weights = 2 * 12 * 128**2 + 1000 * 128
    assert transformers.training_flop(SHAPES["tiny_gpt2"]) == (6 * weights + 12 * 2 * 128 * 64) * 64
    # two logits a token in place of the words
    assert transformers.training_flop(SHAPES["tiny_bert"]) == (6 * (2 * 12 * 128**2 + 256) + 12 * 2 * 128 * 64) * 64
    # 16 patches of 16 x 16 x 3, no gradient of the image: two passes; the head sees the class token
    layers = (6 * 2 * 12 * 128**2 + 12 * 2 * 128 * 17) * 17
    assert transformers.training_flop(SHAPES["tiny_vit"]) == layers + 4 * 16 * 768 * 128 + 6 * 128 * 10


def test_arithmetic_of_convolutions_by_hand():
    block = Residual((Conv(2, 1), Conv(2, 3, 2), Conv(8, 1, relu=False)), Conv(8, 1, 2, relu=False))
    network = own_networks.ImageNetwork((Conv(4, 3), Pool(2, 2), block, Mean(), Dense(5)), 8, 5)
    found = own_networks.counted(network)
    first = 64 * 27 * 4  # 8 x 8 positions of 3 x 3 x 3
    # on 4 x 4: the shortcut at stride 2, then 1 x 1, 3 x 3 at stride 2 to 2 x 2, 1 x 1; then 8 to 5
    assert found.multiply_adds == [first, 4 * 4 * 8, 16 * 4 * 2, 4 * 9 * 2 * 2, 4 * 2 * 8, 8 * 5]
    # each convolution has a scale and an offset a filter
    assert found.parameters == (108 + 8) + (32 + 16) + (8 + 4) + (36 + 4) + (16 + 16) + 45
    assert own_networks.training_flop(network) == 6 * sum(found.multiply_adds) - 2 * first
    assert arithmetic("tiny_cnn", 4, 2)["training_flop_per_sample"] == 6 * (225 * 27 * 8 + 80) - 2 * 225 * 27 * 8


@pytest.mark.parametrize("layer", [Conv(1, 3), Conv(1, 7, 2), Conv(1, 1, 2), Conv(1, 3, 2, padded=False)])
@pytest.mark.parametrize("side", [7, 8, 15])
def test_products_with_the_zeros_around_an_image_can_be_left_out(layer, side):
    image = np.pad(np.ones(side), layer.padding)
    windows = np.lib.stride_tricks.sliding_window_view(image, layer.kernel)[:: layer.stride]
    assert own_networks.taps(layer, side, padding=False) == windows.sum()
    assert own_networks.taps(layer, side) == windows.size


def test_what_is_counted_follows_the_network():
    facts = arithmetic("gpt2_small", 4, 2)
    assert (facts["unit"], facts["samples_per_step"]) == ("tokens", 4 * 2 * 1024)
    assert facts["training_flop_per_sample"] * 1024 == transformers.training_flop(SHAPES["gpt2_small"])
    assert arithmetic("bert_base", 4, 2)["samples_per_step"] == 8
    for name in OWN_NETWORKS:
        assert arithmetic(name, 1, 1)["unit"] == unit_of(name)
    with pytest.raises(UserError, match="--model is 'inception3'; expected one of tiny_cnn, resnet50"):
        workload("inception3")


@pytest.mark.parametrize("name", ["tiny_cnn", "tiny_bert", "tiny_gpt2", "tiny_vit"])
def test_data_have_the_shapes_of_the_network_and_differ_by_seed(name):
    inputs, labels = data(name, 3, 1)
    made = workload(name)
    assert (inputs.shape, labels.shape) == ((3, *made.inputs), (3, *made.labels))
    assert labels.min() >= 0
    assert labels.max() < made.classes
    if made.vocabulary:
        assert inputs.max() < made.vocabulary
    assert not np.array_equal(inputs, data(name, 3, 2)[0])
