"""Our PyTorch against Hugging Face's networks in a plain loop, turn by turn (the method is `peer.py`'s).

    python tests/performance/peer_torch.py --models resnet50 bert_base --batch-size 8 --steps 31

Needs torch and transformers. The peer trains Hugging Face's own ResNet-50 (the stride of a block at its 3 x 3), BERT
with two logits a token, or GPT-2, with new weights, in ten lines: channels last, fused optimizer, one batch that lies
on the device, as ours. It is called by itself with `--plain`.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

from peer import KEEP_MEMORY, ROOT, WARMUP, Contender, blocks, compete, ours, row, shares

MODELS = ("resnet50", "bert_base", "gpt2_small")


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
    parser.add_argument("--plain", action="store_true")
    asked = parser.parse_args()
    if asked.plain:
        train(asked.models[0], asked.batch_size, asked.steps)
        return
    print("| model | steps | ours CPU-s/step | peer CPU-s/step | CPU ratio | ours s/step | peer s/step | wall ratio |")
    print(f"|{'---|' * 8}")
    for model in asked.models:
        sizes = ["--models", model, "--batch-size", str(asked.batch_size), "--steps", str(asked.steps)]
        mine = ours(model, asked.batch_size, asked.steps, framework="torch")
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
