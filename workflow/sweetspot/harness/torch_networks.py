"""The networks in PyTorch's own parts, as its users write them."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from sweetspot.harness.image_networks import Conv, Dense, ImageNetwork, Mean, Pool, Residual, walk
from sweetspot.harness.own_networks import Workload
from sweetspot.harness.torch_llama import Llama, LlamaLayer
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
    return [part for part in module.modules() if isinstance(part, _Layer | LlamaLayer | _Residual)]


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
            parts += [nn.Linear(channels * side**2, layer.units), *_after(layer)]
    return nn.Sequential(*parts)


def _after(layer: Dense) -> list[nn.Module]:
    activation: list[nn.Module] = [nn.ReLU(inplace=True)] if layer.relu else []
    return [*activation, *([nn.Dropout(layer.dropout)] if layer.dropout else [])]


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
