"""A loop with Accelerate that prints a line every ten steps, an evaluation every hundred."""

import sys

import stopwatch
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

size = int(sys.argv[1])
accelerator = Accelerator(cpu=True)
network = torch.nn.Sequential(torch.nn.Linear(256, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
data = DataLoader(TensorDataset(torch.rand(size * 200, 256), torch.randint(10, (size * 200,))), batch_size=size)
network, optimizer, data = accelerator.prepare(network, torch.optim.AdamW(network.parameters()), data)
step = 0
while True:
    for images, labels in data:
        stopwatch.begin()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        accelerator.backward(loss)
        optimizer.step()
        stopwatch.end()
        step += 1
        if step % 10 == 0:
            accelerator.print(f"step {step} loss {loss.item():.4f}", flush=True)
        if step % 100 == 0:
            stopwatch.elsewhere()
            accelerator.save_state(sys.argv[2])
            accelerator.print("evaluated and saved", flush=True)
