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


def resnet_cifar(depth):
    """He et al. 2015, section 4.2: 6 n + 2 layers of 16, 32 and 64 channels.

    Shortcuts have no weights: plan A of the paper, which tf_cnn_benchmarks follows (models/resnet_model.py).
    """
    widths = [3, 16, *(width for width in (16, 32, 64) for _ in range((depth - 2) // 3))]
    return added(*(conv(*pair, 3) for pair in pairwise(widths)), dense(64, 10))


def densenet121():
    """Huang et al. 2016, table 1: growth 32, bottlenecks of 128 channels, transitions that halve.

    Normalisation comes before each convolution, so it has the scales of what goes in.
    """

    def before(inputs, outputs, kernel):
        return inputs * outputs * kernel**2 + 2 * inputs, 3

    layers, channels = [conv(3, 64, 7)], 64
    for stage, number in enumerate((6, 12, 24, 16)):
        for _ in range(number):
            layers += [before(channels, 128, 1), before(128, 32, 3)]
            channels += 32
        if stage < 3:
            layers.append(before(channels, channels // 2, 1))
            channels //= 2
    return added(*layers, (2 * channels, 2), dense(channels, 1000))  # the last normalisation


def efficientnet(stages, stem, head):
    """Tan & Le 2019, table 1, and 2021, table 4: (fused, expansion, kernel, channels, blocks) of each stage.

    A block is widened, scaled by what is squeezed to a quarter of its input, and narrowed; or two convolutions (fused).
    """
    layers, inputs = [conv(3, stem, 3)], stem
    for fused, expansion, kernel, outputs, blocks in stages:
        for _ in range(blocks):
            middle, squeezed = inputs * expansion, max(1, inputs // 4)
            if fused:
                layers += [conv(inputs, middle, kernel), conv(middle, outputs, 1)][: 2 if expansion > 1 else 1]
            else:
                layers += [conv(inputs, middle, 1)] if expansion > 1 else []
                layers += [(middle * kernel**2 + 2 * middle, 3), conv(middle, squeezed, 1, bias=True)]
                layers += [conv(squeezed, middle, 1, bias=True), conv(middle, outputs, 1)]
            inputs = outputs
    return added(*layers, conv(inputs, head, 1), dense(head, 1000))


B0 = ((0, 1, 3, 16, 1), (0, 6, 3, 24, 2), (0, 6, 5, 40, 2), (0, 6, 3, 80, 3), (0, 6, 5, 112, 3), (0, 6, 5, 192, 4),
      (0, 6, 3, 320, 1))  # fmt: skip
# 1.4 times as wide, to a multiple of 8, and 1.8 times as deep, rounded up.
B4 = ((0, 1, 3, 24, 2), (0, 6, 3, 32, 4), (0, 6, 5, 56, 4), (0, 6, 3, 112, 6), (0, 6, 5, 160, 6), (0, 6, 5, 272, 8),
      (0, 6, 3, 448, 2))  # fmt: skip
V2_S = ((1, 1, 3, 24, 2), (1, 4, 3, 48, 4), (1, 4, 3, 64, 4), (0, 4, 3, 128, 6), (0, 6, 3, 160, 9), (0, 6, 3, 256, 15))


IMAGES = {
    "vgg11": vgg(1, 1, 2, 2, 2), "vgg16": vgg(2, 2, 3, 3, 3), "vgg19": vgg(2, 2, 4, 4, 4),
    "resnet18": resnet(2, 2, 2, 2, bottleneck=False), "resnet34": resnet(3, 4, 6, 3, bottleneck=False),
    "resnet50": resnet(3, 4, 6, 3, bottleneck=True), "resnet101": resnet(3, 4, 23, 3, bottleneck=True),
    "resnet152": resnet(3, 8, 36, 3, bottleneck=True), "resnet200": resnet(3, 24, 36, 3, bottleneck=True),
    "densenet121": densenet121(), **{f"resnet{depth}": resnet_cifar(depth) for depth in (20, 32, 44, 56, 110)},
    "efficientnetb0": efficientnet(B0, 32, 1280), "efficientnetb4": efficientnet(B4, 48, 1792),
    "efficientnetv2s": efficientnet(V2_S, 24, 1280),
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


def lstm(inputs, width):
    """Parameters and tensors of one LSTM layer as PyTorch counts them: two matrices, two biases."""
    return 4 * width * (inputs + width) + 8 * width, 4


def normed(inputs, outputs, kernel=1):
    """A convolution with weight normalisation: direction, length and bias of each output."""
    return inputs * outputs * kernel + 2 * outputs, 3


def gnmt():
    """Wu et al. 2016 in NVIDIA's DeepLearningExamples: 32,320 words, 4 + 4 layers of 1024, one embedding."""
    words, width = 32_320, 1024
    encoder = [lstm(width, width)] * 2 + [lstm(2 * width, width)] + [lstm(width, width)] * 2
    attention = (2 * width**2 + 2 * width + 1, 5)  # query, key, score, and a scalar and a bias to normalise it
    decoder = [lstm(width, width), attention, *[lstm(2 * width, width)] * 3]
    return added((words * width, 1), *encoder, *decoder, ((width + 1) * words, 2))


def tacotron2():
    """Shen et al. 2018 as NVIDIA's DeepLearningExamples build it: 148 symbols, 80 mels."""
    encoder = [(512 * 512 * 5 + 3 * 512, 4)] * 3 + [lstm(512, 256)] * 2
    prenet = [(80 * 256, 1), (256 * 256, 1)]
    attention = (1024 * 128 + 512 * 128 + 128 + 2 * 32 * 31 + 32 * 128, 5)
    decoder = [lstm(256 + 512, 1024), attention, lstm(1024 + 512, 1024), (1537 * 80, 2), (1537, 2)]
    postnet = [(80 * 512 * 5 + 3 * 512, 4), *[(512 * 512 * 5 + 3 * 512, 4)] * 3, (512 * 80 * 5 + 3 * 80, 4)]
    return added((148 * 512, 1), *encoder, *prenet, *decoder, *postnet)


def waveglow():
    """Prenger et al. 2018 as NVIDIA's DeepLearningExamples train it: 12 flows, 8 layers of 512 channels each."""
    layers = [(80 * 80 * 1024 + 80, 2)]
    for flow in range(12):
        channels = 8 - 2 * (flow // 4)
        layers += [(channels**2, 1), normed(channels // 2, 512), ((512 + 1) * channels, 2)]
        layers += [normed(512, 1024, 3), normed(80 * 8, 1024)] * 8 + [normed(512, 1024)] * 7 + [normed(512, 512)]
    return added(*layers)


def transformer_xl(depth, width, inner, adaptive):
    """Dai et al. 2019: 267,735 words; one embedding and softmax, or four of a quarter of the width each time."""
    words, ends = 267_735, (0, 19_997, 39_997, 199_997, 267_735)
    layer = (5 * width**2 + 2 * width * inner + inner + 5 * width, 11)
    layers = [layer] * depth + [(2 * width, 2), (3 * width + 3, 2)]  # two biases of positions; three clusters
    if not adaptive:
        return added(*layers, (words * width, 1), (words, 1))
    for part in range(4):
        size, narrow = ends[part + 1] - ends[part], width // 4**part
        layers += [(size * narrow, 1), (narrow * width, 1), (size, 1)]
    return added(*layers, (width**2, 1))  # the first softmax has a projection of its own


WORDS = {
    "bertbase": bert(12, 768), "bertlarge": bert(24, 1024), "gpt2": gpt(12, 768), "gpt2medium": gpt(24, 1024),
    "gpt2large": gpt(36, 1280), "gpt2xl": gpt(48, 1600), "gpt3": gpt(96, 12_288, 2048),
    "llama27b": llama(32, 4096, 11_008, 32_000), "llama213b": llama(40, 5120, 13_824, 32_000),
    "llama270b": llama(80, 8192, 28_672, 32_000, 1024), "llama318b": llama(32, 4096, 14_336, 128_256, 1024),
    "llama3170b": llama(80, 8192, 28_672, 128_256, 1024), "llama31405b": llama(126, 16_384, 53_248, 128_256, 1024),
    "gnmt": gnmt(), "tacotron2": tacotron2(), "waveglow": waveglow(),
    "transformerxlbase": transformer_xl(16, 512, 2048, adaptive=False),
    "transformerxllarge": transformer_xl(18, 1024, 4096, adaptive=True),
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
    assert 0.3 < (large < MIDDLING_NETWORK["parameters_millions"]).mean() < 0.7
    assert listed_networks().loc[large.index, "normalised"].mean() > 0.5 and MIDDLING_NETWORK["normalised"]
    assert MIDDLING_NETWORK["tensors"] == pytest.approx(listed_networks().loc["resnet50", "tensors"], rel=0.02)
