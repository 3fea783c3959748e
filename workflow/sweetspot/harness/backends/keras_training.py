"""What all backends share: Keras builds the network, and each framework trains it on the same data and loss.

Each framework is used as its own users would: TensorFlow by `tf.function`, JAX by one jitted function of the
state, PyTorch eagerly.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError
from sweetspot.harness.backends import POLICIES
from sweetspot.harness.devices import refuse_other_processor
from sweetspot.harness.request import Request

if TYPE_CHECKING:
    from sweetspot.harness.networks import BuiltNetwork

LEARNING_RATE = 0.01
LOSS_SCALE = 128.0  # tf_cnn_benchmarks' default for fp16: small gradients would vanish


def command(request: Request) -> list[str]:
    """The one training process of a run on one node."""
    return [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]


def choose_keras(request: Request) -> None:
    """Have Keras use the framework of the cell; to be called before Keras is imported."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = request.cell.framework.removeprefix("keras-")


def start_keras(request: Request) -> None:
    """Seed the weights by the run, and set the precision."""
    import keras

    keras.utils.set_random_seed(request.run)
    keras.config.set_dtype_policy(POLICIES[request.cell.precision])


def loss_scale(request: Request) -> float:
    """By what the loss is multiplied before its gradients are taken, and they are divided after."""
    return LOSS_SCALE if request.cell.precision == "fp16" else 1.0


def workload(request: Request) -> "BuiltNetwork":
    """The network of the cell, in the scope where its variables belong."""
    from sweetspot.harness.networks import build_workload

    return build_workload(request.cell.model, request.checkpoint)


def alone(request: Request) -> tuple[bool, Callable[[bool], bool]]:
    """One process trains, tells, and decides."""
    return True, bool


def arithmetic(built: "BuiltNetwork", request: Request) -> dict[str, Any]:
    """What a network of Keras asks of a machine, as facts."""
    from sweetspot.harness.flops import training_flop
    from sweetspot.study import transformers
    from sweetspot.study.transformers import SHAPES

    shape = SHAPES.get(request.cell.model)
    each = 1 if shape is None else shape.units_per_sample
    flop = transformers.training_flop(shape) if shape and shape.rank else training_flop(built.network)
    return {
        "program": "keras",
        "training_flop_per_sample": flop / each,
        "unit": built.unit if shape is None else shape.unit,
        "samples_per_step": request.cell.batch_size * request.cell.gpus * each,
        "parameters": built.network.count_params(),
    }


def rates(request: Request, devices: list[str]) -> dict[str, float]:
    """The best rates of the machine, by Keras' operations."""
    from sweetspot.harness.roofline import machine_rates

    return machine_rates(request, devices)


def data(request: Request, built: "BuiltNetwork") -> tuple[Any, Any]:
    """Synthetic inputs and labels of one batch, drawn by the run's number."""
    import numpy as np

    random = np.random.default_rng(request.run)
    shape = (request.cell.batch_size, *built.shape)
    inputs: Any
    if built.vocabulary:
        inputs = random.integers(0, built.vocabulary, shape, dtype="int32")
    else:
        inputs = random.random(shape, dtype="float32")
    return inputs, random.integers(0, max(built.classes, 2), shape[:1], dtype="int32")


def cross_entropy(labels: Any, logits: Any) -> Any:
    """Mean cross-entropy in fp32; of one logit, that of a yes-or-no question."""
    from keras import ops

    logits = ops.cast(logits, "float32")
    if logits.shape[-1] == 1:
        return ops.mean(ops.binary_crossentropy(ops.cast(labels[:, None], "float32"), logits, from_logits=True))
    return ops.mean(ops.sparse_categorical_crossentropy(labels, logits, from_logits=True))


def require_one_device(request: Request) -> None:
    """Raises UserError for a cell of several devices or of another variant than default."""
    cell = request.cell
    if cell.gpus > 1 or cell.variant != "default":
        raise UserError(
            f"--framework {cell.framework} is measured on one device, variant default; "
            f"found --gpus {cell.gpus} --variant {cell.variant}; several devices and variants need tensorflow"
        )


def the_processor(request: Request) -> list[str]:
    """The processor as the one device. Raises UserError where it is not the one that the instance declares."""
    refuse_other_processor(request)
    return ["cpu"]


def the_gpus(request: Request, names: Sequence[str]) -> list[str]:
    """`names` of the GPUs that the process sees. Raises UserError unless they are as many and such as asked for."""
    if len(names) != request.local_gpus:
        raise UserError(f"--gpus is {request.local_gpus}; this process sees {len(names)} GPU(s); nothing was measured")
    for name in names:
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")
    return list(names)
