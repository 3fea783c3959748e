"""TensorFlow: any number of devices of one node or of several, by `tf.function`; the default framework."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError
from sweetspot.harness import nodes
from sweetspot.harness.backends import keras_training as training
from sweetspot.harness.devices import refuse_other_processor
from sweetspot.harness.request import Request

if TYPE_CHECKING:
    import tensorflow as tf

    from sweetspot.harness.networks import BuiltNetwork

INSTALL = "make environment"


def launch(request: Request) -> tuple[list[str], dict[str, str] | None]:
    """One training process, or the srun that starts one on every node."""
    if request.nodes > 1:
        return nodes.command(request, "sweetspot.harness.multiworker"), nodes.outer(os.environ)
    return training.command(request), None


def prepare(request: Request) -> None:
    """Choose Keras' backend; fp32 leaves what TensorFlow does by itself (TF32 where a GPU has it)."""
    training.choose_keras(request)
    if request.cell.precision == "tf32":
        import tensorflow as tf

        tf.config.experimental.enable_tensor_float_32_execution(True)


def devices(request: Request) -> list[str]:
    """Names of exactly the devices asked for, ready for `tf.device`. Raises UserError if they are not there.

    On a processor, several devices are logical: parts of one processor that share its cores.
    """
    import tensorflow as tf

    count = request.local_gpus
    if request.device == "cpu":
        refuse_other_processor(request)
        processor = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_visible_devices([], "GPU")
        tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * count)
        return [f"/CPU:{index}" for index in range(count)]
    cards = tf.config.list_physical_devices("GPU")
    if len(cards) != count:
        raise UserError(f"--gpus is {count}; this process sees {len(cards)} GPU(s); nothing was measured")
    for card in cards:
        name = tf.config.experimental.get_device_details(card).get("device_name", "unknown")
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")
        tf.config.experimental.set_memory_growth(card, True)
    return [f"/GPU:{index}" for index in range(count)]


def facts(request: Request) -> dict[str, Any]:
    """Whether oneDNN is used; of GPUs their name and capability, and the versions of CUDA and cuDNN."""
    import tensorflow as tf

    found: dict[str, Any] = {"onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default") != "0"}
    if request.device == "gpu":
        build = tf.sysconfig.get_build_info()
        cards = tf.config.list_physical_devices("GPU")
        details = [tf.config.experimental.get_device_details(card) for card in cards]
        found["device_name"] = details[0].get("device_name", "unknown")
        found["compute_capability"] = [list(detail.get("compute_capability", ())) for detail in details]
        found |= {"cuda": build.get("cuda_version"), "cudnn": build.get("cudnn_version")}
    return found


place = training.alone
rates = training.rates


def build_step(
    request: Request, devices: list[str], distributed: "tf.distribute.Strategy | None" = None
) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that makes one training step and returns its loss when it is done, and the arithmetic of a sample.

    `distributed` combines the gradients of several nodes; without it the cell's variant does, within this one.
    """
    training.start_keras(request)
    from sweetspot.harness.backends.tensorflow_fused import with_fused_normalisation
    from sweetspot.harness.backends.tensorflow_variants import replicated, training_step

    if distributed and request.xla:
        raise UserError("--xla is given for several nodes; XLA compiles the step of one node, variant default, only")
    made = []

    def build() -> "BuiltNetwork":
        workload = training.workload(request)
        if not workload.adamw:  # transformers have nothing to fuse
            fused = with_fused_normalisation(workload.network, bool(request.checkpoint))
            workload = workload._replace(network=fused)
        made.append(workload)
        return workload

    step = replicated(request, distributed, build) if distributed else training_step(request, devices, build)
    return lambda: float(step()), training.arithmetic(made[0], request)
