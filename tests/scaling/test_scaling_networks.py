"""Parameters and gradient tensors of the table, counted from the networks' published layers."""

import pytest
from sweetspot.scaling.model_facts import ALIASES, NETWORKS, network


class Count:
    """Adds up layers: parameters and tensors (weights, biases, scales and offsets)."""

    def __init__(self):
        self.parameters = self.tensors = 0

    def convolve(self, inputs, outputs, kernel, bias=False):
        """A square convolution; with batch normalisation unless it has a bias."""
        self.parameters += inputs * outputs * kernel**2 + (outputs if bias else 2 * outputs)
        self.tensors += 2 if bias else 3

    def dense(self, inputs, outputs):
        self.parameters += (inputs + 1) * outputs
        self.tensors += 2


def vgg(*convolutions):
    """Simonyan & Zisserman 2014, table 1; `convolutions` in each of the five stages."""
    count, inputs = Count(), 3
    for number, width in zip(convolutions, (64, 128, 256, 512, 512), strict=True):
        for _ in range(number):
            count.convolve(inputs, width, 3, bias=True)
            inputs = width
    for size in ((512 * 49, 4096), (4096, 4096), (4096, 1000)):
        count.dense(*size)
    return count


def resnet(*blocks, bottleneck):
    """He et al. 2015, table 1."""
    count, inputs = Count(), 64
    count.convolve(3, 64, 7)
    for stage, number in enumerate(blocks):
        width = 64 * 2**stage
        outputs = 4 * width if bottleneck else width
        for _ in range(number):
            if bottleneck:
                count.convolve(inputs, width, 1)
                count.convolve(width, width, 3)
                count.convolve(width, outputs, 1)
            else:
                count.convolve(inputs, width, 3)
                count.convolve(width, width, 3)
            if inputs != outputs:
                count.convolve(inputs, outputs, 1)
            inputs = outputs
    count.dense(inputs, 1000)
    return count


def resnet_cifar(depth):
    """He et al. 2015, section 4.2: 6 n + 2 layers of 16, 32 and 64 channels.

    Shortcuts have no weights: plan A of the paper, which tf_cnn_benchmarks follows (models/resnet_model.py).
    """
    count, inputs = Count(), 16
    count.convolve(3, 16, 3)
    for width in (16, 32, 64):
        for _ in range((depth - 2) // 6):
            count.convolve(inputs, width, 3)
            count.convolve(width, width, 3)
            inputs = width
    count.dense(64, 10)
    return count


def densenet121():
    """Huang et al. 2016, table 1: growth 32, bottlenecks of 128 channels, transitions that halve.

    Normalisation comes before each convolution, so it has the scales of what goes in.
    """
    count, channels = Count(), 64
    count.convolve(3, 64, 7)
    for stage, layers in enumerate((6, 12, 24, 16)):
        for _ in range(layers):
            count.convolve(channels, 128, 1)
            count.convolve(128, 32, 3)
            count.parameters += 2 * (channels + 128 - 128 - 32)  # scales of the inputs, not of the outputs
            channels += 32
        if stage < 3:
            count.convolve(channels, channels // 2, 1)
            count.parameters += channels
            channels //= 2
    count.tensors += 2  # the last normalisation
    count.parameters += 2 * channels
    count.dense(channels, 1000)
    return count


COUNTED = {
    "vgg11": vgg(1, 1, 2, 2, 2),
    "vgg16": vgg(2, 2, 3, 3, 3),
    "vgg19": vgg(2, 2, 4, 4, 4),
    "resnet18": resnet(2, 2, 2, 2, bottleneck=False),
    "resnet34": resnet(3, 4, 6, 3, bottleneck=False),
    "resnet50": resnet(3, 4, 6, 3, bottleneck=True),
    "resnet101": resnet(3, 4, 23, 3, bottleneck=True),
    "resnet152": resnet(3, 8, 36, 3, bottleneck=True),
    "resnet200": resnet(3, 24, 36, 3, bottleneck=True),
    "densenet121": densenet121(),
    **{f"resnet{depth}": resnet_cifar(depth) for depth in (20, 32, 44, 56, 110)},
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_network_has_the_parameters_and_tensors_of_its_layers(name):
    count, fact = COUNTED[name], NETWORKS[name]
    assert fact.parameters == pytest.approx(count.parameters / 1e6, rel=0.02)  # two digits and more
    assert fact.tensors == count.tensors
    assert fact.normalised == (not name.startswith("vgg"))


# Millions of parameters as published; for tensors only an order: the layers are many.
PUBLISHED = {
    "alexnet": (61.1, False),  # torchvision's table of models
    "googlenet": (7.0, False),  # Szegedy et al. 2014, table 1: 6.8 M with the first layer
    "inception3": (23.8, True),  # Keras' table of applications 23.9 M
    "inception4": (42.7, True),  # timm
    "mobilenet": (3.5, True),  # v2: Sandler et al. 2018, table 4: 3.4 M
    "nasnet": (5.3, True),  # Zoph et al. 2017, table 2: 5.3 M
    "nasnetlarge": (88.9, True),  # the same table
    "overfeat": (146.0, False),  # Sermanet et al. 2013, table 4, fast model: 145 M
    "densenet40k12": (1.0, True),  # Huang et al. 2016, table 2: 1.0 M
    "densenet100k12": (7.0, True),  # the same table: 7.0 M
}


@pytest.mark.parametrize(("name", "published"), PUBLISHED.items())
def test_other_networks_are_as_published(name, published):
    parameters, normalised = published
    fact = NETWORKS[name]
    assert fact.parameters == pytest.approx(parameters, rel=0.03)
    assert (fact.normalised, fact.known) == (normalised, True)


def decoder(layers, width, wide, keys=None):
    """Weights of a decoder's layers: query, output, key, value (of `keys` columns), and three of the feed-forward."""
    return layers * (2 * width**2 + 2 * width * (keys or width) + 3 * width * wide)


# Weights of the layers, by the widths of the papers, and tensors; GPT's and BERT's layers have 12 d^2 weights.
TRANSFORMERS = {
    "bertbase": (12 * 12 * 768**2, 16 * 12 + 7),
    "bertlarge": (24 * 12 * 1024**2, 16 * 24 + 7),
    "gpt2": (12 * 12 * 768**2, 12 * 12 + 4),
    "gpt2medium": (24 * 12 * 1024**2, 12 * 24 + 4),
    "gpt2large": (36 * 12 * 1280**2, 12 * 36 + 4),
    "gpt2xl": (48 * 12 * 1600**2, 12 * 48 + 4),
    "gpt3": (96 * 12 * 12288**2, 12 * 96 + 4),
    "llama27b": (decoder(32, 4096, 11008), 9 * 32 + 3),
    "llama213b": (decoder(40, 5120, 13824), 9 * 40 + 3),
    "llama270b": (decoder(80, 8192, 28672, 1024), 9 * 80 + 3),
    "llama318b": (decoder(32, 4096, 14336, 1024), 9 * 32 + 3),
    "llama3170b": (decoder(80, 8192, 28672, 1024), 9 * 80 + 3),
    "llama31405b": (decoder(126, 16384, 53248, 1024), 9 * 126 + 3),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_transformer_has_the_tensors_of_its_layers(name):
    assert (NETWORKS[name].tensors, NETWORKS[name].normalised) == (TRANSFORMERS[name][1], False)


GPT2 = ("gpt2", "gpt2medium", "gpt2large", "gpt2xl")


def test_a_model_of_many_words_has_an_embedding_and_a_head_beside_its_layers():
    # Llama 2: 32,000 words twice; Llama 3: 128,256; GPT-2: 50,257 words and 1,024 places once, 13 d a layer of biases
    for name, words, width, scales in (
        ("llama27b", 32_000, 4096, 65), ("llama213b", 32_000, 5120, 81), ("llama318b", 128_256, 4096, 65),
        ("llama3170b", 128_256, 8192, 161), ("llama31405b", 128_256, 16_384, 253),
    ):  # fmt: skip
        assert NETWORKS[name].parameters == pytest.approx(
            (TRANSFORMERS[name][0] + 2 * words * width + scales * width) / 1e6, rel=1e-4
        )
    for name, layers, width in zip(GPT2, (12, 24, 36, 48), (768, 1024, 1280, 1600), strict=True):
        rest = (50_257 + 1024) * width + 13 * layers * width + 2 * width
        assert NETWORKS[name].parameters == pytest.approx((TRANSFORMERS[name][0] + rest) / 1e6, rel=1e-3)
    # BERT: 30,522 words, 512 places and two kinds, a normalisation, the head of SQuAD
    for name, layers, width in (("bertbase", 12, 768), ("bertlarge", 24, 1024)):
        rest = (30_522 + 512 + 2) * width + 13 * layers * width + 4 * width + 2
        assert NETWORKS[name].parameters == pytest.approx((TRANSFORMERS[name][0] + rest) / 1e6, rel=1e-3)
    # GPT-3: 50,257 words and 2,048 places
    rest = (50_257 + 2048) * 12_288 + 13 * 96 * 12_288
    assert NETWORKS["gpt3"].parameters == pytest.approx((TRANSFORMERS["gpt3"][0] + rest) / 1e6, rel=1e-3)


def test_the_detector_adds_up():
    assert NETWORKS["ssd300"].parameters == pytest.approx(8.54 + 3.77 + 10.58, rel=1e-3)
    assert NETWORKS["ssd300"].normalised


def test_small_networks_by_their_layers():
    # LeNet-5 as tf_cnn_benchmarks has it at 28 x 28: two 5 x 5 convolutions of 32 and 64, 512 and 10 neurons, all with
    # biases: 832 + 51,264 + 7 x 7 x 64 x 512 + 512 + 5,130 parameters
    assert NETWORKS["lenet5"].parameters == pytest.approx(1.663, rel=0.03)
    assert not NETWORKS["lenet5"].normalised
    # a first convolution with a bias, 36 or 96 convolutions and two transitions with scale and offset each, the last
    # normalisation, a dense layer: 2 + 3 x 36 + 6 + 2 + 2
    assert (NETWORKS["densenet40k12"].tensors, NETWORKS["densenet100k12"].tensors) == (120, 300)
    assert NETWORKS["alexnet"].tensors == 16  # five convolutions and three dense layers, weights and biases
    assert NETWORKS["overfeat"].tensors == 16
    assert NETWORKS["lenet5"].tensors == 8
    assert NETWORKS["inception3"].tensors == 94 * 2 + 2  # Keras: 94 convolutions with an offset each, and a dense layer
    assert NETWORKS["inception4"].tensors == 149 * 2 + 2  # as many, of the paper's figures 3 to 9
    assert NETWORKS["googlenet"].tensors == 57 * 2 + 2  # 57 convolutions, weights and biases
    assert NETWORKS["mobilenet"].tensors == 52 * 3 + 2  # 52 convolutions, each with scale and offset


def test_the_trivial_network_is_three_dense_layers():
    # tf_cnn_benchmarks/models/trivial_model.py at 8fb7907: 227 x 227 x 3 pixels to 1 neuron, then 4096; model.py adds
    # the 1001 classes; each with a bias (`affine` of convnet_builder.py)
    pixels = 227 * 227 * 3
    weights = pixels + 4096 + 4096 * 1001
    biases = 1 + 4096 + 1001
    trivial = NETWORKS["trivial"]
    assert trivial.parameters == pytest.approx((weights + biases) / 1e6, rel=0.01)
    assert (trivial.tensors, trivial.normalised) == (6, False)


def test_names_mean_networks_however_they_are_written():
    assert all(network(name) == NETWORKS[name] for name in NETWORKS)
    assert all(network(name) == NETWORKS[target] for name, target in ALIASES.items())
    assert network("ResNet-50 v1.5") == network("resnet50_v2") == network("resnet50_v1") == NETWORKS["resnet50"]
    assert network("VGG-16") == NETWORKS["vgg16"]
    middling = network("mystery")
    assert not middling.known
    # "A middling network": of those counted and published above, but for the tiny ones, half have fewer parameters
    large = [NETWORKS[name].parameters for name in (*COUNTED, *PUBLISHED) if NETWORKS[name].parameters > 2]
    assert 0.3 < sum(parameters < middling.parameters for parameters in large) / len(large) < 0.7
    assert (middling.tensors, middling.normalised) == (pytest.approx(NETWORKS["resnet50"].tensors, rel=0.02), True)


def lstm(inputs, width):
    """Parameters and tensors of one LSTM layer as PyTorch counts them: two matrices, two biases."""
    return 4 * width * (inputs + width) + 8 * width, 4


def normed(inputs, outputs, kernel=1):
    """A convolution with weight normalisation: direction, length and bias of each output."""
    return inputs * outputs * kernel + 2 * outputs, 3


def added(*layers):
    return sum(parameters for parameters, _ in layers), sum(tensors for _, tensors in layers)


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


COUNTED_WORDS = {
    "gnmt": gnmt(),
    "tacotron2": tacotron2(),
    "waveglow": waveglow(),
    "transformerxlbase": transformer_xl(16, 512, 2048, adaptive=False),
    "transformerxllarge": transformer_xl(18, 1024, 4096, adaptive=True),
}


@pytest.mark.parametrize("name", COUNTED_WORDS)
def test_networks_of_speech_and_words_have_the_parameters_and_tensors_of_their_layers(name):
    parameters, tensors = COUNTED_WORDS[name]
    assert NETWORKS[name].parameters == pytest.approx(parameters / 1e6, rel=0.002)
    assert (NETWORKS[name].tensors, NETWORKS[name].normalised) == (tensors, False)
