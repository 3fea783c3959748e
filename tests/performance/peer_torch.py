"""Our PyTorch against other people's networks in a plain loop, turn by turn (the method is `peer.py`'s).

    python tests/performance/peer_torch.py --models resnet50 bert_base --batch-size 8 --steps 31
    python tests/performance/peer_torch.py --models torchvision --torchvision DIR --batch-size 8 --steps 31

Needs torch and transformers. The peer trains Hugging Face's own ResNet-50 (the stride of a block at its 3 x 3), BERT
with two logits a token, or GPT-2, with new weights, in ten lines: channels last, fused optimizer, one batch that lies
on the device, as ours. `torchvision` is torchvision's ResNet-50 in the loop of its references/classification (which
takes the accuracy of each batch), without momentum and weight decay, which our step has not, channels last. DIR holds
torchvision's wheel, unpacked, or its checkout: the compiled part is not needed. The peer is called by itself with
`--plain`.
"""

import argparse
import importlib
import json
import statistics
import sys
import time
import types
from pathlib import Path

from peer import KEEP_MEMORY, ROOT, WARMUP, Contender, blocks, compete, ours, row, shares

MODELS = ("resnet50", "bert_base", "gpt2_small", "torchvision")


def torchvision_resnet50(folder):
    """The network of torchvision's own file, without the package's start, which needs its compiled operations."""
    for name in ("torchvision", "torchvision.models"):
        bare = types.ModuleType(name)
        bare.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = bare
    return importlib.import_module("torchvision.models.resnet").resnet50()


def reference(folder, batch_size, steps):
    """torchvision's train_one_epoch: criterion, optimizer, the loss and the accuracy of the batch as numbers."""
    import torch

    trained = torchvision_resnet50(folder).to(memory_format=torch.channels_last)
    trained.train()
    images = torch.rand(batch_size, 3, 224, 224).to(memory_format=torch.channels_last)
    target = torch.randint(1000, (batch_size,))
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.SGD(trained.parameters(), 0.01)
    for step in range(WARMUP + steps):
        start = time.perf_counter()
        output = trained(images)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.inference_mode():
            _, guessed = output.topk(5, 1)
            right = guessed.eq(target[:, None]).float()
            told = {"top1": right[:, :1].sum().item(), "top5": right.sum().item(), "loss": loss.item()}
        print(json.dumps({"seconds": time.perf_counter() - start, "timed": step >= WARMUP, **told}), flush=True)


def network(model):
    """Hugging Face's network of that name, and a batch as it takes it, by the number of samples."""
    import torch
    import transformers as hf

    def random(limit, *shape):
        return torch.randint(limit, shape)

    if model == "resnet50":
        images = hf.ResNetForImageClassification(hf.ResNetConfig(num_labels=1000)).to(memory_format=torch.channels_last)
        return images, lambda n: {
            "pixel_values": torch.rand(n, 3, 224, 224).to(memory_format=torch.channels_last),
            "labels": random(1000, n),
        }
    if model == "bert_base":
        plain = hf.BertConfig(max_position_embeddings=384, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        return hf.BertForQuestionAnswering(plain), lambda n: {
            "input_ids": random(30_522, n, 384),
            "start_positions": random(384, n),
            "end_positions": random(384, n),
        }
    plain = hf.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)

    def tokens(n):
        drawn = random(50_257, n, 1024)
        return {"input_ids": drawn, "labels": drawn}

    return hf.GPT2LMHeadModel(plain), tokens


def train(model, batch_size, steps):
    """The plain loop; tells each step as our training process does."""
    import torch

    trained, batch_of = network(model)
    trained.train()
    batch = batch_of(batch_size)
    if model == "resnet50":
        optimizer = torch.optim.SGD(trained.parameters(), 0.01, fused=True)
    else:
        optimizer = torch.optim.AdamW(trained.parameters(), 1e-4, fused=True)
    for step in range(WARMUP + steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = trained(**batch).loss
        loss.backward()
        optimizer.step()
        told = {"seconds": time.perf_counter() - start, "timed": step >= WARMUP, "loss": loss.item()}
        print(json.dumps(told), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=31)
    parser.add_argument("--torchvision", type=Path, metavar="DIR", help="torchvision's wheel, unpacked")
    parser.add_argument("--plain", action="store_true")
    asked = parser.parse_args()
    if asked.plain and asked.models == ["torchvision"]:
        reference(asked.torchvision, asked.batch_size, asked.steps)
        return
    if asked.plain:
        train(asked.models[0], asked.batch_size, asked.steps)
        return
    print("| model | steps | ours CPU-s/step | peer CPU-s/step | CPU ratio | ours s/step | peer s/step | wall ratio |")
    print(f"|{'---|' * 8}")
    for model in asked.models:
        sizes = ["--models", model, "--batch-size", str(asked.batch_size), "--steps", str(asked.steps)]
        sizes += ["--torchvision", str(asked.torchvision)] if asked.torchvision else []
        own = "resnet50" if model == "torchvision" else model
        mine = ours(own, asked.batch_size, asked.steps, framework="torch")
        # Both have the memory settings: they are no part of PyTorch.
        other = Contender([sys.executable, __file__, "--plain", *sizes], ROOT, str(Path(__file__).parent), KEEP_MEMORY)
        try:
            compete(mine, other, asked.steps)
            print(row(model, mine, other), flush=True)
            other.kill()
            mine.finish()
            seconds = statistics.fmean(blocks(mine.moments, 1))
            print(f"{model}: ours reached {shares(mine.facts, asked.batch_size, seconds)}", file=sys.stderr)
        finally:
            other.kill()
            mine.kill()


if __name__ == "__main__":
    main()
