"""The transformers that can be measured: one place for their shapes, read by every framework and by the arithmetic.

A plain module: a plan is checked with it, and tables ask it what a model's throughput counts.
"""

from typing import Literal, NamedTuple

from sweetspot.facts.shipped_tables import table


class Shape(NamedTuple):
    """A transformer: pre- or post-normalised layers of attention and a two-layer perceptron four times as wide.

    kind: `encoder` answers questions (two logits a token), `decoder` predicts the next token (causal; the head is the
    embedding itself), `vision` sorts images cut into patches, `llama` is a decoder of rotary positions, RMSNorm, a
    gated perceptron (SwiGLU), heads that share keys and values, and no biases. `sequence` counts tokens; of vision a
    class token too.
    """

    kind: Literal["encoder", "decoder", "vision", "llama"]
    layers: int
    heads: int
    hidden: int
    sequence: int
    vocabulary: int  # of vision: classes
    unit: str  # sequences, tokens or images
    image: int  # pixels of an edge; 0: no images
    patch: int
    kv_heads: int  # heads of keys and values, each shared by several of queries; 0: as many as heads
    inner: int  # width of the perceptron; 0: four times the hidden one
    rank: int  # of adapters (LoRA) at queries and values, which alone are trained; 0: none
    source: str

    @property
    def wide(self) -> int:
        """Width of the perceptron."""
        return self.inner or 4 * self.hidden

    @property
    def kv(self) -> int:
        """Width of keys, and of values."""
        return self.hidden // self.heads * (self.kv_heads or self.heads)

    @property
    def units_per_sample(self) -> int:
        """What one sample (a sequence or an image) counts: its tokens where tokens are counted."""
        return self.sequence if self.unit == "tokens" else 1


TEXTS = ("kind", "unit", "source")
SHAPES = {
    row["network"]: Shape(*(row[name] if name in TEXTS else int(row[name]) for name in Shape._fields))  # type: ignore[arg-type]
    for row in table("transformers")
}
TRANSFORMERS = tuple(SHAPES)


def unit_of(model: str) -> str:
    """Return what a model's throughput counts: of a transformer what its shape says, else images."""
    return SHAPES[model].unit if model in SHAPES else "images"


def matrix_parameters(shape: Shape) -> int:
    """Weights that are multiplied with each token: four of attention, two or three of the perceptron, the head, the
    patches; not the adapters.

    Of vision the head sees one token and the patches all but one; both are counted a sample in `training_flop`.
    """
    perceptron = (3 if shape.kind == "llama" else 2) * shape.hidden * shape.wide
    layer = 2 * shape.hidden * (shape.hidden + shape.kv) + perceptron
    words = shape.vocabulary * shape.hidden
    output = {"encoder": 2 * shape.hidden, "decoder": words, "llama": words, "vision": 0}[shape.kind]
    return shape.layers * layer + output


def adapter_parameters(shape: Shape) -> int:
    """Weights of the adapters: of each layer a pair at the queries and a pair at the values, `rank` wide between."""
    return shape.layers * shape.rank * (shape.hidden + shape.hidden + shape.hidden + shape.kv)


def training_flop(shape: Shape) -> int:
    """Operations of a training step for one sample: 6 P tokens + 12 L d s tokens.

    Source: PaLM, appendix B (Chowdhery et al. 2022). P are the weights that tokens are multiplied with; looking up an
    embedding costs none. Attention counts whole rows, causal or not, as frameworks' counters do. With adapters the
    other weights are frozen and need no gradient (4 P), and none is taken of what the first layer is given: its
    products with queries, keys and values spare that pass, and its keys theirs.
    """
    tokens, attention = shape.sequence, 12 * shape.layers * shape.hidden * shape.sequence
    if shape.rank:
        first = 2 * shape.hidden * (shape.hidden + 2 * shape.kv) + 2 * 2 * shape.rank * shape.hidden
        first += 2 * shape.hidden * tokens
        return (4 * matrix_parameters(shape) + 6 * adapter_parameters(shape) + attention - first) * tokens
    flop = (6 * matrix_parameters(shape) + attention) * tokens
    if shape.kind == "vision":  # the head: one token, three passes; the patches: two, an image needs no gradient
        flop += 6 * shape.hidden * shape.vocabulary
        flop += 4 * (tokens - 1) * 3 * shape.patch**2 * shape.hidden
    return flop
