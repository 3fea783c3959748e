"""The transformers that can be measured: one place for their shapes, read by every framework and by the arithmetic.

A plain module: a plan is checked with it, and tables ask it what a model's throughput counts.
"""

from typing import Literal, NamedTuple


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
    unit: Literal["sequences", "tokens", "images"]
    source: str
    image: int = 0
    patch: int = 16
    kv_heads: int = 0  # of llama: heads of keys and values, each shared by several of queries
    inner: int = 0  # width of the perceptron where it is not four times the hidden one
    rank: int = 0  # of adapters (LoRA) at queries and values: only they are trained

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


BERT = "Devlin et al. 2018 (arXiv:1810.04805), sec. 3; question answering at sequence 384, as published figures have it"
GPT2 = "Radford et al. 2019, table 2, with heads of 64; sequence 1024"
VIT = "Dosovitskiy et al. 2020 (arXiv:2010.11929), table 1; 224 x 224"
LLAMA = "Llama 3.2 1B, its config.json (2024-09); sequence 2048"
LORA = f"{LLAMA}; Hu et al. 2021 (arXiv:2106.09685): adapters at queries and values, rank 8 as PEFT has by default"
TINY = "a small one of the same parts, for processors and tests"
SHAPES = {
    "bert_base": Shape("encoder", 12, 12, 768, 384, 30_522, "sequences", BERT),
    "bert_large": Shape("encoder", 24, 16, 1024, 384, 30_522, "sequences", BERT),
    "gpt2_small": Shape("decoder", 12, 12, 768, 1024, 50_257, "tokens", GPT2),
    "vit_b16": Shape("vision", 12, 12, 768, 197, 1000, "images", VIT, image=224),
    "llama_1b": Shape("llama", 16, 32, 2048, 2048, 128_256, "tokens", LLAMA, kv_heads=8, inner=8192),
    "llama_1b_lora": Shape("llama", 16, 32, 2048, 2048, 128_256, "tokens", LORA, kv_heads=8, inner=8192, rank=8),
    "tiny_bert": Shape("encoder", 2, 2, 128, 64, 1000, "sequences", TINY),
    "tiny_gpt2": Shape("decoder", 2, 2, 128, 64, 1000, "tokens", TINY),
    "tiny_vit": Shape("vision", 2, 2, 128, 17, 10, "images", TINY, image=64),
    "tiny_llama": Shape("llama", 2, 4, 128, 64, 1000, "tokens", TINY, kv_heads=2, inner=256),
    "tiny_llama_lora": Shape("llama", 2, 4, 128, 64, 1000, "tokens", TINY, kv_heads=2, inner=256, rank=8),
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
    head = {"encoder": 2 * shape.hidden, "decoder": words, "llama": words, "vision": 0}[shape.kind]
    return shape.layers * layer + head


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


def parameters(shape: Shape) -> int:
    """All parameters, biases and normalisations too; of the encoder without its pooler, as for question answering."""
    hidden, wide = shape.hidden, shape.wide
    if shape.kind == "llama":  # two normalisations a layer and one at the end, a scale each; the head is the embedding
        return matrix_parameters(shape) + (2 * shape.layers + 1) * hidden + adapter_parameters(shape)
    layer = 4 * (hidden * hidden + hidden) + 2 * hidden * wide + wide + hidden + 4 * hidden
    positions = shape.sequence * hidden
    if shape.kind == "encoder":  # words, positions, two kinds of segment, a normalisation; two logits
        return (shape.vocabulary + 2) * hidden + positions + 2 * hidden + shape.layers * layer + 2 * hidden + 2
    if shape.kind == "decoder":
        return shape.vocabulary * hidden + positions + shape.layers * layer + 2 * hidden
    patches = 3 * shape.patch**2 * hidden + hidden
    head = hidden * shape.vocabulary + shape.vocabulary
    return patches + hidden + positions + shape.layers * layer + 2 * hidden + head
