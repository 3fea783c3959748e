"""A training step of PyTorch, in one process or in the processes of a group."""

import os
from typing import Any

import torch
from torch import distributed, nn

from sweetspot.errors import UserError
from sweetspot.harness import torch_networks
from sweetspot.harness.backends import Agree, Step
from sweetspot.harness.own_networks import ADAMW, SGD_RATE, Workload, data, workload
from sweetspot.harness.request import Request

KINDS = {"fp16": torch.float16, "bf16": torch.bfloat16}


def rank() -> int:
    """Which of the processes this is."""
    return int(os.environ.get("RANK", "0"))


def several() -> bool:
    """Whether this is one of several processes."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def agreement(request: Request) -> Agree:
    """A function by which all processes learn what the first wants; each calls it before each window of steps."""

    def agree(wanted: int) -> int:
        told = torch.tensor([wanted], device=place_of(request), dtype=torch.int64)
        distributed.broadcast(told, 0)
        return int(told.item())

    return agree if several() else int


def place_of(request: Request) -> torch.device:
    """The device of this process; a run on the processor takes no GPU, also where one is."""
    return torch.device("cuda", torch.cuda.current_device()) if request.device == "gpu" else torch.device("cpu")


def join(request: Request) -> None:
    """Join the others, once (NCCL between GPUs, gloo between processors); alone too where the variant needs a group."""
    if distributed.is_initialized() or not (several() or request.cell.variant in ("ddp", "fsdp")):
        return
    if not several():
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1"}
    if request.device == "gpu" and not distributed.is_nccl_available():
        raise UserError(f"--gpus is {request.cell.gpus}; this build of torch has no NCCL, which joins GPUs")
    distributed.init_process_group("nccl" if request.device == "gpu" else "gloo")


def _wrapped(module: nn.Module, request: Request, place: torch.device) -> nn.Module:
    """The module as the variant says: sharded, compiled, its gradients averaged over the processes."""
    variant = request.cell.variant
    if variant == "fsdp":
        return _sharded(module, request, place)
    if several() or variant == "ddp":
        ids = [place.index] if place.type == "cuda" else None
        module = nn.parallel.DistributedDataParallel(module, device_ids=ids, gradient_as_bucket_view=True)
    return torch.compile(module) if variant == "compile" else module


def _sharded(module: nn.Module, request: Request, place: torch.device) -> nn.Module:
    """In shards over all processes, layer by layer; what a layer gathers travels in the precision of the run.

    The mesh is told: by itself FSDP takes a GPU wherever one is, also for a run on the processor. Networks of images
    travel in fp32: the statistics of their normalisations are kept so.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(place.type, (distributed.get_world_size(),))
    kind = KINDS.get(request.cell.precision) if workload(request.cell.model).adamw else None
    policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32 if kind else None)
    for part in torch_networks.blocks(module):
        fully_shard(part, mesh=mesh, mp_policy=policy)
    return fully_shard(module, mesh=mesh, mp_policy=policy)


def _batch(request: Request, made: Workload, place: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    inputs, labels = data(request.cell.model, request.cell.batch_size, 1000 * request.run + rank())
    values = torch.from_numpy(inputs).to(place)
    # The channels of images are last already: this only renames the axes.
    values = values.permute(0, 3, 1, 2) if made.vocabulary is None else values.long()
    return values, torch.from_numpy(labels).long().to(place)


def _optimizer(module: nn.Module, made: Workload, fused_sgd: bool) -> torch.optim.Optimizer:
    """Of what is trained; AdamW fused.

    SGD is not over parameters in shards, which torch has no fused kernel for, nor on a processor, where that kernel
    takes longer than the plain one (ResNet-50: 35 instead of 20 ms of 720).
    """
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    if made.adamw:
        betas = ADAMW["beta1"], ADAMW["beta2"]
        return torch.optim.AdamW(trained, ADAMW["lr"], betas, ADAMW["epsilon"], ADAMW["weight_decay"], fused=True)
    return torch.optim.SGD(trained, SGD_RATE, fused=fused_sgd)


def training_step(request: Request) -> Step:
    """One step; it is done when the device has finished."""
    join(request)
    torch.manual_seed(request.run)
    place, made = place_of(request), workload(request.cell.model)
    kind = KINDS.get(request.cell.precision)
    module: Any = torch_networks.build(made, kind or torch.float32).to(place)
    if made.vocabulary is None and request.cell.variant != "fsdp":  # which shards whole rows only
        module = module.to(memory_format=torch.channels_last)
    module = _wrapped(module, request, place)
    optimizer = _optimizer(module, made, place.type == "cuda" and request.cell.variant != "fsdp")
    inputs, labels = _batch(request, made, place)
    scaler = torch.amp.GradScaler(place.type, enabled=kind is torch.float16)

    def launch() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(place.type, kind, enabled=kind is not None):
            loss = torch_networks.loss(made, module(inputs), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    def finish(loss: torch.Tensor) -> float:
        if place.type == "cuda":
            torch.cuda.synchronize()
        return float(loss)

    return Step(launch, finish)
