"""A training step of PyTorch, in one process or in the processes of a group."""

import os
from typing import Any

import torch
from torch import distributed, nn

from sweetspot.errors import UserError
from sweetspot.harness.backends import Agree, Step
from sweetspot.harness.request import Request
from sweetspot.harness.torch_networks import TorchNetwork, build_network

LEARNING_RATE_SGD = 0.01
LEARNING_RATE_ADAMW = 1e-4
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def rank() -> int:
    """Which of the processes this is."""
    return int(os.environ.get("RANK", "0"))


def is_distributed() -> bool:
    """Whether this is one of several processes."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def agreement(request: Request) -> Agree:
    """A function by which all processes learn what the first wants; each calls it before each window of steps."""

    def agree(count: int) -> int:
        value = torch.tensor([count], device=process_device(request), dtype=torch.int64)
        distributed.broadcast(value, 0)
        return int(value.item())

    return agree if is_distributed() else int


def process_device(request: Request) -> torch.device:
    """The device of this process; a run on the processor takes no GPU, also where one is."""
    return torch.device("cuda", torch.cuda.current_device()) if request.device == "gpu" else torch.device("cpu")


def join(request: Request) -> None:
    """Join the others, once (NCCL between GPUs, gloo between processors); alone too where the variant needs a group."""
    if distributed.is_initialized() or not (is_distributed() or request.cell.variant == "ddp"):
        return
    if not is_distributed():
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1"}
    if request.device == "gpu" and not distributed.is_nccl_available():
        raise UserError(f"--gpus is {request.cell.gpus}; this build of torch has no NCCL, which joins GPUs")
    distributed.init_process_group("nccl" if request.device == "gpu" else "gloo")


def _wrapped(network: TorchNetwork, request: Request, device: torch.device) -> nn.Module:
    """Wrap the module as the variant says: compiled, or its gradients averaged over the processes."""
    module = network.module
    variant = request.cell.variant
    if is_distributed() or variant == "ddp":
        device_ids = [device.index] if device.type == "cuda" else None
        module = nn.parallel.DistributedDataParallel(module, device_ids=device_ids, gradient_as_bucket_view=True)
    return torch.compile(module) if variant == "compile" else module


def _optimizer(network: TorchNetwork, module: nn.Module, fused_sgd: bool) -> torch.optim.Optimizer:
    """Make the optimizer of the weights that are trained; AdamW is fused.

    SGD is not fused on a processor, where that kernel takes longer than the plain one (ResNet-50: 35 instead of 20 ms
    of 720).
    """
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    if network.is_transformer:
        return torch.optim.AdamW(weights, LEARNING_RATE_ADAMW, fused=True)
    return torch.optim.SGD(weights, LEARNING_RATE_SGD, fused=fused_sgd)


def training_step(request: Request) -> Step:
    """Make one training step; it is done when the device has finished."""
    join(request)
    torch.manual_seed(request.run)
    device = process_device(request)
    dtype = DTYPES.get(request.cell.precision)
    network = build_network(request.cell.model, dtype or torch.float32)
    network.module.to(device)
    if not network.is_transformer:
        network.module.to(memory_format=torch.channels_last)
    module: Any = _wrapped(network, request, device)
    module.train()
    optimizer = _optimizer(network, module, fused_sgd=device.type == "cuda")
    host_batch = network.batch(request.cell.batch_size, seed=1000 * request.run + rank())
    batch = {name: values.to(device) for name, values in host_batch.items()}
    if not network.is_transformer:
        batch["pixel_values"] = batch["pixel_values"].contiguous(memory_format=torch.channels_last)
    scaler = torch.amp.GradScaler(device.type, enabled=dtype is torch.float16)

    def launch() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype, enabled=dtype is not None):
            loss = module(**batch)["loss"]
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    def finish(loss: torch.Tensor) -> float:
        if device.type == "cuda":
            torch.cuda.synchronize()
        return float(loss)

    return Step(launch, finish)
