"""The networks that can be measured, by name; known without Keras, so that a plan can be checked while it is read."""

import difflib

from sweetspot.study.transformers import TRANSFORMERS

NAMES = {"inception3": "InceptionV3", "resnet50": "ResNet50", "vgg16": "VGG16"}  # names of the 2018 study
OWN = ("inception4",)  # built here; keras.applications has none
SMALL = ("mnist_mlp", "mnist_cnn", "cifar10_cnn", "imdb_bilstm", "lstm_text", "tweet_bilstm", "tiny_cnn")
# The classes of keras.applications; a test compares them with the Keras that is installed.
APPLICATIONS = (
    "ConvNeXtBase", "ConvNeXtLarge", "ConvNeXtSmall", "ConvNeXtTiny", "ConvNeXtXLarge",
    "DenseNet121", "DenseNet169", "DenseNet201",
    "EfficientNetB0", "EfficientNetB1", "EfficientNetB2", "EfficientNetB3", "EfficientNetB4", "EfficientNetB5",
    "EfficientNetB6", "EfficientNetB7",
    "EfficientNetV2B0", "EfficientNetV2B1", "EfficientNetV2B2", "EfficientNetV2B3",
    "EfficientNetV2L", "EfficientNetV2M", "EfficientNetV2S",
    "InceptionResNetV2", "InceptionV3",
    "MobileNet", "MobileNetV2", "MobileNetV3Large", "MobileNetV3Small", "NASNetLarge", "NASNetMobile",
    "ResNet101", "ResNet101V2", "ResNet152", "ResNet152V2", "ResNet50", "ResNet50V2",
    "VGG16", "VGG19", "Xception",
)  # fmt: skip
_LOWER = {name.lower(): name for name in APPLICATIONS}


def architecture(name: str) -> str | None:
    """The class of keras.applications that a name means, in any case (`mobilenetv2`, `ResNet50`); None for others."""
    return NAMES.get(name) or _LOWER.get(name.lower().replace("_", ""))


def is_known(name: str) -> bool:
    """Whether a network of that name can be built."""
    return name in SMALL or name in OWN or name in TRANSFORMERS or architecture(name) is not None


def expected(name: str) -> str:
    """What to write in place of an unknown name: the nearest names, if any is near, and where all stand."""
    every = [*NAMES, *OWN, *SMALL, *TRANSFORMERS, *_LOWER]
    near = list(dict.fromkeys(difflib.get_close_matches(name.lower(), every, n=2)))
    known = ", ".join([*NAMES, *OWN, *SMALL, *TRANSFORMERS])
    nearest = f" (nearest: {', '.join(near)})" if near else ""
    return f"one of {known}, or a network of keras.applications{nearest}"
