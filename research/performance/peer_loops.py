"""Other people's training loops, for `peers.py`, which starts this file: one loop in one process, a line for each step.

    python research/performance/peer_loops.py torchvision --batch-size 4 --checkout DIR

What is theirs is imported from their checkout or package. Written here is what their `main` would hand to it: network,
optimizer, and one batch of random data, which every step takes again. Left out, as our step has none of it: reading
data, schedules of the learning rate, momentum, decay of weights, evaluation and checkpoints.
"""

import argparse
import functools
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


def _flax(checkout: Path) -> Any:
    """The modules `train` and `models` of Flax's examples/imagenet."""
    # Before tensorflow is replaced: Flax asks whether there is one.
    importlib.import_module("flax.training.checkpoints")
    absent("clu", "clu.metric_writers", "clu.periodic_actions", "ml_collections", "tensorflow", "tensorflow_datasets")
    absent("input_pipeline")
    sys.path.insert(0, str(checkout / "examples" / "imagenet"))
    return importlib.import_module("train"), importlib.import_module("models")


def _flax_start(batch_size: int, checkout: Path) -> tuple[Any, Any, dict[str, Any]]:
    """Their `train`, a state of ResNet-50 with plain SGD, and a batch."""
    import jax
    import numpy as np
    import optax

    train, models = _flax(checkout)
    model = train.create_model(model_cls=models.ResNet50, half_precision=False)
    first = jax.jit(functools.partial(model.init, train=False))(jax.random.key(0), np.ones((1, 224, 224, 3), "float32"))
    state = train.TrainState.create(
        apply_fn=model.apply,
        params=first["params"],
        tx=optax.sgd(RATE),
        batch_stats=first["batch_stats"],
        dynamic_scale=None,
    )
    random = np.random.default_rng(0)
    images = random.random((1, batch_size, 224, 224, 3), dtype="float32")
    return train, state, jax.device_put({"image": images, "label": random.integers(0, 1000, (1, batch_size))})


def flax(batch_size: int, checkout: Path) -> None:
    """`train_step` of google/flax's examples/imagenet, by pmap as there; its L2 penalty stays, being in that step."""
    import jax

    train, state, batch = _flax_start(batch_size, checkout)
    step = jax.pmap(
        functools.partial(train.train_step, learning_rate_fn=lambda _: RATE),
        in_axes=(None, 0),
        out_axes=(None, 0),
        axis_name="batch",
    )
    for _ in range(ENDLESS):
        state, metrics = step(state, batch)
        jax.block_until_ready(state)
        told(loss=float(metrics["loss"][0]))


def flax_plain(batch_size: int, checkout: Path) -> None:
    """Flax's network in the plainest loop: gradient of the mean cross-entropy, plain SGD, one compiled function.

    By pmap, since its normalisation takes the mean over devices by the name of their axis.
    """
    import jax
    import optax

    _, state, batch = _flax_start(batch_size, checkout)

    def objective(parameters: Any, statistics: Any, images: Any, labels: Any) -> Any:
        variables = {"params": parameters, "batch_stats": statistics}
        logits, after = state.apply_fn(variables, images, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), after["batch_stats"]

    @functools.partial(jax.pmap, axis_name="batch", donate_argnums=(0, 1))
    def step(parameters: Any, statistics: Any, images: Any, labels: Any) -> Any:
        found, gradients = jax.value_and_grad(objective, has_aux=True)(parameters, statistics, images, labels)
        return jax.tree.map(lambda value, part: value - RATE * part, parameters, gradients), *reversed(found)

    parameters, statistics = (jax.tree.map(lambda one: one[None], tree) for tree in (state.params, state.batch_stats))
    for _ in range(ENDLESS):
        parameters, statistics, loss = step(parameters, statistics, batch["image"], batch["label"])
        jax.block_until_ready(parameters)
        told(loss=float(loss[0]))


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
    parser.add_argument("loop", choices=["torchvision", "flax", "flax-plain", "huggingface"])
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--checkout", type=Path)
    asked = parser.parse_args()
    if asked.loop == "huggingface":
        huggingface(asked.model, asked.batch_size)
        return
    loop = {"torchvision": torchvision, "flax": flax, "flax-plain": flax_plain}[asked.loop]
    loop(asked.batch_size, asked.checkout)


if __name__ == "__main__":
    main()
