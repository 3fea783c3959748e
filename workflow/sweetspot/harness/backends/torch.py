"""PyTorch: networks of torchvision and transformers, channels last, autocast; one process a device."""

import os
import sys
from typing import Any

from sweetspot.harness.backends import Agree, Step, require_devices, single_process
from sweetspot.harness.request import Request


def launch(request: Request) -> list[str]:
    """Return the command (argv) that starts a run's training: one process, or torch's launcher of one a device."""
    if request.cell.gpus == 1:
        return single_process(request)
    launcher = [sys.executable, "-m", "sweetspot.harness.launcher", request.to_json()]
    return [*launcher, "sweetspot.harness.train", request.to_json()]


def prepare(request: Request) -> dict[str, Any]:
    """Take this process's GPU and set TF32 as requested before the network is built; return facts for the run file:
    `program`, `cuda`, `products` (how fp32 is multiplied). fp32 leaves what torch does by itself: TF32 in cuDNN's
    convolutions, not in products of matrices. Each process takes its GPU before anything asks for the names of all: in
    exclusive mode a process has no room on another's GPU.
    """
    if request.device == "cpu":
        return {"program": "torch"}
    import torch

    count = torch.cuda.device_count()
    rank = int(os.environ.get("LOCAL_RANK", "0"))
    if rank < count:  # Otherwise `require_devices` says how many there are.
        torch.cuda.set_device(rank)
    require_devices(request, [torch.cuda.get_device_name(index) for index in range(count)])
    matrices, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn
    if request.cell.precision == "tf32":
        matrices.allow_tf32 = convolutions.allow_tf32 = True
    convolutions.benchmark = True  # Shapes never change.
    facts = {"program": "torch", "cuda": torch.version.cuda}
    if request.cell.precision in ("fp32", "tf32"):
        facts["products"] = "fp32"
        if convolutions.allow_tf32 and torch.cuda.get_device_capability() >= (8, 0):
            facts["products"] = "tf32" if matrices.allow_tf32 else "fp32, tf32 in convolutions"
    return facts


def build_step(request: Request) -> tuple[Step, dict[str, Any]]:
    """Return the training step that a run times, and facts for its file {`unit`, `samples_per_step`, `parameters`}."""
    from sweetspot.harness.torch_networks import network_facts
    from sweetspot.harness.torch_training import training_step

    facts = network_facts(request.cell.model)
    facts["samples_per_step"] = request.cell.batch_size * request.cell.gpus * facts.pop("units_per_sample")
    return training_step(request), facts


def agreement(request: Request) -> Agree:
    """Return a function that gives every process the first one's number of next steps."""
    from sweetspot.harness import torch_training

    return torch_training.agreement(request)


def peak_memory_bytes(request: Request) -> int:
    """Return the peak of allocated memory of the fullest GPU so far, in bytes."""
    from sweetspot.harness import torch_training

    return torch_training.peak_memory_bytes()
