"""Count the arithmetic of a training step from the layers of a Keras network."""

import math

import keras


def training_flop(network: keras.Model) -> int:
    """Count the operations of a training step for one image.

    The forward pass, the gradient of the weights and the gradient of the inputs cost the same. The first layer needs
    no gradient of its inputs, which are the data.
    """
    flop = [2 * layer_multiply_adds(layer) for layer in network.layers]
    first_layer = next((count for count in flop if count), 0)
    return 3 * sum(flop) - first_layer


def layer_multiply_adds(layer: keras.layers.Layer) -> int:
    """Count the multiply-adds of one layer for one image.

    Convolutions and dense layers are counted, where practically all arithmetic lies. Normalisation, activation and
    pooling are not, as in published counts (He et al. 2015, table 1).
    """
    layers = keras.layers
    if isinstance(layer, keras.Model):
        return sum(layer_multiply_adds(inner) for inner in layer.layers)
    positions = math.prod(layer.output.shape[1:-1])
    if isinstance(layer, layers.Dense):
        return positions * layer.input.shape[-1] * layer.units
    if isinstance(layer, layers.SeparableConv2D):
        channels_between = layer.pointwise_kernel.shape[-2]
        return positions * channels_between * (math.prod(layer.kernel_size) + layer.filters)
    if isinstance(layer, layers.Conv2D | layers.DepthwiseConv2D):
        return positions * math.prod(layer.kernel.shape)  # the kernel's inputs are those of its group
    return 0
