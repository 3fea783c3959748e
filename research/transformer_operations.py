"""Count the weights and the operations of a transformer from its shape."""

from sweetspot.transformers import Shape


def key_width(shape: Shape) -> int:
    """Return the width of keys, and of values."""
    return shape.hidden // shape.heads * (shape.kv_heads or shape.heads)


def matrix_parameters(shape: Shape) -> int:
    """Weights that are multiplied with each token: four of attention, two or three of the perceptron, the head."""
    perceptron = (3 if shape.kind == "llama" else 2) * shape.hidden * shape.inner_width
    layer = 2 * shape.hidden * (shape.hidden + key_width(shape)) + perceptron
    words = shape.vocabulary * shape.hidden
    output = {"encoder": 2 * shape.hidden, "decoder": words, "llama": words}[shape.kind]
    return shape.layers * layer + output


def training_flop(shape: Shape) -> int:
    """Operations of a training step for one sample: 6 P tokens + 12 L d s tokens.

    Source: PaLM, appendix B (Chowdhery et al. 2022). P are the weights that tokens are multiplied with; looking up an
    embedding costs none. Attention counts whole rows, causal or not, as frameworks' counters do.
    """
    attention = 12 * shape.layers * shape.hidden * shape.sequence
    return (6 * matrix_parameters(shape) + attention) * shape.sequence
