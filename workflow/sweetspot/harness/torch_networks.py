"""Networks of torchvision and of Hugging Face's transformers by the names of a matrix. Each is a module that takes one
batch by keyword and returns its loss, as networks of transformers do. New weights, no dropout.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from sweetspot.frameworks import TINY_NETWORK
from sweetspot.transformers import SHAPES, Shape, unit_of

IMAGE_SIZE = 224
INCEPTION_SIZE = 299
ROTARY_BASE = 500_000.0  # of a Llama's positions: config.json of Llama 3.2 1B
TRANSFORMER_CLASSES = {  # of the network and of its configuration, by kind
    "encoder": ("BertForQuestionAnswering", "BertConfig"),
    "decoder": ("GPT2LMHeadModel", "GPT2Config"),
    "llama": ("LlamaForCausalLM", "LlamaConfig"),
}


@dataclass(frozen=True)
class TorchNetwork:
    """A PyTorch network, and the shape of the data on which it trains."""

    module: nn.Module  # takes a batch by keyword, returns a mapping with `loss`
    image_size: int = IMAGE_SIZE  # of an edge, in pixels; not used by a transformer
    classes: int = 1000
    shape: Shape | None = None  # of a transformer

    @property
    def is_transformer(self) -> bool:
        """True for a transformer, which people train by AdamW; networks of images train by plain SGD."""
        return self.shape is not None

    def batch(self, batch_size: int, seed: int) -> dict[str, torch.Tensor]:
        """Return random data to train on, {keyword of the module: tensor}, of `batch_size` samples (axis 0)."""
        generator = torch.Generator().manual_seed(seed)
        if self.shape is None:
            images = torch.rand(batch_size, 3, self.image_size, self.image_size, generator=generator)
            labels = torch.randint(self.classes, (batch_size,), generator=generator)
            return {"pixel_values": images, "labels": labels}
        tokens = torch.randint(self.shape.vocabulary, (batch_size, self.shape.sequence), generator=generator)
        if self.shape.kind == "encoder":
            start, end = torch.randint(self.shape.sequence, (2, batch_size), generator=generator)
            return {"input_ids": tokens, "start_positions": start, "end_positions": end}
        return {"input_ids": tokens, "labels": tokens}


class ImageClassifier(nn.Module):
    """Wraps a network of images so that it returns its loss, as transformers do."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixel_values: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return {'loss': mean cross-entropy, fp32} of images (batch, channels, height, width) and labels (batch)."""
        logits = self.network(pixel_values).float()
        return {"loss": functional.cross_entropy(logits, labels)}


def build_network(name: str) -> TorchNetwork:
    """Return the PyTorch network of a name, such as `resnet50` (torchvision) or `llama_1b` (transformers), with new
    weights and without dropout, to be timed in training.
    """
    if name in SHAPES:
        return TorchNetwork(_transformer(SHAPES[name]), shape=SHAPES[name])
    if name == TINY_NETWORK:
        layers = [nn.Conv2d(3, 8, 3, 2, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
        tiny = nn.Sequential(*layers, nn.Flatten(), nn.Linear(8, 10))
        return TorchNetwork(ImageClassifier(tiny), image_size=32, classes=10)
    from torchvision.models import get_model

    options: dict[str, Any] = {}
    if name in ("inception3", "googlenet"):  # without the second head, which the papers train beside the first
        options = {"aux_logits": False, "init_weights": True}
    is_inception = name == "inception3"
    module = get_model("inception_v3" if is_inception else name, weights=None, **options)
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    return TorchNetwork(ImageClassifier(module), INCEPTION_SIZE if is_inception else IMAGE_SIZE)


def _transformer(shape: Shape) -> Any:
    """Build the Hugging Face transformer of a `shape`'s kind and sizes, with new weights and without dropout."""
    import transformers

    network_class, config_class = TRANSFORMER_CLASSES[shape.kind]
    fields: dict[str, Any] = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.inner_width,
        "max_position_embeddings": shape.sequence,
    }
    if shape.kind == "encoder":
        fields |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if shape.kind == "llama":
        fields |= {
            "num_key_value_heads": shape.kv_heads,
            "rope_parameters": {"rope_type": "default", "rope_theta": ROTARY_BASE},
            "rms_norm_eps": 1e-5,
            "tie_word_embeddings": True,
            "use_cache": False,
        }
    if shape.kind == "decoder":
        fields = {
            "vocab_size": shape.vocabulary,
            "n_embd": shape.hidden,
            "n_layer": shape.layers,
            "n_head": shape.heads,
            "n_positions": shape.sequence,
            "activation_function": "gelu_pytorch_tanh",  # GPT-2's own GELU in one kernel instead of eight
            "resid_pdrop": 0.0,
            "embd_pdrop": 0.0,
            "attn_pdrop": 0.0,
            "use_cache": False,
        }
    config = getattr(transformers, config_class)(**fields)
    return getattr(transformers, network_class)(config)


def network_facts(name: str) -> dict[str, Any]:
    """Return facts of a network for the run file: `unit`, `units_per_sample`, `parameters`; allocates nothing."""
    with torch.device("meta"):
        network = build_network(name)
    return {
        "unit": unit_of(name),
        "units_per_sample": network.shape.units_per_sample if network.shape else 1,
        "parameters": sum(weight.numel() for weight in network.module.parameters()),
    }
