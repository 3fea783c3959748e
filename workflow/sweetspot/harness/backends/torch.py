"""PyTorch as its users have it: own parts, channels last, autocast, fused optimizers; one process a device."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError
from sweetspot.harness import nodes
from sweetspot.harness.backends import keras_training as training
from sweetspot.harness.own_networks import arithmetic
from sweetspot.harness.request import Request

if TYPE_CHECKING:
    import torch

INSTALL = "pip install torch"
SECONDS = 0.3  # spent on each rate of the machine


def processes(request: Request) -> int:
    """Processes of a run: one a device; FSDP and DDP have a group of one on a single device too."""
    return request.cell.gpus


def launch(request: Request) -> tuple[list[str], dict[str, str] | None]:
    """One training process, or torch's launcher that starts one a device, on several nodes by srun."""
    launcher, trainer = "sweetspot.harness.torch_launch", ("sweetspot.harness.train", request.to_json())
    if request.nodes > 1:
        return nodes.command(request, launcher, *trainer), nodes.outer(os.environ)
    if processes(request) == 1:
        return training.command(request), None
    return [sys.executable, "-m", launcher, request.to_json(), *trainer], None


def prepare(request: Request) -> None:
    """TF32 as asked for; fp32 leaves what torch does by itself (TF32 in cuDNN's convolutions, not in products)."""
    if request.cell.precision == "tf32":
        import torch

        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
    if request.device == "gpu":
        import torch

        torch.backends.cudnn.benchmark = True  # shapes never change


def devices(request: Request) -> list[str]:
    """The processor, or all GPUs of the run. Raises UserError if they are not there, or XLA is asked for."""
    if request.xla:
        raise UserError("--xla is given with --framework torch; its compiler is --variant compile; use --no-xla")
    if request.device == "cpu":
        return training.the_processor(request) * request.local_gpus
    import torch

    return training.the_gpus(request, [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())])


def facts(request: Request) -> dict[str, Any]:
    """How gradients are combined; name and capability of the GPU, versions of CUDA, cuDNN and NCCL."""
    import torch

    found: dict[str, Any] = {"program": "torch", "processes": processes(request), "threads": torch.get_num_threads()}
    if request.device == "cpu":
        return found
    return found | {
        "device_name": torch.cuda.get_device_name(0),
        "compute_capability": [list(torch.cuda.get_device_capability(0))],
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "nccl": ".".join(str(part) for part in torch.cuda.nccl.version()),
        "tf32": [torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32],
    }


def place(request: Request) -> tuple[bool, Callable[[bool], bool]]:
    """The first process tells; the others learn from it when it is enough."""
    from sweetspot.harness.torch_training import agreement, rank

    return rank() == 0, agreement(request)


def build_step(request: Request, devices: list[str]) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that makes one training step and returns its loss when it is done, and the arithmetic of a sample."""
    cell = request.cell
    if request.checkpoint:
        raise UserError(
            "--checkpoint is a Keras weights file; --framework torch starts from new weights, keras-torch not"
        )
    from sweetspot.harness.torch_training import training_step

    return training_step(request), arithmetic(cell.model, cell.batch_size, cell.gpus)


def rates(request: Request, devices: list[str]) -> dict[str, float]:
    """FLOP/s of a matrix product and of a 3 x 3 convolution, all devices of a node; processes on a processor share it.

    Each process measures at the same time as the others; a node's first one tells its own times the processes.
    """
    import torch
    from torch.nn import functional

    place = torch.device("cuda", torch.cuda.current_device()) if request.device == "gpu" else torch.device("cpu")
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(request.cell.precision, torch.float32)
    size, images = (1024, 8) if request.device == "cpu" else (8192, 128)
    matrix = torch.rand(size, size, device=place, dtype=kind)
    batch = torch.rand(images, 128, 28, 28, device=place, dtype=kind).to(memory_format=torch.channels_last)
    kernel = torch.rand(128, 128, 3, 3, device=place, dtype=kind).to(memory_format=torch.channels_last)
    with torch.no_grad():
        product = 2 * size**3 / _best_seconds(lambda: matrix @ matrix, place)
        folded = (
            2
            * images
            * 28
            * 28
            * 9
            * 128
            * 128
            / _best_seconds(lambda: functional.conv2d(batch, kernel, padding=1), place)
        )
    count = request.local_gpus
    return {"machine_matmul_flops": count * product, "machine_conv_flops": count * folded}


def _best_seconds(work: Callable[[], Any], place: "torch.device") -> float:
    import time

    import torch

    def done() -> None:
        work()
        if place.type == "cuda":
            torch.cuda.synchronize()

    done()
    best, deadline = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        done()
        best = min(best, time.perf_counter() - start)
    return best
