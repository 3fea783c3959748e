"""A Keras network on PyTorch and one device, eagerly; the backend `torch` is PyTorch as its users have it."""

from collections.abc import Callable
from typing import Any

from sweetspot.errors import UserError
from sweetspot.harness.backends import keras_training as training
from sweetspot.harness.request import Request

INSTALL = "pip install torch"


def launch(request: Request) -> tuple[list[str], dict[str, str] | None]:
    """One training process."""
    return training.command(request), None


def prepare(request: Request) -> None:
    """Choose Keras' backend."""
    training.choose_keras(request)


def devices(request: Request) -> list[str]:
    """The processor or the one GPU. Raises UserError if it is not there, or the cell or --xla needs more."""
    training.require_one_device(request)
    if request.xla:
        raise UserError("--xla is given with --framework keras-torch, which runs eagerly here; use --no-xla")
    if request.device == "cpu":
        return training.the_processor(request)
    import torch

    return training.the_gpus(request, [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())])


def facts(request: Request) -> dict[str, Any]:
    """Name and capability of the GPU, versions of CUDA and cuDNN."""
    if request.device == "cpu":
        return {}
    import torch

    return {
        "device_name": torch.cuda.get_device_name(0),
        "compute_capability": [list(torch.cuda.get_device_capability(0))],
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


place = training.alone
rates = training.rates


def build_step(request: Request, devices: list[str]) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that makes one training step and returns its loss when it is done, and its arithmetic."""
    import keras
    import torch

    training.start_keras(request)
    keras.config.set_image_data_format("channels_first")  # PyTorch's own; it would transpose at every layer
    workload = training.workload(request)
    model, scale = workload.network, training.loss_scale(request)
    place = "cuda" if request.device == "gpu" else "cpu"
    inputs, labels = (torch.from_numpy(array).to(place) for array in training.data(request, workload))
    values = [variable.value for variable in model.trainable_variables]
    optimizer = torch.optim.SGD(values, training.LEARNING_RATE / scale)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = training.cross_entropy(labels, model(inputs, training=True))
        (loss * scale).backward()
        optimizer.step()
        if place == "cuda":
            torch.cuda.synchronize()
        return float(loss.detach())

    return step, training.arithmetic(workload, request)
