"""The networks in PyTorch's own parts, as its users write them; a Llama whole or with adapters on a frozen base."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from sweetspot.harness.own_networks import (
    RMS_EPSILON,
    Conv,
    ImageNetwork,
    Mean,
    Pool,
    Residual,
    Workload,
    rotation,
    walk,
)
from sweetspot.study.transformers import Shape


def build(workload: Workload, frozen: torch.dtype = torch.float32) -> nn.Module:
    """The module of a workload; `blocks(module)` are the parts by which its parameters are sharded.

    `frozen`: in what weights are kept that are not trained, beside adapters.
    """
    network = workload.network
    if isinstance(network, Shape) and network.kind == "llama":
        return Llama(network, frozen)
    return _Transformer(network) if isinstance(network, Shape) else _image(network)


def blocks(module: nn.Module) -> list[nn.Module]:
    """The layers of a transformer and the residual blocks of a network of images, each a unit of sharding."""
    return [part for part in module.modules() if isinstance(part, _Layer | _LlamaLayer | _Residual)]


def loss(workload: Workload, outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy in fp32: of the class, of each next token, or of where an answer starts and ends."""
    network = workload.network
    if isinstance(network, Shape) and network.kind == "encoder":
        outputs = outputs.transpose(1, 2)  # (batch, 2, positions)
    return functional.cross_entropy(outputs.float().flatten(0, -2), labels.flatten())


def _image(network: ImageNetwork) -> nn.Sequential:
    parts: list[nn.Module] = []
    for layer, channels, side in walk(network):
        if isinstance(layer, Conv):
            parts.append(_conv(channels, layer))
        elif isinstance(layer, Pool):
            parts.append(nn.MaxPool2d(layer.kernel, layer.stride, layer.padding))
        elif isinstance(layer, Residual):
            parts.append(_Residual(channels, layer))
        elif isinstance(layer, Mean):
            parts.append(nn.AdaptiveAvgPool2d(1))
        else:
            flat = any(isinstance(part, nn.Flatten) for part in parts)
            parts += [] if flat else [nn.Flatten()]
            parts.append(nn.Linear(channels * side**2, layer.units))
            parts += [nn.ReLU(inplace=True)] if layer.relu else []
            parts += [nn.Dropout(layer.dropout)] if layer.dropout else []
    return nn.Sequential(*parts)


def _conv(channels: int, layer: Conv) -> nn.Sequential:
    conv = nn.Conv2d(channels, layer.filters, layer.kernel, layer.stride, layer.padding, bias=not layer.norm)
    norm: list[nn.Module] = [nn.BatchNorm2d(layer.filters)] if layer.norm else []
    return nn.Sequential(conv, *norm, *([nn.ReLU(inplace=True)] if layer.relu else []))


class _Residual(nn.Module):
    def __init__(self, channels: int, layer: Residual) -> None:
        super().__init__()
        self.body = nn.Sequential(*(_conv(inner, part) for part, inner, _ in layer.parts(channels, 1)))
        self.shortcut = nn.Identity() if layer.shortcut is None else _conv(channels, layer.shortcut)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        values = self.body(inputs)
        values += self.shortcut(inputs)  # in place, as torchvision's blocks
        return functional.relu(values, inplace=True)


class _Layer(nn.Module):
    """Attention and perceptron; normalised after each (BERT) or before each (GPT-2, ViT)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.causal, self.after = shape.heads, shape.kind == "decoder", shape.kind == "encoder"
        # Three products as Hugging Face's BERT has them (on a processor 5 % quicker), one as GPT-2 and ViT have it.
        sizes = [shape.hidden] * 3 if self.after else [3 * shape.hidden]
        self.attention = nn.ModuleList([nn.Linear(shape.hidden, size) for size in sizes])
        self.project = nn.Linear(shape.hidden, shape.hidden)
        self.widen, self.narrow = nn.Linear(shape.hidden, shape.wide), nn.Linear(shape.wide, shape.hidden)
        self.norms = nn.ModuleList([nn.LayerNorm(shape.hidden), nn.LayerNorm(shape.hidden)])

    def attend(self, inputs: torch.Tensor) -> torch.Tensor:
        batch, tokens, hidden = inputs.shape
        made = [part(inputs) for part in self.attention]
        parts = made if len(made) == 3 else made[0].split(hidden, 2)
        query, key, value = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.project(mixed.transpose(1, 2).reshape(batch, tokens, hidden))

    def perceive(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.narrow(functional.gelu(self.widen(inputs)))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        first, second = self.norms
        if self.after:
            inputs = first(inputs + self.attend(inputs))
            return second(inputs + self.perceive(inputs))
        inputs = inputs + self.attend(first(inputs))
        return inputs + self.perceive(second(inputs))


class _Transformer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        if shape.kind == "vision":
            self.patches = nn.Conv2d(3, shape.hidden, shape.patch, shape.patch)
            self.class_token = nn.Parameter(torch.zeros(1, 1, shape.hidden))
            self.head = nn.Linear(shape.hidden, shape.vocabulary)
        else:
            self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        if shape.kind == "encoder":
            self.segments = nn.Embedding(2, shape.hidden)
            self.head = nn.Linear(shape.hidden, 2)
        self.positions = nn.Parameter(torch.randn(shape.sequence, shape.hidden) * 0.02)
        self.layers = nn.ModuleList([_Layer(shape) for _ in range(shape.layers)])
        self.norm = nn.LayerNorm(shape.hidden)
        self.apply(_start)

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.shape.kind == "vision":
            patches = self.patches(inputs).flatten(2).transpose(1, 2)
            return torch.cat([self.class_token.expand(len(inputs), -1, -1), patches], 1) + self.positions
        values = self.words(inputs) + self.positions
        if self.shape.kind == "encoder":
            values = self.norm(values + self.segments(torch.zeros_like(inputs)))
        return values

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        values = self.embed(inputs)
        for layer in self.layers:
            values = layer(values)
        if self.shape.kind == "encoder":
            return self.head(values)
        values = self.norm(values)
        if self.shape.kind == "decoder":
            return functional.linear(values, self.words.weight)
        return self.head(values[:, 0])


def _start(part: Any) -> None:
    """Weights of a normal distribution of 0.02, as BERT and GPT-2 start."""
    if isinstance(part, nn.Linear | nn.Embedding):
        nn.init.normal_(part.weight, std=0.02)
    if isinstance(part, nn.Linear):
        nn.init.zeros_(part.bias)


class _Adapted(nn.Module):
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


class _LlamaLayer(nn.Module):
    """Attention with rotary positions and shared keys and values, then a gated perceptron; normalised before each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        hidden, self.heads, self.kv_heads = shape.hidden, shape.heads, shape.kv_heads

        def adapted(width: int) -> nn.Module:
            base = nn.Linear(hidden, width, bias=False)
            return _Adapted(base, shape.rank) if shape.rank else base

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
        query = _rotated(self._split(self.query(inputs), self.heads), cosine, sine)
        key = _rotated(self._split(self.key(inputs), self.kv_heads), cosine, sine)
        value = self._split(self.value(inputs), self.kv_heads)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return self.project(mixed.transpose(1, 2).flatten(2))

    def forward(self, inputs: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """(batch, tokens, hidden) to as many."""
        first, second = self.norms
        inputs = inputs + self.attend(first(inputs), cosine, sine)
        normal = second(inputs)
        return inputs + self.narrow(functional.silu(self.gate(normal)) * self.widen(normal))


def _rotated(values: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Each half of a head turned against the other by the angles of the position (RoPE, Su et al. 2021)."""
    first, second = values.chunk(2, -1)
    cosine, sine = cosine.to(values.dtype), sine.to(values.dtype)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Llama(nn.Module):
    """Logits (batch, tokens, vocabulary) of each next token, by the embedding itself."""

    def __init__(self, shape: Shape, frozen: torch.dtype) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList([_LlamaLayer(shape) for _ in range(shape.layers)])
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
