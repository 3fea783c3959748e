"""What a network sends and computes: parameters, gradient tensors, work per image."""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from sweetspot.warnings import warning

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.study.study import DeclaredNetwork


class Network(NamedTuple):
    """Facts of one network.

    parameters: trainable values, in millions; each step exchanges one gradient for each.
    tensors: separate gradients (weights, biases, scales), each of which costs a start of the exchange.
    giga_macs: multiply-adds of one forward pass of one image, in 1e9; of SQuAD's 384 tokens (BERT), of one token (GPT,
    Llama). NaN of a declared network: nobody asks.
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
    # Tan & Le 2019 and 2021 (multiply-adds); parameters and tensors counted from the layers of Keras' own.
    "efficientnetb0": Network(5.3, 213, 0.39, True),
    "efficientnetb4": Network(19.3, 418, 4.2, True),
    "efficientnetv2s": Network(21.5, 452, 8.8, True),
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
    "trivial": Network(4.26, 6, 0.0043, False),
    "vgg11": Network(132.9, 22, 7.6, False),
    "vgg16": Network(138.4, 32, 15.5, False),
    "vgg19": Network(143.7, 38, 19.6, False),
    # Counted from the layers of NVIDIA's SSD300: a ResNet-50 up to conv4 (38 x 38), five further pairs, heads of 81
    # classes.
    # 8.54 + 3.77 + 10.58 million parameters; 13.5 + 1.0 + 5.6 giga multiply-adds.
    "ssd300": Network(22.9, 183, 20.1, True),
}
# Transformers. A layer of BERT has 16 tensors (four projections, two of the feed-forward, two normalisations, each with
# a bias), the embeddings 5, the head 2; a layer of GPT-2 has 12, of Llama 9, both without a head of their own or one.
# Parameters: Devlin et al. 2019 (BERT), Radford et al. 2019 (GPT-2), Brown et al. 2020 (GPT-3), Touvron et al. 2023
# (Llama 2), Grattafiori et al. 2024 (Llama 3), each counted from the shapes of the published weights.
# giga_macs: non-embedding parameters x tokens + 2 x layers x width x tokens^2 (attention; BERT only).
NETWORKS |= {
    "bertbase": Network(108.9, 199, 35.3, False),
    "bertlarge": Network(334.1, 391, 123.2, False),
    "gpt2": Network(124.4, 148, 0.085, False),
    "gpt2medium": Network(354.8, 292, 0.302, False),
    "gpt2large": Network(774.0, 436, 0.708, False),
    "gpt2xl": Network(1557.6, 580, 1.475, False),
    "gpt3": Network(174_604.0, 1156, 173.9, False),
    "llama27b": Network(6738.0, 291, 6.48, False),
    "llama213b": Network(13_016.0, 363, 12.69, False),
    "llama270b": Network(68_977.0, 723, 68.45, False),
    "llama318b": Network(8030.0, 291, 6.98, False),
    "llama3170b": Network(70_554.0, 723, 68.45, False),
    "llama31405b": Network(405_853.0, 1137, 401.6, False),
}
# Counted from the layers of NVIDIA's DeepLearningExamples, multiply-adds not: GNMT v2 (vocabulary of 32,320, 4 + 4 LSTM
# layers of 1024), Tacotron 2, WaveGlow (12 flows of 512 channels), Transformer-XL (16 x 512 and 18 x 1024, 267,735
# words, of which large has adaptive widths).
NETWORKS |= {
    "gnmt": Network(160.7, 44, math.nan, False),
    "tacotron2": Network(28.2, 60, math.nan, False),
    "transformerxlbase": Network(192.0, 182, math.nan, False),
    "transformerxllarge": Network(285.2, 215, math.nan, False),
    "waveglow": Network(268.3, 938, math.nan, False),
}
ALIASES = {
    "inceptionv1": "googlenet",
    "googlenetv1": "googlenet",
    "inceptionv3": "inception3",
    "inceptionv4": "inception4",
    "lenet": "lenet5",
    "mobilenetv2": "mobilenet",
    "ssd300resnet50": "ssd300",
    "bertbasesquad": "bertbase",
    "bertbasesquadfinetune": "bertbase",
    "bertlargesquad": "bertlarge",
    "bertlargesquadfinetune": "bertlarge",
    "bertlargepretraining": "bertlarge",
    "bertlarge128": "bertlarge",
    "bertlarge512": "bertlarge",
    "llama270blora": "llama270b",
    "llama38b": "llama318b",
    "llama370b": "llama3170b",
}
DECLARED = ("parameters_millions", "tensors", "normalised")
MIDDLING = Network(30.0, 160, 5.0, True, known=False)


def network_key(model: str) -> str:
    """The name of `model` in NETWORKS; spelling (case, separators, `v1.5` or `v2` of a ResNet) does not matter."""
    plain = re.sub(r"[^a-z0-9]", "", model.lower())
    plain = ALIASES.get(plain, plain)
    return plain if plain in NETWORKS else re.sub(r"v(1|15|2)$", "", plain)


def network(model: str) -> Network:
    """Facts of `model`, by `network_key`."""
    return NETWORKS.get(network_key(model), MIDDLING)


def with_networks(cells: "pd.DataFrame", declared: Mapping[str, "DeclaredNetwork"]) -> "pd.DataFrame":
    """Cells (`model`) with what a study declares of their networks, NaN where it declares nothing.

    Columns added: parameters_millions (1e6 trainable values), tensors, normalised (1: batch normalisation).
    """
    facts = {name: (net.parameters_millions, net.tensors, net.normalised) for name, net in declared.items()}
    rows = [facts.get(model, (math.nan,) * len(DECLARED)) for model in cells["model"]]
    return cells.assign(**{name: [float(row[at]) for row in rows] for at, name in enumerate(DECLARED)})


def networks_of(cells: "pd.DataFrame") -> list[Network]:
    """The network of each cell: as declared (`with_networks`), else as `network` knows it."""
    if not set(DECLARED) <= set(cells.columns):
        return [network(model) for model in cells["model"]]
    own = zip(*(cells[name] for name in DECLARED), strict=True)
    return [
        network(model) if math.isnan(parameters) else Network(parameters, int(tensors), math.nan, bool(normalised))
        for model, (parameters, tensors, normalised) in zip(cells["model"], own, strict=True)
    ]


def unknown_network(model: str) -> dict[str, str]:
    """The warning of a model that is neither declared nor in the table."""
    words = (
        f"nothing is known of the network {model}, so one of {MIDDLING.parameters:g} million parameters in "
        f"{MIDDLING.tensors} tensors stands in for it; say its own in study.yaml: "
        f"networks: {{{model}: {{parameters_millions: ..., tensors: ...}}}}"
    )
    return warning("network_unknown", words)
