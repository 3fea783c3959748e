"""A Llama in PyTorch's own parts, whole or with adapters (LoRA) on a frozen base."""

import torch
from torch import nn
from torch.nn import functional

from sweetspot.harness.own_networks import RMS_EPSILON, rotation
from sweetspot.study.transformers import Shape


class Adapted(nn.Module):
    """A frozen product and a narrow pair beside it, which is trained; the pair starts at nothing (Hu et al. 2021)."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The product of the base and that of the pair, added in the precision of the base."""
        base: torch.Tensor = self.base(inputs)
        return base + self.up(self.down(inputs.to(self.down.weight.dtype))).to(base.dtype)


class LlamaLayer(nn.Module):
    """Attention with rotary positions and shared keys and values, then a gated perceptron; normalised before each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        hidden, self.heads, self.kv_heads = shape.hidden, shape.heads, shape.kv_heads

        def adapted(width: int) -> nn.Module:
            base = nn.Linear(hidden, width, bias=False)
            return Adapted(base, shape.rank) if shape.rank else base

        self.query, self.value = adapted(hidden), adapted(shape.kv)
        self.key = nn.Linear(hidden, shape.kv, bias=False)
        self.project = nn.Linear(hidden, hidden, bias=False)
        self.gate, self.widen = (nn.Linear(hidden, shape.wide, bias=False) for _ in range(2))
        self.narrow = nn.Linear(shape.wide, hidden, bias=False)
        self.norms = nn.ModuleList([nn.RMSNorm(hidden, RMS_EPSILON), nn.RMSNorm(hidden, RMS_EPSILON)])

    def _split(self, values: torch.Tensor, heads: int) -> torch.Tensor:
        return values.unflatten(-1, (heads, -1)).transpose(1, 2)

    def attend(self, inputs: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """(batch, tokens, hidden) to as many: each token with those before it."""
        query = rotated(self._split(self.query(inputs), self.heads), cosine, sine)
        key = rotated(self._split(self.key(inputs), self.kv_heads), cosine, sine)
        value = self._split(self.value(inputs), self.kv_heads)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return self.project(mixed.transpose(1, 2).flatten(2))

    def forward(self, inputs: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """(batch, tokens, hidden) to as many."""
        first, second = self.norms
        inputs = inputs + self.attend(first(inputs), cosine, sine)
        normal = second(inputs)
        return inputs + self.narrow(functional.silu(self.gate(normal)) * self.widen(normal))


def rotated(values: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Each half of a head turned against the other by the angles of the position (RoPE, Su et al. 2021)."""
    first, second = values.chunk(2, -1)
    cosine, sine = cosine.to(values.dtype), sine.to(values.dtype)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Llama(nn.Module):
    """Logits (batch, tokens, vocabulary) of each next token, by the embedding itself."""

    def __init__(self, shape: Shape, frozen: torch.dtype) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList([LlamaLayer(shape) for _ in range(shape.layers)])
        self.norm = nn.RMSNorm(shape.hidden, RMS_EPSILON)
        angles = torch.tensor(rotation(shape))
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02) if ".up." not in name else nn.init.zeros_(weight)
            if shape.rank and not name.endswith((".down.weight", ".up.weight")):
                weight.requires_grad_(False)
                weight.data = weight.data.to(frozen)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Logits of tokens (batch, tokens)."""
        values = self.words(inputs)
        for layer in self.layers:
            values = layer(values, self.cosine, self.sine)
        return functional.linear(self.norm(values), self.words.weight)
