"""Other people's training loops, for `peers.py`, which starts this file: one loop in one process, a line for each step.

    python research/performance/peer_loops.py torchvision --batch-size 4 --checkout DIR

What is theirs is imported from their checkout or package. Written here is what their `main` would hand to it: network,
optimizer, and one batch of random data, which every step takes again. Left out, as our step has none of it: reading
data, schedules of the learning rate, momentum, decay of weights, evaluation and checkpoints.
"""

import argparse
import importlib
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

RATE = 0.01
ENDLESS = 10**6  # steps; `peers.py` ends the process


def told(**fact: float) -> None:
    """One step is done."""
    print(json.dumps({"timed": True, **fact}), flush=True)


def absent(*names: str) -> None:
    """Modules that a file imports, and that what is called here does not use."""
    for name in names:
        sys.modules[name] = MagicMock()


class Batches:
    """A data loader that hands out one batch again and again; the next is asked for when a step is done."""

    def __init__(self, *batch: Any) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return ENDLESS

    def __iter__(self) -> Iterator[Any]:
        yield self.batch
        for number in range(1, ENDLESS):
            told(step=number)
            yield self.batch


def bare_torchvision(folder: Path) -> None:
    """The package without its start, which needs the part that was compiled for one build of PyTorch."""
    for name in ("torchvision", "torchvision.models"):
        bare = types.ModuleType(name)
        bare.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = bare
    absent("torchvision.transforms", "torchvision.transforms.functional", "torchvision.transforms._presets")


def torchvision(batch_size: int, checkout: Path) -> None:
    """`train_one_epoch` of pytorch/vision's references/classification on its ResNet-50, channels last as ours."""
    import torch

    bare_torchvision(checkout)
    absent("presets", "transforms", "sampler")
    sys.path.insert(0, str(checkout / "references" / "classification"))
    network = importlib.import_module("torchvision.models.resnet").resnet50().to(memory_format=torch.channels_last)
    images = torch.rand(batch_size, 3, 224, 224).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), RATE)
    asked = argparse.Namespace(print_freq=10, amp=False, clip_grad_norm=None, model_ema_steps=32, lr_warmup_epochs=0)
    importlib.import_module("train").train_one_epoch(
        network,
        torch.nn.CrossEntropyLoss(),
        optimizer,
        Batches(images, torch.randint(1000, (batch_size,))),
        torch.device("cpu"),
        0,
        asked,
    )


def _hf_network(model: str) -> tuple[Any, Callable[[int], dict[str, Any]]]:
    """Hugging Face's network with new weights, and a batch as it takes it, by the number of samples.

    GPT-2 with the exact GELU, as ours: the one of its first release is four operations more on a processor.
    """
    import torch
    import transformers as hf

    if model == "resnet50":
        network = hf.ResNetForImageClassification(hf.ResNetConfig(num_labels=1000))
        return network.to(memory_format=torch.channels_last), lambda n: {
            "pixel_values": torch.rand(n, 3, 224, 224).to(memory_format=torch.channels_last),
            "labels": torch.randint(1000, (n,)),
        }
    if model == "bert_base":
        plain = hf.BertConfig(max_position_embeddings=384, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        return hf.BertForQuestionAnswering(plain), lambda n: {
            "input_ids": torch.randint(30_522, (n, 384)),
            "start_positions": torch.randint(384, (n,)),
            "end_positions": torch.randint(384, (n,)),
        }
    small = {"n_layer": 2, "n_head": 2, "n_embd": 128, "n_positions": 64, "vocab_size": 1000}
    sizes = {} if model == "gpt2_small" else small
    drops = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    ends = {"bos_token_id": None, "eos_token_id": None}
    config = hf.GPT2Config(**sizes, **drops, **ends, use_cache=False, activation_function="gelu")

    def tokens(n: int) -> dict[str, Any]:
        drawn = torch.randint(config.vocab_size, (n, config.n_positions))
        return {"input_ids": drawn, "labels": drawn}

    return hf.GPT2LMHeadModel(config), tokens


def huggingface(model: str, batch_size: int) -> None:
    """Hugging Face's network in the loop of its documentation, without its Trainer."""
    import torch

    network, batch_of = _hf_network(model)
    network.train()
    batch = batch_of(batch_size)
    if model == "resnet50":
        optimizer: torch.optim.Optimizer = torch.optim.SGD(network.parameters(), RATE)  # fused is slower on a processor
    else:
        optimizer = torch.optim.AdamW(network.parameters(), 1e-4, fused=True)
    for _ in range(ENDLESS):
        loss = network(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        told(loss=loss.item())


def main() -> None:
    """Train until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loop", choices=["torchvision", "huggingface"])
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--checkout", type=Path)
    asked = parser.parse_args()
    if asked.loop == "huggingface":
        huggingface(asked.model, asked.batch_size)
        return
    loop = {"torchvision": torchvision}[asked.loop]
    loop(asked.batch_size, asked.checkout)


if __name__ == "__main__":
    main()
