"""Open models by name (facts/models.csv): their shapes, and the operations and memory of training them on tokens."""

import re
from functools import cache
from typing import Literal, NamedTuple, get_args

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.spelling import hint
from sweetspot.study.instances import GIB, Needs

Method = Literal["pretrain", "full", "lora", "qlora", "grpo"]
METHODS: tuple[str, ...] = get_args(Method)
CELL_NAME = re.compile(rf"(.+)\.({'|'.join(METHODS)})\.(\d+)")
ADAPTED = ("lora", "qlora")
# GRPO goes through each token four times (Shao et al. 2024, DeepSeekMath, algorithm 1): it is generated, its
# probability asked of the old and of the reference policy, and it is trained on. Of training a pass is a third.
GRPO_TIMES = 1 + 3 / 3
RANK = 16  # of adapters; PEFT has 8 by default, most recipes 8 to 64: their work is a percent of the model's
# 4 bits a weight and a scale of 8 bits for each 64 (Dettmers et al. 2023, QLoRA, sec. 3: 0.127 bits more a weight).
QUANTISED_BYTES = (4 + 0.127) / 8
# Bytes of a parameter with its gradient, Adam's two states and, in mixed precision, a 32-bit copy.
MIXED_BYTES, BF16_BYTES = 2 + 2 + 4 + 4 + 4, 2 + 2 + 2 + 2
# Bytes of a logit where the loss is made at once: in 16 bits, their copy in 32, and the gradients of both.
LOGITS = 2 + 4 + 4 + 2
A_LAYER = 34.0  # bytes of each value of a layer that is held whole (Korthikanti et al. 2022, without scores)
PROGRAM_GIB = 0.8  # CUDA and its libraries
# How else people name a model: by who publishes it, and what it was tuned for, which moves no shape.
TUNED = re.compile(r"-(instruct|chat|base|hf|it|bnb-4bit|unsloth|pt)(?=-|$)")


class OpenModel(NamedTuple):
    """A decoder. Parameters without biases and normalisations; active: those that a token is multiplied with, all
    layers and the words; tied: the head is the embedding.
    """

    name: str
    parameters: int
    active_parameters: int
    tied: bool
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary: int
    sequence: int
    source: str

    @property
    def mixture(self) -> bool:
        """True for a mixture of experts, of which each token uses only some."""
        return self.active_parameters < self.parameters

    @property
    def multiplied(self) -> int:
        """Number of weights that each token is multiplied with; an embedding that is only looked up is none."""
        return self.active_parameters - (0 if self.tied else self.vocabulary * self.width)

    def adapters(self, rank: int) -> int:
        """Return the number of weights of adapters (LoRA) of that rank at all of attention (Hu et al. 2021)."""
        queries, keys = self.heads * self.head_width, self.kv_heads * self.head_width
        return self.layers * rank * 2 * (2 * self.width + queries + keys)


@cache
def open_models() -> dict[str, OpenModel]:
    """Return the language models whose training can be estimated, by name (facts/models.csv): sizes of their layers."""
    numbers = OpenModel._fields[1:3] + OpenModel._fields[4:-1]
    return {
        row["model"]: OpenModel(
            row["model"], tied=row["tied"] == "yes", source=row["source"], **{name: int(row[name]) for name in numbers}
        )
        for row in table("models")
    }


def open_model(name: str) -> OpenModel:
    """Return the sizes of the language model that a user names, in any case, with or without publisher or `-instruct`,
    e.g. 'meta-llama/Llama-3.1-8B'; UserError that suggests names if it is unknown.
    """
    models, key = open_models(), name.strip().lower().split("/")[-1]
    untuned = {TUNED.sub("", model): row for model, row in models.items()} | models
    model = untuned.get(key) or untuned.get(TUNED.sub("", key))
    if model is None:
        family = [row for row in models if row.split("-")[0] == key.split("-")[0]]
        expected = ", ".join(family) or f"{len(models)}, such as llama-3.1-8b"
        raise UserError(f"model {name!r} is not known; expected one of {expected}{hint(key, models)}")
    return model


def flop_per_token(model: OpenModel, method: Method, sequence: int, rank: int = RANK) -> float:
    """Return the floating-point operations of a training step for each token, from which hours follow by a device's
    speed: 6 P + 12 L a s (PaLM, appendix B). P are the weights that a token is multiplied with, L the layers, a the
    width of all heads, s the tokens of a sequence; attention counts whole rows, causal or not. With adapters the other
    weights are frozen: forward and the gradient of activations, 4 P. GRPO takes GRPO_TIMES as many for each token of
    prompts and answers.

    Parameters
    ----------
    model, method, sequence, rank
        The model, and how it is trained; tokens of a sequence; rank of the adapters.
    """
    attention = 12.0 * model.layers * model.heads * model.head_width * sequence
    if method in ADAPTED:
        return 4.0 * model.multiplied + 6.0 * model.adapters(rank) + attention
    return (6.0 * model.multiplied + attention) * (GRPO_TIMES if method == "grpo" else 1)


def memory_need(
    model: OpenModel,
    method: Method,
    sequence: int,
    batch_size: int = 1,
    rank: int = RANK,
    kept: bool = False,
    chunked: bool = False,
) -> Needs:
    """Return the memory that training a language model takes, to see which machines can hold it: GiB that each device
    needs, and GiB that the devices divide (ZeRO 3), with Adam. Bytes of a parameter: Rajbhandari et al. 2020 (ZeRO),
    sec. 3.1. Activations: Korthikanti et al. 2022, sec. 4 and 5. What is not quantised beside 4-bit weights is held in
    32 bits, as PEFT prepares it.

    Parameters
    ----------
    model, method, sequence, rank
        The model, how it is trained, tokens of a sequence, rank of adapters. GRPO holds the reference policy in 16
        bits too and, if `kept`, what generates.
    batch_size, chunked
        Sequences that a device works on at once; whether the loss is made in parts, which keep the 16 bits of the
        logits (else LOGITS bytes).
    kept
        Whether activations are kept, but for the scores of attention: A_LAYER bytes of each value of all layers. Else
        each layer keeps its input (2 bytes) and layers are computed again, one of them whole at a time.
    """
    words = model.vocabulary * model.width * (1 if model.tied else 2)  # are not quantised
    if method in ADAPTED:
        is_quantised = method == "qlora"
        frozen = QUANTISED_BYTES * (model.parameters - words) + 4.0 * words if is_quantised else 2.0 * model.parameters
        state_bytes = frozen + MIXED_BYTES * model.adapters(rank)
    else:
        copies = (2 if kept else 1) if method == "grpo" else 0
        state_bytes = float(model.parameters) * ((BF16_BYTES if method == "full" else MIXED_BYTES) + 2 * copies)
    layer_bytes = A_LAYER * model.layers if kept else 2.0 * model.layers + A_LAYER
    token_bytes = layer_bytes * model.width + (2 if chunked else LOGITS) * model.vocabulary
    activations_gib = token_bytes * sequence * batch_size / GIB
    return Needs.model_construct(gpu_memory_gib=activations_gib + PROGRAM_GIB, sharded_memory_gib=state_bytes / GIB)


SEQUENCE = 2048


def cell_name(model: str, method: str, sequence: int) -> str:
    """Return the name of a training on tokens in the column `model` of tables, e.g. `llama-3.1-8b.lora.2048`.

    Parameters
    ----------
    model, method, sequence
        Model, method, and tokens of a sequence.
    """
    return f"{model}.{method}.{sequence}"


def cell_work(name: str) -> tuple[OpenModel, Method, int] | None:
    """Take apart a name made by `cell_name`: (model, method, tokens of a sequence), to compute its work; else None."""
    match = CELL_NAME.fullmatch(name)
    try:
        return (open_model(match[1]), match[2], int(match[3])) if match else None  # type: ignore[return-value]
    except UserError:
        return None
