"""Arithmetic of one training sample, counted from a network's layers."""

import math

import keras

from sweetspot.harness.keras_transformers import SharedAttention, TiedHead


def training_flop(network: keras.Model) -> int:
    """Operations of a training step per sample: forward, gradient of the weights, gradient of the inputs.

    Each costs as much as the forward pass; a first layer that sees the data needs no gradient of its inputs,
    one that sees an embedding does. Of a network with frozen layers ask `transformers.training_flop`.
    """
    counts = [2 * layer_multiply_adds(layer) for layer in network.layers]
    embedded = any(isinstance(layer, keras.layers.Embedding) for layer in network.layers)
    first = 0 if embedded else next((count for count in counts if count), 0)
    return 3 * sum(counts) - first


def layer_multiply_adds(layer: keras.layers.Layer) -> int:
    """Multiply-adds of one layer for one sample; 0 for a layer without matrix arithmetic.

    Convolutions, dense, recurrent and attention layers are counted, where practically all arithmetic lies;
    normalisation, activation and pooling are left out, as in the published counts (He et al. 2015, table 1).
    """
    if isinstance(layer, keras.layers.Bidirectional):
        return _recurrent(layer.forward_layer, layer.input.shape) + _recurrent(layer.backward_layer, layer.input.shape)
    if isinstance(layer, keras.layers.LSTM | keras.layers.GRU | keras.layers.SimpleRNN):
        return _recurrent(layer, layer.input.shape)
    if isinstance(layer, keras.layers.Dense):
        return layer.input.shape[-1] * layer.units * math.prod(layer.output.shape[1:-1])
    if isinstance(layer, keras.layers.MultiHeadAttention):
        return _attention(layer)
    if isinstance(layer, SharedAttention):  # its projections are layers of their own
        return 2 * layer.shape.sequence**2 * layer.shape.hidden
    if isinstance(layer, TiedHead):
        return math.prod(layer.output.shape[1:]) * layer.input.shape[-1]
    if isinstance(layer, keras.layers.SeparableConv2D):
        positions, kernel = _positions(layer), math.prod(layer.kernel_size)
        wide = layer.pointwise_kernel.shape[-2]
        return positions * wide * (kernel + layer.filters)
    if isinstance(layer, keras.layers.Conv1D | keras.layers.Conv2D | keras.layers.DepthwiseConv2D):
        return _positions(layer) * math.prod(layer.kernel.shape)  # the kernel's inputs are already per group
    if isinstance(layer, keras.Model):
        return sum(layer_multiply_adds(inner) for inner in layer.layers)
    return 0


def _attention(layer: keras.layers.MultiHeadAttention) -> int:
    """Four projections of each token, and each token with each other, twice: whole rows, causal or not."""
    query, _ = layer.input if isinstance(layer.input, list) else (layer.input, layer.input)
    tokens, hidden = query.shape[1:]
    wide = layer.num_heads * layer.key_dim
    return tokens * 4 * hidden * wide + 2 * tokens**2 * wide


def _positions(layer: keras.layers.Layer) -> int:
    return math.prod(layer.output.shape[1:-1])


def _recurrent(layer: keras.layers.Layer, shape: tuple[int, ...]) -> int:
    gates = {"LSTM": 4, "GRU": 3}.get(type(layer).__name__, 1)
    return shape[1] * gates * layer.units * (shape[2] + layer.units)
