"""One training step by framework: the same Keras network on TensorFlow, JAX or PyTorch, and whether it is there.

Each framework is used as its own users would: TensorFlow by `tf.function`, JAX by one jitted function of the
state, PyTorch eagerly. Only the framework of the cell is imported.
"""

import importlib.util
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError
from sweetspot.harness.devices import refuse_other_processor, tensorflow_devices
from sweetspot.harness.request import Request

if TYPE_CHECKING:
    import tensorflow as tf

    from sweetspot.harness.networks import BuiltNetwork

LEARNING_RATE = 0.01
LOSS_SCALE = 128.0  # tf_cnn_benchmarks' default for fp16: small gradients would vanish
POLICIES = {"fp32": "float32", "bf16": "mixed_bfloat16", "fp16": "mixed_float16"}
INSTALL = {"tensorflow": "make environment", "jax": "pip install jax", "torch": "pip install torch"}


def require_framework(framework: str, precision: str) -> None:
    """Raises UserError where the framework or the precision is none that is known here."""
    if framework not in INSTALL:
        raise UserError(f"--framework is {framework!r}; expected one of {', '.join(INSTALL)}")
    if precision not in POLICIES:
        raise UserError(f"--precision is {precision!r}; expected one of {', '.join(POLICIES)}")


def missing_framework(framework: str) -> str | None:
    """A clause that says how to install the framework where it is not in this environment, else None."""
    if importlib.util.find_spec(framework) is not None:
        return None
    return f"framework {framework} is not installed in this environment; install it with: {INSTALL[framework]}"


def prepare(request: Request) -> None:
    """Set what must be set before a framework is imported."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = request.cell.framework
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX's memory peak is what it reserved
    if request.cell.framework == "jax" and request.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"


def framework_devices(request: Request) -> list[str]:
    """Names of exactly the devices asked for. Raises UserError if they are not there."""
    if request.cell.framework == "tensorflow":
        return tensorflow_devices(request)
    _one_device_only(request)
    if request.device == "cpu":
        refuse_other_processor(request)
        return ["cpu"]
    names = _jax_cards() if request.cell.framework == "jax" else _torch_cards()
    if len(names) != request.cell.gpus:
        raise UserError(f"--gpus is {request.cell.gpus}; this process sees {len(names)} GPU(s); nothing was measured")
    for name in names:
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")
    return names


def _one_device_only(request: Request) -> None:
    cell = request.cell
    if cell.gpus > 1 or cell.variant != "default":
        raise UserError(
            f"--framework {cell.framework} is measured on one device, variant default; "
            f"found --gpus {cell.gpus} --variant {cell.variant}; several devices and variants need tensorflow"
        )
    if request.xla and cell.framework == "torch":
        raise UserError("--xla is given with --framework torch, which runs eagerly here; use --no-xla")


def _jax_cards() -> list[str]:
    import jax

    return [device.device_kind for device in jax.devices() if device.platform == "gpu"]


def _torch_cards() -> list[str]:
    import torch

    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]


def build_step(
    request: Request, devices: list[str], distributed: "tf.distribute.Strategy | None" = None
) -> tuple[Callable[[], float], "BuiltNetwork"]:
    """A function that makes one training step and returns its loss when the step is done, and what it trains.

    `distributed` combines the gradients of several nodes; without it the cell's variant does, within this one.
    """
    import keras

    keras.utils.set_random_seed(request.run)
    keras.config.set_dtype_policy(POLICIES[request.cell.precision])
    if request.cell.framework == "torch":
        keras.config.set_image_data_format("channels_first")  # PyTorch's own; it would transpose at every layer
    if request.cell.framework == "tensorflow":
        return _tensorflow_step(request, devices, distributed)
    from sweetspot.harness.networks import build_workload

    workload = build_workload(request.cell.model, request.checkpoint)
    make = _jax_step if request.cell.framework == "jax" else _torch_step
    return make(request, workload), workload


def _tensorflow_step(
    request: Request, devices: list[str], distributed: "tf.distribute.Strategy | None"
) -> tuple[Callable[[], float], "BuiltNetwork"]:
    from sweetspot.harness.fused import with_fused_normalisation
    from sweetspot.harness.networks import build_workload
    from sweetspot.harness.variants import replicated, training_step

    if distributed and request.xla:
        raise UserError("--xla is given for several nodes; XLA compiles the step of one node, variant default, only")
    made = []

    def build() -> "BuiltNetwork":
        workload = build_workload(request.cell.model, request.checkpoint)
        made.append(workload._replace(network=with_fused_normalisation(workload.network, bool(request.checkpoint))))
        return made[-1]

    step = replicated(request, distributed, build) if distributed else training_step(request, devices, build)
    return lambda: float(step()), made[0]


def _data(request: Request, workload: "BuiltNetwork") -> tuple[Any, Any]:
    import numpy as np

    random = np.random.default_rng(request.run)
    shape = (request.cell.batch_size, *workload.shape)
    if workload.vocabulary:
        inputs = random.integers(0, workload.vocabulary, shape, dtype="int32")
    else:
        inputs = random.random(shape, dtype="float32")
    return inputs, random.integers(0, max(workload.classes, 2), shape[:1], dtype="int32")


def _loss(labels: Any, logits: Any) -> Any:
    from keras import ops

    logits = ops.cast(logits, "float32")
    if logits.shape[-1] == 1:
        return ops.mean(ops.binary_crossentropy(ops.cast(labels[:, None], "float32"), logits, from_logits=True))
    return ops.mean(ops.sparse_categorical_crossentropy(labels, logits, from_logits=True))


def _jax_step(request: Request, workload: "BuiltNetwork") -> Callable[[], float]:
    import jax

    model = workload.network
    scale = LOSS_SCALE if request.cell.precision == "fp16" else 1.0
    inputs, labels = (jax.device_put(array) for array in _data(request, workload))
    values = [variable.value for variable in model.trainable_variables]
    others = [variable.value for variable in model.non_trainable_variables]
    state = [values, others]

    def objective(values: Any, others: Any, inputs: Any, labels: Any) -> tuple[Any, Any]:
        logits, others = model.stateless_call(values, others, inputs, training=True)
        loss = _loss(labels, logits)
        return loss * scale, (loss, others)

    def update(values: Any, others: Any, inputs: Any, labels: Any) -> tuple[Any, Any, Any]:
        gradients, (loss, others) = jax.grad(objective, has_aux=True)(values, others, inputs, labels)
        moved = [value - LEARNING_RATE / scale * part for value, part in zip(values, gradients, strict=True)]
        return loss, moved, others

    compiled = jax.jit(update, donate_argnums=(0, 1))

    def step() -> float:
        loss, *state[:] = compiled(*state, inputs, labels)
        jax.block_until_ready(state)
        return float(loss)

    return step


def _torch_step(request: Request, workload: "BuiltNetwork") -> Callable[[], float]:
    import torch

    model = workload.network
    place = "cuda" if request.device == "gpu" else "cpu"
    scale = LOSS_SCALE if request.cell.precision == "fp16" else 1.0
    inputs, labels = (torch.from_numpy(array).to(place) for array in _data(request, workload))
    optimizer = torch.optim.SGD([variable.value for variable in model.trainable_variables], LEARNING_RATE / scale)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = _loss(labels, model(inputs, training=True))
        (loss * scale).backward()
        optimizer.step()
        if place == "cuda":
            torch.cuda.synchronize()
        return float(loss.detach())

    return step
