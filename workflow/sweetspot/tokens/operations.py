"""Operations and memory of training a model on tokens, by method."""

from typing import Literal, get_args

from sweetspot.study.memory import Memory, Transformer
from sweetspot.tokens.model_shapes import OpenModel

Method = Literal["pretrain", "full", "lora", "qlora"]
METHODS: tuple[str, ...] = get_args(Method)
ADAPTED = ("lora", "qlora")
RANK = 16  # of adapters; PEFT has 8 by default, most recipes 8 to 64: their work is a percent of the model's
# 4 bits a weight and a scale of 8 bits for each 64 (Dettmers et al. 2023, QLoRA, sec. 3: 0.127 bits more a weight).
QUANTISED_BYTES = (4 + 0.127) / 8


def flop_per_token(model: OpenModel, method: Method, sequence: int, rank: int = RANK) -> float:
    """Operations of a training step for each token: 6 P + 12 L a s, with P the weights that a token is multiplied with.

    Source: PaLM, appendix B (Chowdhery et al. 2022); a is the width of all heads, attention counts whole rows, causal
    or not. Of adapters the other weights are frozen: forward and the gradient of activations, 4 P.
    """
    attention = 12.0 * model.layers * model.heads * model.head_width * sequence
    if method in ADAPTED:
        return 4.0 * model.multiplied + 6.0 * model.adapters(rank) + attention
    return 6.0 * model.multiplied + attention


def memory_need(model: OpenModel, method: Method, sequence: int, batch_size: int = 1, rank: int = RANK) -> Memory:
    """What each device keeps: the rule of study/memory.py, 16 bits, Adam, parameters divided by the devices.

    Layers are computed again, as recipes for large models have it; scores of attention are not kept.
    """
    trained = float(model.adapters(rank)) if method in ADAPTED else None
    words = model.vocabulary * model.width * (1 if model.tied else 2)  # are not quantised
    quantised = (QUANTISED_BYTES * (model.parameters - words) + 2.0 * words) / model.parameters
    return Memory(
        parameters=float(model.parameters) + (trained or 0.0),
        trained_parameters=trained,
        frozen_bytes=quantised if method == "qlora" else None,
        precision="mixed" if method in ("pretrain", *ADAPTED) else "bf16",
        optimizer="adam",
        sharding="parameters",
        activations_gib=None,
        transformer=Transformer(
            layers=model.layers,
            width=model.width,
            heads=model.heads,
            sequence=sequence,
            batch_size=batch_size,
            recompute="full",
            vocabulary=model.vocabulary,
        ),
        source="study/memory.py",
    )
