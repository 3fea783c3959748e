"""The transformers that can be measured: their shapes, read by every framework. A plain module, quick to import."""

from typing import Literal, NamedTuple

from sweetspot.facts.shipped_tables import table


class Shape(NamedTuple):
    """A transformer: pre- or post-normalised layers of attention and a two-layer perceptron four times as wide. kind:
    `encoder` answers questions (two logits a token), `decoder` predicts the next token (causal; the head is the
    embedding itself), `llama` is a decoder of rotary positions, RMSNorm, a gated perceptron (SwiGLU), heads that share
    keys and values, and no biases. `sequence` counts tokens.
    """

    kind: Literal["encoder", "decoder", "llama"]
    layers: int
    heads: int
    hidden: int
    sequence: int
    vocabulary: int
    unit: str  # sequences or tokens
    kv_heads: int  # heads of keys and values, each shared by several of queries; 0: as many as heads
    inner: int  # width of the perceptron; 0: four times the hidden one
    source: str

    @property
    def inner_width(self) -> int:
        """Width of the perceptron's inner layer."""
        return self.inner or 4 * self.hidden

    @property
    def units_per_sample(self) -> int:
        """Units that one sample (a sequence) counts in a throughput: its tokens, or 1 by sequences."""
        return self.sequence if self.unit == "tokens" else 1


TEXTS = ("kind", "unit", "source")
SHAPES = {
    row["network"]: Shape(*(row[name] if name in TEXTS else int(row[name]) for name in Shape._fields))  # type: ignore[arg-type]
    for row in table("transformers")
}
TRANSFORMERS = tuple(SHAPES)


def unit_of(model: str) -> str:
    """Return the unit of a model's throughput: sequences or tokens for a transformer, else images."""
    return SHAPES[model].unit if model in SHAPES else "images"
