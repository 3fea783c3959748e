"""PyTorch: networks of torchvision and transformers, channels last, autocast; one process a device."""

import os
import sys
from typing import Any

from sweetspot.harness.backends import Agree, Step, single_process, the_gpus, the_processor
from sweetspot.harness.request import Request

INSTALL = {  # PyPI's wheel for Linux is the one with CUDA
    "cpu": "pip install torch torchvision --index-url https://download.pytorch.org/whl/cpu; "
    "pip install transformers peft",
    "gpu": "pip install 'sweetspot[torch]'",
}


def launch(request: Request) -> list[str]:
    """Return the command of one training process a device; torch's launcher starts several."""
    if request.cell.gpus == 1:
        return single_process(request)
    return [
        *(sys.executable, "-m", "sweetspot.harness.launcher", request.to_json()),
        *("sweetspot.harness.train", request.to_json()),
    ]


def prepare(request: Request) -> None:
    """TF32 as asked for; fp32 leaves what torch does by itself (TF32 in cuDNN's convolutions, not in products).

    Each process takes its GPU before anything asks for the names of all: where a GPU is in exclusive mode, a process
    that so much as begins on another's has no room there.
    """
    if request.device == "cpu":
        return
    import torch

    rank = int(os.environ.get("LOCAL_RANK", "0"))
    if rank < torch.cuda.device_count():  # else `devices` says how many there are
        torch.cuda.set_device(rank)
    if request.cell.precision == "tf32":
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True  # shapes never change


def devices(request: Request) -> list[str]:
    """The processor, or all GPUs of the run. Raises UserError if they are not there."""
    if request.device == "cpu":
        return the_processor(request) * request.cell.gpus
    import torch

    return the_gpus(request, [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())])


def facts(request: Request) -> dict[str, Any]:
    """How gradients are combined; name and capability of the GPU, versions of CUDA, cuDNN and NCCL."""
    import torch

    values: dict[str, Any] = {"program": "torch", "processes": request.cell.gpus, "threads": torch.get_num_threads()}
    if request.device == "cpu":
        return values
    capability = list(torch.cuda.get_device_capability())
    if request.cell.precision in ("fp32", "tf32"):
        values["products"] = products(
            torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, capability >= [8, 0]
        )
    if torch.distributed.is_available() and torch.distributed.is_nccl_available():  # not in every build
        values["nccl"] = ".".join(str(part) for part in torch.cuda.nccl.version())
    return values | {
        "device_name": torch.cuda.get_device_name(),
        "compute_capability": [capability],
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def products(matrices: bool, convolutions: bool, has_tf32: bool) -> str:
    """Say by what fp32 is multiplied.

    Parameters
    ----------
    matrices, convolutions
        Whether TF32 is allowed in products of matrices, and in convolutions.
    has_tf32
        Whether the GPU has it.
    """
    if not has_tf32 or not (matrices or convolutions):
        return "fp32"
    if matrices and convolutions:
        return "tf32"
    return "tf32, fp32 in convolutions" if matrices else "fp32, tf32 in convolutions"


def process_role(request: Request) -> tuple[bool, Agree]:
    """The first process tells; the others learn from it how many steps are next."""
    from sweetspot.harness.torch_training import agreement, rank

    return rank() == 0, agreement(request)


def build_step(request: Request, devices: list[str]) -> tuple[Step, dict[str, Any]]:
    """A training step, and what a sample counts."""
    from sweetspot.harness.torch_networks import network_facts
    from sweetspot.harness.torch_training import training_step

    facts = network_facts(request.cell.model)
    facts["samples_per_step"] = request.cell.batch_size * request.cell.gpus * facts.pop("units_per_sample")
    return training_step(request), facts
