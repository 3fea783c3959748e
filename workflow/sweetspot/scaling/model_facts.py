"""What a network sends and computes: parameters, gradient tensors, work per image."""

import re
from typing import NamedTuple


class Network(NamedTuple):
    """Facts of one network.

    parameters: trainable values, in millions; each step exchanges one gradient for each.
    tensors: separate gradients (weights, biases, scales), each of which costs a start of the exchange.
    giga_macs: multiply-adds of one forward pass of one image, in 1e9.
    normalised: whether batch normalisation follows its convolutions.
    known: False where the figures are those of a middling network, because the name is not in the table.
    """

    parameters: float
    tensors: int
    giga_macs: float
    normalised: bool
    known: bool = True


# Parameters and multiply-adds: the papers' figures, or for tf_cnn_benchmarks' own variants counted from its layer
# definitions (1001 classes); tensors counted from the same layers (convolution + scale and offset, or bias).
NETWORKS = {
    "alexnet": Network(61.1, 16, 0.71, False),
    "densenet100k12": Network(7.0, 300, 1.9, True),
    "densenet121": Network(8.0, 364, 2.9, True),
    "densenet40k12": Network(1.0, 120, 0.28, True),
    "googlenet": Network(7.0, 116, 1.6, False),
    "inception3": Network(23.8, 190, 5.7, True),
    "inception4": Network(42.6, 300, 12.3, True),
    "lenet5": Network(1.7, 8, 0.01, False),
    "mobilenet": Network(3.5, 158, 0.3, True),
    "nasnet": Network(5.3, 700, 0.56, True),
    "nasnetlarge": Network(88.9, 1000, 23.8, True),
    "overfeat": Network(146.0, 16, 2.8, False),
    "resnet101": Network(44.5, 314, 7.8, True),
    "resnet110": Network(1.7, 329, 0.255, True),
    "resnet152": Network(60.2, 467, 11.5, True),
    "resnet18": Network(11.7, 62, 1.8, True),
    "resnet20": Network(0.27, 59, 0.041, True),
    "resnet200": Network(64.7, 611, 15.0, True),
    "resnet32": Network(0.46, 95, 0.07, True),
    "resnet34": Network(21.8, 110, 3.6, True),
    "resnet44": Network(0.66, 131, 0.1, True),
    "resnet50": Network(25.6, 161, 4.1, True),
    "resnet56": Network(0.85, 167, 0.127, True),
    "trivial": Network(4.1, 4, 0.0003, False),
    "vgg11": Network(132.9, 22, 7.6, False),
    "vgg16": Network(138.4, 32, 15.5, False),
    "vgg19": Network(143.7, 38, 19.6, False),
}
ALIASES = {
    "inceptionv1": "googlenet",
    "googlenetv1": "googlenet",
    "inceptionv3": "inception3",
    "inceptionv4": "inception4",
    "lenet": "lenet5",
    "mobilenetv2": "mobilenet",
}
MIDDLING = Network(30.0, 160, 5.0, True, known=False)


def network(model: str) -> Network:
    """Facts of `model`; spelling (case, separators, a version `v1.5` or `v2` of a ResNet) does not matter."""
    plain = re.sub(r"[^a-z0-9]", "", model.lower())
    plain = ALIASES.get(plain, plain)
    if plain not in NETWORKS:
        plain = re.sub(r"v(1|15|2)$", "", plain)
    return NETWORKS.get(plain, MIDDLING)
