"""The frameworks of the matrix: what each can be asked to measure. A plain module, since every run reads it too."""

import difflib
from dataclasses import dataclass

from sweetspot.study.transformers import TRANSFORMERS

TENSORFLOW_VARIANTS = ("default", "A", "B", "C")
VARIANTS = (*TENSORFLOW_VARIANTS, "compile", "ddp")
NCCL = "B"  # the variant whose gradients NCCL sums, which is between GPUs only
PRECISIONS = ("fp32", "tf32", "fp16", "bf16")  # those that the frameworks here train in; tf32 on GPUs only
PUBLISHED = ("jax",)  # of published figures only; a script of one's own (framework command) measures such a one
ALWAYS_COMPILED = ("jax",)  # compile with XLA whether asked to or not

TINY_NETWORK = "tiny_cnn"
# Classes of keras.applications; a test compares them with the Keras that is installed.
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
STUDY_NAMES = {"inception3": "InceptionV3"}  # names of the 2018 study that Keras spells otherwise
# Networks of torchvision.models for images of 224 x 224; `inception3` is inception_v3, for 299 x 299.
TORCHVISION = (
    "alexnet", "convnext_base", "convnext_small", "convnext_tiny", "densenet121", "densenet169", "densenet201",
    "efficientnet_b0", "googlenet", "inception3", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small",
    "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "swin_t", "vgg11", "vgg16",
    "vgg19", "vit_b_16", "wide_resnet50_2",
)  # fmt: skip
_APPLICATION_BY_NAME = {name.lower(): name for name in APPLICATIONS} | STUDY_NAMES


@dataclass(frozen=True)
class Ability:
    """What a framework can measure."""

    variants: tuple[str, ...]  # within one node
    variants_over_nodes: tuple[str, ...]
    variants_with_xla: tuple[str, ...]
    package: str  # what must be installed for it; "": nothing
    extra: str  # of pyproject.toml, that installs it
    title: str = ""  # its name for people; "": its key
    precisions: tuple[str, ...] = PRECISIONS
    networks: tuple[str, ...] = ()  # by name; of keras.applications also in any other spelling


FRAMEWORKS = {
    "tensorflow": Ability(
        variants=TENSORFLOW_VARIANTS,
        variants_over_nodes=("default", NCCL),
        variants_with_xla=("default",),
        package="tensorflow",
        extra="measure",
        title="TensorFlow",
        networks=(TINY_NETWORK, *_APPLICATION_BY_NAME),
    ),
    "torch": Ability(
        variants=("default", "compile", "ddp"),
        variants_over_nodes=("default", "ddp"),
        variants_with_xla=(),
        package="torch",
        extra="torch",
        title="PyTorch",
        networks=(TINY_NETWORK, *TORCHVISION, *TRANSFORMERS),
    ),
    # A script of one's own decides for itself.
    "command": Ability((), (), (), "", "", precisions=(*PRECISIONS, "fp8")),
}


def keras_application(name: str) -> str | None:
    """Return the class of keras.applications that a name means, such as `mobilenet_v2`; None for other names."""
    return _APPLICATION_BY_NAME.get(name.lower().replace("_", ""))


def has_network(framework: str, name: str) -> bool:
    """Return whether a framework can build the network of that name."""
    if name in FRAMEWORKS[framework].networks:
        return True
    return framework == "tensorflow" and keras_application(name) is not None


def known_networks(framework: str, name: str) -> str:
    """Say what may stand in place of an unknown name: the nearest networks of that framework."""
    networks = FRAMEWORKS[framework].networks
    nearest = difflib.get_close_matches(name.lower(), networks, n=2)
    source = "keras.applications" if framework == "tensorflow" else "torchvision or transformers"
    suggestion = f" (nearest: {', '.join(nearest)})" if nearest else ""
    return f"a network of {source}, such as inception3, resnet50 or vgg16{suggestion}"
