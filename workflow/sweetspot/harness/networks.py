"""The networks by name, with the input they train on."""

import keras

from sweetspot.errors import UserError

CLASSES = 1001
APPLICATIONS = {"inception3": ("InceptionV3", 299), "resnet50": ("ResNet50", 224), "vgg16": ("VGG16", 224)}


def build_network(name: str) -> tuple[keras.Model, tuple[int, int, int], int]:
    """An untrained network giving logits, its input shape (height, width, channels), its number of classes."""
    if name == "tiny_cnn":
        return _tiny_cnn(), (32, 32, 3), 10
    if name not in APPLICATIONS:
        raise UserError(f"--model is {name!r}; expected one of {', '.join([*APPLICATIONS, 'tiny_cnn'])}")
    architecture, size = APPLICATIONS[name]
    shape = (size, size, 3)
    build = getattr(keras.applications, architecture)
    return build(weights=None, classes=CLASSES, classifier_activation=None, input_shape=shape), shape, CLASSES


def _tiny_cnn() -> keras.Model:
    """A network of a few thousand parameters: the same path through the harness in a second, for tests."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Conv2D(8, 3, strides=2),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )
