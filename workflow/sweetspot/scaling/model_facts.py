"""What a network sends: parameters and gradient tensors."""

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
    normalised: whether batch normalisation follows its convolutions.
    known: False where the figures are those of a middling network, because the name is not in the table.
    """

    parameters: float
    tensors: int
    normalised: bool
    known: bool = True


# Parameters: the papers' figures, or for tf_cnn_benchmarks' own variants counted from its layer definitions (1001
# classes); tensors counted from the same layers (convolution + scale and offset, or bias).
NETWORKS = {
    "alexnet": Network(61.1, 16, False), "densenet100k12": Network(7.0, 300, True),
    "densenet121": Network(8.0, 364, True), "densenet40k12": Network(1.0, 120, True),
    "googlenet": Network(7.0, 116, False), "inception3": Network(23.8, 190, True),
    "inception4": Network(42.6, 300, True), "lenet5": Network(1.7, 8, False), "mobilenet": Network(3.5, 158, True),
    "nasnet": Network(5.3, 700, True),
    "nasnetlarge": Network(88.9, 1000, True),
    "overfeat": Network(146.0, 16, False), "resnet101": Network(44.5, 314, True),
    "resnet110": Network(1.7, 329, True), "resnet152": Network(60.2, 467, True), "resnet18": Network(11.7, 62, True),
    "resnet20": Network(0.27, 59, True), "resnet200": Network(64.7, 611, True), "resnet32": Network(0.46, 95, True),
    "resnet34": Network(21.8, 110, True), "resnet44": Network(0.66, 131, True), "resnet50": Network(25.6, 161, True),
    "resnet56": Network(0.85, 167, True), "trivial": Network(4.26, 6, False), "vgg11": Network(132.9, 22, False),
    "vgg16": Network(138.4, 32, False), "vgg19": Network(143.7, 38, False),
    # Counted from the layers of Keras' own.
    "efficientnetb0": Network(5.3, 213, True), "efficientnetb4": Network(19.3, 418, True),
    "efficientnetv2s": Network(21.5, 452, True),
    # Counted from the layers of NVIDIA's SSD300: a ResNet-50 up to conv4 (38 x 38), five further pairs, heads of 81
    # classes: 8.54 + 3.77 + 10.58 million parameters.
    "ssd300": Network(22.9, 183, True),
}  # fmt: skip
# Transformers. A layer of BERT has 16 tensors (four projections, two of the feed-forward, two normalisations, each with
# a bias), the embeddings 5, the head 2; a layer of GPT-2 has 12, of Llama 9, both without a head of their own or one.
# Parameters: Devlin et al. 2019 (BERT), Radford et al. 2019 (GPT-2), Brown et al. 2020 (GPT-3), Touvron et al. 2023
# (Llama 2), Grattafiori et al. 2024 (Llama 3), each counted from the shapes of the published weights.
NETWORKS |= {
    "bertbase": Network(108.9, 199, False), "bertlarge": Network(334.1, 391, False),
    "gpt2": Network(124.4, 148, False), "gpt2medium": Network(354.8, 292, False),
    "gpt2large": Network(774.0, 436, False), "gpt2xl": Network(1557.6, 580, False),
    "gpt3": Network(174_604.0, 1156, False), "llama27b": Network(6738.0, 291, False),
    "llama213b": Network(13_016.0, 363, False), "llama270b": Network(68_977.0, 723, False),
    "llama318b": Network(8030.0, 291, False), "llama3170b": Network(70_554.0, 723, False),
    "llama31405b": Network(405_853.0, 1137, False),
}  # fmt: skip
# Counted from the layers of NVIDIA's DeepLearningExamples: GNMT v2 (vocabulary of 32,320, 4 + 4 LSTM
# layers of 1024), Tacotron 2, WaveGlow (12 flows of 512 channels), Transformer-XL (16 x 512 and 18 x 1024, 267,735
# words, of which large has adaptive widths).
NETWORKS |= {
    "gnmt": Network(160.7, 44, False), "tacotron2": Network(28.2, 60, False),
    "transformerxlbase": Network(192.0, 182, False), "transformerxllarge": Network(285.2, 215, False),
    "waveglow": Network(268.3, 938, False),
}  # fmt: skip
ALIASES = {
    "inceptionv1": "googlenet", "googlenetv1": "googlenet", "inceptionv3": "inception3", "inceptionv4": "inception4",
    "lenet": "lenet5", "mobilenetv2": "mobilenet", "ssd300resnet50": "ssd300", "bertbasesquad": "bertbase",
    "bertbasesquadfinetune": "bertbase", "bertlargesquad": "bertlarge", "bertlargesquadfinetune": "bertlarge",
    "bertlargepretraining": "bertlarge", "bertlarge128": "bertlarge", "bertlarge512": "bertlarge",
    "llama270blora": "llama270b", "llama38b": "llama318b", "llama370b": "llama3170b",
}  # fmt: skip
DECLARED = ("parameters_millions", "tensors", "normalised")
MIDDLING = Network(30.0, 160, True, known=False)


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
        network(model) if math.isnan(parameters) else Network(parameters, int(tensors), bool(normalised))
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
