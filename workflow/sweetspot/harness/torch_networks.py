"""Networks of torchvision and of Hugging Face's transformers by the names of a matrix.

Each is a module that takes one batch by keyword and returns its loss, as the networks of transformers do by themselves.
They start from new weights and train without dropout.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from sweetspot.frameworks import TINY_NETWORK
from sweetspot.transformers import SHAPES, Shape, unit_of

INCEPTION_SIZE = 299
ROTARY_BASE = 500_000.0  # of a Llama's positions: config.json of Llama 3.2 1B
TRANSFORMER_CLASSES = {  # of the network and of its configuration, by kind
    "encoder": ("BertForQuestionAnswering", "BertConfig"),
    "decoder": ("GPT2LMHeadModel", "GPT2Config"),
    "vision": ("ViTForImageClassification", "ViTConfig"),
    "llama": ("LlamaForCausalLM", "LlamaConfig"),
}


@dataclass(frozen=True)
class TorchNetwork:
    """A network and what its data are."""

    module: nn.Module  # takes a batch by keyword, returns a mapping with `loss`
    input_shape: tuple[int, ...]  # of one sample: channels, height and width, or tokens
    classes: int  # labels are whole numbers below it
    shape: Shape | None = None  # of a transformer

    @property
    def is_transformer(self) -> bool:
        """Whether its users train it by AdamW; else by plain SGD."""
        return self.shape is not None

    def batch(self, batch_size: int, seed: int) -> dict[str, torch.Tensor]:
        """Draw synthetic inputs and labels of `batch_size` samples, by the keywords that the module takes."""
        generator = torch.Generator().manual_seed(seed)
        kind = "vision" if self.shape is None else self.shape.kind
        if kind == "vision":
            images = torch.rand(batch_size, *self.input_shape, generator=generator)
            labels = torch.randint(self.classes, (batch_size,), generator=generator)
            return {"pixel_values": images, "labels": labels}

        assert self.shape is not None
        tokens = torch.randint(self.shape.vocabulary, (batch_size, *self.input_shape), generator=generator)
        if kind == "encoder":
            first_tokens, last_tokens = torch.randint(self.classes, (2, batch_size), generator=generator)
            return {"input_ids": tokens, "start_positions": first_tokens, "end_positions": last_tokens}
        return {"input_ids": tokens, "labels": tokens}


class ImageClassifier(nn.Module):
    """A network of images with its loss, called as those of transformers are."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixel_values: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the mean cross-entropy in fp32 of `pixel_values` (batch, channels, height, width)."""
        logits = self.network(pixel_values).float()
        return {"loss": functional.cross_entropy(logits, labels)}


def build_network(name: str, frozen_dtype: torch.dtype = torch.float32) -> TorchNetwork:
    """Build the network of a name, such as `resnet50` or `llama_1b_lora`.

    Parameters
    ----------
    name
        One of torchvision's or of `transformers`.
    frozen_dtype
        The precision of weights that are not trained, beside adapters.
    """
    if name == TINY_NETWORK:
        layers = [nn.Conv2d(3, 8, 3, 2, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
        tiny = nn.Sequential(*layers, nn.Flatten(), nn.Linear(8, 10))
        return TorchNetwork(ImageClassifier(tiny), (3, 32, 32), 10)
    return _transformer(SHAPES[name], frozen_dtype) if name in SHAPES else _torchvision_network(name)


def _torchvision_network(name: str) -> TorchNetwork:
    from torchvision.models import get_model

    size = 224
    options: dict[str, Any] = {}
    if name in ("inception3", "googlenet"):  # without the second head, which the papers train beside the first
        options = {"aux_logits": False, "init_weights": True}
    if name == "inception3":
        name, size = "inception_v3", INCEPTION_SIZE
    module = get_model(name, weights=None, **options)
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return TorchNetwork(ImageClassifier(module), (3, size, size), 1000)


def _transformer(shape: Shape, frozen_dtype: torch.dtype) -> TorchNetwork:
    import transformers

    classes = shape.vocabulary
    input_shape: tuple[int, ...] = (shape.sequence,)
    if shape.kind == "encoder":
        classes = shape.sequence
    if shape.kind == "vision":
        input_shape = (3, shape.image, shape.image)
    network_class, config_class = TRANSFORMER_CLASSES[shape.kind]
    config = getattr(transformers, config_class)(**_config_fields(shape))
    module = getattr(transformers, network_class)(config)
    if shape.rank:
        module = _with_adapters(module.to(frozen_dtype), shape.rank)
    return TorchNetwork(module, input_shape, classes, shape)


def _config_fields(shape: Shape) -> dict[str, Any]:
    """Return the fields of the library's configuration, without dropout."""
    if shape.kind == "decoder":
        return {
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
    fields: dict[str, Any] = {
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.inner_width,
    }
    if shape.kind == "llama":
        return fields | {
            "vocab_size": shape.vocabulary,
            "num_key_value_heads": shape.kv_heads,
            "max_position_embeddings": shape.sequence,
            "rope_parameters": {"rope_type": "default", "rope_theta": ROTARY_BASE},
            "rms_norm_eps": 1e-5,
            "tie_word_embeddings": True,
            "use_cache": False,
        }
    fields |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if shape.kind == "encoder":
        return fields | {"vocab_size": shape.vocabulary, "max_position_embeddings": shape.sequence}
    return fields | {"image_size": shape.image, "patch_size": shape.patch, "num_labels": shape.vocabulary}


def _with_adapters(module: nn.Module, rank: int) -> nn.Module:
    """Freeze a network and add adapters (LoRA) of that rank to its queries and values; they are kept in fp32."""
    import peft

    return peft.get_peft_model(module, peft.LoraConfig(r=rank, target_modules=["q_proj", "v_proj"], lora_dropout=0.0))


def network_facts(name: str) -> dict[str, Any]:
    """Describe a network without computing anything.

    Returns
    -------
    dict
        Facts of a run: `unit`, what is counted; `units_per_sample`; `parameters`.
    """
    with torch.device("meta"):
        network = build_network(name)
    return {
        "unit": unit_of(name),
        "units_per_sample": network.shape.units_per_sample if network.shape else 1,
        "parameters": sum(weight.numel() for weight in network.module.parameters()),
    }
