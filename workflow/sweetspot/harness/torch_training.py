"""A training step of PyTorch, in one process or in the processes of a group."""

import os
from typing import Any

import torch
from torch import distributed, nn

from sweetspot.harness.backends import Agree, Step
from sweetspot.harness.request import Request
from sweetspot.harness.torch_networks import build_network

LEARNING_RATE_SGD = 0.01
LEARNING_RATE_ADAMW = 1e-4
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def is_distributed() -> bool:
    """Return True if this process is one of several that train together (WORLD_SIZE)."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def process_device(request: Request) -> torch.device:
    """Return the torch device of this process: its GPU, or for a run on the processor `cpu`, even beside a GPU."""
    return torch.device("cuda", torch.cuda.current_device()) if request.device == "gpu" else torch.device("cpu")


def agreement(request: Request) -> Agree:
    """Return a function that gives every process the first one's count of steps, so that all make equally many."""

    def agree(count: int) -> int:
        value = torch.tensor([count], device=process_device(request), dtype=torch.int64)
        distributed.broadcast(value, 0)
        return int(value.item())

    return agree if is_distributed() else int


def peak_memory_bytes() -> int:
    """Return the peak of allocated GPU memory for the run file (bytes), the largest of all processes (one GPU each)."""
    peak = torch.tensor([torch.cuda.max_memory_allocated()], device="cuda", dtype=torch.int64)
    if is_distributed():
        distributed.all_reduce(peak, op=distributed.ReduceOp.MAX)
    return int(peak.item())


def join_processes(request: Request) -> None:
    """Connect the processes of a run, once: by NCCL between GPUs, by gloo between processors."""
    if is_distributed() and not distributed.is_initialized():
        distributed.init_process_group("nccl" if request.device == "gpu" else "gloo")


def training_step(request: Request) -> Step:
    """Build the network of the run's cell (model, batch, precision, ...) and return its training step to time, on
    synthetic data: `launch` begins a step, `finish` waits for it and returns its loss.
    """
    join_processes(request)
    torch.manual_seed(request.run)
    device = process_device(request)
    is_gpu = device.type == "cuda"
    network = build_network(request.cell.model)
    batch = network.batch(request.cell.batch_size, seed=1000 * request.run + int(os.environ.get("RANK", "0")))
    batch = {name: values.to(device) for name, values in batch.items()}
    module: Any = network.module.to(device)
    if not network.is_transformer:
        module = module.to(memory_format=torch.channels_last)
        batch["pixel_values"] = batch["pixel_values"].contiguous(memory_format=torch.channels_last)
    if is_distributed():
        device_ids = [device.index] if is_gpu else None
        module = nn.parallel.DistributedDataParallel(module, device_ids=device_ids, gradient_as_bucket_view=True)
    if request.cell.variant == "compile":
        module = torch.compile(module)
    module.train()
    optimizer: torch.optim.Optimizer
    if network.is_transformer:
        optimizer = torch.optim.AdamW(module.parameters(), LEARNING_RATE_ADAMW, fused=True)
    else:
        # On a processor the fused kernel takes longer than the plain one (ResNet-50: 35 instead of 20 ms of 720).
        optimizer = torch.optim.SGD(module.parameters(), LEARNING_RATE_SGD, fused=is_gpu)
    dtype = DTYPES.get(request.cell.precision)
    scaler = torch.amp.GradScaler(device.type, enabled=dtype is torch.float16)

    def launch() -> torch.Tensor:
        """Begin one training step on this process's batch and return its loss, a tensor that is not waited for."""
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype, enabled=dtype is not None):
            loss = module(**batch)["loss"]
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    def finish(loss: torch.Tensor) -> float:
        """Wait for the device and return the loss of a launched step as a number."""
        if is_gpu:
            torch.cuda.synchronize()
        return float(loss)

    return Step(launch, finish)
