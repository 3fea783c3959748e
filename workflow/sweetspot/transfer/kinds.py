"""What a network works on: images, text or speech. Devices are related otherwise in each."""

import re

from sweetspot.warnings import warning

IMAGES, TEXT, SPEECH, UNKNOWN = "images", "text", "speech", "unknown"
# How names begin, in small letters without separators; the first that fits counts.
BEGINNINGS = {
    SPEECH: (
        "tacotron", "waveglow", "wavenet", "fastpitch", "hifigan", "jasper", "quartznet", "conformer", "wav2vec",
        "whisper", "rnnt", "deepspeech", "hubert",
    ),
    TEXT: (
        "bert", "roberta", "distilbert", "albert", "electra", "deberta", "gpt", "nanogpt", "llama", "mistral",
        "mixtral", "qwen", "gemma", "falcon", "mpt", "opt", "bloom", "phi", "pythia", "deepseek", "t5", "bart",
        "transformer", "gnmt", "lstm", "xlnet", "mamba",
    ),
    IMAGES: (
        "resnet", "resnext", "wideresnet", "vgg", "alexnet", "googlenet", "inception", "xception", "overfeat", "lenet",
        "densenet", "mobilenet", "efficientnet", "tfefficientnet", "efficientvit", "nasnet", "squeezenet",
        "shufflenet", "regnet", "convnext", "vit", "deit", "swin", "ssd", "retinanet", "maskrcnn", "fasterrcnn",
        "yolo", "unet", "nnunet", "trivial", "cifar", "mnist", "stablediffusion", "dcgan",
    ),
}  # fmt: skip
COUNTED = {"tokens": TEXT, "sequences": TEXT, "mels": SPEECH}  # by the unit, where the name tells nothing


def kind_of(network: str, unit: str = "") -> str:
    """IMAGES, TEXT or SPEECH by the name of a network (`figures.network_name`), else by what its unit counts.

    UNKNOWN where neither tells: images are also what a figure counts whose unit nobody stated.
    """
    plain = re.sub(r"[^a-z0-9]", "", network.lower())
    for kind, names in BEGINNINGS.items():
        if plain.startswith(names):
            return kind
    return COUNTED.get(unit, UNKNOWN)


def unknown_kind(model: str) -> dict[str, str]:
    """The warning of a network of which neither name nor unit tells the kind."""
    return warning(
        "kind_unknown",
        f"whether {model} works on images, text or speech is not known: devices are related by what all kinds have in "
        "common, the interval is wider",
    )
