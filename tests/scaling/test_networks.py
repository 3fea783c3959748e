"""Parameters and gradient tensors of the table, counted from the networks' published layers."""

from itertools import pairwise

import pytest
from sweetspot.facts.shipped_tables import table
from sweetspot.scaling.networks import MIDDLING_NETWORK, listed_networks, unlisted_network_warnings
from sweetspot.transfer.figures import network_name

# Each layer is its parameters and tensors: weights, biases, scales and offsets.


def added(*layers):
    return sum(parameters for parameters, _ in layers), sum(tensors for _, tensors in layers)


def conv(inputs, outputs, kernel, bias=False):
    """A square convolution; with batch normalisation behind it unless it has a bias."""
    return inputs * outputs * kernel**2 + (outputs if bias else 2 * outputs), 2 if bias else 3


def dense(inputs, outputs):
    return (inputs + 1) * outputs, 2


def vgg(*convolutions):
    """Simonyan & Zisserman 2014, table 1; `convolutions` in each of the five stages."""
    stages = zip(convolutions, (64, 128, 256, 512, 512), strict=True)
    widths = [3, *(width for number, width in stages for _ in range(number))]
    layers = [conv(*pair, 3, bias=True) for pair in pairwise(widths)]
    return added(*layers, dense(512 * 49, 4096), dense(4096, 4096), dense(4096, 1000))


def resnet(*blocks, bottleneck):
    """He et al. 2015, table 1."""
    layers, inputs = [conv(3, 64, 7)], 64
    for stage, number in enumerate(blocks):
        width = 64 * 2**stage
        outputs = 4 * width if bottleneck else width
        for _ in range(number):
            if bottleneck:
                layers += [conv(inputs, width, 1), conv(width, width, 3), conv(width, outputs, 1)]
            else:
                layers += [conv(inputs, width, 3), conv(width, width, 3)]
            layers += [conv(inputs, outputs, 1)] if inputs != outputs else []
            inputs = outputs
    return added(*layers, dense(inputs, 1000))


IMAGES = {
    "vgg11": vgg(1, 1, 2, 2, 2), "vgg16": vgg(2, 2, 3, 3, 3), "vgg19": vgg(2, 2, 4, 4, 4),
    "resnet18": resnet(2, 2, 2, 2, bottleneck=False), "resnet34": resnet(3, 4, 6, 3, bottleneck=False),
    "resnet50": resnet(3, 4, 6, 3, bottleneck=True), "resnet101": resnet(3, 4, 23, 3, bottleneck=True),
    "resnet152": resnet(3, 8, 36, 3, bottleneck=True), "resnet200": resnet(3, 24, 36, 3, bottleneck=True),
}  # fmt: skip


def bert(layers, width):
    """12 d^2 weights and 13 d of biases a layer; 30,522 words, 512 places, two kinds, a normalisation, SQuAD's head."""
    return layers * (12 * width**2 + 13 * width) + (30_522 + 512 + 2) * width + 4 * width + 2, 16 * layers + 7


def gpt(layers, width, places=1024):
    return layers * (12 * width**2 + 13 * width) + (50_257 + places + 2) * width, 12 * layers + 4


def llama(layers, width, wide, words, keys=None):
    """Query, output, key, value (of `keys` columns), three of the feed-forward and two scales a layer; words twice."""
    layer = 2 * width**2 + 2 * width * (keys or width) + 3 * width * wide + 2 * width
    return layers * layer + 2 * words * width + width, 9 * layers + 3


WORDS = {
    "bertbase": bert(12, 768), "bertlarge": bert(24, 1024), "gpt2": gpt(12, 768), "gpt2medium": gpt(24, 1024),
    "gpt2large": gpt(36, 1280), "gpt2xl": gpt(48, 1600), "gpt3": gpt(96, 12_288, 2048),
    "llama27b": llama(32, 4096, 11_008, 32_000), "llama213b": llama(40, 5120, 13_824, 32_000),
    "llama270b": llama(80, 8192, 28_672, 32_000, 1024), "llama318b": llama(32, 4096, 14_336, 128_256, 1024),
    "llama3170b": llama(80, 8192, 28_672, 128_256, 1024), "llama31405b": llama(126, 16_384, 53_248, 128_256, 1024),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "counted", "off"), [(*one, 0.02) for one in IMAGES.items()] + [(*one, 1e-3) for one in WORDS.items()]
)
def test_a_network_has_the_parameters_and_tensors_of_its_layers(name, counted, off):
    parameters, tensors = counted
    fact = listed_networks().loc[name]
    # two digits and more, and three and more
    assert fact.parameters_millions == pytest.approx(parameters / 1e6, rel=off)
    assert (fact.tensors, fact.normalised) == (tensors, name.startswith(("resnet", "densenet", "efficientnet")))


# Millions of parameters as published, tensors (0: the layers are many, only the order is known), normalised.
PUBLISHED = {
    "alexnet": (61.1, 16, False),  # torchvision's table of models; five convolutions, three dense layers, all biased
    "googlenet": (7.0, 57 * 2 + 2, False),  # Szegedy et al. 2014, table 1: 6.8 M with the first layer; 57 convolutions
    "inception3": (23.8, 94 * 2 + 2, True),  # Keras' table 23.9 M: 94 convolutions with an offset each, a dense layer
    "inception4": (42.7, 149 * 2 + 2, True),  # timm; as many, of the paper's figures 3 to 9
    "mobilenet": (3.5, 52 * 3 + 2, True),  # v2: Sandler et al. 2018, table 4: 3.4 M; 52 convolutions, scale and offset
    "nasnet": (5.3, 0, True),  # Zoph et al. 2017, table 2: 5.3 M
    "nasnetlarge": (88.9, 0, True),  # the same table
    "overfeat": (146.0, 16, False),  # Sermanet et al. 2013, table 4, fast model: 145 M
    # Huang et al. 2016, table 2: 1.0 M and 7.0 M. A first convolution with a bias, 36 or 96 convolutions and two
    # transitions with scale and offset each, the last normalisation, a dense layer.
    "densenet40k12": (1.0, 2 + 3 * 36 + 6 + 2 + 2, True),
    "densenet100k12": (7.0, 2 + 3 * 96 + 6 + 2 + 2, True),
    # LeNet-5 as tf_cnn_benchmarks has it at 28 x 28: two 5 x 5 convolutions of 32 and 64, 512 and 10 neurons, biased
    "lenet5": ((832 + 51_264 + 7 * 7 * 64 * 512 + 512 + 5130) / 1e6, 8, False),
    # tf_cnn_benchmarks/models/trivial_model.py at 8fb7907: 227 x 227 x 3 pixels to 1 neuron, then 4096; model.py adds
    # the 1001 classes; each with a bias (`affine` of convnet_builder.py).
    "trivial": ((227 * 227 * 3 + 1 + 4096 + 4096 + 4096 * 1001 + 1001) / 1e6, 6, False),
    "densenet121": (8.0, 3 * 120 + 2 + 2, True),  # the same table; 120 convolutions, the last normalisation, dense
    "efficientnetb0": (5.3, 0, True),  # Tan & Le 2019, table 2
    "efficientnetb4": (19.0, 0, True),
    "efficientnetv2s": (22.0, 0, True),  # Tan & Le 2021, table 7
    # He et al. 2015, table 6; no weights in shortcuts (plan A): a convolution a layer but the last, dense one
    **{
        f"resnet{depth}": (parameters, 3 * (depth - 1) + 2, True)
        for depth, parameters in ((20, 0.27), (32, 0.46), (44, 0.66), (56, 0.85), (110, 1.7))
    },
    "ssd300": (8.54 + 3.77 + 10.58, 183, True),
}


@pytest.mark.parametrize(("name", "published"), PUBLISHED.items())
def test_other_networks_are_as_published(name, published):
    parameters, tensors, normalised = published
    fact = listed_networks().loc[name]
    assert (fact.parameters_millions, fact.normalised) == (pytest.approx(parameters, rel=0.03), normalised)
    assert not tensors or fact.tensors == tensors


def test_names_mean_networks_however_they_are_written():
    spellings = {name: row["network"] for row in table("networks") for name in row["spellings"].split()}
    assert {name: network_name(name) for name in spellings} == spellings
    assert [network_name(name) for name in listed_networks().index] == list(listed_networks().index)
    assert {network_name(name) for name in ("ResNet-50 v1.5", "resnet50_v2", "resnet50_v1")} == {"resnet50"}
    assert network_name("VGG-16") == "vgg16"
    assert unlisted_network_warnings("mystery") and not unlisted_network_warnings("VGG-16")
    # "A middling network": of those counted and published above, but for the tiny ones, half have fewer parameters
    millions = listed_networks().loc[[*IMAGES, *PUBLISHED], "parameters_millions"]
    large = millions[millions > 2]
    assert 0.4 < (large < MIDDLING_NETWORK["parameters_millions"]).mean() < 0.6
    assert listed_networks().loc[large.index, "normalised"].mean() > 0.5 and MIDDLING_NETWORK["normalised"]
    assert MIDDLING_NETWORK["tensors"] == pytest.approx(listed_networks().loc["resnet50", "tensors"], rel=0.02)
