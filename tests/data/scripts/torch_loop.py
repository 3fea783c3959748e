"""A plain PyTorch loop, as somebody might have it: prints a line every fifth step."""

import argparse
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--precision", default="32")
arguments = parser.parse_args()
network = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.AdamW(network.parameters())
images, labels = torch.rand(arguments.batch, 256), torch.randint(10, (arguments.batch,))
for step in range(100_000):
    time.sleep(0.005)
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=arguments.precision == "bf16-mixed"):
        loss = torch.nn.functional.cross_entropy(network(images), labels)
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"[{time.ctime()}] step {step:,} loss {loss.item():.4f}")
