"""The networks by name, with the synthetic data they train on."""

from typing import NamedTuple

import keras

from sweetspot.errors import UserError
from sweetspot.harness import own_networks
from sweetspot.harness.small_networks import SMALL
from sweetspot.matrix.model_names import architecture, expected
from sweetspot.study.transformers import SHAPES

CLASSES = 1001  # ImageNet's thousand and a background class, as tf_cnn_benchmarks and TF-Slim count
DEFAULT_SIZE = 224
SIZES = {  # the size a network was published with, where it is not 224 (keras.io/api/applications)
    "InceptionV3": 299,
    "InceptionResNetV2": 299,
    "Xception": 299,
    "NASNetLarge": 331,
    **{f"EfficientNetB{number}": size for number, size in enumerate((224, 240, 260, 300, 380, 456, 528, 600))},
    **{f"EfficientNetV2B{number}": size for number, size in enumerate((224, 240, 260, 300))},
    "EfficientNetV2S": 384,
    "EfficientNetV2M": 480,
    "EfficientNetV2L": 480,
}


class BuiltNetwork(NamedTuple):
    """An untrained network giving logits, and the shapes of one sample."""

    network: keras.Model
    shape: tuple[int, ...]  # of one sample, without the batch
    classes: int  # 1: one logit for a yes-or-no question
    vocabulary: int | None = None  # inputs are whole numbers below it, not real ones
    labels: tuple[int, ...] = ()  # of one sample: () one class; else as many as the logits without their last axis
    adamw: bool = False  # updated by AdamW, not by plain SGD


def build_workload(name: str, checkpoint: str = "") -> BuiltNetwork:
    """The network of that name (channels last), with new weights or those of a Keras weights file.

    Names are the slugs of the study (`resnet50`), small workloads (`mnist_mlp`), `inception4`, or any class of
    `keras.applications` in any case (`mobilenetv2`, `EfficientNetB0`). Raises UserError for another name, or a file
    that does not hold this network's weights.
    """
    workload = _build(name)
    if checkpoint:
        try:
            workload.network.load_weights(checkpoint)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:160]
            raise UserError(f"--checkpoint is {checkpoint!r}; expected a weights file of {name}: {reason}") from None
    return workload


def _build(name: str) -> BuiltNetwork:
    if name in SMALL:
        stack, shape, classes, vocabulary = SMALL[name]
        entry = keras.Input(shape, dtype="int32" if vocabulary else None)
        return BuiltNetwork(keras.Sequential([entry, *stack()], name=name), shape, classes, vocabulary)
    if name in SHAPES:
        from sweetspot.harness.keras_llama import llama
        from sweetspot.harness.keras_transformers import transformer

        made = own_networks.workload(name)
        network = (llama if SHAPES[name].kind == "llama" else transformer)(SHAPES[name], name)
        return BuiltNetwork(network, made.inputs, made.classes, made.vocabulary, made.labels, made.adamw)
    if name == "inception4":
        from sweetspot.harness.inception4 import inception4

        return BuiltNetwork(inception4(CLASSES), (299, 299, 3), CLASSES)
    found = architecture(name)
    if found is None:
        raise UserError(f"--model is {name!r}; expected {expected(name)}")
    size = SIZES.get(found, DEFAULT_SIZE)
    shape = (size, size, 3)
    build = getattr(keras.applications, found)
    return BuiltNetwork(
        build(weights=None, classes=CLASSES, classifier_activation=None, input_shape=shape), shape, CLASSES
    )
