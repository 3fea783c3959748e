"""Count the weights and the operations of a transformer from its shape."""

from sweetspot.transformers import Shape


def key_width(shape: Shape) -> int:
    """Return the width of keys, and of values."""
    return shape.hidden // shape.heads * (shape.kv_heads or shape.heads)


def matrix_parameters(shape: Shape) -> int:
    """Weights that are multiplied with each token: four of attention, two or three of the perceptron, the head, the
    patches; not the adapters.

    Of vision the head sees one token and the patches all but one; both are counted a sample in `training_flop`.
    """
    perceptron = (3 if shape.kind == "llama" else 2) * shape.hidden * shape.inner_width
    layer = 2 * shape.hidden * (shape.hidden + key_width(shape)) + perceptron
    words = shape.vocabulary * shape.hidden
    output = {"encoder": 2 * shape.hidden, "decoder": words, "llama": words, "vision": 0}[shape.kind]
    return shape.layers * layer + output


def adapter_parameters(shape: Shape) -> int:
    """Weights of the adapters: of each layer a pair at the queries and a pair at the values, `rank` wide between."""
    return shape.layers * shape.rank * (shape.hidden + shape.hidden + shape.hidden + key_width(shape))


def training_flop(shape: Shape) -> int:
    """Operations of a training step for one sample: 6 P tokens + 12 L d s tokens.

    Source: PaLM, appendix B (Chowdhery et al. 2022). P are the weights that tokens are multiplied with; looking up an
    embedding costs none. Attention counts whole rows, causal or not, as frameworks' counters do. With adapters the
    other weights are frozen and need no gradient (4 P), and none is taken of what the first layer is given: its
    products with queries, keys and values spare that pass, and its keys theirs.
    """
    tokens, attention = shape.sequence, 12 * shape.layers * shape.hidden * shape.sequence
    if shape.rank:
        first = 2 * shape.hidden * (shape.hidden + 2 * key_width(shape)) + 2 * 2 * shape.rank * shape.hidden
        first += 2 * shape.hidden * tokens
        return (4 * matrix_parameters(shape) + 6 * adapter_parameters(shape) + attention - first) * tokens
    flop = (6 * matrix_parameters(shape) + attention) * tokens
    if shape.kind == "vision":  # the head: one token, three passes; the patches: two, an image needs no gradient
        flop += 6 * shape.hidden * shape.vocabulary
        flop += 4 * (tokens - 1) * 3 * shape.patch**2 * shape.hidden
    return flop
